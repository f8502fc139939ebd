"""Upper half of a report: what systems make up, who beats whom, distributions, how metrics agree.

Numbers are written digit for digit as base.js writes them.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import rankdata

from ...evaluation import COUNTS, Count, Floats
from ...explain.findings import Findings
from ...io.image_ids import ImageId
from ...io.text_tables import readable
from ...scores.comparison import Comparison, Comparisons, Pair
from ...scores.scores import Scores
from .content import Content

#: What is shown where there is no number.
NONE = "\N{EN DASH}"

_MOST_CLASSES = 5
_BINS = 32
_QUANTILES = (0, 0.25, 0.5, 0.75, 1)
# Of a metric that gives more of the captions one and the same score, ranks say little.
_MOST_EQUAL = 0.5


def fixed(value: float, digits: int) -> str:
    """Return a number with so many decimals, halves up as in JavaScript.

    >>> fixed(0.0625, 3), fixed(-2, 1)
    ('0.063', '-2.0')
    """
    return f"{math.floor(value * 10**digits + 0.5) / 10**digits:.{digits}f}"


def short(value: float) -> str:
    """Return a coordinate with at most one decimal."""
    return f"{math.floor(value * 10 + 0.5) / 10:g}"


def score(value: float | None) -> str:
    """Return a score with as many decimals as in all tables."""
    return NONE if value is None or math.isnan(value) else readable(float(value))


def whole(number: int) -> str:
    """Return a whole number in groups of three digits."""
    return f"{number:,}".replace(",", "\N{THIN SPACE}")


def share(part: float, of: float) -> str:
    """Return a share in per cent."""
    return f"{fixed(100 * part / of, 1)} %" if of else NONE


def correlation(value: float) -> str:
    """Return a correlation with two decimals.

    >>> correlation(0.456), correlation(-0.5) == "\N{MINUS SIGN}.50", correlation(1.0)
    ('.46', True, '1.00')
    """
    if math.isnan(value):
        return NONE
    text = fixed(abs(value), 2).removeprefix("0")
    return ("\N{MINUS SIGN}" if value < 0 and text != ".00" else "") + text


class MadeUp(NamedTuple):
    """What a system makes up, each thing once a caption: rates, by image, and frequent classes."""

    system: str
    rates: Mapping[str, float]
    things: Mapping[ImageId, int]
    most: list[tuple[str, int]]


def made_up(content: Content, findings: Mapping[str, Findings]) -> list[MadeUp]:
    """Return what each system makes up; nothing if no caption of any does."""
    if not any(content.inventions.values()):
        return []
    rows = []
    for system, inventions in content.inventions.items():
        things = dict.fromkeys((one.image_id, one.category) for one in inventions)
        of_images = Counter(image_id for image_id, _ in things)
        classes = Counter(category for _, category in things)
        frequent = sorted(classes.items(), key=lambda item: (-item[1], item[0]))
        known = {
            explanation.image_id: of_images[explanation.image_id]
            for explanation in content.explanations[system]
            if explanation.known
        }
        rated = findings[system].rated or math.nan
        rates = {
            "VIFIDEL-Hs": findings[system].hallucinating / rated,
            "VIFIDEL-Hn": sum(known.values()) / rated,
        }
        of_column = content.scores.evaluations[system]
        rates |= {name: of_column[name].score for name in rates if name in of_column}
        rows.append(MadeUp(system, rates, known, frequent[:_MOST_CLASSES]))
    return rows


def axis_of(compared: Comparison) -> Callable[[float], str]:
    """Return where a score lies on the axis of a metric's intervals, from 0 to 100."""
    systems = compared.systems.values()
    low = min(min(s.low, s.score) for s in systems)
    span = max(max(s.high, s.score) for s in systems) - low or 1
    return lambda score: short(4 + 92 * (score - low) / span)  # room for the dot at either end


def remarks(scores: Scores) -> dict[str, dict[Count, int]]:
    """Return what was counted of each system, as in the command's table, without zeros."""
    counts = {name: scores.counts(name) for name in scores.evaluations}
    return {
        name: {count: of[count.key] for count in COUNTS if of.get(count.key)}
        for name, of in counts.items()
    }


def duels(scores: Scores, comparisons: Comparisons) -> dict[tuple[str, str], list[Pair | None]]:
    """Return a row for every two systems: who wins under each metric; None if not compared."""
    compared = map(comparisons.metrics.get, scores.signatures)
    pairs = [
        {(pair.first, pair.second): pair for pair in of.pairs if of.ranked} if of else {}
        for of in compared
    ]
    return {
        names: [of_metric.get(names) for of_metric in pairs]
        for names in itertools.combinations(scores.evaluations, 2)
    }


class Spread(NamedTuple):
    """How a system's scores are spread; the outline is a histogram as an SVG path, 100 by 24."""

    system: str
    images: int
    undefined: int
    quantiles: Sequence[float | None]
    outline: str
    median_at: str


class Distribution(NamedTuple):
    """The scores of all systems under a metric; `binary` are those that are all 0 or 1."""

    metric: str
    axis: tuple[str, str, str]
    spreads: list[Spread]
    binary: bool


