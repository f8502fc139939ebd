"""The upper half of a report: systems by metrics, who beats whom, distributions of scores."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import numpy as np

from ...evaluation import COUNTS, Floats
from ...runs.comparison import Comparison, Comparisons, Pair
from ...runs.harness import Scores
from .formats import score, short

_BINS = 32
_QUANTILES = (0, 0.25, 0.5, 0.75, 1)


@dataclass(frozen=True)
class Standing:
    """A system under a metric.

    Attributes
    ----------
    score, low, high : str
        The score and its interval.
    rank : int, optional
        Equal ranks are ties; None under a metric that ranks no system.
    tied, best : bool
        Whether another system has the same rank; whether the rank is the first.
    place, start, length : str
        Score and interval on the metric's axis, from 0 to 100; empty without a comparison.
    """

    score: str
    low: str = ""
    high: str = ""
    rank: int | None = None
    tied: bool = False
    best: bool = False
    place: str = ""
    start: str = ""
    length: str = ""


def standings(scores: Scores, comparisons: Comparisons) -> dict[str, list[Standing]]:
    """Return a row per system: its standing under each metric."""
    rows: dict[str, list[Standing]] = {name: [] for name in scores.evaluations}
    for metric in scores.signatures:
        compared = comparisons.metrics.get(metric)
        for name, row in rows.items():
            if compared is None:  # no image has a score from every system
                row.append(Standing(score(scores.evaluations[name][metric].score)))
            else:
                row.append(_standing(compared, name))
    return rows


def _standing(compared: Comparison, name: str) -> Standing:
    systems = compared.systems
    low = min(min(s.low, s.score) for s in systems.values())
    span = max(max(s.high, s.score) for s in systems.values()) - low or 1

    def on_axis(value: float) -> float:
        return 4 + 92 * (value - low) / span  # room for the dot at either end

    it = systems[name]
    ranks = [standing.rank for standing in systems.values()]
    return Standing(
        score(it.score),
        score(it.low),
        score(it.high),
        it.rank,
        tied=ranks.count(it.rank) > 1,
        best=len(systems) > 1 and it.rank == 1,
        place=short(on_axis(it.score)),
        start=short(on_axis(it.low)),
        length=short(on_axis(it.high) - on_axis(it.low)),
    )


def remarks(scores: Scores) -> dict[str, dict[str, int]]:
    """Return what was counted of each system, as in the command's table, without zeros."""
    remarks = {}
    for name in scores.evaluations:
        counts = scores.counts(name)
        remarks[name] = {c.phrase: counts[c.key] for c in COUNTS if counts.get(c.key)}
    return remarks


def meanings(scores: Scores) -> dict[str, str]:
    """Return what the remarks on systems mean."""
    said = {what for of_system in remarks(scores).values() for what in of_system}
    return {count.phrase: count.meaning for count in COUNTS if count.phrase in said}


def duels(scores: Scores, comparisons: Comparisons) -> dict[tuple[str, str], list[Pair | None]]:
    """Return a row for every two systems: who wins under each metric; None if not compared."""
    found = []
    for metric in scores.signatures:
        compared = comparisons.metrics.get(metric)
        pairs = compared.pairs if compared is not None and compared.ranked else ()
        found.append({(pair.first, pair.second): pair for pair in pairs})
    return {
        names: [of_metric.get(names) for of_metric in found]
        for names in itertools.combinations(scores.evaluations, 2)
    }


@dataclass(frozen=True)
class Spread:
    """How the scores of a system under a metric are spread over the images.

    Attributes
    ----------
    system : str
        Its name.
    images, undefined : int
        With and without a score.
    quantiles : list of str
        Lowest, lower quartile, median, upper quartile, highest.
    outline : str
        The histogram as an SVG path, 100 wide and 24 high.
    median_at : str
        The median on the same axis; empty without scores.
    """

    system: str
    images: int
    undefined: int
    quantiles: list[str]
    outline: str
    median_at: str


@dataclass(frozen=True)
class Distribution:
    """The scores of all systems under a metric, on one axis.

    Attributes
    ----------
    metric : str
        Its column.
    axis : tuple of str
        Where the axis begins, its middle and its end.
    spreads : list of Spread
        One per system.
    binary : bool
        Whether all scores are 0 or 1: then their mean says it all.
    """

    metric: str
    axis: tuple[str, str, str]
    spreads: list[Spread]
    binary: bool


def distributions(scores: Scores) -> list[Distribution]:
    """Return the distribution of each metric; the tallest step of each histogram fills it."""
    return [_distribution(scores, metric) for metric in scores.signatures]


def _distribution(scores: Scores, metric: str) -> Distribution:
    of_systems = {name: e[metric].scores for name, e in scores.evaluations.items()}
    defined = {name: s[~np.isnan(s)] for name, s in of_systems.items()}
    scores_of_all = np.concatenate(list(defined.values()))
    start, end = _axis(scores_of_all)
    spreads = []
    for name, of_system in defined.items():
        counts = np.histogram(of_system, _BINS, (start, end))[0]
        quantiles = np.quantile(of_system, _QUANTILES).tolist() if len(of_system) else []
        spreads.append(
            Spread(
                name,
                len(of_system),
                len(of_systems[name]) - len(of_system),
                [score(value) for value in quantiles] or [score(None)] * len(_QUANTILES),
                _outline(24 * counts / max(counts.max(), 1)),
                short(100 * (quantiles[2] - start) / (end - start)) if quantiles else "",
            )
        )
    axis = (f"{start:g}", f"{(start + end) / 2:g}", f"{end:g}")
    binary = bool(np.isin(scores_of_all, (0, 1)).all()) and len(scores_of_all) > 0
    return Distribution(metric, axis, spreads, binary)


def _axis(values: Floats) -> tuple[float, float]:
    """Return round numbers that enclose 0 and all values; 0 and 1 if there is nothing else."""
    lowest, highest = float(values.min(initial=0.0)), float(values.max(initial=0.0))
    start = -_round_number(-lowest) if lowest < 0 else 0.0
    end = _round_number(highest) if highest > 0 else 0.0
    return (start, end) if start < end else (0.0, 1.0)


def _round_number(value: float) -> float:
    """Return a round number that is not below a positive value."""
    power = 10.0 ** math.floor(math.log10(value))
    return next(
        round(step * power, 12) or value
        for step in (1, 2, 4, 6, 8, 10)
        if value <= step * power or step == 10
    )


def _outline(heights: np.ndarray) -> str:
    """Return steps from the left to the right, closed at the bottom."""
    width = 100 / len(heights)
    path = "M0 24"
    for at, height in enumerate(heights.tolist()):
        path += f"V{short(24 - height)}H{short((at + 1) * width)}"
    return path + "V24Z"
