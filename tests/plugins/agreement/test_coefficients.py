"""Coefficients of resamples against SciPy's of the resampled pairs."""

import math

import numpy as np
import pytest
from scipy import stats

from vifidel_eval.plugins.agreement.correlation import RatedScores

NAN = math.nan
CLOSE = {"rel": 1e-12, "abs": 1e-14}


def of_scipy(scores, ratings, counts):
    """Return SciPy's coefficients of every judgement written out as often as it counts."""
    rows = np.repeat(np.arange(len(scores)), counts)
    x, y = np.repeat(scores[rows], ratings.shape[1]), ratings[rows].ravel()
    defined = ~np.isnan(x) & ~np.isnan(y)
    x, y = x[defined], y[defined]
    if len(set(x)) < 2 or len(set(y)) < 2:
        return [NAN] * 4
    method = "asymptotic" if len(x) > 2 else "exact"  # of p-values, which are not looked at
    return [
        stats.kendalltau(x, y, variant="b", method=method).statistic,
        stats.kendalltau(x, y, variant="c", method=method).statistic,
        stats.spearmanr(x, y).statistic,
        stats.pearsonr(x, y).statistic,
    ]


def assert_as_scipy(scores, ratings, counts):
    scores, ratings = np.asarray(scores, float), np.asarray(ratings, float)
    found = RatedScores(scores, ratings).coefficients(np.asarray(counts))
    expected = of_scipy(scores, ratings, counts)
    assert found == pytest.approx(expected, nan_ok=True, **CLOSE)


def resamples(random, number, times=4):
    """Yield every caption once, then bootstrap resamples."""
    yield np.ones(number, dtype=np.int64)
    for _ in range(times):
        yield np.bincount(random.integers(number, size=number), minlength=number)


@pytest.mark.parametrize("judges", [1, 3])
@pytest.mark.parametrize("values", [2, 5, 1000])
@pytest.mark.parametrize("distinct_scores", [2, 9, 10**6])
def test_ties_of_every_kind(judges, values, distinct_scores):
    random = np.random.default_rng([judges, values, distinct_scores])
    scores = random.integers(distinct_scores, size=150) / 7
    ratings = random.integers(values, size=(150, judges)) / 3
    for sign in (1, -1):
        agreeing = ratings + sign * np.floor(scores[:, None] * values / distinct_scores)
        for given in (ratings, agreeing):
            for counts in resamples(random, 150):
                assert_as_scipy(scores, given, counts)


def test_missing_scores_and_missing_ratings():
    random = np.random.default_rng(0)
    scores = random.integers(12, size=60).astype(float)
    ratings = random.integers(1, 5, size=(60, 3)).astype(float)
    scores[random.integers(60, size=9)] = NAN
    ratings[random.integers(60, size=20), random.integers(3, size=20)] = NAN
    for counts in resamples(random, 60):
        assert_as_scipy(scores, ratings, counts)


@pytest.mark.parametrize(
    ("scores", "ratings", "counts"),
    [
        ([], np.empty((0, 3)), []),
        ([1], [[1]], [1]),
        ([1], [[1, 2]], [1]),  # two judgements of one score
        ([5, 5, 5], [[1], [2], [3]], [1, 1, 1]),
        ([1, 2, 3], [[4], [4], [4]], [1, 1, 1]),
        ([1, 2, 3], [[4], [5], [6]], [0, 3, 0]),  # a resample of one caption
        ([1, 2, 3], [[4], [5], [6]], [0, 0, 0]),
        ([1, 2, 3], [[4], [4], [6]], [2, 1, 0]),
        ([0.0, -0.0, 0.0], [[1], [2], [3]], [1, 1, 1]),
        ([NAN, NAN, 3], [[1], [2], [3]], [1, 1, 1]),
    ],
)
def test_undefined_without_two_scores_and_two_ratings(scores, ratings, counts):
    given = np.array(scores, float), np.array(ratings, float)
    found = RatedScores(*given).coefficients(np.array(counts, dtype=np.int64))
    assert len(found) == 4
    assert all(map(math.isnan, found))
