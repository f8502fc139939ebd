"""Boxes of objects in images, which readers keep beside the labels where somebody asks for them.

Only pictures need them. An object without a usable box is left out.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Real
from typing import Any, NamedTuple

from ..image_ids import ImageId
from .objects import NO_CATEGORY, clean_label


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


class BoxCollector:
    """The boxes that a reader meets beside the labels of images.

    Attributes
    ----------
    images : dict
        Image id to its boxes, for the images that have any.
    """

    def __init__(self) -> None:
        self.images: dict[ImageId, ImageBoxes] = {}

    def add(
        self,
        image_id: ImageId,
        label: str,
        sides: Any,
        score: float | None = None,
        size: tuple[Any, Any] = (None, None),
    ) -> None:
        """Keep the box of an object, if what the source says is one.

        Parameters
        ----------
        image_id, label
            The object, as it is counted.
        sides : object
            A list of x, y, width and height, if the source is right.
        score : float, optional
            Of a detection.
        size : (object, object)
            Width and height of the image, where the source says them.
        """
        numbers = _numbers(sides)
        if numbers is not None and min(numbers[2:]) > 0 and label != NO_CATEGORY:
            of_image = self.images.setdefault(image_id, ImageBoxes([], _size(size)))
            of_image.boxes.append(Box(clean_label(label), *numbers, score))

    def add_corners(
        self,
        image_id: ImageId,
        label: str,
        sides: Any,
        score: float | None = None,
        size: tuple[Any, Any] = (None, None),
    ) -> None:
        """Keep a box as `add` does, from a list of left, top, right and bottom."""
        numbers = _numbers(sides)
        if numbers is not None:
            left, top, right, bottom = numbers
            self.add(image_id, label, [left, top, right - left, bottom - top], score, size)


def number_of(text: str | None) -> float | None:
    """Return the number that a text is, or None."""
    try:
        return float(text or "")
    except ValueError:
        return None


def _size(size: tuple[Any, Any]) -> tuple[float, float] | None:
    sides = _numbers([*size, 1, 1])
    return None if sides is None or min(sides) <= 0 else sides[:2]


def _numbers(values: Any) -> tuple[float, float, float, float] | None:
    if not isinstance(values, list) or len(values) != 4:
        return None
    if not all(isinstance(v, Real) and math.isfinite(v) for v in values):
        return None
    x, y, third, fourth = map(float, values)
    return x, y, third, fourth
