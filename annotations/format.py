"""The record of a format of objects: its row in docs/objects.md, and the ways in which it comes.

A format is a module of this package that ends with its record, ``FORMAT``, and a line in the table
of `.read`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .carriers import Carrier
from .instances import Instances
from .objects import ObjectLabels


@dataclass(frozen=True)
class Way:
    """One of the ways in which a format comes, or something that people give instead of it.

    Attributes
    ----------
    carrier : Carrier
        What content of this kind is given as.
    recognised : tuple of str or callable
        Signs that content of this format has (`vifidel_eval.signs`), of a table the names of its
        columns; or what tells it from the whole content. The first way that knows content reads it.
    read : callable or str
        Takes the content, fills an `Instances`, and returns the labels; or returns a companion that
        renames the images of other sources (`.nocaps`). A text is for content that is refused: what
        is wrong with it and what to do, without its name.
    """

    carrier: Carrier
    recognised: tuple[str, ...] | Callable[[Any], bool]
    read: str | Callable[[Any, Instances], ObjectLabels | Any]


@dataclass(frozen=True)
class Format:
    """A format of objects.

    Attributes
    ----------
    name : str
        What messages and help call it.
    source, scores, notes : str
        Its row in docs/objects.md: what it is, in Markdown; the lowest score that counts; and what
        else to know.
    ways : tuple of Way
        How it comes, and what resembles it and is refused.
    """

    name: str
    source: str
    scores: str
    notes: str
    ways: tuple[Way, ...]
