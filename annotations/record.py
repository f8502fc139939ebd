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
from .objects import ANSWER_THRESHOLD, DETECTION_THRESHOLD, ObjectLabels


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
    uncertain : float, optional
        The score of an answer below which what was looked for is not there; from it on and below
        the lowest score that counts, the answer leaves it open. None: there is nothing between.
    """

    where: str
    threshold: float | None
    names: CategoryNames
    boxes: BoxCollector | None = None
    uncertain: float | None = None

    @property
    def lowest(self) -> float:
        """The lowest score of a detection that counts."""
        return DETECTION_THRESHOLD if self.threshold is None else self.threshold

    @property
    def lowest_answer(self) -> float:
        """The lowest score of an answer to *is it there?* that says it is."""
        return ANSWER_THRESHOLD if self.threshold is None else self.threshold

    def answer(self, score: float, lowest: float | None = None) -> bool | None:
        """Return what a score says: there, not there, or None where it leaves that open.

        Parameters
        ----------
        score : float
            From 0 to 1.
        lowest : float, optional
            From here on it is there; by default `lowest_answer`, for detections `lowest`.
        """
        lowest = self.lowest_answer if lowest is None else lowest
        if score >= lowest:
            return True
        return False if self.uncertain is None or score < self.uncertain else None


@dataclass(frozen=True)
class Way:
    """One of the ways in which a format comes.

    Attributes
    ----------
    carrier : Carrier
        What content of this kind is given as.
    recognised : tuple of str or callable
        Signs that content of this format has (`vifidel_eval.arguments.shows`), of a table the names
        of its columns; or what tells it from the whole content. The first way that knows content
        reads it.
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
