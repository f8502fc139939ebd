"""Boxes of objects in images, which readers keep beside the labels where somebody asks for them.

Only pictures need them. An object without a usable box is left out.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Real
from typing import Any, NamedTuple


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


def from_corners(sides: Any) -> list[float] | None:
    """Return x, y, width and height for a list of left, top, right and bottom."""
    numbers = four_numbers(sides)
    if numbers is None:
        return None
    left, top, right, bottom = numbers
    return [left, top, right - left, bottom - top]


def number_of(text: str | None) -> float | None:
    """Return the number that a text is, or None."""
    try:
        return float(text or "")
    except ValueError:
        return None


def four_numbers(values: Any) -> tuple[float, float, float, float] | None:
    """Return a list of four finite numbers as floats; None for anything else."""
    if not isinstance(values, list) or len(values) != 4:
        return None
    if not all(isinstance(v, Real) and math.isfinite(v) for v in values):
        return None
    x, y, third, fourth = map(float, values)
    return x, y, third, fourth
