"""Detectors: what a run asks of any of them, and what their answers are made of."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from ...errors import VifidelError
from ...io.options import is_whole
from ..pytorch import ModelFiles

if TYPE_CHECKING:
    from PIL import Image


# Twice what any detector reads.
_LONGEST_SIDE = 1 << 13


class Found(NamedTuple):
    """What a detector found in a picture."""

    #: Names of classes, or questions.
    labels: list[str]
    #: From 0 to 1.
    scores: list[float]
    #: Left, top, right and bottom in pixels of the picture as it is seen.
    boxes: list[tuple[float, ...]]
    #: How sure the model is, for each question, that it is there at all; None where models do not
    #: say it.
    presence: list[float] | None = None


@dataclass(frozen=True)
class Prepared:
    """A picture as a model reads it."""

    #: The model's arrays, for one picture.
    inputs: Mapping[str, Any]
    #: Width and height of the picture as it is seen, in pixels.
    size: tuple[int, int]

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the arrays; pictures of one shape are read together, without padding."""
        return tuple(size for array in self.inputs.values() for size in array.shape)


class Detector(Protocol):
    """A model that says what is in pictures, and where."""

    #: Where it comes from.
    files: ModelFiles
    #: What it looks for in every picture; None if it looks for what it is asked.
    classes: tuple[str, ...] | None
    #: The shorter side, in pixels, from which on a larger picture tells the model no more.
    enough: int
    #: How many pictures it usually reads at once.
    batch: int

    def versions(self) -> dict[str, str]:
        """Return the versions of the libraries that it depends on."""

    def check(self, questions: Iterable[str]) -> None:
        """Raise a `VifidelError` if a question is longer than the model reads."""
        return

    def prepare(self, picture: Image.Image, size: tuple[int, int]) -> Prepared:
        """Prepare a picture; it may be smaller than its `size`. Runs in threads."""

    def detect(
        self, pictures: Sequence[Prepared], asked: Sequence[Sequence[str]], lowest: float
    ) -> list[Found]:
        """Return what is in each picture with a score above `lowest`, which is from 0 to 1.

        The pictures are of one shape; `asked` are the questions about each, if it is asked.
        """


def checked_side(side: Any, files: ModelFiles) -> int:
    """Return the side of the pictures that a model reads, as its files say it, if it can be."""
    if is_whole(side, 1, _LONGEST_SIDE):
        return int(side)
    raise VifidelError(
        f"{files.path}: it says that it reads pictures of {side!r:.40} pixels; the side is a whole "
        f"number from 1 to {_LONGEST_SIDE}: get a fresh copy, or save it again."
    )


def exact(value: float) -> float:
    """Return the shortest number that single precision reads as a value: 0.1 for float32(0.1)."""
    return float(str(np.float32(value)))
