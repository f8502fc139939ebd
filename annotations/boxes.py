"""Boxes of objects in images, as the formats that have some return them.

Only pictures need them, so that nothing else keeps them. Content is read for its labels first,
which refuses what is wrong with it; an entry without a usable box is left out.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from numbers import Real
from typing import Any, NamedTuple

from .objects import clean_label


class Box(NamedTuple):
    """An object in an image.

    Attributes
    ----------
    label : str
        Its label, as `ObjectLabels` has it.
    x, y : float
        The upper left corner, from the upper left corner of the image.
    width, height : float
        Positive, in the unit of `x` and `y`.
    score : float, optional
        Of a detection.
    """

    label: str
    x: float
    y: float
    width: float
    height: float
    score: float | None = None


@dataclass(frozen=True)
class ImageBoxes:
    """The boxes of an image.

    Attributes
    ----------
    boxes : list of Box
        In the order of the source.
    size : (float, float), optional
        Width and height of the image in the unit of the boxes; None where the source does not say
        it, and boxes are pixels.
    """

    boxes: list[Box]
    size: tuple[float, float] | None = None


def sized_box(label: str, sides: Any, score: float | None = None) -> Iterator[Box]:
    """Yield the box of x, y, width and height, if these are one."""
    numbers = _numbers(sides)
    if numbers is not None and min(numbers[2:]) > 0:
        yield Box(clean_label(label), *numbers, score)


def corner_box(label: str, sides: Any, score: float | None = None) -> Iterator[Box]:
    """Yield the box of left, top, right and bottom, if these are one."""
    numbers = _numbers(sides)
    if numbers is not None:
        left, top, right, bottom = numbers
        yield from sized_box(label, [left, top, right - left, bottom - top], score)


def size_of(width: Any, height: Any) -> tuple[float, float] | None:
    """Return the size of an image, if width and height are positive numbers."""
    sides = _numbers([width, height, 1, 1])
    return None if sides is None or min(sides) <= 0 else sides[:2]


def number_of(text: str | None) -> float | None:
    """Return the number that a text is, or None."""
    try:
        return float(text or "")
    except ValueError:
        return None


def _numbers(values: Any) -> tuple[float, float, float, float] | None:
    if not isinstance(values, list) or len(values) != 4:
        return None
    if not all(isinstance(v, Real) and math.isfinite(v) for v in values):
        return None
    x, y, third, fourth = map(float, values)
    return x, y, third, fourth
