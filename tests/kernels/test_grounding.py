"""Evidence, and verdicts by cosines that are read off."""

import math

import pytest

from vifidel_eval.annotations import ObjectLabels
from vifidel_eval.annotations.categories import read_declared
from vifidel_eval.kernels.grounding import Grounding
from vifidel_eval.kernels.known import Verdict
from vifidel_eval.kernels.lexicon import Lexicon
from vifidel_eval.words.synonyms import ClassList
from vifidel_eval.words.word_vectors import load_vectors

# Cosines: puppy .9, wolf .6 and fox .3 to dog; hot dog .8 to dog; traffic light .6 to traffic.
VECTORS = {
    "dog": [1, 0, 0, 0],
    "puppy": [0.9, math.sqrt(0.19), 0, 0],
    "wolf": [0.6, 0.8, 0, 0],
    "fox": [0.3, math.sqrt(0.91), 0, 0],
    "hot_dog": [0.8, -0.6, 0, 0],
    "traffic": [0, 0, 1, 0],
    "traffic_light": [0, 0, 0.6, 0.8],
    "large": [0, 0, 0, -1],
}
THINGS = ClassList(
    "small", (("dog", "puppy"), ("wolf",), ("fox",), ("hot dog",), ("traffic light",), ("unheard",))
)
THERE, ABSENT, UNCONFIRMED = Verdict.THERE, Verdict.ABSENT, Verdict.UNCONFIRMED


@pytest.fixture
def lexicon(make_vectors):
    return Lexicon(load_vectors(make_vectors(VECTORS)), True, {"a"})


def grounded(
    lexicon,
    caption,
    labels=(),
    references=(),
    objects=None,
    threshold=0.4,
    asked=None,
    looked_for=None,
):
    grounding = Grounding(THINGS, {"a"}, objects, read_declared(looked_for))
    asked = None if asked is None else [frozenset([*labels, *asked])]
    evidence = grounding.evidence(lexicon, [dict.fromkeys(labels, 1)], [list(references)], asked)
    [result] = grounding.judged(lexicon, [caption], evidence, threshold)
    return [(m.words, m.supported_by, round(m.support, 6), m.verdict) for m in result]


@pytest.mark.parametrize(
    ("caption", "labels", "references", "expected"),
    [
        # "large" is no label of COCO or VOC, and everything was looked for.
        ("a puppy", ["dog", "large"], [], ("puppy", "dog", 0.9, THERE)),
        ("a fox", ["dog", "large"], [], ("fox", "dog", 0.3, ABSENT)),
        ("a fox", ["dog"], [], ("fox", "dog", 0.3, UNCONFIRMED)),
        # References only say that more is there.
        ("a fox", ["dog"], ["large"], ("fox", "dog", 0.3, UNCONFIRMED)),
        ("a fox", ["dog"], ["a fox"], ("fox", "fox", 1.0, THERE)),
        ("a fox", [], ["large"], ("fox", None, 0.0, ABSENT)),
        ("a fox", [], ["a fox"], ("fox", "fox", 1.0, THERE)),
        # A dog and a hot dog share a word alone, for labels as for references.
        ("a dog", ["hot dog"], [], ("dog", "hot dog", 0.8, ABSENT)),
        ("hot dogs", ["dog", "large"], [], ("hot dogs", "dog", 0.8, ABSENT)),
        ("hot dogs", [], ["a dog"], ("hot dogs", "dog", 0.8, ABSENT)),
        # Of what was looked for, names decide, and nothing that is near.
        ("a wolf", ["dog", "large"], [], ("wolf", "dog", 0.6, ABSENT)),
        ("a wolf", ["unheard"], ["a dog"], ("wolf", "dog", 0.6, THERE)),
        # Traffic is near in meaning to a traffic light and says nothing of there being one.
        ("a traffic light", ["large"], ["traffic"], ("traffic light", "traffic", 0.6, ABSENT)),
        # No vector: the class decides; references need not name what they are about.
        ("an unheard", ["unheard"], [], ("unheard", "unheard", 1.0, THERE)),
        ("an unheard", ["large"], [], ("unheard", None, math.nan, ABSENT)),
        ("an unheard", [], ["large"], ("unheard", None, math.nan, UNCONFIRMED)),
        ("a wolf", [], [], ("wolf", None, math.nan, UNCONFIRMED)),
    ],
)
def test_verdicts(lexicon, caption, labels, references, expected):
    looked_for = "all" if "large" in labels else None
    [result] = grounded(lexicon, caption, labels, references, looked_for=looked_for)
    assert result == pytest.approx(expected, nan_ok=True)


