"""Comparisons with a baseline, beside SciPy, numbers worked by hand and the other order."""

import math

import numpy as np
import pytest
from show.score_examples import scores_of

from vifidel_eval import VifidelError
from vifidel_eval.scores.comparison import Comparison, Comparisons, Pair, Standing, against, compare

pytestmark = pytest.mark.filterwarnings("ignore:.*images are too few:vifidel_eval.VifidelWarning")


def drawn(seed, **means):
    noise = np.random.default_rng(seed)
    return {name: (mean + noise.normal(0, 0.1, 60)).tolist() for name, mean in means.items()}


def test_holms_correction_is_over_the_systems_beside_the_baseline_alone():
    standing = Standing(0.5, 0.4, 0.6, 1)
    raw = {("a", "b"): 0.001, ("a", "c"): 0.02, ("a", "d"): 0.04, ("b", "c"): 0.001,
           ("b", "d"): 0.03, ("c", "d"): 0.0001}  # fmt: skip
    pairs = tuple(Pair(*names, 0.1, 0.05, 0.2, p, p, 1.0, 1.0, None) for names, p in raw.items())
    systems = dict.fromkeys("abcd", standing)
    metric = Comparison(metric="M", systems=systems, pairs=pairs, images=9, own_score=True)
    several = Comparisons(
        metrics={"M": metric}, seed=0, resamples=1000, interval_resamples=1000, level=0.95
    )
    result = against(several, "c")
    # .0001, .001 and .02, times 3, 2 and 1.
    assert {p.first: p.randomisation_holm for p in result.metrics["M"].pairs} == {
        "a": pytest.approx(0.02), "b": pytest.approx(0.002), "d": pytest.approx(0.0003),
    }  # fmt: skip
    assert {p.first: p.winner for p in result.metrics["M"].pairs} == {"a": "a", "b": "b", "d": "c"}
    assert {p.first: (p.difference, p.low, p.high) for p in result.metrics["M"].pairs} == {
        "a": (0.1, 0.05, 0.2), "b": (0.1, 0.05, 0.2), "d": (-0.1, -0.2, -0.05),
    }  # fmt: skip


def test_no_difference_is_no_minus_zero():
    same = {"a": [0.25, 0.5], "b": [0.25, 0.5]}
    (pair,) = against(compare(scores_of(same)), "a").metrics["M"].pairs
    assert [math.copysign(1, n) for n in (pair.difference, pair.low, pair.high)] == [1, 1, 1]


def test_a_baseline_again_is_the_same_and_another_one_is_refused():
    result = against(compare(scores_of(drawn(4, a=0.5, b=0.6, c=0.7))), "b")
    assert against(result, "b") == result
    assert result.to_json()["baseline"] == "b"
    with pytest.raises(VifidelError, match="is with 'b' alone: compare again for the baseline 'a'"):
        against(result, "a")


def test_a_wrong_baseline_is_one_sentence():
    result = compare(scores_of(drawn(5, careful=0.5, base=0.6)))
    with pytest.raises(VifidelError, match=r"no system 'bse'. Did you mean 'base'\? The systems"):
        against(result, "bse")
    with pytest.raises(VifidelError, match="'a' is the only system, and there is nothing to comp"):
        against(compare(scores_of({"a": [0.5, 0.25]})), "a")
