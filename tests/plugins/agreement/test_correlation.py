"""Coefficients against numbers worked out by hand and by plain definitions."""

import math

import numpy as np
import pytest

from vifidel_eval.plugins.agreement.correlation import correlate, views
from vifidel_eval.plugins.agreement.judgements import Judged, Ratings

RESAMPLES = 40
NAN = math.nan
NAMES = ["tau-b", "tau-c", "Spearman", "Pearson"]


@pytest.fixture(autouse=True)
def fewer_resamples(monkeypatch):
    monkeypatch.setattr("vifidel_eval.plugins.agreement.trials.RESAMPLES", RESAMPLES)


def ratings(given, images=None, subsets=None, **more):
    """Return ratings of captions, a row each, one column a judge."""
    given = {"rating": given} | more
    number = len(next(iter(given.values())))
    images = range(number) if images is None else images
    judged = [Judged(image, ("caption",), ("reference",)) for image in images]
    subsets = {"all": [True] * number} | (subsets or {})
    return Ratings(
        "Made up",
        judged,
        {name: np.array(rows, float) for name, rows in given.items()},
        {name: np.array(mask) for name, mask in subsets.items()},
    )


@pytest.fixture
def correlated(given_trials, no_parts):
    def correlated(given, parts=no_parts, **scores):
        draws = {metric: [[row] for row in rows] for metric, rows in scores.items()}
        return correlate(given, given_trials(**draws), parts)

    return correlated


def column(values):
    return [[value] for value in values]


@pytest.mark.parametrize(
    ("scores", "people", "expected"),
    [
        # Six pairs, five concordant, one discordant, no tie. Ranks differ by 0, 1, 1, 0.
        ([1, 2, 3, 4], [1, 3, 2, 4], [4 / 6, 4 / 6, 1 - 6 * 2 / (4 * 15), 0.8]),
        # Pairs: C = 4, D = 0, tied in x only 1, in y only 1. tau-b = 4 / 5; tau-c with m = 3
        # values each: 2 (C - D) / (n^2 (m - 1) / m) = 8 / (16 * 2 / 3). Mean ranks are 1.5, 1.5,
        # 3, 4 and 1, 2.5, 2.5, 4: covariance 3.75, variances 4.5. Pearson: 2 / sqrt(2.75 * 2).
        ([1, 1, 2, 3], [1, 2, 2, 3], [4 / 5, 3 / 4, 3.75 / 4.5, 2 / math.sqrt(5.5)]),
        # C = 0, D = 3, three pairs tied in x, which has two values: tau-c with m = 2. Ranks are
        # 2, 2, 2, 4 and 4, 3, 2, 1: covariance -3, variances 3 and 5; Pearson -1.5, .75, 5.
        ([0, 0, 0, 1], [4, 3, 2, 1],
         [-3 / math.sqrt(18), -3 / 4, -3 / math.sqrt(15), -1.5 / math.sqrt(3.75)]),
    ],
)  # fmt: skip
def test_coefficients_worked_by_hand(correlated, scores, people, expected):
    one = correlated(ratings(column(people)), m=[scores]).findings["correlations"][0]
    assert list(one["coefficients"]) == NAMES
    assert list(one["coefficients"].values()) == pytest.approx(expected)
    assert one["judgements"] == 4


@pytest.mark.parametrize("width", [48, 200])
def test_the_first_screen_is_tau_c_in_lines_that_fit(correlated, width):
    # As worked out above: 4 / 6 of m, and of n, in the opposite order, -4 / 6.
    given = ratings(column([1, 3, 2, 4]), also=column([1, 2, 3, 4]), third=column([2, 1, 4, 3]))
    result = correlated(given, m=[[1, 2, 3, 4]], n=[[4, 3, 2, 1]], o=[[1] * 4], p=[[1, 1, 2, 2]])
    first, full = (result.screen(width, of_all) for of_all in (False, True))
    assert max(map(len, first.splitlines())) <= width
    assert ("*0.667 ±" in first) == (width == 200)
    assert "*0.667" in first
    assert "-0.667" in first
    assert ["Williams" in text for text in (first, full)] == [False, True]


def by_definition(x, y):
    """Return the four coefficients by looking at every pair, and at ranks counted out."""
    pairs = [(i, j) for i in range(len(x)) for j in range(i)]
    agreement = sum(np.sign(x[i] - x[j]) * np.sign(y[i] - y[j]) for i, j in pairs)
    apart_x = sum(x[i] != x[j] for i, j in pairs)
    apart_y = sum(y[i] != y[j] for i, j in pairs)
    classes = min(len(set(x)), len(set(y)))

    def ranks(values):
        return [sum(v < w for v in values) + (sum(v == w for v in values) + 1) / 2 for w in values]

    def product_moment(a, b):
        a, b = np.array(a) - np.mean(a), np.array(b) - np.mean(b)
        return (a * b).sum() / math.sqrt((a * a).sum() * (b * b).sum())

    return [
        agreement / math.sqrt(apart_x * apart_y),
        2 * agreement / (len(x) ** 2 * (classes - 1) / classes),
        product_moment(ranks(x), ranks(y)),
        product_moment(x, y),
    ]


def test_subsets_and_ratings_are_views_of_their_own(correlated):
    masks = {"first": [True] * 4 + [False] * 2}
    given = ratings(column([1, 2, 3, 4, 1, 1]), subsets=masks, other=column([4, 3, 2, 1, 9, NAN]))
    result = correlated(given, m=[[1, 2, 3, 4, 9, 8]])
    found = {(c["rating"], c["captions"]): c for c in result.findings["correlations"]}
    assert [(c["rating"], c["judges"], c["captions"]) for c in result.findings["correlations"]] == [
        (rating, "mean", captions)
        for rating in ("rating", "other")
        for captions in ("all", "first")
    ]
    assert list(found["rating", "first"]["coefficients"].values()) == pytest.approx([1] * 4)
    assert list(found["other", "first"]["coefficients"].values()) == pytest.approx([-1] * 4)
    assert [c["judgements"] for c in found.values()] == [6, 4, 5, 4]
    expected = by_definition([1, 2, 3, 4, 9], [4, 3, 2, 1, 9])
    assert list(found["other", "all"]["coefficients"].values()) == pytest.approx(expected)
    assert len(list(views(given))) == 4


def test_intervals_equal_a_plain_loop(correlated):
    random = np.random.default_rng(3)
    images = [*"aabbccddeeffgg"]
    people = random.integers(1, 5, size=(14, 2))
    draws = [random.normal(size=14) + people.sum(axis=1) for _ in range(2)]
    each, mean = correlated(ratings(people, images), m=draws).findings["correlations"]
    source = np.random.default_rng(0)
    found = {"each": [], "mean": []}
    for _ in range(RESAMPLES):
        chosen = source.integers(7, size=7)
        draw = int(source.integers(2))
        rows = [2 * image + side for image in chosen for side in (0, 1)]
        x, y = draws[draw][rows], people[rows]
        found["each"].append(by_definition([v for v in x for _ in (0, 1)], y.ravel().tolist()))
        found["mean"].append(by_definition(x.tolist(), y.mean(axis=1).tolist()))
    for one in (each, mean):
        low, high = np.quantile(found[one["judges"]], [0.025, 0.975], axis=0)
        for at, name in enumerate(NAMES):
            assert one["intervals"][name] == pytest.approx((low[at], high[at]), rel=1e-8)
