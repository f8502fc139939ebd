"""Upper half of a report: ranks, who beats whom, what is made up, distributions, agreement.

Numbers are written digit for digit as base.js writes them.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from ...evaluation import COUNTS, Count, Floats
from ...explain.findings import MADE_UP, MISSED, UNCONFIRMED, Findings
from ...io.image_ids import ImageId
from ...io.text_tables import readable
from ...kernels.known import Verdict
from ...scores.comparison import Comparisons
from ...scores.scores import Scores, means_by_plain_name
from ...scores.systems import WORDS
from ...scores.verdict import ordered_systems
from ..first_screen import PER_CAPTION, made_up_per_caption
from .content import Content
from .data import PairTest

#: What is shown where there is no number.
NONE = "\N{EN DASH}"

#: What captions do with a thing, beside what `vifidel_eval.explain.findings` calls so.
MENTIONED = "mentioned"
_MOST_CLASSES = 5
_MOST_THINGS = 20  # of a kind
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


def brief(value: float, digits: int = 2) -> str:
    """Return a number with few decimals and without the 0 before the point.

    >>> brief(0.456), brief(-0.5), brief(1.0), brief(10, 3)
    ('.46', '-.50', '1.00', '10.0')
    """
    if math.isnan(value):
        return NONE
    text = fixed(abs(value), 1 if abs(value) >= 10 else digits)
    text = text.removeprefix("0") if digits else text
    return ("-" if value < 0 and text.strip(".0") else "") + text


class MadeUp(NamedTuple):
    """What a system makes up, each thing once per caption: rates, by image, frequent classes."""

    system: str
    rates: Mapping[str, float]
    things: Mapping[ImageId, list[str]]
    most: list[tuple[str, int]]
    counted_by: str  # the column that counts what is made up per caption


def made_up(content: Content, findings: Mapping[str, Findings]) -> list[MadeUp]:
    """Return what each system makes up; nothing if no caption of any does."""
    if not any(content.inventions.values()):
        return []
    rows = []
    explained = content.by_system(content.explanations)
    for system, inventions in content.by_system(content.inventions).items():
        things = dict.fromkeys((i.system, i.image_id, i.category) for i in inventions)
        of_images: dict[ImageId, list[str]] = {}
        for _, image_id, category in things:
            of_images.setdefault(image_id, []).append(category)
        classes = Counter(category for _, _, category in things)
        frequent = sorted(classes.items(), key=lambda item: (-item[1], item[0]))
        shown = {e.image_id: of_images.get(e.image_id, []) for e in explained[system] if e.known}
        counts, of_column = findings[system], content.scores.evaluations[system]
        rated = counts.rated or math.nan
        rates = {
            "VIFIDEL-Hs": counts.hallucinating / rated,
            PER_CAPTION: sum(map(len, shown.values())) / rated,
            "unconfirmed": counts.unconfirmed / rated,
        }
        names = means_by_plain_name(of_column)  # of samples
        columns = {name: names.get(name, name) for name in rates}
        rates |= {
            name: of_column[column].score for name, column in columns.items() if column in of_column
        }
        counted = made_up_per_caption(of_column) or (PER_CAPTION, rates[PER_CAPTION])
        counted_by, rates[PER_CAPTION] = counted[:2]
        rows.append(MadeUp(system, rates, shown, frequent[:_MOST_CLASSES], counted_by))
    return rows


class Thing(NamedTuple):
    """A thing, the number of images that have it, and of captions of each system."""

    name: str
    images: int
    captions: list[int]


def things(content: Content) -> dict[str, list[Thing]]:
    """Return what captions make up, miss, leave unconfirmed and mention, most frequent first."""
    counts: dict[str, Counter[tuple[str, str]]] = {
        kind: Counter() for kind in (MADE_UP, MISSED, UNCONFIRMED, MENTIONED)
    }
    systems = content.by_system(content.explanations)
    for system, explanations in systems.items():
        for explanation in explanations:
            mentions = explanation.mentions
            wrong = {m.category for m in mentions if m.verdict.is_wrong}
            unsure = {m.category for m in mentions if m.verdict is Verdict.UNCONFIRMED}
            by_kind = wrong, {*explanation.unmentioned}, unsure, {m.category for m in mentions}
            if explanation.known:
                for of_kind, names in zip(counts.values(), by_kind, strict=True):
                    of_kind.update((name, system) for name in names if name)
    images = Counter(label for of_image in content.objects.values() for label in of_image)
    table = {}
    for kind, of_kind in counts.items():
        totals: Counter[str] = Counter()
        for (name, _), number in of_kind.items():
            totals[name] += number
        frequent = sorted(totals, key=lambda name: (-totals[name], name))[:_MOST_THINGS]
        table[kind] = [
            Thing(name, images[name], [of_kind[name, system] for system in systems])
            for name in frequent
        ]
    return {kind: of_kind for kind, of_kind in table.items() if of_kind}


def tests(comparisons: Comparisons, metric: str) -> list[PairTest]:
    """Return p of every two systems, and what remains at equal length where lengths differ."""
    pair_tests = []
    compared = comparisons.metrics.get(metric)
    for pair in () if compared is None else compared.pairs:
        test, remains = PairTest(comparisons.p_of(pair)), pair.equal_length
        if remains is not None:
            test = test._replace(
                difference=readable(remains.difference),
                low=readable(remains.low),
                high=readable(remains.high),
            )
        pair_tests.append(test)
    return pair_tests


def remarks(scores: Scores) -> dict[str, dict[Count, int]]:
    """Return what was counted of each system, as in the command's table, without zeros."""
    counts = {name: scores.counts(name) for name in scores.evaluations}
    return {
        name: {count: numbers[count.key] for count in COUNTS if numbers.get(count.key)}
        for name, numbers in counts.items()
    }


