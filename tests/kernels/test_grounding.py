"""Evidence and verdicts by cosines that are read off, and the standing of words and objects."""

import math
import pickle

import numpy as np
import pytest

from vifidel_eval.annotations import read_objects
from vifidel_eval.kernels.bags import bags_of_captions, bags_of_labels
from vifidel_eval.kernels.grounding import Grounding
from vifidel_eval.kernels.lexicon import Lexicon
from vifidel_eval.kernels.standing import are_mentioned, standings, supports
from vifidel_eval.kernels.support import NOTHING
from vifidel_eval.things.grounded import Verdict
from vifidel_eval.things.synonyms import ClassList
from vifidel_eval.vectors import load_vectors

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
    "small",
    (("dog", "puppy"), ("wolf",), ("fox",), ("hot dog",), ("traffic light",), ("unheard",)),
)
THERE, ABSENT, NOT_JUDGED = Verdict.THERE, Verdict.ABSENT, Verdict.NOT_JUDGED


@pytest.fixture
def lexicon(make_vectors):
    return Lexicon(load_vectors(make_vectors(VECTORS)), True, {"a"})


def grounded(lexicon, caption, labels=(), references=(), objects=None, threshold=0.4):
    grounding = Grounding(THINGS, {"a"}, objects)
    evidence = grounding.evidence(lexicon, [dict.fromkeys(labels, 1)], [list(references)])
    found = grounding.mentions(lexicon, [caption], evidence, threshold)
    return [(m.words, m.supported_by, round(m.support, 6), m.verdict) for m in found]


@pytest.mark.parametrize(
    ("caption", "labels", "references", "expected"),
    [
        # "large" is no label of COCO or VOC: such a source looks for everything.
        ("a puppy", ["dog", "large"], [], ("puppy", "dog", 0.9, THERE)),
        ("a fox", ["dog", "large"], [], ("fox", "dog", 0.3, ABSENT)),
        ("a fox", ["dog"], [], ("fox", "dog", 0.3, NOT_JUDGED)),
        ("a fox", ["dog"], ["large"], ("fox", "dog", 0.3, ABSENT)),
        ("a fox", [], ["a fox"], ("fox", "fox", 1.0, THERE)),
        # A hot dog never supports a dog, nor a dog a hot dog.
        ("a dog", ["hot dog"], [], ("dog", None, 0.0, ABSENT)),
        ("hot dogs", ["dog", "large"], [], ("hot dogs", None, 0.0, ABSENT)),
        # Traffic is near in meaning to a traffic light and says nothing of there being one.
        ("a traffic light", ["large"], ["traffic"], ("traffic light", "traffic", 0.6, ABSENT)),
        # No vector: the class decides, or nothing.
        ("an unheard", ["unheard"], [], ("unheard", "unheard", 1.0, THERE)),
        ("an unheard", ["large"], [], ("unheard", None, math.nan, NOT_JUDGED)),
        ("a wolf", [], [], ("wolf", None, math.nan, NOT_JUDGED)),
    ],
)
def test_verdicts(lexicon, caption, labels, references, expected):
    [found] = grounded(lexicon, caption, labels, references)
    assert found == pytest.approx(expected, nan_ok=True)


def test_the_class_of_the_evidence_decides_below_the_threshold(lexicon):
    [found] = grounded(lexicon, "a puppy", ["dog", "large"], threshold=0.95)
    assert found == ("puppy", "dog", 0.9, THERE)
    [found] = grounded(lexicon, "a wolf", ["dog", "large"], threshold=0.95)
    assert found == ("wolf", "dog", 0.6, ABSENT)


def test_a_source_looks_for_what_it_declares_or_for_a_closed_set(lexicon):
    # The row alone could be COCO's; the file is not.
    whole = read_objects({1: ["dog"], 2: ["large"]})
    assert grounded(lexicon, "a wolf", ["dog"], objects=whole, threshold=0.9)[0][-1] == ABSENT
    assert grounded(lexicon, "a wolf", ["dog"], threshold=0.9)[0][-1] == NOT_JUDGED
    declared = read_objects(
        {
            "images": [{"id": 1}],
            "annotations": [{"image_id": 1, "category_id": 1}],
            "categories": [{"id": 1, "name": "dog"}, {"id": 2, "name": "wolf"}],
        }
    )
    found = grounded(lexicon, "a wolf, a fox", ["dog"], objects=declared, threshold=0.9)
    assert [mention[-1] for mention in found] == [ABSENT, NOT_JUDGED]


def test_it_pickles_as_its_settings(lexicon):
    grounding = Grounding(THINGS, {"a"}, read_objects({1: ["dog"]}))
    grounding.units("a dog")
    again = pickle.loads(pickle.dumps(grounding))
    assert again.units("a hot dog") == grounding.units("a hot dog")
    assert len(pickle.dumps(grounding)) < 2000


def test_words_and_objects_stand_as_the_mentions_do(lexicon):
    grounding = Grounding(THINGS, {"a"})
    captions, labels = ["a large puppy, a puppy", "", "a fox"], ["dog", "traffic light", "large"]
    rows = [dict.fromkeys(labels, 1)] * 3
    evidence = grounding.evidence(lexicon, rows, [[]] * 3)
    mentions = grounding.mentions(lexicon, captions, evidence)
    words, _ = bags_of_captions(lexicon, captions)
    standing = standings(lexicon, words, evidence, mentions)
    names = [lexicon.word(atom) for atom in words.atoms.tolist()]
    assert names == ["large", "puppy", "fox"]
    assert standing.mentions.tolist() == [NOTHING, 0, 2]  # of equals the first
    assert standing.support == pytest.approx([1.0, 0.9, 0.3], abs=1e-6)
    assert [lexicon.word(n) if n != NOTHING else None for n in standing.by.tolist()] == [
        "large",
        None,
        None,
    ]
    objects, _ = bags_of_labels(lexicon, rows)
    mentioned = are_mentioned(grounding, lexicon, objects, words, mentions, far=0.5)
    assert mentioned.reshape(3, 3).tolist() == [  # dog, large, traffic light
        [True, True, False],
        [False, False, False],
        [False, False, False],
    ]
    told = supports(grounding, lexicon, captions, evidence)
    assert [[(unit.text, by) for unit, _, by in of_row] for of_row in told] == [
        [("large", "large"), ("puppy", "dog"), ("puppy", "dog")],
        [],
        [("fox", "dog")],
    ]
    assert np.concatenate([[s for _, s, _ in of_row] for of_row in told]) == pytest.approx(
        [1.0, 0.9, 0.9, 0.3], abs=1e-6
    )
