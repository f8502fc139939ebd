import math

import numpy as np
import pytest
from fake_scorer import FakeScorer

from vifidel_eval import VifidelError
from vifidel_eval.captions.rows import coco_rows
from vifidel_eval.evaluation import Column
from vifidel_eval.scorers import Mean
from vifidel_eval.scores.alignment import System, align
from vifidel_eval.scores.systems import score_aligned

NAN = math.nan


def fixed(name, factor=1.0, lower_is_better=False):
    """Return a metric that gives each caption the number that it consists of, times a factor."""
    return FakeScorer(
        name,
        lambda caption, _: factor * float(caption),
        columns=[Column(name, lower_is_better)],
        signature=f"{name}|factor:{factor:g}",
    )


def captions(*scores):
    return {i: [str(score)] for i, score in enumerate(scores)}


def test_plain_mean_image_by_image():
    mean = Mean(fixed("A"), fixed("B", factor=3))
    res = captions(0.5, 1.0, "nan")
    score, scores = mean.compute_score(res, res)
    np.testing.assert_array_equal(scores, [1.0, 2.0, NAN])
    assert score == 1.5
    assert mean.method() == "A+B"
    assert mean.signature() == "A+B|scaled:no|(A|factor:1) + (B|factor:3)"
    evaluation = mean.evaluate(coco_rows(res, res))["A+B"]
    assert evaluation.counts == {"undefined": 1}
    # Metrics of others do not say themselves how captions are read.
    parts = "(A|factor:1|captions:answers-1) + (B|factor:3|captions:answers-1)"
    assert evaluation.signature == f"A+B|scaled:no|{parts}"


def test_scaled_to_the_run():
    # A runs from 0 to 4 over both systems, B = 10 A from 0 to 40: both scale to a quarter of A.
    mean = Mean(fixed("A"), fixed("B", factor=10), scaled=True)
    systems = [
        System("x", {i: c for i, (c,) in captions(0, 1, 2).items()}),
        System("y", {i: c for i, (c,) in captions(2, 4, "nan").items()}),
    ]
    evaluations = score_aligned(align(systems), {"A+B": mean}).evaluations
    np.testing.assert_allclose(evaluations["x"]["A+B"].scores, [0, 0.25, 0.5])
    np.testing.assert_allclose(evaluations["y"]["A+B"].scores, [0.5, 1.0, NAN])


def test_an_undefined_score_becomes_what_the_constructor_says():
    systems = [System("x", {0: "1", 1: "nan"})]
    mean = Mean(fixed("A"), fixed("B"), undefined=0.0)
    assert mean.signature() == "A+B|scaled:no|undefined:0|(A|factor:1) + (B|factor:1)"
    of_run = score_aligned(align(systems), {"A+B": mean}).evaluations["x"]["A+B"]
    res = captions(1, "nan")
    for evaluation in (of_run, mean.evaluate(coco_rows(res, res))["A+B"]):
        assert evaluation.scores.tolist() == [1.0, 0.0]
        assert evaluation.undefined == 1


def test_one_metric_is_no_combination():
    with pytest.raises(VifidelError, match="at least two"):
        Mean(fixed("A"))
    with pytest.raises(VifidelError, match=r"Mean: parts must be Scorer, not \('A', 'B'\)"):
        Mean("A", "B")


def test_a_metric_where_lower_is_better_is_no_part():
    with pytest.raises(VifidelError, match="B cannot be part of a combination: lower is better"):
        Mean(fixed("A"), fixed("B", lower_is_better=True))


def test_each_part_judges_the_run():
    class Judging(FakeScorer):
        def judge(self, evaluations):
            raise VifidelError(f"{self.method()}: {[e.scores.tolist() for e in evaluations]}")

    mean = Mean(fixed("A"), Judging("B", lambda *_: 7.0))
    with pytest.raises(VifidelError, match=r"B: \[\[7\.0, 7\.0\]\]"):
        mean.compute_score(captions(1, 2), captions(1, 2))
    assert mean.score(["1", "2"]).tolist() == [4.0, 4.5]  # rows may be a part of a run
