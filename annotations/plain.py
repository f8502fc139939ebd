"""Objects in the shapes that `.labels` reads: by image id, as records, or by row.

``{image id: ["dog", "dog", "frisbee"]}`` is the plain format for everything else. Records, in JSON
Lines or a list, are ``{"image": "beach.jpg", "objects": ["dog", "dog", "frisbee"]}``; ``"asked":
["dog", "nut"]`` in one says what was looked for in its image, and ``{"classes": ["dog", ...]}`` as
the first record what was looked for in all.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any, TypeAlias, TypeGuard

from ..errors import AnnotationError
from ..io.arguments import is_listed, named_if_wrong
from ..io.entries import Entries, Entry, shows
from ..io.image_ids import ImageId
from .instances import Format, Instances, Way, check_thresholds, from_corners
from .labels import (
    BESIDE,
    CLEAN,
    DETECTION_THRESHOLD,
    LONGEST_NAME,
    NO_CATEGORY,
    NO_NAMES,
    CategoryNames,
    corners,
    has_indices,
    is_arrays,
    listed,
)
from .labels import LABELS as ARRAY_LABELS
from .objects import ObjectLabels, from_threshold

#: A label, ``[label, score]``, or a detection.
LabelItem: TypeAlias = str | Sequence[Any] | Mapping[str, Any]
#: What an image or a row may have: items, label to count, or parallel arrays.
LabelList: TypeAlias = Collection[LabelItem] | Mapping[str, int] | Mapping[str, Sequence[Any]]

_NAMES = frozenset({str})
# The names of image ids.
_IMAGE = ("image_id", "image", "file_name", "filename", "id")
# These tell a record of an image from an image that is called *objects*.
_RECORD = ("objects", " ".join(f"{key}=" for key in _IMAGE))


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
        Per row a list of labels, ``[label, score]`` pairs or detections, a mapping of label to
        count (of 0: it was looked for and is not there), or the parallel arrays of a detector.
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
    rows, problems = judged_rows(objects, threshold, uncertain)
    for row, problem in problems.items():
        raise AnnotationError(f"row {row}: {problem}")
    return rows


def judged_rows(
    objects: Iterable[LabelList], threshold: float | None = None, uncertain: float | None = None
) -> tuple[LabelRows, dict[int, str]]:
    """Return the labels of rows, none of one that cannot be read, and what is wrong, by row."""
    check_thresholds(DETECTION_THRESHOLD if threshold is None else threshold, uncertain)
    wrong = isinstance(objects, str | bytes | bytearray | Mapping)
    if wrong or not isinstance(objects, Iterable) or getattr(objects, "ndim", 1) == 0:
        raise AnnotationError(
            f"objects of rows are a list with one entry per row, not {objects!r:.40}."
        )
    rows = objects if isinstance(objects, list | tuple) else list(objects)
    # The samples of an image often share one list, which is read once.
    found = Instances("objects", threshold, uncertain=uncertain)
    wrong_lists: dict[int, str] = {}
    for items in rows:
        if id(items) not in found.images:
            try:
                _add(id(items), items, found)
            except AnnotationError as problem:
                wrong_lists[id(items)] = str(problem)
                found.images[id(items)] = {}
                found.asked.pop(id(items), None)
    counts = tuple(found.images[id(items)] for items in rows)
    asked = None
    if found.asked:
        asked = tuple(
            frozenset(found.asked[id(items)]).union(labels) if id(items) in found.asked else None
            for items, labels in zip(rows, counts, strict=True)
        )
    problems = {
        row: wrong_lists[id(items)] for row, items in enumerate(rows) if id(items) in wrong_lists
    }
    return LabelRows(counts, found.lowest if found.scored else None, asked), problems


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


def below_header(records: Entries) -> tuple[Mapping[str, Any], Entries]:
    """Return the first record if it says something of all others, else nothing, and the others."""
    header = ["[].classes [].vifidel_eval", "![].objects", "![].image_id"]
    if not shows(records.values[:1], header):
        return {}, records
    return records.values[0], records.after_header()


def classes_of(header: Mapping[str, Any], where: str) -> list[str] | None:
    """Return the classes that a header declares; None if it does not."""
    classes = header.get("classes")
    if classes is None:
        return None
    if not isinstance(classes, list) or not all(isinstance(n, str) and n.strip() for n in classes):
        raise AnnotationError(f"{where}: line 1: 'classes' is not a list of names; write one.")
    return classes


def _read_records(records: Entries, found: Instances) -> ObjectLabels:
    """Read one object per image, with its id and its ``objects``."""
    header, records = below_header(records)
    classes = classes_of(header, found.where)
    key = records.first_key(_IMAGE)
    images: dict[ImageId, LabelList] = {}
    for record in records:
        image_id = found.image_once(record, key)
        objects = record["objects"]
        images[image_id] = (
            {"objects": objects, "asked": record["asked"]} if "asked" in record else objects
        )
    return read_items(images, found, classes)


def _are_records(records: Entries) -> bool:
    """Tell records from Visual Genome's, whose objects have ``names``; it lists image ids only."""
    header, records = below_header(records)
    first = next((record for record in records.first if shows(record, _RECORD)), None)
    if first is None:
        return False
    given = [record for record in records.values if isinstance(record, dict)]
    if header or any("asked" in record for record in given):
        return True
    objects = next(filter(None, (record.get("objects") for record in given)), None)
    if isinstance(objects, list):
        return not isinstance(objects[0], Mapping) or bool({"label", "name"} & objects[0].keys())
    return objects is not None or not {"image_id", "id"} & first.keys()


