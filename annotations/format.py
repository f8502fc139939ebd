"""The record of a format of objects: its row in docs/objects.md, and the ways in which it comes.

A format is a module of this package that ends with its record, ``FORMAT``, and a line in the table
of `.read`. All readers raise `AnnotationError` where content is wrong; it begins with the file and
the entry.
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

    It is recognised by signs (`vifidel_eval.signs`), of a table by the names of its columns; or a
    function tells it from the whole content. What reads it takes the content, fills an `Instances`,
    and returns the labels; or a companion that renames the images of other sources (`.nocaps`). A
    text is for content that is refused: what is wrong with it and what to do, without its name.
    """

    carrier: Carrier
    recognised: tuple[str, ...] | Callable[[Any], bool]
    read: str | Callable[[Any, Instances], ObjectLabels | Any]


@dataclass(frozen=True)
class Format:
    """A format of objects: what messages and help call it, its row in docs/objects.md, its ways.

    The row says in Markdown what it is, the lowest score that counts, and what else to know.
    """

    name: str
    source: str
    scores: str
    notes: str
    ways: tuple[Way, ...]
