"""The files of ``vifidel-eval detect`` as a format of objects.

The first line is ``{"vifidel_eval": "detections", "version": 1, "classes": [...] or null, ...}``.
Then comes a line per picture and round of questions, ``{"image_id", "labels", "scores", "boxes",
"width", "height"}`` in pixels, with ``asked`` where there were questions, or with a ``problem``.
"""

from __future__ import annotations

from typing import Any, TypeAlias

from ...annotations.instances import Format, Instances, Variant, from_corners
from ...annotations.labels import asked_labels, check_score, checked_label, detections, located
from ...annotations.objects import ObjectLabels
from ...annotations.plain import below_header, classes_of
from ...errors import AnnotationError
from ...io.entries import Entries
from ...io.image_ids import ImageId

_VERSION = 1
# Two boxes of a label show the same object if their intersection over union is larger.
_SAME = 0.7
# Detectors give some hundreds for a picture; each box of a label is compared with all others.
_MOST_BOXES = 1000

#: The score of a detection, its box (left, top, right, bottom), and the picture's width and height.
_Detection: TypeAlias = tuple[float, Any, tuple[Any, Any]]


def _read_detected(records: Entries, found: Instances) -> ObjectLabels:
    """Read a file of detections: a class is counted by its boxes, what was asked for once."""
    where = found.where
    header, pictures = below_header(records)
    if not header or header.get("version") != _VERSION:
        raise AnnotationError(
            f"{where}: line 1: not version {_VERSION} of the files of vifidel-eval detect, the "
            "one that this version reads."
        )
    classes = set(asked_labels(classes_of(header) or ()))
    asked_for: dict[ImageId, set[str]] = {}
    detected: dict[tuple[ImageId, str], list[_Detection]] = {}
    for picture in pictures:
        image_id = picture.image_id()
        found.image(image_id)
        if "problem" in picture:
            continue
        size = picture.get("width"), picture.get("height")
        with located(picture):
            asked_for.setdefault(image_id, set()).update(asked_labels(picture.get("asked", ())))
            tags = list(detections(picture.content, 0, found.names))
        for tag in tags:
            score, label = check_score(tag.score, picture), checked_label(tag.name, picture)
            if label:
                detected.setdefault((image_id, label), []).append((score, tag.box, size))
    for image_id, asked in asked_for.items():
        if classes or asked:
            found.asked_in(image_id).update(dict.fromkeys(classes | asked, where))
    found.scored = True
    for (image_id, label), of_label in detected.items():
        there = found.there(max(score for score, _, _ in of_label))
        if there is None:
            found.unsure += 1
            found.asked.get(image_id, {}).pop(label, None)
        if there:
            kept = _separate(image_id, label, of_label, found)
            found.image(image_id)[label] = 1 if label in asked_for[image_id] else len(kept)
            for score, box, size in kept:
                found.keep_box(image_id, label, from_corners(box), score, size)
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


def _separate(
    image_id: ImageId, label: str, detected: list[_Detection], found: Instances
) -> list[_Detection]:
    """Return the detections of a label that count, the best first, one of each object."""
    counted = [detection for detection in detected if found.counts(detection[0])]
    if len(counted) > _MOST_BOXES:
        raise AnnotationError(
            f"{found.where}: image {image_id!r:.60} has {len(counted)} boxes of {label!r:.40}, "
            f"more than the {_MOST_BOXES} that are compared; give a higher --threshold."
        )
    kept: list[_Detection] = []
    for best in sorted(counted, key=lambda detection: -detection[0]):
        if all(_overlap(best[1], other[1]) <= _SAME for other in kept):
            kept.append(best)
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


FORMATS = (
    Format(
        "files of vifidel-eval detect",
        "what `vifidel-eval detect` writes, JSON Lines",
        ".6",
        "what the detector was asked for, or its classes, can be absent; several boxes of one "
        "object count once",
        (Variant("list", ("[].vifidel_eval",), _read_detected),),
    ),
)
