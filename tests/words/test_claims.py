"""Claims of sentences."""

from __future__ import annotations

import pytest

from vifidel_eval.kernels.grounding import Grounding
from vifidel_eval.words.claims import read_sentences
from vifidel_eval.words.content_words import STOP_WORDS
from vifidel_eval.words.synonyms import class_names

UNITS = Grounding(class_names(), STOP_WORDS).units


def test_sentences_have_places_and_claims():
    text = (
        " A man rides a horse, suggesting that a race is on.\nThe mood is calm. There is no cat. "
        'It is 5,000 miles away! "Mr. Smith smiles..." '
    )
    found = read_sentences(text, UNITS)
    assert [(text[one.start : one.end], one.claims) for one in found] == [
        ("A man rides a horse, suggesting that a race is on.", True),
        ("The mood is calm.", False),
        ("There is no cat.", False),
        ("It is 5,000 miles away!", False),
        ('"Mr. Smith smiles..."', False),
    ]
    assert [(unit.category, unit.denied) for one in found for unit in one.things] == [
        ("person", False),
        ("horse", False),
        ("cat", True),
    ]


@pytest.mark.parametrize("text", ["." * 100_000 + "x", ". " * 50_000, "a." * 50_000, "," * 100_000])
def test_long_nonsense_is_read(text):
    assert len(read_sentences(text, lambda part: ())) <= 50_000
