"""Williams' test against published numbers."""

import math

import numpy as np
import pytest
from scipy.integrate import quad

from vifidel_eval.plugins.agreement.correlation import williams_matrix, williams_test

NAN = math.nan


def student_tail(t, degrees):
    """Return the upper tail of Student's t by integrating its density."""
    scale = math.exp(math.lgamma((degrees + 1) / 2) - math.lgamma(degrees / 2))
    scale /= math.sqrt(degrees * math.pi)
    area, _ = quad(lambda x: (1 + x * x / degrees) ** (-(degrees + 1) / 2), 0, abs(t))
    tail = 0.5 - scale * area
    return tail if t >= 0 else 1 - tail


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
    found, p = williams_test(first, second, between, number)
    assert found == pytest.approx(t, abs=0.51 * 10**-digits)
    assert p == pytest.approx(student_tail(found, number - 3), abs=1e-9)


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
        (0.5, 0.5, 1.0, 50),
        (0.5, -0.5, -1.0, 50),
        (0.5, 0.4, 0.3, 3),
        (0.5, 0.4, 0.3, 0),
        (NAN, 0.4, 0.3, 50),
        (0.5, NAN, 0.3, 50),
        (0.5, 0.4, NAN, 50),
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
        x, y = x - x.mean(), y - y.mean()
        return float((x * y).sum() / math.sqrt((x * x).sum() * (y * y).sum()))

    assert matrix["correlations"] == pytest.approx({n: r(people, scores[n]) for n in "abc"})
    for first in "abc":
        assert list(matrix["p_values"][first]) == ["b", "c", "a"]
        for second in "abc":
            p = matrix["p_values"][first][second]
            if first == second:
                assert math.isnan(p)
                continue
            expected = williams_test(
                r(people, scores[first]),
                r(people, scores[second]),
                r(scores[first], scores[second]),
                60,
            )[1]
            assert p == pytest.approx(expected)
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
