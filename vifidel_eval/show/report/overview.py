"""Upper half of a report: what systems make up, who beats whom, distributions of scores."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np

from ...evaluation import COUNTS, Count, Floats
from ...explain.findings import Findings
from ...io.image_ids import ImageId
from ...scores.comparison import Comparison, Comparisons, Pair
from ...scores.scores import Scores
from .content import Content
from .number_texts import short

_MOST_CLASSES = 5
_BINS = 32
_QUANTILES = (0, 0.25, 0.5, 0.75, 1)


class MadeUp(NamedTuple):
    """What a system makes up, each thing (by its class) once a caption.

    Its rates by the columns of VIFIDEL-H, whether that was computed or not; by image, if anything
    is known of it, how many things; and the classes that most captions make up, with how many
    captions, the most frequent first.
    """

    system: str
    rates: Mapping[str, float]
    things: Mapping[ImageId, int]
    most: list[tuple[str, int]]


def made_up(content: Content, findings: Mapping[str, Findings]) -> list[MadeUp]:
    """Return what each system makes up; nothing if no caption of any does."""
    if not any(content.inventions.values()):
        return []
    found = []
    for system, inventions in content.inventions.items():
        things = dict.fromkeys((row.image_id, row.category) for row in inventions)
        of_images = Counter(image_id for image_id, _ in things)
        classes = Counter(category for _, category in things)
        frequent = sorted(classes.items(), key=lambda item: (-item[1], item[0]))
        known = {
            image_id: of_images[image_id]
            for part in content.explanations[system]
            for image_id, known in zip(part.ids, part.known.tolist(), strict=True)
            if known
        }
        rated = findings[system].rated or math.nan
        rates = {
            "VIFIDEL-Hs": findings[system].hallucinating / rated,
            "VIFIDEL-Hn": sum(known.values()) / rated,
        }
        of_column = content.scores.evaluations[system]
        rates |= {name: of_column[name].score for name in rates if name in of_column}
        found.append(MadeUp(system, rates, known, frequent[:_MOST_CLASSES]))
    return found


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
    found = []
    for metric in scores.signatures:
        compared = comparisons.metrics.get(metric)
        pairs = compared.pairs if compared is not None and compared.ranked else ()
        found.append({(pair.first, pair.second): pair for pair in pairs})
    return {
        names: [of_metric.get(names) for of_metric in found]
        for names in itertools.combinations(scores.evaluations, 2)
    }


class Spread(NamedTuple):
    """How the scores of a system are spread: images with a score and without one.

    Quantiles are the lowest score, the quartiles and the highest, None without scores; the outline
    is the histogram as an SVG path, 100 wide and 24 high, on whose axis the median is `median_at`.
    """

    system: str
    images: int
    undefined: int
    quantiles: list[float] | list[None]
    outline: str
    median_at: str


class Distribution(NamedTuple):
    """The scores of all systems under a metric, on an axis: its beginning, middle and end.

    Where all scores are 0 or 1 (`binary`), their mean says it all.
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
                quantiles or [None] * len(_QUANTILES),
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


def _outline(heights: Floats) -> str:
    """Return steps from the left to the right, closed at the bottom."""
    width = 100 / len(heights)
    path = "M0 24"
    for at, height in enumerate(heights.tolist()):
        path += f"V{short(24 - height)}H{short((at + 1) * width)}"
    return path + "V24Z"
