"""Correlation coefficients of scores and ratings, and Williams' test of two correlations.

A resample of captions changes no score and no rating, only how often each counts. So what is sorted
is sorted once (`RatedScores`), and a resample is a vector of counts: ranks, ties and discordant
pairs are sums of it. SciPy's functions, which the tests compare with, would sort every resample.

The test is that of E. J. Williams, Regression Analysis (1959), in the form that J. H. Steiger
(Psychological Bulletin 87, 1980, eq. 7) recommends and that Graham & Baldwin (EMNLP 2014) brought
to the evaluation of metrics; Kilickaya et al. (EACL 2017, Fig. 4) show it for each two metrics.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import stdtr

from ...evaluation import Floats, Integers

#: The coefficients, in the order in which `RatedScores.coefficients` returns them.
COEFFICIENTS = ("tau-b", "tau-c", "Spearman", "Pearson")

# Metrics that differ by scale only have correlations that differ in the last bits.
_SAME = 1e-12


class RatedScores:
    """Scores of captions beside their ratings.

    Parameters
    ----------
    scores : (captions,) float64
        NaN where undefined: such captions are left out.
    ratings : (captions, judges) float64
        NaN is left out; each of the others is a judgement of its own, beside the caption's score.
    """

    def __init__(self, scores: Floats, ratings: Floats) -> None:
        captions, judges = np.nonzero(~np.isnan(scores)[:, None] & ~np.isnan(ratings))
        values, x = np.unique(scores[captions], return_inverse=True)
        levels, y = np.unique(ratings[captions, judges], return_inverse=True)
        # Judgements with the same score and the same rating are a cell; by score, then by rating.
        cells, cell = np.unique(x * len(levels) + y, return_inverse=True)
        self._of_cells = sparse.csr_array(
            (np.ones(len(captions)), (cell, captions)), shape=(len(cells), len(scores))
        )
        self._x, self._y = np.divmod(cells, max(len(levels), 1))
        self._scores, self._ratings = _scaled(values)[self._x], _scaled(levels)[self._y]
        self._splits = [
            _split(self._y, bit) for bit in range(int(self._y.max(initial=0)).bit_length())
        ]

    def coefficients(self, counts: Integers) -> list[float]:
        """Return the coefficients, `COEFFICIENTS`, each in [-1, 1].

        With C concordant and D discordant pairs of n judgements, X and Y pairs that have the same
        score and the same rating, and m the smaller number of distinct scores and ratings (Kendall,
        Rank Correlation Methods, chapter 3; Stuart, Biometrika 40, 1953)::

            tau-b = (C - D) / sqrt((n (n - 1) / 2 - X) (n (n - 1) / 2 - Y))
            tau-c = 2 (C - D) / (n^2 (m - 1) / m)

        Spearman's coefficient is Pearson's of the mean ranks. All are NaN if there are no two
        different scores or no two different ratings. `counts` says how often each caption is there,
        (captions,) int64.
        """
        cells = self._of_cells @ counts
        of_scores, of_ratings = np.bincount(self._x, cells), np.bincount(self._y, cells)
        distinct = min(np.count_nonzero(of_scores), np.count_nonzero(of_ratings))
        if distinct < 2:
            return [math.nan] * len(COEFFICIENTS)
        number = cells.sum()
        pairs = number * (number - 1) / 2
        apart_x, apart_y = pairs - _tied(of_scores), pairs - _tied(of_ratings)
        # All pairs but those that are tied are C + D.
        difference = apart_x + apart_y - pairs + _tied(cells) - 2 * self._discordant(cells)
        ranks_x, ranks_y = _ranks(of_scores)[self._x], _ranks(of_ratings)[self._y]
        found = [
            difference / math.sqrt(apart_x) / math.sqrt(apart_y),
            2 * difference / (number**2 * (distinct - 1) / distinct),
            _product_moment(ranks_x, ranks_y, cells),
            _product_moment(self._scores, self._ratings, cells),
        ]
        within: list[float] = np.clip(found, -1, 1).tolist()  # 1 may come out as 1 + 2e-16
        return within

    def _discordant(self, cells: Floats) -> float:
        """Return how many pairs have the lower score but the higher rating.

        Ratings are numbered from the lowest. The highest binary digit in which two numbers differ
        is one in the higher of them. So for each digit: the ones that come before each zero in the
        order of the scores, of numbers that are alike in the digits above.
        """
        discordant = 0.0
        for ones, zeros, first, end in self._splits:
            before = np.concatenate([[0.0], np.cumsum(cells[ones])])
            discordant += cells[zeros] @ (before[end] - before[first])
        return discordant


def _split(y: Integers, bit: int) -> tuple[Integers, Integers, Integers, Integers]:
    """Return cells whose rating has a one in the digit, those with a zero, and where ones precede.

    That is, the first and the end of the ones before each zero, as `_discordant` needs them.
    """
    order = np.argsort(y >> bit + 1, kind="stable")
    above, digit = y[order] >> bit + 1, y[order] >> bit & 1
    zeros = np.flatnonzero(digit == 0)
    ones_before = np.concatenate([[0], np.cumsum(digit)])
    first = ones_before[np.searchsorted(above, above[zeros])]
    return order[digit == 1], order[zeros], first, ones_before[zeros]


def _scaled(values: Floats) -> Floats:
    """Return values times a power of two, so that their squares neither overflow nor vanish."""
    _, power = np.frexp(np.abs(values).max(initial=0))
    scaled: Floats = np.ldexp(values, -power)
    return scaled


def _tied(counts: NDArray[Any]) -> float:
    """Return how many pairs are of one class."""
    return float(counts @ (counts - 1)) / 2


def _ranks(counts: NDArray[Any]) -> Floats:
    """Return the mean rank in each class, less a half."""
    return np.cumsum(counts) - counts / 2


def _product_moment(x: Floats, y: Floats, counts: Floats) -> float:
    number = counts.sum()
    x, y = x - counts @ x / number, y - counts @ y / number
    weighted = counts * x
    return float(weighted @ y / math.sqrt(weighted @ x) / math.sqrt((counts * y) @ y))


def williams_test(
    r_first: float, r_second: float, r_between: float, number: int
) -> tuple[float, float]:
    """Return t and the one-sided p-value of the first correlation being no larger.

    With human judgements h and two metrics a and b that scored the same n captions, ::

        t = (r_ah - r_bh) sqrt((n - 1) (1 + r_ab) / (2 K (n - 1) / (n - 3) + M^2 (1 - r_ab)^3))
        K = 1 - r_ah^2 - r_bh^2 - r_ab^2 + 2 r_ah r_bh r_ab
        M = (r_ah + r_bh) / 2

    has Student's t distribution with n - 3 degrees of freedom if the correlations are equal. The
    correlations are those of the two metrics with the judgements, and with each other; both results
    are NaN if there are fewer than four captions, a correlation is undefined, or the metrics say
    the same.
    """
    spread = (
        1 - r_first**2 - r_second**2 - r_between**2 + 2 * r_first * r_second * r_between
    )  # K, the determinant of the three correlations
    if number < 4 or not spread > _SAME or not abs(r_between) < 1:
        return math.nan, math.nan
    middle = (r_first + r_second) / 2
    variance = 2 * spread * (number - 1) / (number - 3) + middle**2 * (1 - r_between) ** 3
    t = (r_first - r_second) * math.sqrt((number - 1) * (1 + r_between) / variance)
    return t, float(stdtr(number - 3, -t))


def williams_matrix(title: str, judgements: Floats, scores: Mapping[str, Floats]) -> dict[str, Any]:
    """Test every metric against every other on the captions that both score.

    The test takes captions as independent, even those of one image, so its p-values are too small
    where an image has several.

    Parameters
    ----------
    title : str
        Which judgements.
    judgements : (number of captions,) float64
        What people said.
    scores : mapping
        Metric name to its scores of the captions; NaN where undefined.

    Returns
    -------
    dict
        The ``title``; ``correlations``, metric to its Pearson correlation with the judgements, the
        highest first; ``p_values``, metric to metric to the one-sided p-value of the first one's
        correlation being no larger than the second one's, NaN where the test says nothing.
    """
    correlations = {
        name: float(_correlations(judgements, of_metric)[0][0, 1])
        for name, of_metric in scores.items()
    }
    order = sorted(
        correlations,
        key=lambda name: -math.inf if math.isnan(correlations[name]) else correlations[name],
        reverse=True,
    )

    def p_value(first: str, second: str) -> float:
        table, number = _correlations(judgements, scores[first], scores[second])
        r_first, r_second, r_between = table[[0, 0, 1], [1, 2, 2]].tolist()
        return williams_test(r_first, r_second, r_between, number)[1]

    p_values = {
        first: {second: math.nan if first == second else p_value(first, second) for second in order}
        for first in order
    }
    ranked = {name: correlations[name] for name in order}
    return {"title": title, "correlations": ranked, "p_values": p_values}


def _correlations(*columns: Floats) -> tuple[Floats, int]:
    """Return Pearson's correlations of columns, and over how many captions: those with all."""
    defined = np.all([~np.isnan(column) for column in columns], axis=0)
    number = int(defined.sum())
    if number < 2:
        return np.full((len(columns), len(columns)), math.nan), number
    with np.errstate(invalid="ignore", divide="ignore"):  # all scores the same: undefined
        return np.corrcoef([column[defined] for column in columns]), number
