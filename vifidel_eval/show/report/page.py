"""The page itself: a template, a style sheet and a script, filled with a report's content.

Its first screen says whether the order is sure, what is made up and where to look, and draws
intervals. The sentence above that and the order of systems are `vifidel_eval.scores.verdict`'s.
"""

from __future__ import annotations

import base64
import hashlib
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from importlib.resources import files
from operator import itemgetter
from typing import Any
from urllib.parse import quote, urlencode

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from ...evaluation import COUNTS
from ...explain.findings import Findings, find
from ...io.text_tables import readable
from ...scores.comparison import Comparisons
from ...scores.scores import PEOPLE, Scores, plain_name
from ...scores.standings import Comparison
from ...scores.verdict import (
    Verdict,
    is_of_others,
    ordered_columns,
    ordered_systems,
    short_names,
    verdict,
)
from ..first_screen import PER_CAPTION
from . import overview
from .content import Content, listed_images
from .data import FIELDS, UNIT, Fit, caption_data, image_data, invention_data, pictures
from .overview import MadeUp, fixed, short, whole

# The scripts, in the order in which they need each other: they share one scope.
_SCRIPTS = (
    "base tables marks plan boxes cards search order state scatter categories things ranking start"
)
# The metric that decides at first, if a run has it.
_LEADING = ("VIFIDEL-F", "VIFIDEL-F mean")
_LONGEST_NAME = 20  # in the first table, whose other columns need room
_LONGEST_ON_PHONES = 9
# Of fewer images, a mean says little of a category.
_FEWEST = 10
# How many colours and dash patterns the lines of a plan have, from cost 0 to the scale's end.
_SHADES = 5
#: Parts of VIFIDEL-F, which stand beside it.
PARTS = ("VIFIDEL-P", "VIFIDEL-R")
_MOST_TICKS = 5
# The template's `tojson` also escapes what could end the element that holds the data.
_JSON = {"ensure_ascii": False, "separators": (",", ":"), "allow_nan": False}


def render_page(content: Content) -> str:
    """Return the report: one HTML document that needs nothing else, always the same bytes."""
    listed = listed_images(content)
    data, plans = image_data(content, listed), caption_data(content, listed)
    explained = content.by_system(content.explanations)
    findings = {name: find([of_one]) for name, of_one in explained.items()}
    made_up = overview.made_up(content, findings)
    if made_up:
        plans |= invention_data([system.things for system in made_up], list(content.references))
    scores, comparisons = content.scores, content.comparisons
    metrics, systems = data["metrics"], data["systems"]
    chosen = next((metrics.index(name) for name in _LEADING if name in metrics), 0)
    verdicts = {metric: verdict(scores, comparisons, metric) for metric in metrics}
    orders = {metric: ordered_systems(scores, metric, comparisons) for metric in metrics}
    leaders = [systems.index(of_metric[0]) for of_metric in orders.values()]
    order = overview.Order(data, chosen, leaders[chosen])
    distributions = [overview.distribution(scores, metric) for metric in scores.signatures]
    shown, boxes = pictures(content, [order.worst, *order.places], data["labels"])
    template = _environment().get_template("report.html.j2")
    return template.render(
        scores=scores,
        comparisons=comparisons,
        chosen=chosen,
        counts=COUNTS,
        remarks=overview.remarks(scores),
        beside=beside(content),
        verdicts=verdicts,
        orders=orders,
        listed=listed,
        names=short_names(systems, _LONGEST_NAME),
        phone_names=short_names(systems, _LONGEST_ON_PHONES),
        columns=ordered_columns(metrics),
        distributions=distributions,
        plotted=_plotted(scores, distributions, chosen, order.against),
        made_up=made_up,
        findings=findings,
        things=overview.things(content),
        title=content.title,
        files=content.files,
        data=data,
        plans=plans,
        boxes=boxes,
        pictures=shown,
        order=order,
        settings={
            "fields": FIELDS,
            "chosen": chosen,
            "tests": [overview.tests(comparisons, metric) for metric in metrics],
            "leaders": leaders,
            "shades": _SHADES,
            "unit": UNIT,
            "fits": _fits(order),
            "fewest": _FEWEST,
            "people": systems.index(PEOPLE) if scores.with_people else None,
        },
        unexplained=content.unexplained,
        version=version("vifidel-eval"),
    )


def _fits(order: overview.Order) -> list[list[list[Fit]]]:
    """Return the correlations of every two metrics, of each system and of all."""
    return [
        [[Fit(*map(overview.brief, pair)) for pair in row] for row in of_system.tolist()]
        for of_system in order.fits
    ]


