"""Labels keyed by image id, or one list per row: the plain format for everything else.

The value of an image is a list. Each item is a label (``"dog"``), a label with a score
(``["dog", 0.9]``), or a detection as Hugging Face pipelines (``{"label", "score", "box"}``) and
Ultralytics (``{"name", "confidence", "box"}``) write it. A mapping of label to count serves too,
and so do parallel arrays (`.arrays`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from numbers import Integral
from typing import Any, NamedTuple, TypeAlias

from ..arguments import is_listed, named_if_wrong
from ..errors import AnnotationError
from ..image_ids import ImageId
from .arrays import detections, has_indices, is_arrays, without_article
from .boxes import BoxCollector
from .names import CategoryNames
from .objects import (
    DETECTION_THRESHOLD,
    HIGHEST_COUNT,
    LONGEST_NAME,
    NO_CATEGORY,
    ObjectLabels,
    check_score,
    check_threshold,
    check_uncertain,
    clean_label,
    count,
    from_threshold,
)
from .record import Format, ReadOptions, Way, refused

#: A label, ``[label, score]``, or a detection.
LabelItem: TypeAlias = str | Sequence[Any] | Mapping[str, Any]
#: What an image or a row may have: items, label to count, or parallel arrays.
LabelList: TypeAlias = Collection[LabelItem] | Mapping[str, int] | Mapping[str, Sequence[Any]]
_NAMES = frozenset({str})

#: Keeps a box of an image: its label, left, top, right and bottom, and its score.
AddBox: TypeAlias = Callable[[str, Any, float | None], None]


@dataclass(frozen=True)
class LabelRows:
    """The object labels of rows that have no image id, as `label_rows` returns them.

    Attributes
    ----------
    counts : tuple of mapping
        Label to count, one mapping per row; read them, do not change them.
    threshold : float, optional
        The lowest score that counted; None if no label has a score.
    asked : tuple, optional
        For each row, the labels that were looked for, there or not; None for a row that does not
        say it. None as a whole if no row does.
    """

    counts: tuple[Mapping[str, int], ...]
    threshold: float | None = None
    asked: tuple[frozenset[str] | None, ...] | None = None

    def __len__(self) -> int:
        return len(self.counts)

    def signature(self) -> str:
        """Return ``rows``, with what is known of them.

        That is the threshold if there were scores, and whether any row says what was looked for:
        ``rows>=0.6+asked:image``.
        """
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
    check_threshold(threshold)
    threshold = DETECTION_THRESHOLD if threshold is None else threshold
    check_uncertain(uncertain, threshold)
    if isinstance(objects, str | bytes | bytearray | Mapping) or not isinstance(objects, Iterable):
        raise AnnotationError(
            f"objects of rows are a list with one entry per row, not {objects!r:.40}."
        )
    listed = objects if isinstance(objects, list | tuple) else list(objects)
    # The samples of an image often share one list, which is read once.
    read: dict[int, _Counted] = {}
    for number, items in enumerate(listed):
        if id(items) not in read:
            try:
                read[id(items)] = _counted(items, threshold, uncertain=uncertain)
            except AnnotationError as problem:
                raise AnnotationError(f"row {number}: {problem}") from None
    rows = [read[id(items)] for items in listed]
    any_scored = any(row.scored for row in read.values())
    any_asked = any(row.asked is not None for row in read.values())
    return LabelRows(
        tuple(row.labels for row in rows),
        threshold if any_scored else None,
        tuple(row.asked for row in rows) if any_asked else None,
    )


@named_if_wrong
def read_labels(
    content: Mapping[Any, LabelList],
    where: str,
    threshold: float | None = None,
    names: CategoryNames | None = None,
    boxes: BoxCollector | None = None,
    uncertain: float | None = None,
    classes: Collection[str] | None = None,
) -> ObjectLabels:
    """Read ``{image id: [label, ...]}`` in any of the item shapes above.

    Detections of DETR's ``N/A`` are not objects.

    Parameters
    ----------
    content : mapping
        Image id to items, to a mapping of label to count, or to parallel arrays. Where a count is
        0, the labels of all such mappings were looked for in their images.
    where : str
        The file, for messages.
    threshold : float, optional
        The lowest score that counts, `DETECTION_THRESHOLD` by default; labels without a score
        always count.
    names : CategoryNames, optional
        Names of the class indices in parallel arrays.
    boxes : BoxCollector, optional
        Keeps the boxes of detections, in pixels.
    uncertain : float, optional
        As for `label_rows`.
    classes : collection of str, optional
        What was looked for in every image, where the source declares it.

    Raises
    ------
    AnnotationError
        If an item has another shape, a score is not a number or a class has no name.
    """
    threshold = DETECTION_THRESHOLD if threshold is None else threshold
    names = CategoryNames() if names is None else names
    images: dict[ImageId, _Counted] = {}
    for image_id, items in content.items():
        try:
            add_box = None if boxes is None else partial(boxes.add_corners, image_id)
            images[image_id] = _counted(items, threshold, names, add_box, uncertain)
        except AnnotationError as problem:
            raise AnnotationError(f"{where}: image {image_id!r}: {problem}") from None
    indexed = any(isinstance(items, Mapping) and has_indices(items) for items in content.values())
    return ObjectLabels(
        {image_id: of_image.labels for image_id, of_image in images.items()},
        "labels",
        where,
        threshold if any(of_image.scored for of_image in images.values()) else None,
        categories=classes or (names.by_index().values() if indexed else ()),
        asked=_asked(content, images) or (None if classes is None else {}),
    )


class _Counted(NamedTuple):
    """Label to count, whether any item has a score, and what was looked for, if that is said."""

    labels: dict[str, int]
    scored: bool
    asked: frozenset[str] | None


def asked_labels(names: Any) -> list[str]:
    """Return the labels that a list of what was looked for names; *a dog* becomes *dog*.

    Raises
    ------
    AnnotationError
        If it is not a list of names.
    """
    asked: dict[str, int] = {}
    for name in _listed(names):
        if not isinstance(name, str) or not name.strip():
            raise AnnotationError(f"'asked' has {name!r:.40} in it; list the labels looked for.")
        count(asked, without_article(name))
    return list(asked)


def _counted(
    items: Any,
    threshold: float,
    names: CategoryNames | None = None,
    add_box: AddBox | None = None,
    uncertain: float | None = None,
) -> _Counted:
    if _only_names(items):
        labels = dict(Counter(map(clean_label, items)))
        if "" not in labels:
            return _Counted(labels, False, None)
    if isinstance(items, Mapping) and is_listed(items.get("asked")) and "objects" in items:
        given = items["objects"]
        found = _counted(given, threshold, names, add_box, uncertain)
        asked = frozenset(asked_labels(items["asked"]))
        if uncertain is not None:  # what is neither there nor not
            asked -= _counted(given, min(uncertain, threshold), names).labels.keys()
        return found._replace(asked=asked.union(found.asked or (), found.labels))
    entries, scored = label_entries(items, threshold, names, add_box, uncertain)
    labels = {}
    for name, number in entries:
        count(labels, name, number)
    if all(number for _, number in entries):
        return _Counted(labels, scored, None)
    there = {label: number for label, number in labels.items() if number}
    return _Counted(there, scored, frozenset(labels))


def _only_names(items: Any) -> bool:
    """Return whether items are a list of names that all count, as most are."""
    return (
        type(items) is list
        and _NAMES.issuperset(map(type, items))
        and max(map(len, items), default=0) <= LONGEST_NAME
        and NO_CATEGORY not in items
    )


def _asked(
    content: Mapping[Any, LabelList], images: Mapping[ImageId, _Counted]
) -> dict[ImageId, frozenset[str]] | None:
    """Return what was looked for in each image; None if no image says it.

    Where one of them has a count of 0, a mapping without any lists what was looked for and found.
    """
    asked = {image_id: of.asked for image_id, of in images.items() if of.asked is not None}
    if not asked:
        return None
    for image_id, items in content.items():
        if isinstance(items, Mapping) and items and not is_arrays(items):
            asked.setdefault(image_id, frozenset(images[image_id].labels))
    return asked


def label_entries(
    items: Any,
    threshold: float,
    names: CategoryNames | None = None,
    add_box: AddBox | None = None,
    uncertain: float | None = None,
) -> tuple[list[tuple[str, int]], bool]:
    """Return the labels of one image that count, as they are spelt, with their numbers.

    Parameters
    ----------
    items : collection or mapping
        Labels, ``[label, score]`` pairs or detections, a mapping of label to count, or parallel
        arrays; beside these, what was looked for may be listed under ``asked``.
    threshold : float
        The lowest score that counts.
    names : CategoryNames, optional
        Names of classes, for parallel arrays of class indices.
    add_box : callable, optional
        Called with the label, the box (left, top, right, bottom) and the score of every detection
        that counts.
    uncertain : float, optional
        The score below which what was looked for is not there; by default `threshold`.

    Returns
    -------
    entries : list of (str, int)
        A label may occur several times. The number is 0 where it was looked for: what has no other
        entry is not there.
    scored : bool
        Whether any item has a score.

    Raises
    ------
    AnnotationError
        If an item has another shape, a score is not a number or a class has no name.
    """
    entries: list[tuple[str, int]] = []
    scored = False
    if isinstance(items, Mapping):
        if not is_arrays(items):
            return _given_counts(items), False
        return _array_entries(items, threshold, names or CategoryNames(), add_box, uncertain)
    for number, item in enumerate(_listed(items)):
        if isinstance(item, str):
            name = item
        else:
            name, score = _name_and_score(item, number)
            scored = True
            if score < threshold:
                continue
            if add_box is not None and isinstance(item, Mapping):
                add_box(name, _corners(item.get("box")), score)
        if not name.strip():
            raise _unexpected(item, number)
        entries.append((name, 1))
    return entries, scored


def _array_entries(
    items: Mapping[Any, Any],
    threshold: float,
    names: CategoryNames,
    add_box: AddBox | None,
    uncertain: float | None,
) -> tuple[list[tuple[str, int]], bool]:
    """Return what `label_entries` returns of parallel arrays."""
    entries: list[tuple[str, int]] = []
    scored = False
    possible: set[str] = set()  # neither there nor not
    lowest = threshold if uncertain is None else min(threshold, uncertain)
    for found, score, box in detections(items, lowest, names):
        scored = score is not None
        if found is None:
            continue
        if score is not None and score < threshold:
            possible.add(clean_label(found))
            continue
        entries.append((found, 1))
        if add_box is not None:
            add_box(found, box, score)
    if items.get("asked") is not None:
        entries += [(name, 0) for name in asked_labels(items["asked"]) if name not in possible]
    return entries, scored


def _listed(items: Any) -> Iterable[Any]:
    if isinstance(items, list | tuple):
        return items
    if isinstance(items, str) and "|" in items:  # tags of RAM: "armchair | lamp"
        return [tag.strip() for tag in items.split("|")]
    if isinstance(items, set | frozenset):
        return sorted(items, key=repr)  # the order of strings in a set changes with every run
    listed = items.tolist() if hasattr(items, "tolist") and not isinstance(items, str) else None
    if not isinstance(listed, list):
        raise AnnotationError(f"expected a list of labels, found {items!r:.40}.")
    return listed


def _given_counts(counts: Mapping[Any, Any]) -> list[tuple[str, int]]:
    entries: list[tuple[str, int]] = []
    for name, number in counts.items():
        if isinstance(number, bool) or not isinstance(number, Integral):
            raise AnnotationError(
                f"the count of {name!r:.40} is {number!r:.40}, not a whole number; give a list of "
                "labels, or a count for each label."
            )
        if number < 0:
            raise AnnotationError(f"the count of {name!r:.40} is negative ({number!r:.40}).")
        if int(number) > HIGHEST_COUNT:
            raise AnnotationError(f"the count of {name!r:.40} is above 2**53; is it a count?")
        if not isinstance(name, str) or not name.strip():
            raise AnnotationError(f"found {name!r:.60} with a count; expected a label.")
        entries.append((name, int(number)))
    if not all(counts.values()):
        denied = {clean_label(name) for name, number in entries if not number}
        both = next((n for n, number in entries if number and clean_label(n) in denied), None)
        if both is not None:
            raise AnnotationError(
                f"{clean_label(both)!r:.40} is both there and not there, with a count and with 0; "
                "keep one answer for each thing."
            )
    return entries


def _name_and_score(item: Any, number: int) -> tuple[str, float]:
    """Return what an item that is not a string says."""
    if hasattr(item, "tolist"):
        item = item.tolist()
    if isinstance(item, Mapping):
        name = item.get("label", item.get("name"))
        score = item.get("score", item.get("confidence"))
        if score is None:
            raise AnnotationError(f"item {number}: a detection needs a 'score' or a 'confidence'.")
    elif isinstance(item, list | tuple) and len(item) == 2:
        name, score = item
    else:
        raise _unexpected(item, number)
    if not isinstance(name, str) or not name.strip():
        raise _unexpected(item, number)
    return name, check_score(score, f"item {number}")


def _corners(box: Any) -> list[Any] | None:
    """Return the sides of a box as Hugging Face's pipelines or Ultralytics name them."""
    if not isinstance(box, Mapping):
        return None
    names = ("xmin", "ymin", "xmax", "ymax") if "xmin" in box else ("x1", "y1", "x2", "y2")
    return [box.get(name) for name in names]


