"""Correlation of metrics' scores with people's ratings.

Kilickaya et al. (EACL 2017, section 3.1), VIFIDEL (Tables 2, 3), TIGEr and ViLBERTScore each report
some of these coefficients.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import stdtr

from ...evaluation import Floats, Integers
from ...io.digits import from_json, rounded
from ...io.text_tables import Cell, Figures, Table, gain, p_value
from .judgements import Ratings
from .result import Agreement, Resampled, row_of
from .trials import Trials

#: The coefficients, in the order in which `RatedScores.coefficients` returns them.
COEFFICIENTS = ("tau-b", "tau-c", "Spearman", "Pearson")

#: Every judge's rating of a caption is a judgement of its own, as many published figures have it.
EACH = "each"
#: The mean of a caption's ratings is the judgement.
MEAN = "mean"

# What the last of the tables of Williams' test says below.
_WILLIAMS = (
    "Williams' test: by how much the metric of the row correlates better (Pearson) than that of "
    "the column, with the one-sided p in parentheses.",
    "It takes captions as independent: with several captions of an image, p is too small.",
)
_UNDEFINED = "-: no correlation, because all scores or all ratings are the same."

# Metrics that differ by scale only have correlations that differ in the last bits.
_SAME = 1e-12


def correlate(
    ratings: Ratings,
    trials: Trials,
    on_progress: Callable[[int], object] = lambda _: None,
) -> Agreement:
    """Correlate scores with people's ratings.

    `on_progress` is called with 1 after each of ``len(list(views(ratings)))`` times the scored
    columns. Found are:

    - ``"correlations"``: of each metric, number of ``references``, ``rating`` (what people were
      asked), ``judges`` (`EACH` or `MEAN`) and subset of ``captions`` the number of ``judgements``,
      those of captions without a score left out; the ``coefficients``, means over draws of
      references, in [-1, 1], NaN if all scores or all ratings are the same; and their
      ``intervals``;
    - ``"williams"``: what `williams_matrix` returns for each number of references and view on the
      means of the judges.
    """
    by_view = list(_by_view(ratings, trials, on_progress))
    matrices = list(_matrices(ratings, trials))
    correlations = [correlation for _, of_view in by_view for correlation in of_view]
    coefficients = [r for correlation in correlations for r in correlation["coefficients"].values()]
    undefined = [_UNDEFINED] if any(map(math.isnan, coefficients)) else []
    return Agreement(
        ratings.name,
        {"correlations": correlations, "williams": matrices},
        [*chain(*map(_rows_of_correlation, correlations), *map(_rows_of_matrix, matrices))],
        [
            *(_table_of_view(title, of_view) for title, of_view in by_view),
            *map(_table_of_matrix, matrices),
        ],
        [*(_WILLIAMS if matrices else ()), *undefined],
        trials,
        first=[
            [
                _table_of_all(ratings.name, correlations, undefined, halves)
                for halves in (True, False)
            ]
        ],
    )


def _by_view(
    ratings: Ratings, trials: Trials, on_progress: Callable[[int], object]
) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Yield the title of each view of the ratings, and the correlations under it."""
    rated = {
        rating: np.flatnonzero(~np.isnan(answers).all(axis=1))
        for rating, answers in ratings.ratings.items()
    }
    resampled = {
        rating: Resampled([ratings.judged[at] for at in places], trials.bootstrap)
        for rating, places in rated.items()
    }
    for rating, judges, captions, judgements in views(ratings):
        places, correlations = rated[rating], []
        for metric, number, draws in trials.columns():
            view = {"rating": rating, "judges": judges, "captions": captions}
            correlation = _correlation(judgements[places], draws[:, 0, places], resampled[rating])
            correlations.append({"metric": metric, "references": number, **view, **correlation})
            on_progress(1)
        title = (
            f"{ratings.name}: correlation with the ratings, {rating}, judges: {judges}, captions: "
            f"{captions}"
        )
        yield title, correlations


