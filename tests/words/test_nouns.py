"""Nouns: names that are no things where they stand, and how rare words are."""

from __future__ import annotations

import math

import pytest

from vifidel_eval.kernels.grounding import Grounding
from vifidel_eval.words.content_words import STOP_WORDS
from vifidel_eval.words.english import irregular_plural
from vifidel_eval.words.nouns import _VERBS, LARGEST_RARITY, rarity
from vifidel_eval.words.synonyms import class_names

UNITS = Grounding(class_names(), STOP_WORDS).units
NAMES = sorted(_VERBS)


def test_every_verb_is_the_name_of_a_thing():
    assert {name for name in NAMES if name not in class_names().class_of} == set()


# A name such as *building* is a form of a verb of its own.
@pytest.mark.parametrize("name", [name for name in NAMES if not name.endswith("ing")])
@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("A dog {s} the {s} by a man", [False, True]),
        ("They {b} it", [False]),
        ("A man can {b} here", [False]),
        ("People want to {b} the grass", [False]),
        ("Dogs {b} the grass", [False]),
        ("A man sits and {s} the sea", [False]),
        ("man on {b}", [True]),
        ("man riding {b}", [True]),
        ("{s} and friends", [True]),
        ("next to {b} and a dog", [True]),
        ("with {s} on it", [True]),
        ("a {b} stands there", [True]),
    ],
)
def test_what_somebody_does_is_no_thing(name, text, number):
    plural = irregular_plural(name) or f"{name}s"
    units = UNITS(text.format(b=name, s=plural))
    category = class_names().class_of[name]
    own = [u for u in units if u.category == category and u.words in (name, plural)]
    assert len(own) == sum(number)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("while a dog watches", []),
        ("A cat lounges on a bed while others watch.", []),
        ("Two kids are building a sand castle", []),
        ("A man looks at the camera and poses for the camera.", []),
        ("A man holds the camera", ["camera"]),
        ("onion rings on a plate, trains and buses", ["ring", "train", "bus"]),
        ("a crowd watches a couple of skis", ["ski"]),
    ],
)
def test_verbs_and_idioms_are_no_things(text, found):
    others = {"person", "dog", "cat", "bed", "plate", "onion", "sand", "castle", None}
    assert [u.category for u in UNITS(text) if u.category not in others] == found


def test_rare_words_weigh_more():
    # 1 065 of 4 955 images have a man in a caption.
    assert rarity("man") == pytest.approx(math.log(4955 / 1065))
    assert rarity("man") < rarity("giraffe") < rarity("saxophone") == LARGEST_RARITY == 6
