import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import pearsonr, spearmanr

from vifidel_eval.show.report.overview import Order, correlations

NAN = math.nan


def scipys(one, other, of):
    """Return SciPy's correlation of those that both have; NaN where there is none."""
    both = ~np.isnan(one) & ~np.isnan(other)
    if both.sum() < 2 or any(len(set(scores[both])) < 2 for scores in (one, other)):
        return NAN
    return of(one[both], other[both]).statistic


@given(arrays(np.float64, (2, 9), elements=st.sampled_from([0.0, 0.25, 0.5, 1.0, NAN])))
def test_correlations_are_scipys(scores):
    result = correlations(scores)[0, 1]
    expected = [scipys(*scores, of) for of in (pearsonr, spearmanr)]
    assert result == pytest.approx(np.array(expected), abs=1e-9, nan_ok=True)


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


def test_first_come_the_images_that_are_worst_on_average():
    scores = [[[0.5, NAN, 0.75, NAN], [3, 2, 1, 0]], [[0.25, 1.0, 0.5, NAN], [1, 2, 3, 4]]]
    order = Order({"lowerIsBetter": [False, True], "scores": scores})
    assert order.places == [0, 2, 1, 3]  # .375, .625, 1 and none
    assert order.worst == 0
    order = Order({"lowerIsBetter": [False, True], "scores": scores}, chosen=1, leader=1)
    assert order.places == [0, 1, 2, 3]  # all 2
    assert order.worst == 3
    assert order.against == 0
