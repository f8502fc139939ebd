"""Files that ``vifidel-eval detect`` writes, JSON Lines.

A header, ``{"vifidel_eval": "detections", "version": 1, "classes": [...] or null, ...}``, then a
line per picture, or per picture and round of questions: ``{"image_id", "labels", "scores", "boxes",
"width", "height"}`` with boxes of left, top, right and bottom in pixels, and ``asked`` where the
detector was asked for things. ``{"image_id", "problem"}`` is a picture that could not be read.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from ..errors import AnnotationError
from ..image_ids import ImageId
from .format import Format, Way, below_header, classes_of, entries, image_id_of
from .instances import Instances, from_corners
from .listed import CategoryNames, asked_labels, detections
from .objects import ObjectLabels, checked_label

_VERSION = 1
# Of boxes of one label that share more than this of their union, one object is meant.
_SAME = 0.7
# Detectors give some hundreds for a picture; each box of a label is compared with all others.
_MOST_BOXES = 1000

#: The score of a detection, its box (left, top, right, bottom), and the picture's width and height.
_Detection: TypeAlias = tuple[float, Any, tuple[Any, Any]]


class _Picture:
    """What the rounds of one picture say: labels asked for, and detections by label."""

    def __init__(self) -> None:
        self.asked: set[str] = set()
        self.found: dict[str, list[_Detection]] = {}

    def take(self, record: Mapping[str, Any], names: CategoryNames, at: str) -> None:
        """Take a round."""
        if "asked" in record:
            self.asked.update(asked_labels(record["asked"]))
        size = record.get("width"), record.get("height")
        for one in detections(record, 0, names):
            if one.score is None:
                raise AnnotationError("'scores' is missing; every detection needs one.")
            label = checked_label(one.name, at)
            if label:
                self.found.setdefault(label, []).append((one.score, one.corners, size))


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
    pictures: dict[ImageId, _Picture | None] = {}
    for at, record in entries(lines, where):
        image_id = image_id_of(record, "image_id", at)
        if "problem" in record:
            pictures.setdefault(image_id, None)
            continue
        picture = pictures.get(image_id) or _Picture()
        pictures[image_id] = picture
        try:
            picture.take(record, found.names, at)
        except AnnotationError as problem:
            raise AnnotationError(f"{at} (image {image_id!r:.60}): {problem}") from None
    found.scored = True
    alike = bool(classes and pictures)
    for image_id, of_image in pictures.items():
        found.image(image_id)
        asked = set()
        if of_image is not None:
            left_open = _count(of_image, image_id, found)
            found.unsure += len(left_open)
            if classes or of_image.asked:
                asked = (classes | of_image.asked) - left_open
                found.asked[image_id] = dict.fromkeys(asked, "")
        alike = alike and asked == classes
    if alike:  # the classes say it
        found.asked.clear()
    return found.object_labels(
        "detections",
        # A picture about which there is no question has no line.
        lists_every_image=bool(classes),
        categories=classes if alike else (),
        says_asked=True,
    )


def _count(picture: _Picture, image_id: ImageId, found: Instances) -> set[str]:
    """Count the labels of a picture and keep their boxes; return those that are left open."""
    left_open: set[str] = set()
    for label, detected in picture.found.items():
        there = found.there(max(score for score, _, _ in detected))
        if there is None:
            left_open.add(label)
        if not there:
            continue
        counted = [one for one in detected if one[0] >= found.lowest]
        if len(counted) > _MOST_BOXES:
            raise AnnotationError(
                f"{found.where}: image {image_id!r:.60} has {len(counted)} boxes of {label!r:.40}"
                f", more than the {_MOST_BOXES} that are compared; give a higher --threshold."
            )
        kept = _distinct(counted)
        found.image(image_id)[label] = 1 if label in picture.asked else len(kept)
        for score, box, size in kept:
            found.keep_box(image_id, label, from_corners(box), score, size)
    return left_open


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


FORMAT = Format(
    "files of vifidel-eval detect",
    "what `vifidel-eval detect` writes, JSON Lines",
    ".6",
    "what was asked for, or the detector's classes, can be absent; boxes of one object count once",
    (Way("list", ("[].vifidel_eval",), read_detected),),
)
