"""Claims: sentences, and evidence that supports and denies what they say."""

from __future__ import annotations

import pytest

from vifidel_eval.kernels.grounding import Grounding
from vifidel_eval.scorers import VifidelPRF
from vifidel_eval.words.content_words import STOP_WORDS
from vifidel_eval.words.synonyms import class_names

READ = Grounding(class_names(), STOP_WORDS).names(()).read


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ("A cat food bowl near a cat", ["bowl", "cat"]),
        ("A dog. (no Hot-Dogs!) Two\n**hot**  dogs", ["dog", "Hot-Dogs", "dogs"]),
        (
            "The dog\u2019s \u201cball\u201d <b>bears</b> &amp; a cat",
            ["dog", "ball", "bears", "cat"],
        ),
        ("\u0130 dog", ["dog"]),
        # Spelled otherwise: all of the text, without the blanks around it.
        ("  two \uff43ats, a \uff44\uff4f\uff47 ", ["two \uff43ats, a \uff44\uff4f\uff47"] * 2),
    ],
)
def test_claims_know_where_they_are(text, places):
    assert [text[claim.start : claim.end] for claim in READ(text).claims] == places


def p_of(captions, objects, references=None):
    scorer = VifidelPRF(references=references is not None)
    references = None if references is None else [references] * len(captions)
    objects = [objects] * len(captions)
    columns = scorer.score_columns(captions, objects=objects, references=references)
    return columns["VIFIDEL-P"].round(2).tolist()


def test_scored_are_sentences_with_a_thing_or_a_word_of_the_evidence():
    texts = [
        "A dog.",
        "A dog. The mood is calm.",  # no word of the evidence: prose
        "A dog. It runs and jumps.",  # the references run, and nobody jumps
        "A dog. It jumps, though there is no cat.",
    ]
    true, prose, scored, denial = p_of(texts, ["dog"], ["the dog runs"])
    assert true == prose == denial == 1
    assert scored < 1
    # A thing that nothing supports counts, and so do the words of its sentence.
    texts = ["A dog. A zebra.", "A dog. A zebra gallops wildly."]
    named, described = p_of(texts, ["dog"], ["the dog runs"])
    assert described < named < 1


def test_a_hot_dog_is_no_dog():
    captions = ["a hot dog", "a dog", "a dog eats a hot dog"]
    scorer = VifidelPRF()
    for objects, p in ((["dog"], [0, 1, 0]), (["hot dog"], [1, 0, 1]), (["car"], [0, 0, 0])):
        result = scorer.score_columns(captions, objects=[objects] * 3)["VIFIDEL-P"]
        assert [round(x) for x in result] == p
    # References name a hot dog too, and their words a dog; but a hot dog is none.
    for references, p in (
        (["the dog runs"], [0, 1]),
        (["the dog runs on a hot day"], [0, 1]),
        (["the hot dog on a plate"], [1, 0]),
        (["the hot dog on a plate", "dogs"], [1, 1]),
    ):
        assert [round(x) for x in p_of(captions[:2], ["car"], references)] == p


def test_a_word_that_describes_a_term_does_not_support_it():
    # Traffic is no traffic light, so that labels deny the latter.
    text = "traffic and a traffic light"
    scorer = VifidelPRF()
    scores = [
        scorer.score_columns([text], objects=[["car"]], references=[references])["VIFIDEL-F"][0]
        for references in (["dense traffic"], ["dense traffic", "a traffic light"])
    ]
    assert scores[0] < 0.9 * scores[1]


@pytest.mark.parametrize(
    ("caption", "objects", "references", "p"),
    [
        # A kind fits, and is denied where it was looked for what it is: K = .7, and p = .01.
        ("a pony", ["horse"], None, 1),
        ("a pony", ["car"], None, 0.01),
        ("a bike", ["motorcycle"], None, 1),
        ("a bicycle", ["motorcycle"], None, 0.01),
        ("an animal", ["dog"], None, 1),
        ("an animal", ["car"], None, 0.5),  # of which nobody knows
        # What may be one fits, and is never denied.
        ("a desk", ["dining table"], None, 1),
        ("a desk", ["car"], None, 0.5),
        # An adult is a person's, or of any animal.
        ("an adult", ["elephant"], None, 1),
        ("an adult", ["car"], None, 0.01),
        # Of what was looked for, no word that is near decides.
        ("a car", ["carrot", "bowl"], None, 0.01),
        ("a toilet", ["sink"], ["a bathroom"], 0.01),
    ],
)
def test_names_and_kinds_decide_about_what_was_looked_for(caption, objects, references, p):
    assert p_of([caption], objects, references) == [pytest.approx(p, abs=0.01)]