RECORDS = Format(
    "JSON Lines of objects",
    'JSON Lines `{"image": "beach.jpg", "objects": ["dog", "dog"]}`, one image a line, or a list '
    "of such records",
    ".6, if there are scores",
    "the image is `image_id`, `image`, `file_name`, `filename` or `id`; its objects are as in the "
    'rows below; with `"asked": ["dog", "nut"]` per image, or `{"classes": [...]}` as the first '
    "line, what was looked for can be absent",
    (Way("list", _are_records, _read_records),),
)


# One of these is a list in parallel arrays.
_ARRAY = " ".join(f"%s{key}[]" for key in ARRAY_LABELS + BESIDE)
_NO_IMAGE = (
    "detections as parallel arrays, and nothing says which image each is of; give the folder with "
    "one such file per image (MMDetection's preds/), or {image id: detections}."
)

ARRAYS = Format(
    "parallel arrays",
    'parallel arrays `{"labels", "scores", "boxes"}` (Hugging Face `post_process_...`, '
    'Grounding DINO, MMDetection `preds/*.json`), as `{"id": {...}}` or a folder with one JSON '
    "file per image",
    ".6",
    '`"asked": [...]` beside them says what was looked for; labels that are numbers need the '
    "model's class names, counted from 0: `--categories` with one name per line, or Hugging Face's "
    "`config.json`; *a dog* becomes *dog*",
    (  # an image's detections come in several shapes, which `.labels` reads side by side
        Way(
            "object",
            (" ".join(ARRAY_LABELS), " ".join(BESIDE), _ARRAY.replace("%s", "")),
            _NO_IMAGE,
        ),
        Way("object", (_ARRAY.replace("%s", "predictions[]."),), _NO_IMAGE),
        Way("list", (_ARRAY.replace("%s", "[]."),), _NO_IMAGE),
    ),
)


@named_if_wrong
def read_labels(
    content: Mapping[Any, LabelList],
    where: str,
    threshold: float | None = None,
    names: CategoryNames | None = None,
    uncertain: float | None = None,
) -> ObjectLabels:
    """Read ``{image id: [label, ...]}``; an image may have any of the shapes of `label_rows`.

    Where a count is 0, all mappings of label to count say what was looked for in their images.
    `names` are those of the class indices in parallel arrays; messages call the content `where`.
    What is wrong is an `AnnotationError`.
    """
    return read_items(content, Instances(where, threshold, names or NO_NAMES, uncertain))


def are_rows(source: Any) -> bool:
    """Return whether a source is the labels of rows: a list with lists of texts in it.

    Such a list holds labels, with scores or without, and never paths.

    >>> are_rows([["dog"], [], {"cat": 2}]), are_rows(["a.json"]), are_rows([{1: ["dog"]}])
    (True, False, False)
    """
    return isinstance(source, list | tuple) and any(
        is_listed(row)
        and all(
            isinstance(label, str)
            or (is_listed(label) and len(label) == 2 and isinstance(label[1], Real))
            for label in row
        )
        for row in source
    )


def _read_rows(rows: Entries, found: Instances) -> ObjectLabels:
    for number, row in enumerate(rows.values):
        if isinstance(row, ObjectLabels) or not (is_listed(row) or isinstance(row, Mapping)):
            raise AnnotationError(
                f"{found.where}: entry {number} is {row!r:.40}, and others are lists of labels; a "
                "list holds the labels of each row, or sources whose union counts, and not both."
            )
    return read_items(dict(enumerate(rows.values)), found)


def _read_by_image(content: Entry, found: Instances) -> ObjectLabels:
    return read_items(content.content, found)


LABELS = Format(
    "{image id: [label, ...]} JSON",
    '`{"id": ["dog", "dog", "frisbee"]}`, `{"id": [["dog", 0.9]]}`, `{"id": {"dog": 2, "nut": 0}}` '
    'or `{"id": "dog \\| frisbee"}` JSON, or a Python mapping; a list per row, `[["dog"], []]`',
    ".6, if there are scores",
    "the plain format for everything else; a count of 0 was looked for and is not there; tags with "
    "bars between them are RAM's; rows are images 0, 1, 2, ...",
    (
        Way("object", (), _read_by_image),
        Way("list", lambda entries: are_rows(entries.values), _read_rows),
        Way("list", lambda entries: not entries, "an empty list; there is no detection in it."),
        Way(
            "list",
            ("![].image_id", "![].objects"),
            "a list whose entries have no 'image_id', so nothing says which image each belongs to; "
            "write {image id: [detections]} instead.",
        ),
    ),
)
