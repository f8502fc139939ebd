"""Claims of sentences."""

from __future__ import annotations

import pytest

from vifidel_eval.kernels.grounding import Grounding
from vifidel_eval.text.words import STOP_WORDS
from vifidel_eval.things.claims import read_sentences
from vifidel_eval.things.synonyms import class_names

UNITS = Grounding(class_names(), STOP_WORDS).units


def read(text):
    return [
        (
            text[sentence.start : sentence.end],
            [text[start:end] for start, end in sentence.hedged],
            sentence.claims,
        )
        for sentence in read_sentences(text, UNITS)
    ]


def test_sentences_have_places_hedges_and_claims():
    text = (
        " A man rides a horse, suggesting that a race is on.\nThe mood is calm, and a dog runs. "
        'It is 5,000 miles away! "Mr. Smith smiles..." '
    )
    assert read(text) == [
        (
            "A man rides a horse, suggesting that a race is on.",
            ["suggesting that a race is on."],
            True,
        ),
        ("The mood is calm, and a dog runs.", ["The mood is calm,"], True),
        ("It is 5,000 miles away!", [], False),
        ('"Mr. Smith smiles..."', [], False),
    ]


def test_hedged_mentions_are_no_units():
    (sentence,) = read_sentences("A dog sleeps; perhaps a cat is near (it may be a kitten).", UNITS)
    assert [unit.category for unit in sentence.mentions] == ["dog"]
    assert len(sentence.hedged) == 2


@pytest.mark.parametrize(
    ("text", "hedged"),
    [
        ("MAYBE a dog", ["MAYBE a dog"]),
        ("a maybellene shop", []),  # a word is whole
        ("a may-pole", []),
        ("a man -- perhaps a pilot -- waves", ["perhaps a pilot --"]),
        ("He rides as  if\nhe were late", ["as  if"]),  # a line ends a sentence
        ("He rides as  if he were late, a dog behind", ["as  if he were late, a dog behind"]),
        ("\u0130\u0130 perhaps a dog", ["\u0130\u0130 perhaps a dog"]),
        ("there is no dog, a cat", ["there is no dog,"]),
        ("", []),
    ],
)
def test_which_clauses_are_hedged(text, hedged):
    assert [clause for _, clauses, _ in read(text) for clause in clauses] == hedged


@pytest.mark.parametrize("text", ["." * 100_000 + "x", ". " * 50_000, "a." * 50_000, "," * 100_000])
def test_long_nonsense_is_read(text):
    assert len(read_sentences(text, lambda part: ())) <= 50_000
