"""Coefficients and their intervals against SciPy's of the resampled pairs."""

import math

import numpy as np
import pytest
from scipy import stats

from vifidel_eval.plugins.agreement.correlation import (
    RatedScores,
    correlate,
    views,
    williams_matrix,
    williams_test,
)
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
def correlated(given_trials):
    def correlated(given, **scores):
        draws = {metric: [[row] for row in rows] for metric, rows in scores.items()}
        return correlate(given, given_trials(**draws))

    return correlated


def column(values):
    return [[value] for value in values]


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


def of_scipy(x, y):
    """Return the four coefficients; of p-values, which are not looked at, in the fastest way."""
    method = "asymptotic" if len(x) > 2 else "exact"
    return [
        stats.kendalltau(x, y, variant="b", method=method).statistic,
        stats.kendalltau(x, y, variant="c", method=method).statistic,
        stats.spearmanr(x, y).statistic,
        stats.pearsonr(x, y).statistic,
    ]


def test_subsets_and_ratings_are_views_of_their_own(correlated):
    masks = {"first": [True] * 4 + [False] * 2}
    given = ratings(column([1, 2, 3, 4, 1, 1]), subsets=masks, other=column([4, 3, 2, 1, 9, NAN]))
    result = correlated(given, m=[[1, 2, 3, 4, 9, 8]])
    results = {(c["rating"], c["captions"]): c for c in result.findings["correlations"]}
    assert [(c["rating"], c["judges"], c["captions"]) for c in result.findings["correlations"]] == [
        (rating, "mean", captions)
        for rating in ("rating", "other")
        for captions in ("all", "first")
    ]
    assert list(results["rating", "first"]["coefficients"].values()) == pytest.approx([1] * 4)
    assert list(results["other", "first"]["coefficients"].values()) == pytest.approx([-1] * 4)
    assert [c["judgements"] for c in results.values()] == [6, 4, 5, 4]
    expected = of_scipy([1, 2, 3, 4, 9], [4, 3, 2, 1, 9])
    assert list(results["other", "all"]["coefficients"].values()) == pytest.approx(expected)
    assert len(list(views(given))) == 4


def test_intervals_equal_a_plain_loop(correlated):
    random = np.random.default_rng(3)
    images = [*"aabbccddeeffgg"]
    people = random.integers(1, 5, size=(14, 2))
    draws = [random.normal(size=14) + people.sum(axis=1) for _ in range(2)]
    each, mean = correlated(ratings(people, images), m=draws).findings["correlations"]
    source = np.random.default_rng(0)
    content = {"each": [], "mean": []}
    for _ in range(RESAMPLES):
        chosen = source.integers(7, size=7)
        draw = int(source.integers(2))
        rows = [2 * image + side for image in chosen for side in (0, 1)]
        x, y = draws[draw][rows], people[rows]
        content["each"].append(of_scipy([v for v in x for _ in (0, 1)], y.ravel().tolist()))
        content["mean"].append(of_scipy(x.tolist(), y.mean(axis=1).tolist()))
    for one in (each, mean):
        low, high = np.quantile(content[one["judges"]], [0.025, 0.975], axis=0)
        for at, name in enumerate(NAMES):
            assert one["intervals"][name] == pytest.approx((low[at], high[at]), rel=1e-8)


# Of resamples


def written_out(scores, ratings, counts):
    """Return SciPy's coefficients of every judgement written out as often as it counts."""
    rows = np.repeat(np.arange(len(scores)), counts)
    x, y = np.repeat(scores[rows], ratings.shape[1]), ratings[rows].ravel()
    defined = ~np.isnan(x) & ~np.isnan(y)
    x, y = x[defined], y[defined]
    if len(set(x)) < 2 or len(set(y)) < 2:
        return [NAN] * 4
    return of_scipy(x, y)


def assert_as_scipy(scores, ratings, counts):
    scores, ratings = np.asarray(scores, float), np.asarray(ratings, float)
    result = RatedScores(scores, ratings).coefficients(np.asarray(counts))
    expected = written_out(scores, ratings, counts)
    assert result == pytest.approx(expected, nan_ok=True, rel=1e-12, abs=1e-14)


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
    result = RatedScores(*given).coefficients(np.array(counts, dtype=np.int64))
    assert len(result) == 4
    assert all(map(math.isnan, result))


# Williams' test