def _rows_of_correlation(correlation: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the rows of the tidy table for one metric in one view."""
    for name, r in correlation["coefficients"].items():
        low, high = correlation["intervals"][name]
        coefficient = {**correlation, name: r, "low": low, "high": high}
        yield row_of(coefficient, name, name, "judgements", subset=correlation["captions"])


def _rows_of_matrix(matrix: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the rows of the tidy table for Williams' test."""
    for first, p_values in matrix["p_values"].items():
        test = {"metric": first, "statistic": "Williams p", "subset": matrix["title"]}
        for second, p in p_values.items():
            if first != second:
                yield {**test, "value": p, "against": second}


def _table_of_view(title: str, correlations: Sequence[Mapping[str, Any]]) -> Table:
    """Return the coefficients of a view with their intervals, a line for each metric."""
    lines: list[list[Cell]] = []
    for row in correlations:
        line: list[Cell] = [row["metric"], row["references"], row["judgements"]]
        for name, r in row["coefficients"].items():
            low, high = row["intervals"][name]
            line.append(None if math.isnan(r) else f"{r:.3f} ({low:.3f}, {high:.3f})")
        lines.append(line)
    headers = ["Metric", "References", "Judgements", *COEFFICIENTS]
    return Table(headers, lines, title=title)


def _table_of_all(
    name: str, correlations: Sequence[Mapping[str, Any]], notes: Sequence[str], halves: bool
) -> Table:
    """Return tau-c under every view, a line for each metric; with half of the interval if asked."""
    several = len({correlation["references"] for correlation in correlations}) > 1
    best: dict[str, float] = {}
    cells: dict[str, dict[str, tuple[float, float]]] = {}
    for correlation in correlations:
        view = f"{correlation['rating']}, {correlation['captions']}"
        view += ", each judge" * (correlation["judges"] == EACH)
        r, (low, high) = correlation["coefficients"]["tau-c"], correlation["intervals"]["tau-c"]
        metric = correlation["metric"] + f", {correlation['references']} references" * several
        cells.setdefault(metric, {})[view] = r, (high - low) / 2
        best[view] = float(np.fmax(r, best.get(view, r)))  # not NaN

    def cell(view: str, r: float, half: float) -> Cell:
        text = f"{'*' if r == best[view] else ''}{r:.3f}{f' ±{half:.3f}' * halves}"
        return None if math.isnan(r) else Figures(text)

    lines = [
        [metric, *(cell(view, *of_view) for view, of_view in by_view.items())]
        for metric, by_view in cells.items()
    ]
    below = ["*: the highest."] + ["±: half of the interval."] * halves
    title = f"{name}: Kendall's tau-c with people's ratings"
    return Table(["Metric", *best], lines, [*below, *notes], title=title)


def _table_of_matrix(matrix: Mapping[str, Any]) -> Table:
    """Return how much better each metric correlates than those below it, with p in parentheses."""
    correlations = matrix["correlations"]
    names = list(correlations)
    lines: list[list[Cell]] = []
    for at, first in enumerate(names):
        line: list[Cell] = [first, rounded(correlations[first]), *[""] * (at + 1)]
        for second in names[at + 1 :]:
            gap, p = correlations[first] - correlations[second], matrix["p_values"][first][second]
            line.append(None if math.isnan(p) else Figures(f"{gain(gap)} ({p_value(p)})"))
        lines.append(line)
    return Table(["Metric", "Pearson", *names], lines, title=matrix["title"])


def views(ratings: Ratings) -> Iterator[tuple[str, str, str, Floats]]:
    """Yield rating, judges, captions and the judgements: (captions, judges), NaN if left out."""
    for rating, answers in ratings.ratings.items():
        for captions, mask in ratings.subsets.items():
            masked = np.where(mask[:, None], answers, np.nan)
            if answers.shape[1] > 1:
                yield rating, EACH, captions, masked
            with np.errstate(invalid="ignore"):  # 0 / 0: nobody rated the caption
                means = np.nansum(masked, 1, keepdims=True) / (~np.isnan(masked)).sum(1)[:, None]
            yield rating, MEAN, captions, means


def mean_views(ratings: Ratings) -> Iterator[tuple[str, str, Floats]]:
    """Yield rating, captions and the means of their judges, (captions,), NaN if left out."""
    for rating, judges, captions, judgements in views(ratings):
        if judges == MEAN:
            yield rating, captions, judgements[:, 0]


def _correlation(judgements: Floats, scores: Floats, resampled: Resampled) -> dict[str, Any]:
    """Return what a finding holds under the same names, in ten digits."""
    scores = np.where(np.isnan(scores).any(axis=0), np.nan, scores)  # the same in all draws
    of_draws = [RatedScores(of_draw, judgements) for of_draw in scores]
    once = np.ones(len(judgements), dtype=np.int64)

    def coefficients(places: Integers, draw: int) -> list[float]:
        return of_draws[draw].coefficients(np.bincount(places, minlength=len(judgements)))

    means = np.array([of_draw.coefficients(once) for of_draw in of_draws]).mean(axis=0)
    values = np.array(resampled.values(len(scores), coefficients))
    intervals = [tuple(map(_ten_digits, resampled.interval(column))) for column in values.T]
    return {
        "judgements": int((~np.isnan(scores[:1]).T & ~np.isnan(judgements)).sum()),
        "coefficients": dict(zip(COEFFICIENTS, map(_ten_digits, means.tolist()), strict=True)),
        "intervals": dict(zip(COEFFICIENTS, intervals, strict=True)),
    }


def _ten_digits(r: float) -> float:
    return from_json(rounded(r))


def _matrices(ratings: Ratings, trials: Trials) -> Iterator[dict[str, Any]]:
    """Yield a matrix for each number of references and view on the means of the judges."""
    for number, draws in trials.by_number():
        scores = {metric: of_metric[0, 0] for metric, of_metric in draws.items()}
        first = ", first draw" if any(len(of_metric) > 1 for of_metric in draws.values()) else ""
        for rating, captions, judgements in mean_views(ratings) if len(scores) > 1 else ():
            title = (
                f"{ratings.name}: Williams' test, {rating}, captions: {captions}, references: "
                f"{number}{first}"
            )
            yield williams_matrix(title, judgements, scores)


class RatedScores:
    """Scores of captions, (captions,), beside their ratings, (captions, judges); NaN is left out.

    Each rating is a judgement of its own, beside the caption's score. A resample of captions
    changes no score and no rating, only how often each counts: what is sorted is sorted once, and
    ranks, ties and discordant pairs are sums of counts. SciPy would sort every resample.
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
        """Return `COEFFICIENTS`, each in [-1, 1], where each caption is there `counts` times.

        All are NaN if there are no two different scores or no two different ratings. Kendall's are
        as in his Rank Correlation Methods (chapter 3), and in Stuart (Biometrika 40, 1953).
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
        coefficients = [
            difference / math.sqrt(apart_x) / math.sqrt(apart_y),
            2 * difference / (number**2 * (distinct - 1) / distinct),
            _product_moment(ranks_x, ranks_y, cells),
            _product_moment(self._scores, self._ratings, cells),
        ]
        within: list[float] = np.clip(coefficients, -1, 1).tolist()  # 1 may come out as 1 + 2e-16
        return within

    def _discordant(self, cells: Floats) -> float:
        """Return how many pairs have the lower score but the higher rating."""
        # Of two numbers of ratings, the higher has a one in the highest binary digit that differs.
        # So for each digit: the ones that come before each zero in the order of the scores, of
        # numbers that are alike in the digits above.
        discordant = 0.0
        for ones, zeros, first, end in self._splits:
            before = np.concatenate([[0.0], np.cumsum(cells[ones])])
            discordant += cells[zeros] @ (before[end] - before[first])
        return discordant


def _split(y: Integers, bit: int) -> tuple[Integers, Integers, Integers, Integers]:
    """Return cells whose rating has a one in the digit, those with a zero, and the ones before."""
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

    The correlations are those of two metrics with judgements of the same captions, and with each
    other. Both results are NaN if there are fewer than four captions, a correlation is undefined,
    or the metrics say the same.

    The test is that of E. J. Williams, Regression Analysis (1959), in the form that J. H. Steiger
    (Psychological Bulletin 87, 1980, eq. 7) recommends and that Graham & Baldwin (EMNLP 2014)
    brought to the evaluation of metrics.
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
    """Test every metric against every other on the captions that both score; NaN is undefined.

    Returned are the title, each metric's Pearson correlation with the judgements, the highest
    first, and metric to metric to the p-value of the first one's being no larger.
    """
    correlations = {
        name: float(_correlations(judgements, of_metric)[0][0, 1])
        for name, of_metric in scores.items()
    }
    order = sorted(correlations, key=lambda name: np.nan_to_num(-correlations[name], nan=math.inf))

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
