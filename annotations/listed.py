"""Shapes in which the objects of one image, or of a row, are listed.

A list has items: a label (``"dog"``), a label with a score (``["dog", 0.9]``), or a detection as
Hugging Face pipelines (``{"label", "score", "box"}``) and Ultralytics (``{"name", "confidence",
"box"}``) write it. A mapping of label to count serves too, and so do parallel arrays, with an
entry per detection: ``post_process_object_detection`` of Hugging Face's image processors and
torchvision's detectors (``scores``, ``labels``, ``boxes``), ``post_process_grounded_object_
detection`` (the same with ``text_labels``, the phrases that Grounding DINO found), and
``pred2dict`` of MMDetection's DetInferencer (``preds/*.json``: ``labels``, ``scores``, ``bboxes``).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from numbers import Integral
from typing import Any, NamedTuple

from ..errors import AnnotationError
from ..io.arguments import is_listed
from .objects import CLEAN, HIGHEST_COUNT, NO_CATEGORY, checked_label
from .scores import check_score

#: The keys of parallel arrays: of labels, and of what is beside them.
LABELS, BESIDE = ("text_labels", "labels"), ("scores", "boxes", "bboxes")
# Prompts of Grounding DINO are phrases such as "a dog".
_ARTICLE = re.compile(r"(?:an?|the)\s+(?=\S)", re.IGNORECASE)


_GIVE = (
    "give the model's class names (categories=..., --categories): a text file with one name per "
    "line, YOLO's data.yaml or Hugging Face's config.json"
)


@dataclass(frozen=True)
class CategoryNames:
    """Names of classes, by what sources call them."""

    #: Category id to name.
    ids: Mapping[Any, str] = field(default_factory=dict)
    #: Open Images machine id to name.
    machine_ids: Mapping[str, str] = field(default_factory=dict)
    #: Class index to name, from 0 on without a gap.
    indices: Mapping[int, str] = field(default_factory=dict)

    def by_index(self) -> Mapping[int, str]:
        """Return the names of class indices; category ids serve if they count from 0."""
        if self.indices:
            return self.indices
        return self.ids if set(self.ids) == set(range(len(self.ids))) else {}

    def of_index(self, index: int, at: str) -> str:
        """Return the name of a class index; messages begin with `at`, the file and the entry."""
        names = self.by_index()
        if index in names:
            return names[index]
        if names:
            raise AnnotationError(
                f"{at}: class {index!r:.20} is not one of the {len(names)} classes that are given "
                f"(0 to {len(names) - 1}); give the names of the model that wrote it."
            )
        if self.ids:
            raise AnnotationError(
                f"{at}: class {index!r:.20} is a place in the model's list of classes, counted "
                f"from 0, and the categories given have ids of their own "
                f"({', '.join(f'{key!r:.20}' for key in list(self.ids)[:3])}, ...); {_GIVE}."
            )
        raise AnnotationError(f"{at}: class {index!r:.20} is a number without a name; {_GIVE}.")


#: What is known where nobody gives names.
NO_NAMES = CategoryNames()


class Listed(NamedTuple):
    """What one entry says of a category, as it is spelt; a score too low needs no name.

    A `number` of 0 says that it was looked for: what has no other entry is not there. The `box` of
    a detection is a list of left, top, right and bottom in pixels, or a mapping, which `corners`
    reads, if the source is right.
    """

    name: str
    number: int = 1
    score: float | None = None
    box: Any = None


def listed(
    items: Any, lowest: float, uncertain: float | None = None, names: CategoryNames = NO_NAMES
) -> Iterator[Listed]:
    """Yield what is listed, also what has too low a score to count.

    What was looked for may be ``asked`` beside arrays, or beside anything else as ``objects``; if
    it has a score from `uncertain` up to `lowest`, it is open whether it is there.
    """
    open_from = lowest if uncertain is None else min(lowest, uncertain)
    asked = None
    found: Iterable[Listed]
    if not isinstance(items, Mapping):
        found = (_item(item, number) for number, item in enumerate(_as_list(items)))
    elif "objects" in items and is_listed(items.get("asked")):
        asked, found = items["asked"], listed(items["objects"], lowest, uncertain, names)
    elif is_arrays(items):
        asked, found = items.get("asked"), detections(items, open_from, names)
    else:
        found = _counts(items)
    left_open: set[str] = set()
    for one in found:
        if one.score is not None and open_from <= one.score < lowest:
            left_open.add(CLEAN[one.name])
        yield one
    if asked is not None:
        yield Listed(NO_CATEGORY, 0)  # something was looked for, even if all of it is there
        yield from (Listed(label, 0) for label in asked_labels(asked) if label not in left_open)


def asked_labels(names: Any) -> list[str]:
    """Return the labels that a list of what was looked for names; *a dog* becomes *dog*."""
    asked: dict[str, None] = {}
    for name in _as_list(names):
        if not isinstance(name, str) or not name.strip():
            raise AnnotationError(f"'asked' has {name!r:.40} in it; list the labels looked for.")
        asked[checked_label(_without_article(name))] = None
    return [label for label in asked if label]


def _item(item: Any, number: int) -> Listed:
    """Return what an item of a list says."""
    if isinstance(item, str) and item.strip():
        return Listed(item)
    item = _as_python(item)
    name = score = box = None
    if isinstance(item, Mapping):
        name, box = item.get("label", item.get("name")), item.get("box")
        score = item.get("score", item.get("confidence"))
        if score is None:
            raise AnnotationError(f"item {number}: a detection needs a 'score' or a 'confidence'.")
    elif isinstance(item, list | tuple) and len(item) == 2:
        name, score = item
    if not isinstance(name, str) or not name.strip():
        raise AnnotationError(
            f"item {number}: found {item!r:.60}; expected a label, [label, score], or a detection "
            "with 'label' and 'score' or 'name' and 'confidence'."
        )
    named = box if isinstance(box, Mapping) else None  # a list could be anything
    return Listed(name, 1, check_score(score, f"item {number}"), named)


def corners(box: Any) -> Any:
    """Return the list of a box whose sides have the names of Hugging Face or Ultralytics."""
    if not isinstance(box, Mapping):
        return box
    names = ("xmin", "ymin", "xmax", "ymax") if "xmin" in box else ("x1", "y1", "x2", "y2")
    return [box.get(name) for name in names]


def _as_list(items: Any) -> Iterable[Any]:
    if isinstance(items, str) and "|" in items:  # tags of RAM: "armchair | lamp"
        return [tag.strip() for tag in items.split("|")]
    if isinstance(items, set | frozenset):
        return sorted(items, key=repr)  # the order of strings in a set changes with every run
    if not is_listed(items):
        raise AnnotationError(f"expected a list of labels, found {items!r:.40}.")
    listed: Iterable[Any] = _as_python(items)
    return listed


def _counts(counts: Mapping[Any, Any]) -> list[Listed]:
    found: list[Listed] = []
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
        found.append(Listed(name, int(number)))
    denied = {CLEAN[one.name] for one in found if not one.number}
    for one in found if denied else ():
        if one.number and CLEAN[one.name] in denied:
            raise AnnotationError(
                f"{CLEAN[one.name]!r:.40} is both there and not there, with a count and with 0; "
                "keep one answer for each thing."
            )
    return found


def is_arrays(items: Mapping[Any, Any]) -> bool:
    """Tell parallel arrays from a mapping of label to count, whose values are numbers."""
    return any(is_listed(items.get(key)) for key in LABELS + BESIDE)


def has_indices(items: Mapping[Any, Any]) -> bool:
    """Tell whether the labels of parallel arrays are class indices."""
    columns = [_array(items, key) for key in LABELS if is_listed(items.get(key))]
    first = next((labels[0] for labels in columns if labels), "")
    return not isinstance(first, str)


def detections(items: Mapping[Any, Any], lowest: float, names: CategoryNames) -> Iterator[Listed]:
    """Yield the detections of parallel arrays; those with a score below `lowest` have no name.

    Labels are names, or class indices that count from 0; without ``scores`` every detection counts.
    """
    key = next((key for key in LABELS if items.get(key) is not None), None)
    if key is None:
        raise AnnotationError("'labels' is missing; parallel arrays need labels, scores and boxes.")
    labels = _array(items, key)
    beside = {other: _array(items, other) for other in BESIDE if items.get(other) is not None}
    for other, values in beside.items():
        if len(values) != len(labels):
            raise AnnotationError(
                f"{key!r} has {len(labels)} entries and {other!r} has {len(values)}; every "
                "detection needs one of each."
            )
    scores = beside.get("scores")
    boxes = beside.get("bboxes", beside.get("boxes", [None] * len(labels)))
    for number, label in enumerate(labels):
        at = f"detection {number}"
        score = None if scores is None else check_score(scores[number], at)
        counts = score is None or score >= lowest
        name = _name(label, at, names) if counts or not isinstance(label, str) else ""
        yield Listed(name if counts else "", 1, score, boxes[number])


def _name(label: Any, at: str, names: CategoryNames) -> str:
    if isinstance(label, str):
        if not label.strip():
            raise AnnotationError(f"{at}: the label is empty.")
        return _without_article(label)
    if isinstance(label, Integral) and not isinstance(label, bool):
        return names.of_index(int(label), at)
    raise AnnotationError(f"{at}: label {label!r:.40} is neither a name nor a class index.")


def _without_article(label: str) -> str:
    """Return a phrase of a prompt without its article: *a dog* becomes *dog*."""
    return _ARTICLE.sub("", label.strip(), count=1) if _ARTICLE.match(label.strip()) else label


def _array(items: Mapping[Any, Any], key: str) -> list[Any]:
    """Return what should be a list, tuple, array or tensor as a list."""
    values = items[key]
    if not is_listed(values):
        raise AnnotationError(f"{key!r} is {values!r:.40}, not a list.")
    return list(_as_python(values))


def _as_python(values: Any) -> Any:
    """Return an array or tensor as a list; anything else as it is."""
    return values.tolist() if hasattr(values, "tolist") else values
