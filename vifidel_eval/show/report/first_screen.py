"""First screen of a report: whether the order is sure, what is made up, where to look, intervals.

The sentence above it and the order of systems are `vifidel_eval.scores.verdict`'s.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any

from ...explain.findings import Findings
from ...scores.comparison import Comparisons
from ...scores.scores import PEOPLE, Scores
from ...scores.standings import Comparison
from ...scores.verdict import Verdict
from ..first_screen import PER_CAPTION
from .content import Content
from .overview import MadeUp, fixed, short, whole

#: Parts of VIFIDEL-F, which stand beside it.
PARTS = ("VIFIDEL-P", "VIFIDEL-R")
_MOST_TICKS = 5


@dataclass(frozen=True)
class Axis:
    """The axis of all intervals of a metric: its ends, its ticks and their decimals."""

    low: float
    high: float
    ticks: Sequence[float]
    digits: int

    def place(self, score: float) -> str:
        """Return where a score lies, in per cent of the width."""
        return short(2 + 96 * (score - self.low) / (self.high - self.low))  # room for a dot


def axis_of(compared: Comparison, *others: float) -> Axis:
    """Return the axis on which all intervals, and other scores, have room."""
    found = [*others, *(end for s in compared.systems.values() for end in (s.low, s.score, s.high))]
    ends = [end for end in found if not math.isnan(end)]  # one image has no interval
    low, high = min(ends), max(ends)
    if low == high:
        low, high = low - 0.01, high + 0.01
    power = 10.0 ** math.floor(math.log10((high - low) / _MOST_TICKS))
    step = next(power * f for f in (1, 2, 5, 10) if (high - low) / (power * f) <= _MOST_TICKS)
    ticks = [step * at for at in range(math.ceil(low / step), math.floor(high / step) + 1)]
    return Axis(low, high, ticks, max(0, -math.floor(math.log10(step) + 1e-9)))


def band(scores: Scores, compared: Comparison, people: float | None) -> tuple[float, float] | None:
    """Return the interval of people under a metric, or their score twice; None without them."""
    if scores.with_people and PEOPLE in compared.systems:
        standing = compared.systems[PEOPLE]
        return (standing.score,) * 2 if math.isnan(standing.low) else (standing.low, standing.high)
    return None if people is None or math.isnan(people) else (people, people)


def surety(comparisons: Comparisons, decided: Verdict) -> tuple[str, str]:
    """Return whether the first place is sure, and of how many pairs that can be said."""
    compared = comparisons.metrics.get(decided.column)
    if compared is None or not decided.places or len(decided.systems) < 2:
        return "Not tested", "; ".join(comparisons.too_few(decided.column))
    places = list(decided.places.values())
    first = decided.places[decided.systems[0]]
    pairs = [p for p in compared.pairs if {p.first, p.second} <= set(decided.systems)]
    differ = sum(pair.winner is not None for pair in pairs)
    answer = "Yes, for first place" if places.count(first) == 1 else f"No: places {first} are open"
    return answer, f"{whole(differ)} of {whole(len(pairs))} pairs differ."


def per_hundred(made_up: Sequence[MadeUp], systems: Sequence[str]) -> str:
    """Return what systems make up per 100 captions; of many, the fewest and the most."""
    rates = {found.system: 100 * found.rates[PER_CAPTION] for found in made_up}
    known = [rates[system] for system in systems if system in rates]
    if len(known) > 3:
        return f"{fixed(min(known), 0)} to {fixed(max(known), 0)}"
    return " / ".join(fixed(rate, 0) for rate in known)


def half_as_good(scores: Scores, decided: Verdict) -> str:
    """Return of how many images a caption has less than half of the best system's score."""
    best, *others = [
        dict(zip(e.ids, e.scores.tolist(), strict=True))
        for e in (scores.evaluations[name][decided.column] for name in decided.systems)
    ]
    lower = scores.evaluations[decided.systems[0]][decided.column].lower_is_better
    both = [
        [(other.get(image_id, math.nan), score) for other in others]
        for image_id, score in best.items()
    ]
    images = sum(
        any(theirs > 2 * score if lower else theirs < score / 2 for theirs, score in of_image)
        for of_image in both
    )
    share = "more than twice" if lower else "less than half of"
    where = f"{whole(images)} image{'s' * (images != 1)} where a caption has {share}"
    return f"{where} {decided.systems[0]}'s {decided.column}"


def where_to_look(
    decided: Verdict, made_up: Sequence[MadeUp], findings: Mapping[str, Findings]
) -> list[tuple[dict[str, Any], str]]:
    """Return what the controls of the list show, and what that is."""
    found: list[tuple[dict[str, Any], str]] = []
    frequent = [
        (*thing, inventions.system) for inventions in made_up for thing in inventions.most[:1]
    ]
    known = [(thing, times, system) for thing, times, system in frequent if times > 1]
    if known:
        thing, times, system = max(known, key=itemgetter(1))
        show = {"system": system, "captions": "absent", "thing": thing}
        count = f"“{thing}” \N{MULTIPLICATION SIGN}{times}"
        found.append((show, f"{count}, what {system} makes up most"))
    doubtful = {
        image_id
        for name in decided.systems
        if name in findings
        for finding in findings[name].unconfirmed_words
        for image_id in finding.images
    }
    if doubtful:
        text = f"{whole(len(doubtful))} image{'s' * (len(doubtful) > 1)} with something unconfirmed"
        found.append(({"captions": "unconfirmed"}, text))
    return found


def beside(content: Content) -> dict[str, dict[str | None, float]]:
    """Return columns beside the chosen metric by system; None are people who are no system."""
    scores, people = content.scores, content.scores.people
    columns: dict[str, dict[str | None, float]] = {}
    for column in filter(scores.signatures.__contains__, (*PARTS, "CIDEr", "CIDEr mean")):
        columns[column] = {
            name: evaluations[column].score for name, evaluations in scores.evaluations.items()
        }
    if people is not None and people.rates:
        for name, rate in people.rates.items():
            columns.get(name, {})[None] = rate
    return columns