def _plotted(
    scores: Scores, distributions: Sequence[overview.Distribution], chosen: int, against: int
) -> tuple[int, int]:
    """Return the two metrics that are plotted at first.

    VIFIDEL-F stands against another tool's metric, or CIDEr; its parts against each other.
    """
    metrics = list(scores.signatures)
    place = {plain_name(metric)[0]: at for at, metric in enumerate(metrics)}
    others = [m for m, at in place.items() if is_of_others(scores, metrics[at])]
    pairs = [("VIFIDEL-F", other) for other in (*others, "CIDEr")]
    for across, up in (*pairs, ("VIFIDEL-P", "VIFIDEL-R")):
        if {across, up} <= set(place):
            return place[across], place[up]
    # A metric is worth a plot against another if it has more scores than 0 and 1.
    telling = [at for at, d in enumerate(distributions) if not d.binary and at != against]
    return (chosen if chosen in telling else next(iter(telling), 0)), against


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
    drawn = [*others, *(end for s in compared.systems.values() for end in (s.low, s.score, s.high))]
    ends = [end for end in drawn if not math.isnan(end)]  # one image has no interval
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
    rates = {row.system: 100 * row.rates[PER_CAPTION] for row in made_up}
    shown = [rates[system] for system in systems if system in rates]
    if len(shown) > 3:
        return f"{fixed(min(shown), 0)} to {fixed(max(shown), 0)}"
    return " / ".join(fixed(rate, 0) for rate in shown)


def half_as_good(scores: Scores, decided: Verdict) -> str:
    """Return of how many images a caption has less than half of the best system's score."""
    best, *others = [
        dict(zip(e.ids, e.scores.tolist(), strict=True))
        for e in (scores.evaluations[name][decided.column] for name in decided.systems)
    ]
    lower = scores.evaluations[decided.systems[0]][decided.column].lower_is_better
    scores_beside = [
        [(other.get(image_id, math.nan), score) for other in others]
        for image_id, score in best.items()
    ]
    images = sum(
        any(theirs > 2 * score if lower else theirs < score / 2 for theirs, score in of_image)
        for of_image in scores_beside
    )
    share = "more than twice" if lower else "less than half of"
    where = f"{whole(images)} image{'s' * (images != 1)} where a caption has {share}"
    return f"{where} {decided.systems[0]}'s {decided.column}"


def where_to_look(
    decided: Verdict, made_up: Sequence[MadeUp], findings: Mapping[str, Findings]
) -> list[tuple[dict[str, Any], str]]:
    """Return what the controls of the list show, and what that is."""
    places: list[tuple[dict[str, Any], str]] = []
    frequent = [
        (*thing, inventions.system) for inventions in made_up for thing in inventions.most[:1]
    ]
    repeated = [(thing, times, system) for thing, times, system in frequent if times > 1]
    if repeated:
        thing, times, system = max(repeated, key=itemgetter(1))
        show = {"system": system, "captions": "absent", "thing": thing}
        count = f"“{thing}” \N{MULTIPLICATION SIGN}{times}"
        places.append((show, f"{count}, what {system} makes up most"))
    doubtful = {
        image_id
        for name in decided.systems
        if name in findings
        for finding in findings[name].unconfirmed_words
        for image_id in finding.images
    }
    if doubtful:
        text = f"{whole(len(doubtful))} image{'s' * (len(doubtful) > 1)} with something unconfirmed"
        places.append(({"captions": "unconfirmed"}, text))
    return places


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


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("vifidel_eval.show.report", "."),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.policies["json.dumps_kwargs"] = _JSON
    environment.globals |= {
        "PARTS": PARTS,
        "address": _address,
        "axis_of": axis_of,
        "band": band,
        "half_as_good": half_as_good,
        "part": _part,
        "per_hundred": per_hundred,
        "script": _script,
        "digest": _digest,
        "surety": surety,
        "where_to_look": where_to_look,
        "whole": whole,
    }
    environment.filters |= {
        "score": overview.score,
        "fixed": fixed,
        "brief": overview.brief,
        "readable": readable,
    }
    return environment


def _address(**values: object) -> str:
    """Return the link to the images that controls with these values show, as base.js does."""
    return "#images?" + urlencode(values, quote_via=quote, errors="replace")


def _part(name: str) -> Markup:
    """Return the style sheet or a script without indents and lines of comments."""
    text = files(__package__).joinpath(name).read_text("utf-8")
    return Markup(re.sub(r"^(\s+|//.*\n)+", "", text, flags=re.MULTILINE))  # our own: no caption


def _script() -> Markup:
    """Return the scripts as one, in one scope."""
    parts = Markup("\n").join(_part(f"{name}.js") for name in _SCRIPTS.split())
    return Markup('"use strict";\n(() => {\n') + parts + Markup("})();\n")


def _digest(text: str) -> str:
    """Return what the page's policy calls a text by: no other style or script runs in it."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode("ascii")
