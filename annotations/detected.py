"""Files that ``vifidel-eval detect`` writes, JSON Lines.

A header, ``{"vifidel_eval": "detections", "version": 1, "classes": [...] or null, ...}``, then a
line per picture, or per picture and round of questions: ``{"image_id", "labels", "scores", "boxes",
"width", "height"}`` with boxes of left, top, right and bottom in pixels, and ``asked`` where the
detector was asked for things. ``{"image_id", "problem"}`` is a picture that could not be read.
"""

from __future__ import annotations

from typing import Any, TypeAlias

from ..errors import AnnotationError
from ..io.image_ids import ImageId
from .format import Format, Way, below_header, classes_of, entries, image_id_of
from .instances import Instances, from_corners
from .listed import asked_labels, detections
from .objects import ObjectLabels, checked_label

_VERSION = 1
# Of boxes of one label that share more than this of their union, one object is meant.
_SAME = 0.7
# Detectors give some hundreds for a picture; each box of a label is compared with all others.
_MOST_BOXES = 1000

#: The score of a detection, its box (left, top, right, bottom), and the picture's width and height.
_Detection: TypeAlias = tuple[float, Any, tuple[Any, Any]]


def read_detected(records: list[Any], found: Instances) -> ObjectLabels:
    """Read a file of detections: a class is counted by its boxes, what was asked for once.

    Of several rounds about a picture, what one found is there. Boxes of one label that mean one
    object count once. A picture that could not be read is known, and nothing was looked for in it.
    """
    where = found.where
    header, lines = below_header(records)
    if header.get("version") != _VERSION:
        raise AnnotationError(
            f"{where}: line 1: version {header.get('version')!r:.20} of the files that "
            f"vifidel-eval detect writes; this version of vifidel-eval reads {_VERSION}."
        )
    classes = set(asked_labels(classes_of(header, where) or ()))
    asked_for: dict[ImageId, set[str]] = {}
    detected: dict[tuple[ImageId, str], list[_Detection]] = {}
    for at, record in entries(lines, where):
        image_id = image_id_of(record, "image_id", at)
        found.image(image_id)
        if "problem" in record:
            continue
        size = record.get("width"), record.get("height")
        try:
            asked_for.setdefault(image_id, set()).update(asked_labels(record.get("asked", ())))
            for one in detections(record, 0, found.names):
                if one.score is None:
                    raise AnnotationError("'scores' is missing; every detection needs one.")
                label = checked_label(one.name, at)
                if label:
                    of_label = detected.setdefault((image_id, label), [])
                    of_label.append((one.score, one.box, size))
        except AnnotationError as problem:
            raise AnnotationError(f"{at} (image {image_id!r:.60}): {problem}") from None
    for image_id, asked in asked_for.items():
        if classes or asked:
            found.asked_in(image_id).update(dict.fromkeys(classes | asked, where))
    found.scored = True
    for (image_id, label), of_label in detected.items():
        _count(image_id, label, of_label, label in asked_for[image_id], found)
    # Where all pictures were searched for the same, the classes say it.
    asked_in = [found.asked.get(image_id, {}).keys() for image_id in found.images]
    alike = bool(classes and asked_in) and all(asked == classes for asked in asked_in)
    if alike:
        found.asked.clear()
    return found.object_labels(
        "detections",
        # A picture about which there is no question has no line.
        lists_every_image=bool(classes),
        categories=classes if alike else (),
        says_asked=True,
    )


def _count(
    image_id: ImageId, label: str, detected: list[_Detection], once: bool, found: Instances
) -> None:
    """Count the objects of a label, what was asked for once, and keep their boxes."""
    there = found.there(max(score for score, _, _ in detected))
    if there is None:
        found.unsure += 1
        found.asked.get(image_id, {}).pop(label, None)
    if not there:
        return
    counted = [one for one in detected if found.counts(one[0])]
    if len(counted) > _MOST_BOXES:
        raise AnnotationError(
            f"{found.where}: image {image_id!r:.60} has {len(counted)} boxes of {label!r:.40}, "
            f"more than the {_MOST_BOXES} that are compared; give a higher --threshold."
        )
    kept = _distinct(counted)
    found.image(image_id)[label] = 1 if once else len(kept)
    for score, box, size in kept if found.boxes is not None else ():
        found.keep_box(image_id, label, from_corners(box), score, size)


def _distinct(found: list[_Detection]) -> list[_Detection]:
    """Return the detections of a label, the best first, without those of the same object."""
    kept: list[_Detection] = []
    for one in sorted(found, key=lambda one: -one[0]):
        if all(_overlap(one[1], other[1]) <= _SAME for other in kept):
            kept.append(one)
    return kept


def _overlap(box: Any, other: Any) -> float:
    """Return the intersection of two boxes over their union; 0 where one is no box."""
    try:
        (left, top, right, bottom), (left2, top2, right2, bottom2) = box, other
        width = min(right, right2) - max(left, left2)
        height = min(bottom, bottom2) - max(top, top2)
        areas = (right - left) * (bottom - top) + (right2 - left2) * (bottom2 - top2)
        both = max(width, 0.0) * max(height, 0.0)
        return float(both / (areas - both)) if areas > both else 0.0
    except (TypeError, ValueError):
        return 0.0


DETECTED = Format(
    "files of vifidel-eval detect",
    "what `vifidel-eval detect` writes, JSON Lines",
    ".6",
    "what was asked for, or the detector's classes, can be absent; boxes of one object count once",
    (Way("list", ("[].vifidel_eval",), read_detected),),
)
