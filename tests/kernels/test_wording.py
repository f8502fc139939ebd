"""Wording beside a plain implementation of its definition, and a hand-worked example."""

import math
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vifidel_eval.kernels.fidelity import LOWEST_WORDING, ReferenceWording
from vifidel_eval.words.content_words import rarity
from vifidel_eval.words.tokenization import PythonTokenizer

# Some are rare and some are not in the table.
WORDS = ["a", "the", "on", "not", "dog", "dog", "giraffe", "red", "w1", "w2"]
texts = st.lists(st.lists(st.sampled_from(WORDS), max_size=14).map(" ".join), max_size=3).map(
    "\n".join
)
rows = st.lists(st.tuples(texts, st.lists(texts, max_size=4)), min_size=1, max_size=6)


def wording(caption, references):
    return ReferenceWording([references]).score([caption])[0]


START = object()


def pairs_of(sentences, shared):
    """What the pairs of neighbours among shared words, and starts of sentences, are worth."""
    worth = Counter()
    for sentence in sentences:
        at = [(0, START), *((n, word) for n, word in enumerate(sentence, 1) if word in shared)]
        for (first, one), (second, other) in pairwise(at):
            worth[one, other] += 1 / (second - first)
    return worth


def weight(amounts):
    """Weight of words, or of pairs."""
    return sum(
        amount * sum(rarity(word) for word in words if word is not START) ** 2
        for words, amount in amounts.items()
    )


def alike(one, other):
    """Both are lists of sentences."""
    words = [Counter((w,) for sentence in text for w in sentence) for text in (one, other)]
    sets = [{word for sentence in text for word in sentence} for text in (one, other)]
    shared = pairs_of(one, sets[0] & sets[1]) & pairs_of(other, sets[0] & sets[1])
    neighbours = [pairs_of(text, own) for text, own in zip((one, other), sets, strict=True)]
    return sum(
        weight(both) / math.sqrt(math.prod(map(weight, each))) / 2
        for both, each in ((words[0] & words[1], words), (shared, neighbours))
    )


def plain(caption, references):
    sentences = [s.split() for s in caption.split("\n") if s.split()]
    their = [[s.split() for s in r.split("\n") if s.split()] for r in references]
    their = [sentences for sentences in their if sentences]
    if not their:
        return math.nan
    of_sentences = [sum(alike([s], one) for one in their) / len(their) for s in sentences]
    return LOWEST_WORDING + (1 - LOWEST_WORDING) * max(of_sentences, default=0.0)


@given(rows)
def test_equals_its_definition_and_a_row_is_its_own(rows):
    captions, references = zip(*rows, strict=True)
    found = ReferenceWording(references).score(captions)
    np.testing.assert_allclose(found, [plain(*row) for row in rows], rtol=0, atol=1e-12)
    alone = [wording(*row) for row in rows]
    np.testing.assert_array_equal(found, alone)


def test_slices_of_any_size_give_the_same(monkeypatch):
    captions = ["a dog runs. a cat sleeps", "the cat", "a dog on a bus", "the red bus. a dog"]
    wording = ReferenceWording([["a dog runs", "a cat on a bus"]] * len(captions))
    whole = wording.score(captions)
    monkeypatch.setattr("vifidel_eval.kernels.bags.PAIRS_AT_ONCE", 1)
    assert wording.score(captions).tolist() == whole.tolist()


def test_a_worked_example():
    # Rarities of unknown words are 6, a pair's 12, beside a start 6: weights 144 and 36.
    caption, reference = "xa xb xc", "xa xc xd"
    words = 2 * 36 / (3 * 36)
    # xa is first in both; xa xc is worth half here, where xb is between them, and 1 there.
    pairs = (36 + 144 / 2) / (36 + 144 + 144)
    assert wording(caption, [reference]) == pytest.approx(0.05 + 0.95 * (words + pairs) / 2)
    assert wording(caption, [reference, "xe"]) == pytest.approx(0.05 + 0.95 * (words + pairs) / 4)


def test_it_sees_order_prepositions_counts_negation_and_added_words():
    reference = "Two dogs are sitting on a red bench."
    true = wording("Two dogs are sitting on a bench.", [reference])
    for wrong in (
        "Two benches are sitting on a dog.",
        "Two dogs are sitting under a bench.",
        "Five dogs are sitting on a bench.",
        "Two dogs are not sitting on a bench.",
        "Two dogs aren't sitting on a bench.",
        "Two striped dogs are sitting on a bench.",
        "Bench a on sitting are dogs two.",
    ):
        assert wording(wrong, [reference]) < true


def test_the_nearest_sentence_counts_however_long_the_text_is():
    reference, near = "A giraffe eats leaves.", "A giraffe is eating leaves."
    once = wording(near, [reference])
    more = " The mood is calm, and the sky seems to be clear."
    for text in (f"{near} {near}", near + more * 5, f"It is dark\n{near}", f"{near}\n\nThe end"):
        assert wording(text, [reference]) == once


def test_references_without_a_word_do_not_count_and_without_one_it_is_undefined():
    reference, caption = "a giraffe", "a tall giraffe"
    assert wording(caption, [reference, "", "..."]) == wording(caption, [reference])
    found = ReferenceWording([["..."], [], [reference]]).score([caption] * 3)
    np.testing.assert_array_equal(np.isnan(found), [True, True, False])
    assert len(ReferenceWording([]).score([])) == 0


@pytest.mark.parametrize(
    "caption",
    [
        "A man isn't riding his bicycle near the fire-hydrant.",
        "It's a T-shirt, and they can't see the girls' \u201cball\u201d!",
        "Ein Mädchen trägt ein gestreiftes Hemd.",
        "Девочка держит мяч",
    ],
)
def test_a_raw_caption_and_its_tokens_are_the_same(caption):
    references = ["A man is not riding a bicycle.", "The girl's T-shirt isn't red", caption]
    tokens = PythonTokenizer().tokenize({"caption": [caption], "references": references})
    expected = wording(caption, references)
    assert wording(tokens["caption"][0], references) == expected
    assert wording(caption, tokens["references"]) == expected
