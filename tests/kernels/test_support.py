"""Nearest evidence, words of references and classes of both sides, by plain loops."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vifidel_eval.kernels import bags as module
from vifidel_eval.kernels.bags import bags_of_captions
from vifidel_eval.kernels.lexicon import Lexicon
from vifidel_eval.kernels.support import (
    NO_CLASS,
    NOTHING,
    are_named,
    nearest,
    words_of_references,
)
from vifidel_eval.words.word_vectors import load_vectors

WORDS = [f"w{letter}" for letter in "abcdefgh"]
ROWS = np.random.default_rng(7).normal(size=(len(WORDS), 4)).astype(np.float32)
texts = st.lists(st.sampled_from([*WORDS, "unheard"]), max_size=4).map(" ".join)


@pytest.fixture(scope="module")
def lexicon(make_vectors):
    vectors = make_vectors({word: row.tolist() for word, row in zip(WORDS, ROWS, strict=True)})
    return Lexicon(load_vectors(vectors), normalize=True, stop_words=())


def cosine(one, other):
    x, y = (ROWS[WORDS.index(word)].astype(float) for word in (one, other))
    return x @ y / np.linalg.norm(x) / np.linalg.norm(y)


def known(text):
    return sorted({word for word in text.split() if word in WORDS})


@given(st.lists(st.tuples(texts, texts), min_size=1, max_size=4), st.sampled_from([1, 3, 1 << 16]))
def test_the_nearest_word_of_the_other_side(lexicon, rows, at_once):
    left, _ = bags_of_captions(lexicon, [one for one, _ in rows])
    right, _ = bags_of_captions(lexicon, [other for _, other in rows])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "PAIRS_AT_ONCE", at_once)
        found = nearest(lexicon.distances, left, right, floor=0.1)
    of_left, of_right, best = [], [], []
    for one, other in ((known(one), known(other)) for one, other in rows):
        similar = [[max(cosine(a, b) - 0.1, 0) / 0.9 for b in other] for a in one]
        of_left += [max(row, default=0) for row in similar]
        of_right += [max((row[at] for row in similar), default=0) for at in range(len(other))]
        best += [other[int(np.argmax(row))] if other else None for row in similar]
    assert found.of_left == pytest.approx(of_left, abs=1e-6)
    assert found.of_right == pytest.approx(of_right, abs=1e-6)
    for at, similar, word in zip(found.at_left.tolist(), of_left, best, strict=True):
        assert (at == NOTHING) == (word is None)
        assert not similar or lexicon.words[right.atoms[at]] == word


@given(st.lists(st.lists(texts, max_size=3), min_size=1, max_size=4))
def test_words_of_references_have_the_share_of_the_usable_ones(lexicon, references):
    of_references, _ = bags_of_captions(lexicon, [text for of_row in references for text in of_row])
    sizes = np.array([len(of_row) for of_row in references])
    rows = np.arange(len(references)).repeat(sizes)
    image_side = module.ImageSide(lexicon, len(references), of_references, of_references, rows, {})
    found, shares_of = words_of_references(image_side)
    for row, of_row in enumerate(references):
        usable = [known(text) for text in of_row if known(text)]
        words = sorted({word for text in usable for word in text})
        of_this = slice(*found.starts[row : row + 2])
        assert [lexicon.words[n] for n in found.atoms[of_this].tolist()] == words
        shares = [sum(word in text for text in usable) / len(usable) for word in words]
        assert shares_of[of_this].tolist() == shares


def test_things_are_named_by_others_of_their_row_and_class():
    rows, classes = np.array([0, 0, 1, 2, 2]), np.array([0, 1, 0, NO_CLASS, 1])
    by_rows, by_classes = np.array([0, 0, 2, 2]), np.array([0, NO_CLASS, 1, NO_CLASS])
    named = are_named((rows, classes), (by_rows, by_classes), (3, 2))
    assert named.tolist() == [True, False, False, False, True]
