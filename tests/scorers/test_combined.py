import math

import numpy as np
import pytest

from vifidel_eval import VifidelError
from vifidel_eval.runs.harness import System, score_systems
from vifidel_eval.scorers import Evaluation, Mean, Scorer

NAN = math.nan


class Fixed(Scorer):
    """Gives each caption the score that stands in it."""

    def __init__(self, name, factor=1.0, corpus_score=None):
        self.name, self.factor, self.corpus_score = name, factor, corpus_score
        self.calls = 0

    def method(self):
        return self.name

    def signature(self):
        return f"{self.name}|factor:{self.factor}"

    def evaluate(self, gts, res, on_progress=None):
        self.calls += 1
        scores = np.array([self.factor * float(res[i][0]) for i in gts])
        return Evaluation(list(gts), scores, corpus_score=self.corpus_score)


def captions(*scores):
    return {i: [str(score)] for i, score in enumerate(scores)}


def test_plain_mean_image_by_image():
    mean = Mean(Fixed("A"), Fixed("B", factor=3, corpus_score=9.0))
    res = captions(0.5, 1.0, "nan")
    score, scores = mean.compute_score(res, res)
    np.testing.assert_array_equal(scores, [1.0, 2.0, NAN])
    assert score == 1.5
    assert mean.method() == "A+B"
    assert mean.signature() == "A+B|scaled:no|(A|factor:1.0) + (B|factor:3)"


def test_scaled_to_the_run():
    # A runs from 0 to 4 over both systems, B = 10 A from 0 to 40: both scale to a quarter of A.
    mean = Mean(Fixed("A"), Fixed("B", factor=10), scaled=True)
    systems = [
        System("x", {i: c for i, (c,) in captions(0, 1, 2).items()}),
        System("y", {i: c for i, (c,) in captions(2, 4, "nan").items()}),
    ]
    evaluations = score_systems(systems, {"A+B": mean}).evaluations
    np.testing.assert_allclose(evaluations["x"]["A+B"].scores, [0, 0.25, 0.5])
    np.testing.assert_allclose(evaluations["y"]["A+B"].scores, [0.5, 1.0, NAN])


def test_scores_that_are_all_the_same_scale_to_zero():
    res = captions(2, 2)
    scores = Mean(Fixed("A"), Fixed("B", 0), scaled=True).compute_score(res, res)[1]
    assert scores.tolist() == [0.0, 0.0]


def test_a_part_is_computed_once_a_system_whatever_it_is_part_of():
    a, b = Fixed("A"), Fixed("B")
    scorers = {"A": a, "A+B": Mean(a, b), "B+A": Mean(b, a)}
    scores = score_systems([System("x", {1: "1"}), System("y", {1: "2"})], scorers)
    assert (a.calls, b.calls) == (2, 2)
    assert list(scores.evaluations["x"]) == ["A", "A+B", "B+A"]


def test_one_metric_is_no_combination():
    with pytest.raises(VifidelError, match="at least two"):
        Mean(Fixed("A"))
