"""Scores of rows by `score_columns`, which makes nothing else, beside those of an evaluation."""

import numpy as np
import pytest

from vifidel_eval.scorers import Vifidel, VifidelD, VifidelH, VifidelPRF, Wmd

CAPTIONS = [
    "A dog catches a frisbee on the beach. It seems that a train is late.",
    "two cats and a zebra on a red couch",
    "",
    "a hot dog",
    "so it is",
    "a man rides a horse, and the man waves",
]
OBJECTS = [
    {"dog": 1, "frisbee": 2, "person": 0},
    ["cat", "cat", "couch"],
    ["dog"],
    [],
    {"dog": 0},
    ["person", "red horse"],
]
REFERENCES = [
    ["a dog jumps for a frisbee", "a brown dog"],
    ["cats sleep on a sofa"],
    ["a dog"],
    ["a man eats"],
    [],
    ["a rider on a horse", "..."],
]


SCORERS = [
    Vifidel(),
    Vifidel(counts=False, p=1, undefined=0),
    VifidelPRF(),
    VifidelH(),
    VifidelH(undefined=0.5),
    VifidelD(),
]
CASES = [
    *((scorer, REFERENCES) for scorer in (*SCORERS, Wmd(), Wmd("mean"))),
    *((scorer, None) for scorer in SCORERS),
]


@pytest.mark.parametrize(("scorer", "references"), CASES)
def test_the_same_bits_as_an_evaluation_together_and_alone(scorer, references):
    rows = scorer.rows(CAPTIONS, objects=OBJECTS, references=references)
    expected = {name: found.scores for name, found in scorer.evaluate(rows).items()}
    together = scorer.score_columns(CAPTIONS, objects=OBJECTS, references=references)
    assert together.keys() == expected.keys()
    for name, scores in together.items():
        assert np.array_equal(scores, expected[name], equal_nan=True)
    for at, caption in enumerate(CAPTIONS):
        alone = scorer.score_columns(
            [caption],
            objects=[OBJECTS[at]],
            references=None if references is None else [references[at]],
        )
        for name, (score,) in alone.items():
            assert np.array_equal(score, expected[name][at], equal_nan=True)