def distribution(scores: Scores, metric: str) -> Distribution:
    """Return the distribution of a metric; the tallest step of each histogram fills it."""
    of_systems = {name: e[metric].scores for name, e in scores.evaluations.items()}
    defined = {name: s[~np.isnan(s)] for name, s in of_systems.items()}
    of_all = np.concatenate(list(defined.values()))
    start, end = _axis(of_all)
    spreads = []
    for name, of_system in defined.items():
        quantiles: list[Any] = [None] * len(_QUANTILES)
        median_at = ""
        if len(of_system):
            quantiles = np.quantile(of_system, _QUANTILES).tolist()
            median_at = short(100 * (quantiles[2] - start) / (end - start))
        undefined = len(of_systems[name]) - len(of_system)
        counts = np.histogram(of_system, _BINS, (start, end))[0]
        path = "M0 24"  # steps from the left to the right, closed at the bottom
        for at, height in enumerate((24 * counts / max(counts.max(), 1)).tolist(), 1):
            path += f"V{short(24 - height)}H{short(at * 100 / _BINS)}"
        outline = path + "V24Z"
        spreads.append(Spread(name, len(of_system), undefined, quantiles, outline, median_at))
    axis = (f"{start:g}", f"{(start + end) / 2:g}", f"{end:g}")
    binary = bool(np.isin(of_all, (0, 1)).all()) and len(of_all) > 0
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


class Order:
    """Order of the list of images (`places`), and how metrics agree.

    `ranks_agree` are correlations over all captions, better scores ranking higher; `fits` those of
    each system and of all. `against` is the metric that agrees least with the first.
    """

    def __init__(
        self, data: dict[str, Any], inventions: Sequence[Sequence[int | None]] = ()
    ) -> None:
        scores = np.array(data["scores"], dtype=np.float64)  # (systems, metrics, images)
        signs = np.where(data["lowerIsBetter"], -1.0, 1.0)
        of_metrics = scores.transpose(1, 0, 2).reshape(len(signs), -1)
        self.fits = [*map(correlations, scores), correlations(of_metrics)]
        self.ranks_agree = self.fits[-1][..., 1] * np.outer(signs, signs)
        self.against = _against(self.ranks_agree[0], of_metrics)
        if inventions:
            known = np.array(inventions, dtype=np.float64)
            values = np.where(np.isnan(known).all(axis=0), np.nan, np.nansum(known, axis=0))
        elif len(scores) > 1:
            values = systems_apart(scores[:, 0])
        elif len(signs) > 1:
            first, second = (scores[:, at] * signs[at] for at in (0, self.against))
            values = np.abs(metrics_apart(first, second))
        else:
            values = -scores[0, 0] * signs[0]
        self.places: list[int] = np.argsort(-values, kind="stable").tolist()  # NaN sorts last


def _against(agree: Floats, of_metrics: Floats) -> int:
    """Return the metric that agrees least with the first one."""

    def key(metric: int) -> tuple[bool, float]:
        scores = of_metrics[metric][~np.isnan(of_metrics[metric])]
        most = np.unique(scores, return_counts=True)[1].max(initial=0)
        says_little = bool(most > _MOST_EQUAL * len(scores)) or math.isnan(agree[metric])
        return says_little, 0.0 if says_little else float(agree[metric])

    return min(range(1, len(agree)), key=key, default=0)


def systems_apart(scores: Floats) -> Floats:
    """Return twice the median distance of systems' scores, (systems, images), from their median."""
    several = (~np.isnan(scores)).sum(axis=0) > 1
    scores = np.where(several, scores, 0)  # of columns without a score, nanmedian warns
    apart = np.abs(scores - np.nanmedian(scores, axis=0))
    return np.where(several, 2 * np.nanmedian(apart, axis=0), np.nan)


def metrics_apart(scores: Floats, others: Floats) -> Floats:
    """Return how far two metrics' percentile ranks of each image's captions differ, in [-1, 1]."""
    apart = percentile_ranks(scores) - percentile_ranks(others)
    largest = np.where(np.isnan(apart), -1, np.abs(apart)).argmax(axis=0)
    signed: Floats = np.take_along_axis(apart, largest[np.newaxis], axis=0)[0]
    return signed


def percentile_ranks(scores: Floats) -> Floats:
    """Return the share of all defined scores that lie below each, ties half; NaN stays NaN."""
    defined = ~np.isnan(scores)
    ranks = np.full_like(scores, np.nan)
    ranks[defined] = (rankdata(scores[defined]) - 0.5) / max(defined.sum(), 1)
    return ranks


def correlations(of_metrics: Floats) -> Floats:
    """Return Pearson's and Spearman's correlation of every two metrics: (metrics, metrics, 2)."""
    defined = ~np.isnan(of_metrics)

    @cache  # most metrics are defined for the same captions
    def directions(metric: int, among: bytes) -> Floats:
        scores = of_metrics[metric][np.frombuffer(among, dtype=bool)]
        return np.stack([_direction(scores), _direction(rankdata(scores))])

    both_kinds = np.full((len(of_metrics), len(of_metrics), 2), np.nan)
    for one, other in itertools.combinations_with_replacement(range(len(of_metrics)), 2):
        both = defined[one] & defined[other]
        if both.sum() > 1:
            products = directions(one, both.tobytes()) * directions(other, both.tobytes())
            both_kinds[one, other] = both_kinds[other, one] = products.sum(axis=1)
    return both_kinds


def _direction(scores: Floats) -> Floats:
    """Return scores less their mean, as a vector of length 1; NaN if all are equal."""
    with np.errstate(over="ignore", invalid="ignore"):
        apart = scores - scores.mean()
        length = np.sqrt((apart**2).sum())
        direction: Floats = apart / (length if length > 1e-9 else np.nan)
    return direction
