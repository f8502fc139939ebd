"""Williams' test of two metrics' correlations with the same judgements.

E. J. Williams, Regression Analysis (1959), in the form that J. H. Steiger (Psychological Bulletin
87, 1980, eq. 7) recommends and that Graham & Baldwin (EMNLP 2014) brought to the evaluation of
metrics; Kilickaya et al. (EACL 2017, Fig. 4) show it for every pair of metrics.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from scipy.special import stdtr

from ...evaluation import Floats
from ...io.digits import rounded
from ...io.text_tables import Table
from .result import Estimate

_SAME = 1e-12


def williams_test(
    r_first: float, r_second: float, r_between: float, number: int
) -> tuple[float, float]:
    """Return t and the one-sided p-value of the first correlation being no larger.

    With human judgements h and two metrics a and b that scored the same n captions, ::

        t = (r_ah - r_bh) sqrt((n - 1) (1 + r_ab) / (2 K (n - 1) / (n - 3) + M^2 (1 - r_ab)^3))
        K = 1 - r_ah^2 - r_bh^2 - r_ab^2 + 2 r_ah r_bh r_ab
        M = (r_ah + r_bh) / 2

    has Student's t distribution with n - 3 degrees of freedom if the correlations are equal.

    Parameters
    ----------
    r_first, r_second : float
        Correlations of the two metrics with the judgements.
    r_between : float
        Correlation of the metrics with each other.
    number : int
        How many captions.

    Returns
    -------
    t : float
        NaN if there are fewer than four captions, a correlation is undefined, or the metrics
        say the same.
    p : float
        In [0, 1], or NaN in those cases.
    """
    spread = (
        1 - r_first**2 - r_second**2 - r_between**2 + 2 * r_first * r_second * r_between
    )  # K, the determinant of the three correlations
    # Metrics that differ by scale only have correlations that differ in the last bits.
    if number < 4 or not spread > _SAME or not abs(r_between) < 1:
        return math.nan, math.nan
    middle = (r_first + r_second) / 2
    variance = 2 * spread * (number - 1) / (number - 3) + middle**2 * (1 - r_between) ** 3
    t = (r_first - r_second) * math.sqrt((number - 1) * (1 + r_between) / variance)
    return t, float(stdtr(number - 3, -t))


@dataclass(frozen=True)
class WilliamsMatrix:
    """The test of every metric against every other on the same judgements.

    The test takes captions as independent, even those of one image, so its p-values are too small
    where an image has several.

    Attributes
    ----------
    title : str
        Which judgements.
    correlations : dict
        Metric name to its Pearson correlation with them, the highest first.
    p_values : dict
        Metric name to metric name to the one-sided p-value of the first one's correlation being
        no larger than the second one's, on the captions that both score; NaN where the test says
        nothing.
    """

    title: str
    correlations: dict[str, float]
    p_values: dict[str, dict[str, float]]

    def estimates(self) -> Iterator[Estimate]:
        """Yield the p-values."""
        for first, of_first in self.p_values.items():
            for second, p in of_first.items():
                if first != second:
                    yield Estimate(first, "Williams p", p, subset=self.title, against=second)

    def table(self) -> Table:
        """Return the p-values: a small one says that the row's metric is better."""
        names = list(self.correlations)
        rows = [
            [name, rounded(r), *(rounded(p) for p in self.p_values[name].values())]
            for name, r in self.correlations.items()
        ]
        notes = [
            "one-sided p-values: small where the metric of the row correlates better (Pearson) "
            "than the one of the column",
            "the captions of an image count as independent here: where it has several, p is too "
            "small",
        ]
        return Table(["Metric", "Pearson", *names], rows, notes, title=self.title)


def williams_matrix(title: str, judgements: Floats, scores: Mapping[str, Floats]) -> WilliamsMatrix:
    """Test every metric against every other.

    Parameters
    ----------
    title : str
        Which judgements.
    judgements : (number of captions,) float64
        What people said.
    scores : mapping
        Metric name to its scores of the captions; NaN where undefined.
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
    return WilliamsMatrix(title, {name: correlations[name] for name in order}, p_values)


def _correlations(*columns: Floats) -> tuple[Floats, int]:
    """Return Pearson's correlations of columns, and over how many captions: those with all."""
    defined = np.all([~np.isnan(column) for column in columns], axis=0)
    number = int(defined.sum())
    if number < 2:
        return np.full((len(columns), len(columns)), math.nan), number
    with np.errstate(invalid="ignore", divide="ignore"):  # all scores the same: undefined
        return np.corrcoef([column[defined] for column in columns]), number