@pytest.mark.parametrize(
    ("caption", "labels", "asked", "references", "expected"),
    [
        # Only what was asked can be absent, by itself or by its class.
        ("a fox", ["dog"], ["fox"], [], ("fox", None, 0.0, ABSENT)),
        ("a fox", ["dog"], ["wolf"], [], ("fox", "dog", 0.3, UNCONFIRMED)),
        ("a fox", ["dog", "large"], None, [], ("fox", "dog", 0.3, UNCONFIRMED)),
        # The answer beats cosines to other labels, of whatever size.
        ("a wolf", ["dog"], ["wolf"], [], ("wolf", None, 0.0, ABSENT)),
        ("a wolf", ["dog"], ["fox"], [], ("wolf", "dog", 0.6, UNCONFIRMED)),
        # A found member of the class beats the answer, and so do references that name one.
        ("a puppy", ["dog"], ["puppy"], [], ("puppy", "dog", 0.9, THERE)),
        ("a dog", ["puppy"], ["dog"], [], ("dog", "puppy", 0.9, THERE)),
        ("a puppy", [], ["puppy"], ["a dog"], ("puppy", "dog", 0.9, THERE)),
        # References do not deny what was not asked, and answers count beside them.
        ("a fox", [], ["wolf"], ["a dog"], ("fox", "dog", 0.3, UNCONFIRMED)),
        ("a wolf", [], ["wolf"], ["a dog"], ("wolf", None, 0.0, ABSENT)),
        # All was denied: the image is known.
        ("a wolf", [], ["wolf"], [], ("wolf", None, 0.0, ABSENT)),
        ("an unheard", [], ["unheard"], [], ("unheard", None, 0.0, ABSENT)),
        # No large dog is not no dog; a large dog is one.
        ("a dog", ["wolf"], ["large dog"], [], ("dog", "wolf", 0.6, UNCONFIRMED)),
        ("a dog", ["large dog"], ["fox"], [], ("dog", "dog", 1.0, THERE)),
        ("a dog", ["a large hot dog"], ["dog"], [], ("dog", None, 0.0, ABSENT)),
    ],
)
def test_verdicts_where_something_was_asked(lexicon, caption, labels, asked, references, expected):
    [result] = grounded(lexicon, caption, labels, references, asked=asked)
    assert result == pytest.approx(expected, nan_ok=True)


@pytest.mark.parametrize(
    ("asked", "verdicts"),
    [(["dog"], [ABSENT]), (["dog", "wolf"], [ABSENT]), (["dog", "large"], [ABSENT, ABSENT])],
)
def test_where_all_was_looked_for_stuff_is_no_mention_unless_it_was_asked(lexicon, asked, verdicts):
    things = ClassList("small", (("dog",), ("wolf",), ("large",)), stuff=frozenset({"large"}))
    grounding = Grounding(things, {"a"}, None, read_declared("all"))
    evidence = grounding.evidence(lexicon, [{"dog": 1}], [[]], [frozenset(asked)])
    [result] = grounding.judged(lexicon, ["a wolf, a large"], evidence, threshold=0.9)
    assert [mention.verdict for mention in result] == verdicts


def test_classes_that_a_source_declares_are_looked_for_in_every_image(lexicon):
    objects = ObjectLabels({1: {"dog": 1}}, "answers", "a", categories=["dog", "wolf"], asked={})
    result = grounded(lexicon, "a dog, a wolf, a fox", ["dog"], objects=objects)
    assert [mention[-1] for mention in result] == [THERE, ABSENT, UNCONFIRMED]
