"""The record of a format of objects: its row in docs/objects.md, and the ways in which it comes.

A format is a module of this package that ends with its record, ``FORMAT``, and a line in the table
of `.formats`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..errors import AnnotationError
from .boxes import BoxCollector
from .carriers import Carrier
from .names import CategoryNames
from .objects import DETECTION_THRESHOLD, ObjectLabels


@dataclass(frozen=True)
class ReadOptions:
    """What content is read with.

    Attributes
    ----------
    where : str
        The file or folder, for messages.
    threshold : float, optional
        The lowest score that counts; None for a format's own.
    names : CategoryNames
        Names of category ids and class indices.
    boxes : BoxCollector, optional
        What keeps the boxes of the objects that count, where they are asked for.
    """

    where: str
    threshold: float | None
    names: CategoryNames
    boxes: BoxCollector | None = None

    @property
    def lowest(self) -> float:
        """The lowest score of a detection that counts."""
        return DETECTION_THRESHOLD if self.threshold is None else self.threshold


@dataclass(frozen=True)
class Way:
    """One of the ways in which a format comes.

    Attributes
    ----------
    carrier : Carrier
        What content of this kind is given as.
    recognised : tuple of str or callable
        Signs that content of this format has (`vifidel_eval.signs`), of a table the names of its
        columns; or what tells it from the whole content. The first way that knows content reads it.
    read : callable
        Returns the labels and keeps the boxes; or returns a companion that renames the images of
        other sources (`.nocaps`).
    """

    carrier: Carrier
    recognised: tuple[str, ...] | Callable[[Any], bool]
    read: Callable[[Any, ReadOptions], ObjectLabels | Any]


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


def refused(
    carrier: Carrier,
    recognised: tuple[str, ...] | Callable[[Any], bool],
    message: str | Callable[[Any], str],
) -> Way:
    """Return the way of something that people give instead of objects.

    Parameters
    ----------
    carrier, recognised
        As for `Way`.
    message : str or callable
        What is wrong with the content and what to do, without its name.
    """

    def refuse(content: Any, options: ReadOptions) -> ObjectLabels:
        said = message if isinstance(message, str) else message(content)
        raise AnnotationError(f"{options.where}: {said}")

    return Way(carrier, recognised, refuse)
