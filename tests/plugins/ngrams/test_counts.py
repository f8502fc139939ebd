"""The n-gram engine beside pycocoevalcap's own classes."""

import contextlib
import io

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pycocoevalcap.bleu.bleu_scorer import cook_refs, cook_test
from pycocoevalcap.cider.cider import Cider
from pycocoevalcap.rouge.rouge import Rouge, my_lcs

from vifidel_eval.plugins.ngrams.counts import Numbered

# Few words, so that n-grams repeat; and what tokenizers never leave but callers may give: blanks
# at the ends and in a row, and characters that `str.split` takes for blanks.
WORDS = ["a", "dog", "cat", "on", "mat", "caf\u00e9", "", "x\u00a0y", "\t"]
captions = st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join)
images = st.lists(
    st.tuples(captions, st.lists(captions, min_size=1, max_size=4)), min_size=1, max_size=8
)


def numbered(rows):
    return Numbered().texts([references for _, references in rows], [[text] for text, _ in rows])


def stock(scorer, rows):
    """Return what a class of pycocoevalcap makes of rows."""
    with contextlib.redirect_stdout(io.StringIO()):
        return scorer.compute_score(
            {at: references for at, (_, references) in enumerate(rows)},
            {at: [text] for at, (text, _) in enumerate(rows)},
        )


def has_token(rows):
    return any(reference.split() for _, references in rows for reference in references)


@given(images)
@example([("", [""])])
@example([("a", ["a"])])
@example([("a dog", ["a dog", "a dog"]), ("a", ["a dog a dog a dog"])])
@example([("a a a a a a", ["a a", "a"]), ("dog", [""]), ("", ["cat", "cat"])])
def test_cider_has_the_digits_of_pycocoevalcap(rows):
    references, candidates = numbered(rows)
    ours = references.cider(candidates)
    assert ours.shape == (len(rows),)
    if has_token(rows):  # pycocoevalcap's takes the maximum of nothing
        assert ours.tolist() == stock(Cider(), rows)[1].tolist()
    else:
        assert ours.tolist() == [0.0] * len(rows)


@given(images)
@example([("", [""])])
@example([("a dog on a mat", ["a dog", "a dog on a"])])
def test_bleu_counts_are_those_of_pycocoevalcap(rows):
    references, candidates = numbered(rows)
    for (text, given_), counts in zip(rows, references.bleu_counts(candidates), strict=True):
        cooked = cook_test(text, cook_refs(given_), eff="closest")
        expected = [cooked["testlen"], min(
            (abs(length - cooked["testlen"]), length) for length in cook_refs(given_)[0]
        )[1]]  # fmt: skip
        assert counts.tolist() == [*expected, *cooked["correct"], *cooked["guess"]]


@given(images)
@example([("", [""])])
def test_rouge_l_has_the_digits_of_pycocoevalcap(rows):
    references, candidates = numbered(rows)
    assert references.rouge_l(candidates) == stock(Rouge(), rows)[1].tolist()


def test_longest_common_subsequences_of_long_captions_are_those_of_the_table():
    rng = np.random.default_rng(3)
    for _ in range(100):
        text, one, other = (" ".join(rng.choice(WORDS[:4], rng.integers(1, 150))) for _ in range(3))
        lengths = [my_lcs(r.split(" "), text.split(" ")) for r in (one, other)]
        precision = max(lengths) / len(text.split(" "))
        recall = max(n / len(r.split(" ")) for n, r in zip(lengths, (one, other), strict=True))
        references, candidates = numbered([(text, [one, other])])
        f = (1 + 1.2**2) * precision * recall / (recall + 1.2**2 * precision)
        assert references.rouge_l(candidates) == [pytest.approx(f, rel=1e-15)]
