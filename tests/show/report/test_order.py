import dataclasses
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import pearsonr, rankdata, spearmanr

from vifidel_eval.scores.scores import Scores
from vifidel_eval.show.report.content import image_data
from vifidel_eval.show.report.overview import (
    Order,
    correlations,
    metrics_apart,
    percentile_ranks,
    systems_apart,
)

NAN = math.nan


@given(arrays(np.float64, (2, 9), elements=st.sampled_from([0.0, 0.25, 0.5, 1.0, NAN])))
def test_percentile_ranks_are_scipys_average_ranks(scores):
    defined = scores[~np.isnan(scores)]
    ranks = percentile_ranks(scores)
    # rankdata counts from 1, a percentile rank takes half of a score's own place.
    expected = (rankdata(defined) - 0.5) / max(len(defined), 1)
    assert ranks[~np.isnan(scores)] == pytest.approx(expected)
    assert np.isnan(ranks[np.isnan(scores)]).all()


def test_systems_lie_apart_by_the_median_distance_from_their_median():
    two = np.array([[0.5, NAN, 0.75, NAN], [0.25, 1.0, 0.75, NAN]])
    assert systems_apart(two) == pytest.approx([0.25, NAN, 0.0, NAN], nan_ok=True)
    # The medians are .5, .75 and (.2 + .4) / 2; the middle distances .25, .05 and (.1 + .1) / 2.
    scores = np.array([[0.5, 0.75, 0.2], [0.25, 0.8, 0.4], [1.0, 0.0, NAN]])
    assert systems_apart(scores) == pytest.approx([0.5, 0.1, 0.2])
    four = np.array([[0.0], [0.78], [0.8], [0.9]])  # median .79; distances .01, .01, .11, .79
    assert systems_apart(four) == pytest.approx([0.12])


def scipys(one, other, of):
    """Return SciPy's correlation of those that both have; NaN where there is none."""
    both = ~np.isnan(one) & ~np.isnan(other)
    if both.sum() < 2 or any(len(set(scores[both])) < 2 for scores in (one, other)):
        return NAN
    return of(one[both], other[both]).statistic


@given(arrays(np.float64, (2, 9), elements=st.sampled_from([0.0, 0.25, 0.5, 1.0, NAN])))
def test_correlations_are_scipys(scores):
    found = correlations(scores)[0, 1]
    expected = [scipys(*scores, of) for of in (pearsonr, spearmanr)]
    assert found == pytest.approx(np.array(expected), abs=1e-9, nan_ok=True)


def test_metrics_are_correlated_by_system_and_over_all():
    scores = np.random.default_rng(7).normal(size=(2, 3, 60)).round(1)
    lower = [False, True, False]
    order = Order({"lowerIsBetter": lower, "scores": scores.tolist()})
    *of_systems, of_all = order.fits
    assert np.array(of_systems) == pytest.approx(np.array([*map(correlations, scores)]))
    together = [scores[:, metric].ravel() for metric in range(3)]
    for place, of in enumerate((pearsonr, spearmanr)):
        assert of_all[0, 1, place] == pytest.approx(scipys(*together[:2], of), abs=1e-9)
    assert order.ranks_agree[0] == pytest.approx(of_all[0, :, 1] * [1, -1, 1])
    assert order.ranks_agree[1] == pytest.approx(of_all[1, :, 1] * [-1, 1, -1])


def test_the_second_metric_is_the_one_that_agrees_least():
    first = [0.1, 0.2, 0.3, 0.4]
    data = {
        "metrics": ["first", "same", "other", "mostly nothing"],
        "lowerIsBetter": [False, False, True, False],
        "scores": [[first, [1, 2, 3, 4], [4, 3, 2, 1], [0, 0, 0, 1]]],
    }
    assert Order(data).ranks_agree[0] == pytest.approx([1, 1, 1, 0.7746], abs=1e-4)
    assert Order(data).against == 1  # the third is as good, and where lower is better
    data["scores"][0][2] = [1, 2, 3, 4]
    assert Order(data).against == 2
    data["scores"] = [[first]]
    data["metrics"], data["lowerIsBetter"] = ["first"], [False]
    assert Order(data).against == 0


def test_metrics_lie_apart_by_their_ranks():
    # Four scores have the ranks .125, .375, .625, .875; five have .1, .3, .5, .7, .9.
    one = np.array([[1.0, 3.0, NAN], [2.0, 4.0, NAN]])
    other = np.array([[90.0, 10.0, 5.0], [20.0, 30.0, NAN]])
    # Image 0: .125 - .9 and .375 - .5. Image 1: .625 - .3 and .875 - .7.
    assert metrics_apart(one, other) == pytest.approx([-0.775, 0.325, NAN], nan_ok=True)


def test_first_comes_what_the_systems_disagree_on(content):
    order = Order(image_data(content))
    scores = [of_metric["VIFIDEL"].scores for of_metric in content.scores.evaluations.values()]
    spread = systems_apart(np.array(scores))
    assert sorted(order.places) == list(range(len(spread)))
    of_order = np.nan_to_num(spread[order.places], nan=-1)
    assert of_order == pytest.approx(sorted(of_order, reverse=True), abs=1e-3)


def test_one_system_is_sorted_by_the_two_metrics(make_content):
    data = image_data(make_content(images=30, systems=1))
    scores = np.array(data["scores"], dtype=float)[0]
    order = Order(data)
    sign = -1 if data["lowerIsBetter"][order.against] else 1
    expected = metrics_apart(scores[:1], sign * scores[order.against][None])
    assert order.places[0] == np.nanargmax(np.abs(expected))


def test_where_lower_is_better_the_worst_are_the_highest(make_content):
    content = make_content(images=30, systems=1)
    scores = content.scores
    errors = scores.evaluations["careful"]["Errors"]
    alone = Scores({"Errors": "E"}, {"careful": {"Errors": errors}})
    data = image_data(dataclasses.replace(content, scores=alone))
    order = Order(data)
    assert data["lowerIsBetter"] == [True]
    assert order.places[0] == np.argmax(errors.scores)
    upwards = dataclasses.replace(errors, lower_is_better=False)
    beside = Scores({"Errors": "E", "Up": "U"}, {"careful": {"Errors": errors, "Up": upwards}})
    order = Order(image_data(dataclasses.replace(content, scores=beside)))
    # The caption with the most errors ranks last in one and first in the other.
    assert {*order.places[:2]} == {np.argmax(errors.scores), np.argmin(errors.scores)}
