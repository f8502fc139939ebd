"""Claims: sentences, and evidence that supports and denies what they say."""

from __future__ import annotations

from vifidel_eval.kernels.claims import read_sentences
from vifidel_eval.kernels.grounding import Grounding
from vifidel_eval.scorers import VifidelPRF
from vifidel_eval.words.content_words import STOP_WORDS
from vifidel_eval.words.synonyms import class_names

UNITS = Grounding(class_names(), STOP_WORDS).names(()).units


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


def test_a_hot_dog_is_no_dog():
    captions = ["a hot dog", "a dog", "a dog eats a hot dog"]
    scorer = VifidelPRF()
    for objects, p in ((["dog"], [0, 1, 1]), (["hot dog"], [1, 0, 1]), (["car"], [0, 0, 0])):
        found = scorer.score_columns(captions, objects=[objects] * 3)["VIFIDEL-P"]
        assert [round(x) for x in found] == p
    # By references too, whose words are *hot* and *dog*; a term of theirs is no dog either.
    for references, p in (
        (["the dog runs"], [0, 1]),
        (["the dog runs on a hot day"], [0, 1]),
        (["the hot dog on a plate"], [1, 0]),
        (["the hot dog on a plate", "dogs"], [1, 1]),
    ):
        found = scorer.score_columns(captions[:2], references=[references] * 2)["VIFIDEL-P"]
        assert [round(x) for x in found] == p


def test_a_word_that_describes_a_term_does_not_support_it():
    # Traffic is no traffic light, so that labels deny the latter.
    text = "traffic and a traffic light"
    scorer = VifidelPRF()
    scores = [
        scorer.score_columns([text], objects=[["car"]], references=[references])["VIFIDEL-F"][0]
        for references in (["dense traffic"], ["dense traffic", "a traffic light"])
    ]
    assert scores[0] < 0.9 * scores[1]


def test_labels_do_not_deny_a_bike_that_may_be_a_motorcycle():
    scorer = VifidelPRF(references=False)
    captions = ["two bikes", "a bicycle", "a motorcycle"]
    p = scorer.score_columns(captions, objects=[["motorcycle"]] * 3)["VIFIDEL-P"]
    assert p[0] == 0.5  # nothing that can be judged
    assert p[1] < 0.1
    assert p[2] == 1