@pytest.mark.parametrize(
    ("first", "second", "between", "number", "t", "digits"),
    [
        # The test suite of the R package cocor, from the program DEPCOR (Silver, Hittner & May).
        (0.3, 0.4, 0.5, 100, -1.0767, 4),
        # The documentation of cor_diff in the R package bruceR, by psych::r.test.
        (0.20, 0.45, 0.80, 100, -4.56, 2),
        # Steiger 1980, p. 249: his z of -.8913 is Williams' T2 to four digits.
        (0.4, 0.5, 0.1, 103, -0.8913, 4),
        # A lecture's output of psych::r.test(187, r12 = -.11, r34 = .06, r23 = .41).
        (-0.11, 0.06, 0.41, 187, -2.15, 2),
        # cocor's output in a course text (t = -9.0340): the correlations are rounded.
        (-0.1741, 0.2015, 0.3734, 646, -9.03, 2),
    ],
)
def test_published_t(first, second, between, number, t, digits):
    result, _ = williams_test(first, second, between, number)
    assert result == pytest.approx(t, abs=0.51 * 10**-digits)


@pytest.mark.parametrize(
    ("first", "second", "between", "number", "p", "precision"),
    [
        # cocor as above: 0.2843 two-sided, and its first correlation is the smaller one.
        (0.4, 0.3, 0.5, 100, 0.2843 / 2, 5e-5),
        # The README of the Python package nlp-williams (inmoonlight), in full precision.
        (0.65, 0.55, 0.3, 50, 0.20928617286753592, 1e-14),
        # The test suite of the Python package nlpstats, which compared with R's psych: 45 values,
        # then the Spearman correlations of nine means; the inputs are printed with 8 digits.
        (0.28582915, 0.15950938, 0.02655586, 45, 0.2716978, 5e-8),
        (0.10, 0.05, 0.05, 9, 0.4658712, 5e-8),
        # The lecture above: p < .033 two-sided.
        (0.06, -0.11, 0.41, 187, 0.033 / 2, 5e-4),
    ],
)
def test_published_p(first, second, between, number, p, precision):
    assert williams_test(first, second, between, number)[1] == pytest.approx(p, abs=precision)
    assert williams_test(second, first, between, number)[1] == pytest.approx(1 - p, abs=precision)


@pytest.mark.parametrize(
    "inputs",
    [
        *((0.5, 0.5, 1.0, 50), (0.5, -0.5, -1.0, 50), (0.5, 0.4, 0.3, 3), (0.5, 0.4, 0.3, 0)),
        *((NAN, 0.4, 0.3, 50), (0.5, NAN, 0.3, 50), (0.5, 0.4, NAN, 50)),
        (0.9, -0.9, 0.9, 50),  # no three variables correlate like that
    ],
)
def test_nothing_is_said_where_there_is_nothing_to_say(inputs):
    assert all(math.isnan(value) for value in williams_test(*inputs))


@pytest.fixture
def people():
    return np.random.default_rng(5).normal(size=60)


def test_the_matrix_holds_the_test_of_each_pair(people):
    random = np.random.default_rng(6)
    scores = {
        name: people + noise * random.normal(size=60)
        for name, noise in zip("abc", (3, 1, 2), strict=True)
    }
    matrix = williams_matrix("title", people, scores)
    assert list(matrix["correlations"]) == list(matrix["p_values"]) == ["b", "c", "a"]

    def r(x, y):
        return np.corrcoef(x, y)[0, 1]

    assert matrix["correlations"] == pytest.approx({n: r(people, scores[n]) for n in "abc"})
    for first in "abc":
        assert list(matrix["p_values"][first]) == ["b", "c", "a"]
        for second in "abc":
            of_people = r(people, scores[first]), r(people, scores[second])
            _, p = williams_test(*of_people, r(scores[first], scores[second]), 60)
            expected = NAN if first == second else pytest.approx(p)
            assert matrix["p_values"][first][second] == pytest.approx(expected, nan_ok=True)
    assert matrix["p_values"]["b"]["a"] < 0.05 < matrix["p_values"]["a"]["b"]


def test_a_test_is_of_the_captions_that_both_metrics_score(people):
    scores = {"a": people**3, "b": people + 0.3 * people**2}
    scores["a"][4] = scores["b"][[7, 8]] = NAN
    judgements = people.copy()
    judgements[9] = NAN
    kept = np.delete(np.arange(60), [4, 7, 8, 9])
    matrix = williams_matrix("t", judgements, scores)
    expected = williams_matrix("t", people[kept], {n: s[kept] for n, s in scores.items()})
    assert matrix["p_values"]["a"]["b"] == expected["p_values"]["a"]["b"]
    # Each correlation is over the captions that its own metric scores, as in the other tables.
    alone = williams_matrix("t", judgements, {"a": scores["a"]})
    assert matrix["correlations"]["a"] == alone["correlations"]["a"]
    assert matrix["correlations"]["a"] != expected["correlations"]["a"]
