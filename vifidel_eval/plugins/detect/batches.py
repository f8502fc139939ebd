"""Batches of pictures: those of one shape go to the model together."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from math import isfinite

from ...errors import VifidelError, VifidelWarning
from ...io.files import first_line
from .detectors import Detector, Found, Prepared


@dataclass(frozen=True)
class Waiting:
    """A picture that waits for others of its shape."""

    #: Its id.
    image_id: str
    #: The questions about it.
    asked: Sequence[str]
    #: What the model reads.
    prepared: Prepared
    #: Of the bytes of the picture.
    digest: str


class Batches:
    """Pictures by shape; those of a shape go to the model when they are enough.

    Parameters
    ----------
    detector : Detector
        The model.
    lowest : float
        The lowest score that is kept.
    size : int
        How many pictures the model reads at once. It is halved, once, if memory does not suffice.
    """

    def __init__(self, detector: Detector, lowest: float, size: int) -> None:
        self._detector = detector
        self._lowest = lowest
        self.size = size
        self._was_halved = False
        self._by_shape: dict[tuple[int, ...], list[Waiting]] = {}

    def add(self, picture: Waiting) -> list[tuple[Waiting, Found]]:
        """Return what was answered because a picture was added."""
        group = self._by_shape.setdefault(picture.prepared.shape, [])
        group.append(picture)
        if len(group) >= self.size:
            return self._answer(self._by_shape.pop(picture.prepared.shape))
        # Photographs of many shapes: none waits for long, and memory stays bounded.
        if sum(map(len, self._by_shape.values())) > 4 * self.size:
            return self._answer(self._by_shape.pop(next(iter(self._by_shape))))
        return []

    def rest(self) -> Iterator[list[tuple[Waiting, Found]]]:
        """Yield the answers about all that still wait, batch by batch."""
        while self._by_shape:
            yield self._answer(self._by_shape.pop(next(iter(self._by_shape))))

    def _answer(self, pictures: list[Waiting]) -> list[tuple[Waiting, Found]]:
        answered: list[tuple[Waiting, Found]] = []
        while len(answered) < len(pictures):
            some = pictures[len(answered) : len(answered) + self.size]
            try:
                found = self._detector.detect(
                    [picture.prepared for picture in some],
                    [picture.asked for picture in some],
                    self._lowest,
                )
                pairs = list(zip(some, found, strict=True))
                for _, one in pairs:
                    self._check(one)
            except VifidelError:
                raise
            except Exception as problem:  # libraries raise nearly anything
                self._halve(some, problem)
            else:
                answered += pairs
        return answered

    def _check(self, found: Found) -> None:
        """Raise what is wrong with an answer, before it is in a file that nobody could read."""
        if not len(found.labels) == len(found.scores) == len(found.boxes):
            raise ValueError(
                f"{len(found.labels)} labels, {len(found.scores)} scores and {len(found.boxes)} "
                "boxes"
            )
        if not all(len(box) == 4 and all(map(isfinite, box)) for box in found.boxes):
            raise ValueError("a box is not four numbers")
        for score in chain(found.scores, found.presence or ()):
            if not 0 <= score <= 1:
                raise VifidelError(
                    f"{self._detector.files.name}: it gave the score {score:g}, and scores are "
                    "from 0 to 1; save it again with what makes probabilities of its output, or "
                    "name another model."
                )

    def _halve(self, pictures: Sequence[Waiting], problem: Exception) -> None:
        """Go on with half a batch, once, if memory was short; else say what failed."""
        name = pictures[0].image_id
        if not _lacked_memory(problem):
            raise VifidelError(
                f"{name}: {self._detector.files.name} failed on this picture "
                f"({first_line(problem)}); take it away, or name another model."
            ) from None
        if len(pictures) == 1 or self._was_halved:
            raise VifidelError(
                f"{name}: there is not enough memory for {len(pictures)} "
                f"picture{'s' * (len(pictures) > 1)} at once; give a smaller --batch, or a smaller "
                "model."
            ) from None
        self._was_halved = True
        self.size = len(pictures) // 2
        warnings.warn(
            f"there was not enough memory for {len(pictures)} pictures at once; going on with "
            f"{self.size}.",
            VifidelWarning,
            stacklevel=2,
        )


def _lacked_memory(problem: Exception) -> bool:
    said = str(problem).lower()
    return (
        isinstance(problem, MemoryError)
        or type(problem).__name__ == "OutOfMemoryError"
        or "out of memory" in said
        or ("alloc" in said and "memory" in said)
    )
