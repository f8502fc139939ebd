"""What a format of objects is, the instances that all formats collect, and the labels of rows.

A format is a reader, its record, a `Format`, and a line in the table of `.read`. All readers raise
`AnnotationError` where content is wrong.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from ..doors.arguments import are_texts, check_thresholds, is_finite, name_wrong_argument
from ..errors import AnnotationError, warn
from ..io.containers import Kind
from ..io.entries import Entry, LeftOut
from ..io.image_ids import ImageId, images_by_name
from .categories import NO_NAMES, CategoryNames
from .labels import DETECTION_THRESHOLD, LONGEST_NAME, NO_NAME, PLAIN, checked_label, listed
from .objects import Box, ImageBoxes, ObjectLabels
from .tags import NAMES_IN, read_answer

#: A label, ``[label, score]``, or a detection.
LabelItem: TypeAlias = str | Sequence[Any] | Mapping[str, Any]
#: What an image or a row may have: items, label to count, or parallel arrays.
LabelList: TypeAlias = Collection[LabelItem] | Mapping[str, int] | Mapping[str, Sequence[Any]]


@dataclass(frozen=True)
class Variant:
    """A variant of a format, or something that people give instead of it.

    It is recognised by signs (`vifidel_eval.io.entries.shows`) or by a function of the content.
    What reads it fills an `Instances` and returns the labels; a text says why it is refused.
    """

    container: Kind
    recognised: tuple[str, ...] | Callable[[Any], bool]
    read: str | Callable[[Any, Instances], Any]


@dataclass(frozen=True)
class Format:
    """A format of objects: its name in messages, its entry in docs/formats.md, its variants.

    The entry is Markdown: what it is, the lowest score that counts, and what else to know. The
    example is a whole small file of that format.
    """

    name: str
    source: str
    scores: str
    notes: str
    variants: tuple[Variant, ...]
    example: str = ""
    is_general: bool = False  # whether people write it by hand; messages name it first


def counts_of_names(items: Any) -> dict[str, int] | None:
    """Return label to count for a list of names alone; None for anything that is to be read."""
    if not are_texts(items, LONGEST_NAME):
        return None
    counts = dict(Counter(map(PLAIN.__getitem__, items)))
    return counts if NO_NAME.isdisjoint(counts) else None


class Instances:
    """What one source says of its images: every format fills one, which makes the object labels."""

    def __init__(
        self,
        where: str,
        threshold: float | None = None,
        names: CategoryNames = NO_NAMES,
        uncertain: float | None = None,
        keeps_boxes: bool = False,
    ) -> None:
        self.where = where  # the file or folder
        self.threshold = threshold  # this and `uncertain` are None where no user says them
        self.lowest = DETECTION_THRESHOLD if threshold is None else threshold
        self.names = names
        self.uncertain = uncertain
        self.images: dict[ImageId, dict[str, int]] = {}  # label to count, of all that are known
        #: What was looked for, there or not, each with the place that says so, as messages have it.
        self.asked: dict[ImageId, dict[str, str]] = {}
        self.unsure = 0  # answers that leave it open whether something is there
        self.scored = self.leaves_out = False  # whether there are scores, and one was too low
        self.keeps_boxes = keeps_boxes
        self.boxes: dict[ImageId, ImageBoxes] = {}  # of images that have any, if asked for
        self.file_names: list[tuple[str, ImageId]] = []  # of images that are listed with one
        self.left_out = LeftOut()
        #: Whether the source tells objects apart by more than labels, boxes and scores.
        self.tells_objects_apart = False
        # Image, label, score and box of each object that has a box, and how often one came again.
        self._located: set[tuple[Any, ...]] = set()
        self._repeated = 0

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
        """Count instances of a category and return its label; ``""`` if their score is too low."""
        # `at` is the file and the entry; the `sides` of a box are x, y, width and height.
        if score is not None:
            self.scored = True
            if not self.counts(score):
                return ""
        first, *others = NAMES_IN[name]
        label = checked_label(first, at)
        labels = self.images.setdefault(image_id, {})
        if label and not self.repeats(image_id, label, sides, score):
            labels[label] = labels.get(label, 0) + number
            if self.keeps_boxes:
                self.keep_box(image_id, label, sides, score, size)
        for other in others:
            self.add(image_id, other, at, number, None, sides, size)
        return label

    def add_listed(self, image_id: ImageId, items: Any) -> None:
        """Count what is listed for an image, in a shape of `LabelList`."""
        items = read_answer(items) if isinstance(items, str) else items
        counts = counts_of_names(items)
        if counts is not None:  # as most are
            self.images[image_id] = counts
            return
        self.image(image_id)
        for tag in list(listed(items, self.lowest, self.uncertain, self.names)):
            if tag.number:
                sides = from_corners(tag.box)
                self.add(image_id, tag.name, "", tag.number, tag.score, sides)
            else:
                self.ask(image_id, tag.name)

    def repeats(
        self, image_id: ImageId, label: str, sides: Any, score: float | None = None
    ) -> bool:
        """Return whether an image has had an object of this label, box and score, and count it.

        Samplers that pad a last batch and files that were joined write the same object twice. A box
        without an area locates nothing, so it repeats nothing.
        """
        numbers = None if self.tells_objects_apart else _numbers(sides)
        if numbers is None or min(numbers[2:]) <= 0:
            return False
        before = len(self._located)
        self._located.add((image_id, label, score, *numbers))
        repeated = len(self._located) == before
        self._repeated += repeated
        return repeated

    def warn_of_left_out(self) -> None:
        """Warn once of the entries that did not count: flagged ones and repeated ones."""
        if self.keeps_boxes:  # boxes are read after the labels
            return
        if self.left_out or self.left_out.nothing:
            self.left_out.warn(self.where, "object", {})
        if self._repeated:
            objects = "object is" if self._repeated == 1 else "objects are"
            warn(
                f"{self.where}: {self._repeated} {objects} listed twice, "
                "with the same label and box in the same image; each counts once."
            )

    def keep_box(
        self,
        image_id: ImageId,
        label: str,
        sides: Any,
        score: float | None = None,
        size: tuple[Any, Any] = (None, None),
    ) -> None:
        """Keep the box of an object that counts, where somebody asks for boxes; as in `add`."""
        numbers = _numbers(sides) if self.keeps_boxes else None
        if numbers is None or min(numbers[2:]) <= 0:
            return
        if image_id not in self.boxes:
            width, height, *_ = _numbers([*size, 1, 1]) or (0, 0)
            is_size = min(width, height) > 0
            self.boxes[image_id] = ImageBoxes([], (width, height) if is_size else None)
        x, y, width, height = numbers
        self.boxes[image_id].boxes.append(Box(label, x, y, width, height, score))

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
        labels = [checked_label(part, at) for part in NAMES_IN[name]]
        asked = self.asked_in(image_id)
        for label in filter(None, labels):
            asked.setdefault(label, str(at))
        return labels[0]

    def asked_in(self, image_id: ImageId) -> dict[str, str]:
        """Return what was looked for in an image; it is known, and was asked about, from now on."""
        self.image(image_id)
        return self.asked.setdefault(image_id, {})

    def answer(self, image_id: ImageId, thing: Any, is_there: bool | None, entry: Entry) -> None:
        """Take an answer; None for one that leaves it open, which counts as not asked."""
        label, at = checked_label(thing, entry), entry.at
        labels, asked = self.image(image_id), self.asked_in(image_id)
        self.unsure += is_there is None
        if is_there is None or not label:
            return
        earlier = asked.setdefault(label, at)
        if earlier != at and (label in labels) != is_there:
            raise AnnotationError(
                f"{entry}: {label!r:.40} is both there and not there (the other answer is "
                f"{earlier.rpartition(': ')[2]}); keep one answer per thing."
            )
        if is_there:
            labels[label] = 1

    def object_labels(
        self,
        kind: str,
        lists_every_image: bool = True,
        categories: Iterable[str] = (),
        says_asked: bool = False,
    ) -> ObjectLabels:
        """Return all that was found; `says_asked` if the source says what was looked for."""
        if self.scored:
            check_thresholds(self.lowest, self.uncertain)
        self.warn_of_left_out()
        names = self.file_names or [(i, i) for i in self.images if isinstance(i, str)]
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
            other_ids=images_by_name(names),
        )


def from_corners(sides: Any) -> list[float] | None:
    """Return x, y, width and height for left, top, right and bottom: a list, or a mapping."""
    if isinstance(sides, Mapping):  # of Hugging Face or Ultralytics
        names = ("xmin", "ymin", "xmax", "ymax") if "xmin" in sides else ("x1", "y1", "x2", "y2")
        sides = [sides.get(name) for name in names]
    if numbers := _numbers(sides):
        left, top, right, bottom = numbers
        return [left, top, right - left, bottom - top]
    return None


def _numbers(values: Any) -> tuple[float, float, float, float] | None:
    """Return a list of four finite numbers as floats; None for anything else."""
    if not isinstance(values, list) or len(values) != 4:
        return None
    if not all(map(is_finite, values)):
        return None
    x, y, third, fourth = map(float, values)
    return x, y, third, fourth


@dataclass(frozen=True)
class LabelRows:
    """The object labels of rows that have no image id, as `label_rows` returns them."""

    counts: Sequence[Mapping[str, int]]  #: label to count, per row; do not change them
    threshold: float | None = None  #: the lowest score that counted; None if none has a score
    #: For each row, the labels that were looked for, there or not; None for a row that does not say
    #: it. None as a whole if no row does.
    asked: Sequence[frozenset[str] | None] | None = None
    #: Row to what is wrong with it; `label_rows` raises that instead.
    problems: Mapping[int, str] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.counts)

    def signature(self) -> str:
        """Return ``rows``, or ``rows>=0.6+asked:image`` if there were scores and asked labels."""
        scored = "" if self.threshold is None else f">={self.threshold:g}"
        return f"rows{scored}{'' if self.asked is None else '+asked:image'}"


@name_wrong_argument
def label_rows(
    objects: Iterable[LabelList], threshold: float | None = None, uncertain: float | None = None
) -> LabelRows:
    """Return the labels of rows: one value per row, as `read_objects` takes it for an image.

    Parameters
    ----------
    objects : sequence
        Per row a list of labels, ``[label, score]`` pairs or detections, a mapping of label to
        count (of 0: it was looked for and is not there), or the parallel arrays of a detector.
    threshold : float, optional
        The lowest score that counts, `DETECTION_THRESHOLD` by default; labels without a score
        always count.
    uncertain : float, optional
        The score below which a thing that a row lists under ``asked`` is not there; by default, the
        lowest that counts.

    Raises
    ------
    AnnotationError
        If a row has another shape or a score is not a number; the first row is row 0.
    """
    rows = judged_rows(objects, threshold, uncertain)
    for row, problem in rows.problems.items():
        raise AnnotationError(f"row {row}: {problem}")
    return rows


def judged_rows(
    objects: Iterable[LabelList], threshold: float | None = None, uncertain: float | None = None
) -> LabelRows:
    """Return the labels of rows; of one that cannot be read, none and what is wrong."""
    check_thresholds(DETECTION_THRESHOLD if threshold is None else threshold, uncertain)
    wrong = isinstance(objects, str | bytes | bytearray | Mapping)
    if wrong or not isinstance(objects, Iterable) or getattr(objects, "ndim", 1) == 0:
        raise AnnotationError(
            f"objects of rows are a list with one entry per row, not {objects!r:.40}."
        )
    rows = objects if isinstance(objects, list | tuple) else list(objects)
    # The samples of an image often share one list, which is read once.
    instances = Instances("objects", threshold, uncertain=uncertain)
    wrong_lists: dict[int, str] = {}
    for items in rows:
        if id(items) not in instances.images:
            try:
                instances.add_listed(id(items), items)
            except AnnotationError as problem:
                wrong_lists[id(items)] = str(problem)
                instances.images[id(items)] = {}
                instances.asked.pop(id(items), None)
    instances.warn_of_left_out()
    counts = tuple(instances.images[id(items)] for items in rows)
    asked = None
    if instances.asked:
        asked = tuple(
            frozenset(instances.asked[id(items)]).union(labels)
            if id(items) in instances.asked
            else None
            for items, labels in zip(rows, counts, strict=True)
        )
    problems = {
        row: wrong_lists[id(items)] for row, items in enumerate(rows) if id(items) in wrong_lists
    }
    return LabelRows(counts, instances.lowest if instances.scored else None, asked, problems)