def _unexpected(item: Any, number: int) -> AnnotationError:
    return AnnotationError(
        f"item {number}: found {item!r:.60}; expected a label, [label, score], or a detection "
        "with 'label' and 'score' or 'name' and 'confidence'."
    )


def read_items(
    images: Mapping[Any, LabelList], options: ReadOptions, classes: Collection[str] | None = None
) -> ObjectLabels:
    """Read ``{image id: [label, ...]}`` as `read_labels` does; `classes` were looked for in all."""
    given = options.threshold, options.names, options.boxes, options.uncertain
    return read_labels(images, options.where, *given, classes)


FORMAT = Format(
    "{image id: [label, ...]} JSON",
    '`{"id": ["dog", "dog", "frisbee"]}`, `{"id": [["dog", 0.9]]}`, `{"id": {"dog": 2, "nut": 0}}` '
    'or `{"id": "dog \\| frisbee"}` JSON, or a Python mapping',
    ".6, if there are scores",
    "the plain format for everything else; a count of 0 was looked for and is not there; tags with "
    "bars between them are RAM's",
    (
        Way("object", (), read_items),
        refused("list", lambda found: not found, "an empty list; there is no detection in it."),
        refused(
            "list",
            ("![].image_id", "![].objects"),
            "a list whose entries have no 'image_id', so nothing says which image each belongs to; "
            "write {image id: [detections]} instead.",
        ),
    ),
)
