"""The page itself: a template, a style sheet and a script, filled with a report's content."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Sequence
from functools import cache
from importlib.metadata import version
from importlib.resources import files
from urllib.parse import quote, urlencode

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from ...evaluation import COUNTS
from ...explain.findings import find
from ...io.text_tables import readable
from ...scores.scores import PEOPLE, Scores, plain_name
from ...scores.verdict import is_of_others, ordered_columns, ordered_systems, short_names, verdict
from . import first_screen, overview
from .content import Content, listed_images
from .data import FIELDS, UNIT, Fit, caption_data, image_data, invention_data, pictures

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
        beside=first_screen.beside(content),
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
        "address": _address,
        "first": first_screen,
        "whole": overview.whole,
        "part": _part,
        "script": _script,
        "digest": _digest,
    }
    environment.filters |= {
        "score": overview.score,
        "fixed": overview.fixed,
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
