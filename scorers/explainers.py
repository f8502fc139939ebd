"""The choice of what explains the captions of a run, whatever its metrics are."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from .base import Scorer
from .explaining import Explainer, ExplainingScorer
from .record import Settings
from .vifidel import Vifidel, make_vifidel


def explainer_of(scorers: Iterable[Scorer], settings: Settings) -> ExplainingScorer[Any] | None:
    """Return what explains the captions of a run; None if none of its metrics has evidence.

    It is VIFIDEL where objects are known, whether it was computed or not.

    Parameters
    ----------
    scorers : iterable of Scorer
        The metrics of the run.
    settings : Settings
        What they were made from.
    """
    parts = parts_of(scorers)
    for part in parts:
        if isinstance(part, Vifidel):
            return part
    if settings.objects is not None:
        return make_vifidel(settings)
    explaining = [part for part in parts if isinstance(part, ExplainingScorer)]
    for part in explaining:
        if part.objects is not None:
            return part
    for part in parts:
        if isinstance(part, Explainer) and part.objects is not None:
            declared = part.looked_for or settings.looked_for
            return make_vifidel(replace(settings, objects=part.objects, looked_for=declared))
    return next(iter(explaining), None)


def parts_of(scorers: Iterable[Scorer]) -> list[Scorer]:
    """Return scorers, the parts of combinations instead of these."""
    return [part for scorer in scorers for part in getattr(scorer, "parts", (scorer,))]
