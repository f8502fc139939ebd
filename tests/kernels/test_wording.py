"""Wording beside a plain implementation of its definition, and a hand-worked example."""

import numpy as np
import pytest

from vifidel_eval.kernels.fidelity import ReferenceWording
from vifidel_eval.words.tokenization import PythonTokenizer


def wording(caption, references):
    return ReferenceWording([references]).score([caption])[0]


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
    result = ReferenceWording([["..."], [], [reference]]).score([caption] * 3)
    np.testing.assert_array_equal(np.isnan(result), [True, True, False])
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
