"""Grammar: what is denied, names that are no things where they stand, and how rare words are."""

from __future__ import annotations

from collections import Counter

import pytest
from adversary import said

import vifidel_eval
from vifidel_eval.kernels.grounding import Grounding
from vifidel_eval.words.content_words import STOP_WORDS
from vifidel_eval.words.english import irregular_plural
from vifidel_eval.words.grammar import VERBS
from vifidel_eval.words.synonyms import class_names

READ = Grounding(class_names(), STOP_WORDS).names(()).read
SCENE = "A man sits on a bench in a park. "
REFERENCES = ["A man is sitting on a bench.", "Someone rests in the park."]
NAMES = sorted(VERBS)


def denied(text):
    return [claim.words for claim in READ(text).claims if claim.denied]


def mentioned(text):
    return [claim.words for claim in READ(text).claims if not claim.denied]


DENIALS = """There is no zebra in the picture.|There are no zebras visible in the image.
There isn't a zebra in the scene.|There isn\u2019t any zebra|There aren't any zebras here.
There's no visible zebra at all!|There is no sign of a zebra.|The quiet place, without any zebras
With no zebra near it, it is calm.|It is free of zebras.|It is empty of zebras|It lacks a zebra.
The image does not show a zebra.|The picture doesn't contain any zebras.
It has no zebra on the left|We cannot see any zebra.|No zebra can be seen.
No zebras are visible, and it is calm.|Not a single zebra is visible.
It is calm, but there is no zebra."""


@pytest.mark.parametrize("text", DENIALS.replace("\n", "|").split("|"))
def test_a_thing_is_denied(text):
    assert len(denied(text)) == 1
    assert mentioned(text) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Neither a zebra nor a bus is visible.", ["zebra", "bus"]),
        ("It shows neither zebras nor buses.", ["zebras", "buses"]),
        ("There are no zebras, buses, or dogs.", ["zebras", "buses", "dogs"]),
        ("without zebras or a bus", ["zebras", "bus"]),
        ("There is no zebra and no bus there.", ["zebra", "bus"]),
        ("There is no zebra, and there is no bus.", ["zebra", "bus"]),
        ("There is no zebra. It has no bus.", ["zebra", "bus"]),
        # The phrase behind the cue, and nothing else.
        ("There is no zebra, a bus waits", ["zebra"]),
        ("There are no zebras and a bus waits", ["zebras"]),
        ("There is no zebra near the bus", ["zebra"]),
        ("There is no zebra in front of the bus.", ["zebra"]),
    ],
)
def test_how_far_a_denial_goes(text, expected):
    assert denied(text) == expected
    assert len(mentioned(text)) == sum(text.count(name) for name in ("zebra", "bus", "dog")) - len(
        expected
    )


def test_of_others_nothing_is_said():
    # There may be one, so that it is no wrong denial.
    for text in ("There are no other dogs.", "A dog and no other dogs", "no more dogs, a dog"):
        assert denied(text) == []
        assert len(mentioned(text)) == text.count("dog") - 1


@pytest.mark.parametrize("references", [None, REFERENCES])
@pytest.mark.parametrize("before", ["", SCENE])
@pytest.mark.filterwarnings("ignore::vifidel_eval.VifidelWarning")
def test_an_adversary_hides_nothing(before, references):
    # Each way with a thing, in turn.
    ways = [way for at, way in enumerate(said(before)) if at % 7 == at // 7 % 7]
    captions = {number: way.text for number, way in enumerate(ways)}
    run = vifidel_eval.evaluate(
        {"adversary": captions},
        references and dict.fromkeys(captions, references[:]),
        {number: {"person": 1, "bench": 1} for number in captions},
        metrics="VIFIDEL-H",
        looked_for="coco",
        progress=False,
    )
    class_of = class_names().class_of  # inventions have the names of what was looked for
    result = {(row.image_id, class_of[row.category]) for row in run.inventions()}
    hidden = Counter(
        way.way for number, way in enumerate(ways) if (number, class_of[way.thing]) not in result
    )
    assert not hidden


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
def test_what_somebody_does_is_no_thing(text, number):
    for name in NAMES:
        if name.endswith("ing"):  # such as *building*: a form of a verb of its own
            continue
        plural = irregular_plural(name) or f"{name}s"
        claims = READ(text.format(b=name, s=plural)).claims
        category = class_names().class_of[name]
        own = [c for c in claims if c.category == category and c.words in (name, plural)]
        assert len(own) == sum(number), name


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("while a dog watches", []),
        ("A cat lounges on a bed while others watch.", []),
        ("Two kids are building a sand castle", []),
        ("A man looks at the camera and poses for the camera.", []),
        ("A man holds the camera", ["camera"]),
        ("onion rings on a plate, trains and buses", ["ring", "train", "bus"]),
        ("a crowd watches a couple of skis", ["crowd", "ski"]),
    ],
)
def test_verbs_and_idioms_are_no_things(text, found):
    others = {"person", "dog", "cat", "bed", "plate", "onion", "sand", "castle", None}
    assert [p.category for p in READ(text).claims if p.category not in others] == found
