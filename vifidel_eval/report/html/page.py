"""The page itself: a template, a style sheet and a script, filled with a report's content."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from functools import cache
from importlib.metadata import version
from importlib.resources import files

from jinja2 import Environment, PackageLoader, StrictUndefined
from jinja2.utils import htmlsafe_json_dumps
from markupsafe import Markup

from ...explain.findings import find
from ...text_tables import p_value
from ...things.grounded import Verdict
from . import formats, overview
from .content import Content
from .images import Images
from .made_up import made_up
from .order import Order, by_inventions
from .pictures import by_place, pictures
from .plans import SUPPOSED, UNIT

# The scripts, in the order in which they need each other: they share one scope.
_SCRIPTS = "base marks plan boxes cards search order state scatter categories start"
_MOST_FINDINGS = 10
_MOST_CATEGORIES = 8
# Categories of fewer images are not listed: at most this many, or a hundredth of all images.
_FEWEST = 25
# How words are marked, by verdict: a class of the style sheet.
_MARKS = {Verdict.NOT_JUDGED: "unjudged", Verdict.THERE: "there", Verdict.ABSENT: "absent"}
# How many colours and dash patterns the lines of a plan have, from cost 0 to the scale's end.
_SHADES = 5
# Of a plan with more rows, the costliest are shown at first.
_MOST_ROWS = 10

#: Images on a page of the list.
IMAGES_ON_A_PAGE = 20


def render_page(content: Content) -> str:
    """Return the report: one HTML document that needs nothing else.

    The same content gives the same bytes.

    Parameters
    ----------
    content : Content
        What is shown.
    """
    images = Images(content)
    order = Order(images.data)
    made_up_things = images.plans.get("inventions")
    sort, places = (
        order.by_disagreement() if made_up_things is None else by_inventions(made_up_things)
    )
    distributions = overview.distributions(content.scores)
    drawn = pictures(
        content.material, [images.ids[place] for place in places], images.data["labels"]
    )
    shown = {name: by_place(of_images, images.ids) for name, of_images in drawn.items()}
    data, plan_data = _json(images.data), _json(images.plans)
    template = _environment().get_template("report.html.j2")
    return template.render(
        scores=content.scores,
        comparisons=content.comparisons,
        standings=overview.standings(content.scores, content.comparisons),
        remarks=overview.remarks(content.scores),
        meanings=overview.meanings(content.scores),
        duels=overview.duels(content.scores, content.comparisons),
        at_equal_length=content.comparisons.has_equal_length,
        distributions=distributions,
        telling=_telling(distributions, order.against),
        made_up=made_up(content),
        findings={name: find(parts) for name, parts in content.explanations.items()},
        most=_MOST_FINDINGS,
        material=content.material,
        data=images.data,
        plans=images.plans,
        pictures=shown["images"],
        json={"data": data, "plans": plan_data, "boxes": _json(shown["boxes"])},
        against=order.against,
        correlations=order.correlations,
        settings={
            "pageSize": IMAGES_ON_A_PAGE,
            "shades": _SHADES,
            "unit": UNIT,
            "against": order.against,
            "sort": sort,
            "verdicts": [*map(str, Verdict), "only supposed"],
            "marks": [*(_MARKS[verdict] for verdict in Verdict), "supposed"],
            "supposed": SUPPOSED,
            "there": Verdict.THERE,
            "absent": Verdict.ABSENT,
            "mostRows": _MOST_ROWS,
            "mostCategories": _MOST_CATEGORIES,
            "fewest": fewest(len(images.ids)),
        },
        unexplained=content.unexplained,
        version=version("vifidel-eval"),
    )


def _telling(distributions: Sequence[overview.Distribution], against: int) -> int:
    """Return the first metric that is worth a plot against another: one of more than 0 and 1."""
    places = (at for at, of in enumerate(distributions) if not of.binary and at != against)
    return next(places, 0)


def fewest(images: int) -> int:
    """Return how many images a category needs to be listed.

    >>> fewest(28), fewest(500), fewest(5000)
    (2, 5, 25)
    """
    return min(max(2, images // 100), _FEWEST)


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("vifidel_eval.report.html", "."),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals |= {
        "whole": formats.whole,
        "part": _part,
        "script": _script,
        "places_of": lambda names: {name: place for place, name in enumerate(names)},
        "digest": _digest,
    }
    environment.filters |= {
        "score": formats.score,
        "fixed": formats.fixed,
        "correlation": formats.correlation,
        "p_value": p_value,
    }
    environment.filters["json"] = _json
    return environment


def _part(name: str) -> Markup:
    """Return the style sheet or a script, which is part of the page as it is."""
    return Markup(files(__package__).joinpath(name).read_text("utf-8"))  # our own: no caption


def _script() -> Markup:
    """Return the scripts as one, in one scope."""
    parts = Markup("\n").join(_part(f"{name}.js") for name in _SCRIPTS.split())
    return Markup('"use strict";\n(() => {\n') + parts + Markup("})();\n")


def _digest(text: str) -> str:
    """Return what the page's policy calls a text by: no other style or script runs in it."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode("ascii")


def _json(value: object) -> Markup:
    """Return JSON in which no caption can end the element that holds it."""
    return htmlsafe_json_dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
