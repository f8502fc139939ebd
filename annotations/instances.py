"""Instances of objects, as all formats collect them: image by image, or row by row."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any, NamedTuple, TypeAlias, TypeGuard

from ..errors import AnnotationError
from ..io.arguments import named_if_wrong
from ..io.image_ids import ImageId
from .listed import NO_NAMES, CategoryNames, corners, has_indices, is_arrays, listed
from .objects import (
    CLEAN,
    LONGEST_NAME,
    NO_CATEGORY,
    ObjectLabels,
    checked_label,
    from_threshold,
)
from .scores import DETECTION_THRESHOLD

#: A label, ``[label, score]``, or a detection.
LabelItem: TypeAlias = str | Sequence[Any] | Mapping[str, Any]
#: What an image or a row may have: items, label to count, or parallel arrays.
LabelList: TypeAlias = Collection[LabelItem] | Mapping[str, int] | Mapping[str, Sequence[Any]]

_NAMES = frozenset({str})


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

    def counts_from(self, lowest: float) -> None:
        """Set the lowest score that counts where no user says it."""
        self.lowest = lowest if self.threshold is None else self.threshold

    def image(self, image_id: ImageId) -> dict[str, int]:
        """Return the labels of an image with their counts; it is known from now on."""
        return self.images.setdefault(image_id, {})

    def image_once(self, image_id: ImageId, at: str) -> None:
        """Know an image from now on, which must not be known yet."""
        if image_id in self.images:
            raise AnnotationError(f"{at}: image {image_id!r:.60} is listed twice; keep one entry.")
        self.image(image_id)

    def add(
        self,
        image_id: ImageId,
        name: str,
        at: str = "",
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
            image_size = _numbers([*size, 1, 1])
            if image_size is not None and min(image_size) <= 0:
                image_size = None
            self.boxes[image_id] = ImageBoxes([], image_size and image_size[:2])
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

    def ask(self, image_id: ImageId, name: str, at: str = "") -> str:
        """Take note that something was looked for in an image, and return its label."""
        label = checked_label(name, at)
        asked = self.asked_in(image_id)
        if label:
            asked.setdefault(label, at)
        return label

    def asked_in(self, image_id: ImageId) -> dict[str, str]:
        """Return what was looked for in an image; it is known, and was asked about, from now on."""
        self.image(image_id)
        return self.asked.setdefault(image_id, {})

    def answer(self, image_id: ImageId, thing: Any, there: bool | None, at: str) -> None:
        """Take an answer; None for one that leaves it open, which counts as not asked."""
        of_image = f"{at} (image {image_id!r:.40})"
        if not isinstance(thing, str) or not thing.strip():
            raise AnnotationError(f"{of_image}: the thing is {thing!r:.40}, not a name.")
        label = checked_label(thing, at)
        found, asked = self.image(image_id), self.asked_in(image_id)
        if there is None:
            self.unsure += 1
        if there is None or not label:
            return
        earlier = asked.setdefault(label, at)
        if earlier != at and (label in found) != there:
            raise AnnotationError(
                f"{of_image}: {label!r:.40} is both there and not there (the other answer is "
                f"{earlier.rpartition(': ')[2]}); keep one answer for each thing."
            )
        if there:
            found[label] = 1

    def object_labels(
        self,
        kind: str,
        lists_every_image: bool = True,
        categories: Iterable[str] = (),
        says_asked: bool = False,
    ) -> ObjectLabels:
        """Return all that was found, as `ObjectLabels` takes it.

        `says_asked`: whether the source says what was looked for, even if that is nothing.
        """
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


@dataclass(frozen=True)
class LabelRows:
    """The object labels of rows that have no image id, as `label_rows` returns them."""

    #: Label to count, one mapping per row; read them, do not change them.
    counts: tuple[Mapping[str, int], ...]
    #: The lowest score that counted; None if no label has a score.
    threshold: float | None = None
    #: For each row, the labels that were looked for, there or not; None for a row that does not say
    #: it. None as a whole if no row does.
    asked: tuple[frozenset[str] | None, ...] | None = None

    def __len__(self) -> int:
        return len(self.counts)

    def signature(self) -> str:
        """Return ``rows``, or ``rows>=0.6+asked:image`` if there were scores and asked labels."""
        asked = "" if self.asked is None else "+asked:image"
        return f"rows{from_threshold(self.threshold)}{asked}"


@named_if_wrong
def label_rows(
    objects: Iterable[LabelList], threshold: float | None = None, uncertain: float | None = None
) -> LabelRows:
    """Return the labels of rows: one value per row, as `read_labels` takes it for an image.

    Parameters
    ----------
    objects : sequence
        One list of labels, ``[label, score]`` pairs or detections, one mapping of label to count,
        or the parallel arrays of a detector per row; NumPy arrays serve as lists. A count of 0
        says that the label was looked for and is not there.
    threshold : float, optional
        The lowest score that counts, `DETECTION_THRESHOLD` by default; labels without a score
        always count.
    uncertain : float, optional
        The score below which what a row lists under ``asked`` is not there; by default the lowest
        that counts.

    Raises
    ------
    AnnotationError
        If a row has another shape or a score is not a number; the first row is row 0.

    Examples
    --------
    >>> rows = label_rows([["dog", "dog"], {"cat": 3}, [["dog", 0.9], ["cat", 0.2]]])
    >>> rows.counts, rows.signature()
    (({'dog': 2}, {'cat': 3}, {'dog': 1}), 'rows>=0.6')
    >>> label_rows([{"squirrel": 1, "nut": 0}]).counts
    ({'squirrel': 1},)
    """
    threshold = DETECTION_THRESHOLD if threshold is None else threshold
    check_thresholds(threshold, uncertain)
    wrong = isinstance(objects, str | bytes | bytearray | Mapping)
    if wrong or not isinstance(objects, Iterable) or getattr(objects, "ndim", 1) == 0:
        raise AnnotationError(
            f"objects of rows are a list with one entry per row, not {objects!r:.40}."
        )
    listed_rows = objects if isinstance(objects, list | tuple) else list(objects)
    return read_label_rows(listed_rows, threshold, uncertain)


def read_label_rows(
    rows: Sequence[LabelList],
    threshold: float,
    uncertain: float | None,
    problems: dict[int, str] | None = None,
) -> LabelRows:
    """Return what `label_rows` does; with `problems`, a row that cannot be read is empty.

    They get what is wrong with it by its number, where otherwise the first such row raises.
    """
    # The samples of an image often share one list, which is read once.
    found, wrong = Instances("objects", threshold, uncertain=uncertain), dict[int, str]()
    for number, items in enumerate(rows):
        if id(items) not in found.images:
            try:
                _add(id(items), items, found)
            except AnnotationError as problem:
                if problems is None:
                    raise AnnotationError(f"row {number}: {problem}") from None
                found.images[id(items)], wrong[id(items)] = {}, str(problem)
                found.asked.pop(id(items), None)
        if problems is not None and id(items) in wrong:
            problems[number] = wrong[id(items)]
    counts = tuple(found.images[id(items)] for items in rows)
    asked = None
    if found.asked:
        asked = tuple(
            frozenset(found.asked[id(items)]).union(labels) if id(items) in found.asked else None
            for items, labels in zip(rows, counts, strict=True)
        )
    return LabelRows(counts, found.lowest if found.scored else None, asked)


def read_items(
    images: Mapping[Any, LabelList], found: Instances, classes: Collection[str] | None = None
) -> ObjectLabels:
    """Read what is listed for each image; `classes` were looked for in all, if that is said."""
    for image_id, items in images.items():
        try:
            _add(image_id, items, found)
        except AnnotationError as problem:
            raise AnnotationError(f"{found.where}: image {image_id!r}: {problem}") from None
    mappings = {i: items for i, items in images.items() if isinstance(items, Mapping)}
    if found.asked:  # where one of them has a count of 0, they say what was looked for and found
        for image_id, items in mappings.items():
            if items and not is_arrays(items):
                found.asked_in(image_id)
    indexed = any(map(has_indices, mappings.values()))
    return found.object_labels(
        "labels",
        categories=classes or (found.names.by_index().values() if indexed else ()),
        says_asked=classes is not None,
    )


def _add(image_id: ImageId, items: LabelList, found: Instances) -> None:
    """Count what is listed for an image."""
    if _only_names(items):
        counts = dict(Counter(map(CLEAN.__getitem__, items)))
        if "" not in counts:
            found.images[image_id] = counts
            return
    found.image(image_id)
    for one in list(listed(items, found.lowest, found.uncertain, found.names)):
        if one.number:
            sides = None if found.boxes is None else from_corners(corners(one.box))
            found.add(image_id, one.name, "", one.number, one.score, sides)
        else:
            found.ask(image_id, one.name)


def _only_names(items: Any) -> TypeGuard[list[str]]:
    """Return whether items are a list of names that all count, as most are."""
    return (
        type(items) is list
        and _NAMES.issuperset(map(type, items))
        and max(map(len, items), default=0) <= LONGEST_NAME
        and NO_CATEGORY not in items
    )


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
    """Raise unless both are scores, if given, and `uncertain` is not above `threshold`.

    From `threshold` on things are there, and below `uncertain` they are not.
    """
    check_threshold(threshold)
    check_threshold(uncertain, "uncertain")
    if uncertain is not None and threshold is not None and uncertain > threshold:
        raise AnnotationError(
            f"uncertain {uncertain:g} is above the threshold {threshold:g}; answers between the "
            "two are not judged, so give a lower one."
        )
