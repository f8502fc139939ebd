"""The page itself: a template, a style sheet and a script, filled with a report's content."""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from importlib.metadata import version
from importlib.resources import files

from jinja2 import Environment, PackageLoader, StrictUndefined
from jinja2.utils import htmlsafe_json_dumps
from markupsafe import Markup

from ...explain.findings import find
from . import formats, overview, plans, thumbnails
from .content import Content
from .images import UNIT, Images

# Bytes that captions, plans and thumbnails may have together; the rest of the page is below 1 MB.
_LARGEST = 13_500_000
_MOST_FINDINGS = 10

#: Images on a page of the list; the first page is there without scripting too.
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
    sort, order, apart = images.by_disagreement()
    data, plan_data = _json(images.data), _json(images.plans)
    place_of = {image_id: place for place, image_id in enumerate(images.ids)}
    important = (images.ids[place] for place in order)
    budget = _LARGEST - len(f"{data}{plan_data}".encode(errors="backslashreplace"))
    small = thumbnails.shrink(
        {
            image_id: content.pictures[image_id]
            for image_id in important
            if image_id in content.pictures
        },
        budget,
    )
    template = _environment().get_template("report.html.j2")
    return template.render(
        scores=content.scores,
        comparisons=content.comparisons,
        standings=overview.standings(content.scores, content.comparisons),
        remarks=overview.remarks(content.scores),
        meanings=overview.meanings(content.scores),
        duels=overview.duels(content.scores, content.comparisons),
        distributions=overview.distributions(content.scores),
        findings={
            name: find(of_system.values()) for name, of_system in content.explanations.items()
        },
        most=_MOST_FINDINGS,
        data=images.data,
        plans=images.plans,
        thumbnails={place_of[image_id]: picture for image_id, picture in small.items()},
        json={"data": data, "plans": plan_data},
        sort=sort,
        against=images.against(),
        order=order[:IMAGES_ON_A_PAGE],
        apart=apart,
        page_size=IMAGES_ON_A_PAGE,
        shades=plans.SHADES,
        verdicts=plans.VERDICTS,
        absent=plans.ABSENT,
        unit=UNIT,
        version=version("vifidel-eval"),
    )


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
        "draw": plans.draw,
        "times": plans.times,
        "grouped": formats.grouped,
        "whole": formats.whole,
        "part": _part,
        "digest": _digest,
    }
    environment.filters |= {"score": formats.score, "fixed": formats.fixed, "json": _json}
    return environment


def _part(name: str) -> Markup:
    """Return the style sheet or the script, which are part of the page as they are."""
    return Markup(files(__package__).joinpath(name).read_text("utf-8"))  # our own: no caption


def _digest(text: str) -> str:
    """Return what the page's policy calls a text by: no other style or script runs in it."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode("ascii")


def _json(value: object) -> Markup:
    """Return JSON in which no caption can end the element that holds it."""
    return htmlsafe_json_dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