class Spread(NamedTuple):
    """How a system's scores are spread; the outline is a histogram as an SVG path, 32 by 24."""

    system: str
    images: int
    undefined: int
    quantiles: Sequence[float | None]
    outline: str
    median_at: str


class Distribution(NamedTuple):
    """The scores of all systems under a metric; `binary` are those that are all 0 or 1."""

    metric: str
    axis: tuple[str, str]
    spreads: list[Spread]
    binary: bool


def distribution(scores: Scores, metric: str) -> Distribution:
    """Return the distribution of a metric; the tallest step of each histogram fills it."""
    order = ordered_systems(scores, metric, None)
    of_systems = {name: scores.evaluations[name][metric].scores for name in order}
    defined = {name: s[~np.isnan(s)] for name, s in of_systems.items()}
    of_all = np.concatenate(list(defined.values()))
    start, end = _axis(of_all)
    spreads = []
    for name, of_system in defined.items():
        quantiles: list[Any] = [None] * len(_QUANTILES)
        median_at = ""
        if len(of_system):
            quantiles = np.quantile(of_system, _QUANTILES).tolist()
            median_at = short(_BINS * (quantiles[2] - start) / (end - start))
        undefined = len(of_systems[name]) - len(of_system)
        counts = np.histogram(of_system, _BINS, (start, end))[0]
        heights = (24 * counts / max(counts.max(), 1)).tolist()
        # Steps from the left to the right, closed at the bottom.
        steps = [
            f"V{short(24 - height)}h{len([*equal])}" for height, equal in itertools.groupby(heights)
        ]
        outline = f"M0 24{''.join(steps)}V24Z"
        spreads.append(Spread(name, len(of_system), undefined, quantiles, outline, median_at))
    axis = (f"{start:g}", f"{end:g}")
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

    Images of which captions are worst under the metric `chosen` come first; `worst` is that of the
    `leader`. `ranks_agree` are correlations over all captions, better scores ranking higher; `fits`
    those of each system and of all. `against` is the metric that agrees least with the one chosen.
    """

    def __init__(self, data: dict[str, Any], chosen: int = 0, leader: int = 0) -> None:
        scores = np.array(data["scores"], dtype=np.float64)  # (systems, metrics, images)
        signs = np.where(data["lowerIsBetter"], -1.0, 1.0)
        of_metrics = scores.transpose(1, 0, 2).reshape(len(signs), -1)
        self.fits = [*map(correlations, scores), correlations(of_metrics)]
        self.ranks_agree = self.fits[-1][..., 1] * np.outer(signs, signs)
        metrics = data.get("metrics", [])
        words = metrics.index(WORDS) if WORDS in metrics else None
        self.against = _against(self.ranks_agree[chosen], of_metrics, chosen, words)
        worse = -signs[chosen] * scores[:, chosen]
        self.worst = int(np.nan_to_num(worse[leader], nan=-np.inf).argmax())
        defined = ~np.isnan(worse)
        number = np.where(defined.any(axis=0), defined.sum(axis=0), np.nan)
        # Added as scripts add them, one system after the other.
        self.places: list[int] = np.argsort(
            -np.add.reduce(np.where(defined, worse, 0), axis=0) / number, kind="stable"
        ).tolist()  # NaN sorts last


def _against(agree: Floats, of_metrics: Floats, chosen: int, words: int | None) -> int:
    """Return the metric that agrees least with the chosen one, never a length."""

    def key(metric: int) -> tuple[bool, float]:
        scores = of_metrics[metric][~np.isnan(of_metrics[metric])]
        largest = np.unique(scores, return_counts=True)[1].max(initial=0)
        says_little = bool(largest > _MOST_EQUAL * len(scores)) or math.isnan(agree[metric])
        return says_little, 0.0 if says_little else float(agree[metric])

    others = (metric for metric in range(len(agree)) if metric not in (chosen, words))
    return min(others, key=key, default=chosen)


def correlations(of_metrics: Floats) -> Floats:
    """Return Pearson's and Spearman's correlation of every two metrics: (metrics, metrics, 2)."""
    defined = ~np.isnan(of_metrics)

    @cache  # most metrics are defined for the same captions
    def directions(metric: int, among: bytes) -> Floats:
        scores = of_metrics[metric][np.frombuffer(among, dtype=bool)]
        return np.stack([_direction(scores), _direction(_ranks(scores))])

    r = np.full((len(of_metrics), len(of_metrics), 2), np.nan)
    for i, j in itertools.combinations_with_replacement(range(len(of_metrics)), 2):
        in_both = defined[i] & defined[j]
        if in_both.sum() > 1:
            products = directions(i, in_both.tobytes()) * directions(j, in_both.tobytes())
            r[i, j] = r[j, i] = products.sum(axis=1)
    return r


def _ranks(scores: Floats) -> Floats:
    """Return the ranks of scores, the mean rank where they tie, without SciPy's long import."""
    _, at, ties = np.unique(scores, return_inverse=True, return_counts=True)
    ranks: Floats = (ties.cumsum() - (ties - 1) / 2)[at]
    return ranks


def _direction(scores: Floats) -> Floats:
    """Return scores less their mean, as a vector of length 1; NaN if all are equal."""
    with np.errstate(over="ignore", invalid="ignore"):
        apart = scores - scores.mean()
        length = np.sqrt((apart**2).sum())
        direction: Floats = apart / (length if length > 1e-9 else np.nan)
    return direction
