"""What a format of objects is, and the instances that all formats collect.

A format is a part of a module of this package that ends with its record, a `Format`, and a line in
the table of `.read`. All readers raise `AnnotationError` where content is wrong.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from numbers import Real
from typing import Any, NamedTuple

from ..errors import AnnotationError
from ..io.containers import Kind
from ..io.entries import Entry
from ..io.image_ids import ImageId
from .labels import DETECTION_THRESHOLD, NO_NAMES, CategoryNames, checked_label
from .objects import ObjectLabels


@dataclass(frozen=True)
class Way:
    """One of the ways in which a format comes, or something that people give instead of it.

    It is recognised by signs (`vifidel_eval.io.entries.shows`), of a table by names of its columns;
    or a function tells it from the whole content. What reads it takes the content (the value of a
    `vifidel_eval.io.containers.Content`), fills an `Instances`, and returns the labels, or nocaps'
    images. A text is for content that is refused: what is wrong with it and what to do.
    """

    carrier: Kind
    recognised: tuple[str, ...] | Callable[[Any], bool]
    read: str | Callable[[Any, Instances], Any]


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


class Box(NamedTuple):
    """An object in an image, with its label as `ObjectLabels` has it.

    `x` and `y` are its upper left corner, from that of the image; `width` and `height` are positive
    and in the same unit. A detection has a `score`.
    """

    label: str
    x: float
    y: float
    width: float
    height: float
    score: float | None = None


@dataclass(frozen=True)
class ImageBoxes:
    """The boxes of an image, in the order of the source."""

    boxes: list[Box]
    #: Width and height of the image in the unit of the boxes; None where the source does not say
    #: it, and boxes are pixels.
    size: tuple[float, float] | None = None


class Instances:
    """What one source says of its images: every format fills one, which makes the object labels.

    Messages begin with `where`, the file or folder. What `read_objects` takes as `threshold` and
    `uncertain` is None where a user does not say it; `lowest` is the lowest score that counts.
    """

    def __init__(
        self,
        where: str,
        threshold: float | None = None,
        names: CategoryNames = NO_NAMES,
        uncertain: float | None = None,
        keep_boxes: bool = False,
    ) -> None:
        self.where = where
        self.threshold = threshold
        self.lowest = DETECTION_THRESHOLD if threshold is None else threshold
        self.names = names
        self.uncertain = uncertain
        #: Label to count, for all images that are known.
        self.images: dict[ImageId, dict[str, int]] = {}
        #: What was looked for, there or not, with what messages call the place that says so.
        self.asked: dict[ImageId, dict[str, str]] = {}
        #: How many answers leave it open whether something is there.
        self.unsure = 0
        #: Whether there are scores, and whether one was too low.
        self.scored = self.leaves_out = False
        #: Of the images that have any; None where nobody asks for boxes.
        self.boxes: dict[ImageId, ImageBoxes] | None = {} if keep_boxes else None

    @property
    def keeps_boxes(self) -> bool:
        """Whether somebody asks for boxes."""
        return self.boxes is not None

    def counts_from(self, lowest: float) -> None:
        """Set the lowest score that counts where no user says it."""
        self.lowest = lowest if self.threshold is None else self.threshold

    def image(self, image_id: ImageId) -> dict[str, int]:
        """Return the labels of an image with their counts; it is known from now on."""
        return self.images.setdefault(image_id, {})

    def image_once(self, entry: Entry, key: str = "image_id") -> ImageId:
        """Return the image of an entry, which is known from now on and must not be known yet."""
        image_id = entry.image_id(key)
        if image_id in self.images:
            raise entry.listed_twice()
        self.images[image_id] = {}
        return image_id

    def add(
        self,
        image_id: ImageId,
        name: str,
        at: object = "",
        number: int = 1,
        score: float | None = None,
        sides: Any = None,
        size: tuple[Any, Any] = (None, None),
    ) -> str:
        """Count instances of a category, as it is spelt, unless their score (0 to 1) is too low.

        Returns the label of what counts, else nothing. Messages begin with `at`, the file and the
        entry. `sides` of a box are x, y, width and height, `size` is the image's width and height,
        if the source is right: an object without a usable box has none.
        """
        if score is not None:
            self.scored = True
            if not self.counts(score):
                return ""
        label = checked_label(name, at)
        labels = self.images.setdefault(image_id, {})
        if label:
            labels[label] = labels.get(label, 0) + number
            if self.boxes is not None:
                self.keep_box(image_id, label, sides, score, size)
        return label

    def keep_box(
        self,
        image_id: ImageId,
        label: str,
        sides: Any,
        score: float | None = None,
        size: tuple[Any, Any] = (None, None),
    ) -> None:
        """Keep the box of an object that counts, where somebody asks for boxes; as in `add`."""
        numbers = _numbers(sides)
        if self.boxes is None or numbers is None or min(numbers[2:]) <= 0:
            return
        if image_id not in self.boxes:
            width, height, *_ = _numbers([*size, 1, 1]) or (0, 0)
            is_size = min(width, height) > 0
            self.boxes[image_id] = ImageBoxes([], (width, height) if is_size else None)
        self.boxes[image_id].boxes.append(Box(label, *numbers, score))

    def counts(self, score: float) -> bool:
        """Return whether a score is high enough to count."""
        counts = score >= self.lowest
        self.leaves_out = self.leaves_out or not counts
        return counts

    def there(self, score: float) -> bool | None:
        """Return what a score says: there, not there, or None where it leaves that open."""
        if self.counts(score):
            return True
        return False if self.uncertain is None or score < self.uncertain else None

    def ask(self, image_id: ImageId, name: str, at: object = "") -> str:
        """Take note that something was looked for in an image, and return its label."""
        label = checked_label(name, at)
        asked = self.asked_in(image_id)
        if label:
            asked.setdefault(label, str(at))
        return label

    def asked_in(self, image_id: ImageId) -> dict[str, str]:
        """Return what was looked for in an image; it is known, and was asked about, from now on."""
        self.image(image_id)
        return self.asked.setdefault(image_id, {})

    def answer(self, image_id: ImageId, thing: Any, there: bool | None, entry: Entry) -> None:
        """Take an answer; None for one that leaves it open, which counts as not asked."""
        if not isinstance(thing, str) or not thing.strip():
            raise AnnotationError(f"{entry}: the thing is {thing!r:.40}, not a name.")
        label, at = checked_label(thing, entry), entry.at
        labels, asked = self.image(image_id), self.asked_in(image_id)
        if there is None:
            self.unsure += 1
        if there is None or not label:
            return
        earlier = asked.setdefault(label, at)
        if earlier != at and (label in labels) != there:
            raise AnnotationError(
                f"{entry}: {label!r:.40} is both there and not there (the other answer is "
                f"{earlier.rpartition(': ')[2]}); keep one answer for each thing."
            )
        if there:
            labels[label] = 1

    def object_labels(
        self,
        kind: str,
        lists_every_image: bool = True,
        categories: Iterable[str] = (),
        says_asked: bool = False,
    ) -> ObjectLabels:
        """Return all that was found; `says_asked` if the source says what was looked for."""
        return ObjectLabels(
            self.images,
            kind,
            self.where,
            self.lowest if self.scored else None,
            lists_every_image,
            categories,
            asked=self.asked if self.asked or says_asked else None,
            unsure=self.unsure,
            leaves_out=self.leaves_out,
        )


def from_corners(sides: Any) -> list[float] | None:
    """Return x, y, width and height for a list of left, top, right and bottom."""
    numbers = _numbers(sides)
    if numbers is None:
        return None
    left, top, right, bottom = numbers
    return [left, top, right - left, bottom - top]


def _numbers(values: Any) -> tuple[float, float, float, float] | None:
    """Return a list of four finite numbers as floats; None for anything else."""
    if not isinstance(values, list) or len(values) != 4:
        return None
    if not all(isinstance(v, Real) and math.isfinite(v) for v in values):
        return None
    x, y, third, fourth = map(float, values)
    return x, y, third, fourth


def check_threshold(threshold: float | None, name: str = "threshold") -> None:
    """Raise if something is given as a lowest score, called `name`, that is not from 0 to 1."""
    if threshold is None:
        return
    real = isinstance(threshold, Real) and not isinstance(threshold, bool)
    if not (real and 0 <= threshold <= 1):
        percent = real and 1 < threshold <= 100
        raise AnnotationError(
            f"{name} {threshold!r:.40} is not a number between 0 and 1"
            f"{'; divide a percentage by 100' if percent else ''}."
        )


def check_thresholds(threshold: float | None, uncertain: float | None) -> None:
    """Raise unless both are scores, if given, and `uncertain` is not above `threshold`."""
    check_threshold(threshold)
    check_threshold(uncertain, "uncertain")
    if uncertain is not None and threshold is not None and uncertain > threshold:
        raise AnnotationError(
            f"uncertain {uncertain:g} is above the threshold {threshold:g}; answers between the "
            "two are not judged, so give a lower one."
        )
