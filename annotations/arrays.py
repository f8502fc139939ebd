"""Detections in one image as parallel arrays: labels, scores and boxes, one entry per detection.

Layouts: ``post_process_object_detection`` of Hugging Face's image processors and torchvision's
detectors (``scores``, ``labels``, ``boxes``), ``post_process_grounded_object_detection`` (the same
with ``text_labels``, the phrases that Grounding DINO found), and ``pred2dict`` of MMDetection's
DetInferencer, which writes ``preds/*.json`` (``labels``, ``scores``, ``bboxes``).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from numbers import Integral
from typing import Any

from ..arguments import is_listed
from ..errors import AnnotationError
from .names import CategoryNames
from .objects import check_score
from .record import Format, refused

_LABELS = ("text_labels", "labels")
_BESIDE = ("scores", "boxes", "bboxes")
# Prompts of Grounding DINO are phrases such as "a dog".
_ARTICLE = re.compile(r"(?:an?|the)\s+(?=\S)", re.IGNORECASE)


def is_arrays(items: Mapping[Any, Any]) -> bool:
    """Tell parallel arrays from a mapping of label to count, whose values are numbers."""
    return any(is_listed(items.get(key)) for key in _LABELS + _BESIDE)


def has_indices(items: Mapping[Any, Any]) -> bool:
    """Tell whether the labels of parallel arrays are class indices."""
    listed = [_listed(items.get(key)) for key in _LABELS]
    first = next((labels[0] for labels in listed if labels), "")
    return not isinstance(first, str)


def detections(
    items: Mapping[Any, Any], threshold: float, names: CategoryNames
) -> Iterator[tuple[str | None, float | None, Any]]:
    """Yield the name of each detection, or None if it does not count, its score and its box.

    The score is None where there are none, and so is the box: left, top, right, bottom in pixels.

    Parameters
    ----------
    items : mapping
        ``labels`` or ``text_labels``, and usually ``scores`` and boxes: lists, arrays or tensors
        of the same length. Labels are names, or class indices that count from 0.
    threshold : float
        The lowest score that counts; without ``scores`` every detection does.
    names : CategoryNames
        Names of class indices.

    Raises
    ------
    AnnotationError
        If the labels are missing, lengths differ, an index has no name, a label is not a string
        or a score not a number.
    """
    key = next((key for key in _LABELS if items.get(key) is not None), None)
    if key is None:
        raise AnnotationError("'labels' is missing; parallel arrays need labels, scores and boxes.")
    labels = _array(items, key)
    scores: list[Any] | None = None
    boxes: list[Any] = [None] * len(labels)
    for other in _BESIDE:
        if items.get(other) is None:
            continue
        values = _array(items, other)
        if len(values) != len(labels):
            raise AnnotationError(
                f"{key!r} has {len(labels)} entries and {other!r} has {len(values)}; every "
                "detection needs one of each."
            )
        if other == "scores":
            scores = values
        else:
            boxes = values
    for number, label in enumerate(labels):
        at = f"detection {number}"
        score = None if scores is None else check_score(scores[number], at)
        counts = score is None or score >= threshold
        name = _name(label, at, names) if counts or not isinstance(label, str) else None
        yield (name if counts else None), score, boxes[number]


def _name(label: Any, at: str, names: CategoryNames) -> str:
    if isinstance(label, str):
        if not label.strip():
            raise AnnotationError(f"{at}: the label is empty.")
        return without_article(label)
    if isinstance(label, Integral) and not isinstance(label, bool):
        return names.of_index(int(label), at)
    raise AnnotationError(f"{at}: label {label!r:.40} is neither a name nor a class index.")


def without_article(label: str) -> str:
    """Return a phrase of a prompt without its article: *a dog* becomes *dog*."""
    return _ARTICLE.sub("", label.strip(), count=1) if _ARTICLE.match(label.strip()) else label


def _array(items: Mapping[Any, Any], key: str) -> list[Any]:
    values = _listed(items[key])
    if values is None:
        raise AnnotationError(f"{key!r} is {items[key]!r:.40}, not a list.")
    return values


def _listed(values: Any) -> list[Any] | None:
    """Return a list, tuple, array or tensor as a list; None for anything else."""
    if not is_listed(values):
        return None
    return list(values.tolist() if hasattr(values, "tolist") else values)


# One of these is a list in parallel arrays.
_LISTED = " ".join(f"%s{key}[]" for key in _LABELS + _BESIDE)


FORMAT = Format(
    "parallel arrays",
    'parallel arrays `{"labels", "scores", "boxes"}` (Hugging Face `post_process_...`, '
    'Grounding DINO, MMDetection `preds/*.json`), as `{"id": {...}}` or a folder with one JSON '
    "file per image",
    ".6",
    '`"asked": [...]` beside them says what was looked for; labels that are numbers need the '
    "model's class names, counted from 0: `--categories` with one name per line, or Hugging Face's "
    "`config.json`; *a dog* becomes *dog*",
    (  # an image's detections come in several shapes, which `.labels` reads side by side
        refused(
            "object",
            (" ".join(_LABELS), " ".join(_BESIDE), _LISTED.replace("%s", "")),
            "the detections in one image as parallel arrays, and nothing says which image; give "
            "the folder with one such file per image, or {image id: detections}.",
        ),
        refused(
            "object",
            (_LISTED.replace("%s", "predictions[]."),),
            "what MMDetection's DetInferencer returns, where nothing says which image each "
            "prediction is of; give the folder preds/ that it writes, or {image id: prediction}.",
        ),
        refused(
            "list",
            (_LISTED.replace("%s", "[]."),),
            "a list of detections as parallel arrays (Hugging Face's post_process_... or "
            "torchvision), where nothing says which image each is of; write {image id: "
            "detections}.",
        ),
    ),
)
