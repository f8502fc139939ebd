"""Files that ``vifidel-eval detect`` writes, JSON Lines.

A header, ``{"vifidel_eval": "detections", "version": 1, "classes": [...] or null, ...}``, then a
line per picture, or per picture and round of questions: ``{"image_id", "labels", "scores", "boxes",
"width", "height"}`` with boxes of left, top, right and bottom in pixels, and ``asked`` where the
detector was asked for things. ``{"image_id", "problem"}`` is a picture that could not be read.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..errors import AnnotationError
from ..image_ids import ImageId
from .arrays import detections
from .carriers import below_header, classes_of, places
from .coco import entries, image_id_of
from .labels import asked_labels
from .objects import ObjectLabels, count
from .record import Format, ReadOptions, Way

_VERSION = 1
# Of boxes of one label that share more than this of their union, one object is meant.
_SAME = 0.7
# Detectors give some hundreds for a picture; each box of a label is compared with all others.
_MOST_BOXES = 1000


class _Picture:
    """What the rounds of one picture say of it."""

    def __init__(self) -> None:
        self.asked: dict[str, int] = {}
        self.found: dict[str, list[tuple[float, Any, tuple[Any, Any]]]] = {}

    def take(self, record: Mapping[str, Any], options: ReadOptions, at: str) -> None:
        """Take a round."""
        if "asked" in record:
            self.asked.update(dict.fromkeys(asked_labels(record["asked"]), 0))
        size = record.get("width"), record.get("height")
        for name, score, box in detections(record, 0, options.names):
            if name is None or score is None:
                raise AnnotationError("'scores' is missing; every detection needs one.")
            named: dict[str, int] = {}
            count(named, name, at=at)
            for label in named:
                self.found.setdefault(label, []).append((score, box, size))


def read_detected(records: list[Any], options: ReadOptions) -> ObjectLabels:
    """Read a file of detections: a class is counted by its boxes, what was asked for once.

    Of several rounds about a picture, what one found is there. Boxes of one label that mean one
    object count once. A picture that could not be read is known, and nothing was looked for in it.

    Raises
    ------
    AnnotationError
        If the header is of another version, or a line has another shape.
    """
    where = options.where
    header, lines = below_header(records)
    if header.get("version") != _VERSION:
        raise AnnotationError(
            f"{where}: line 1: version {header.get('version')!r:.20} of the files that "
            f"vifidel-eval detect writes; this version of vifidel-eval reads {_VERSION}."
        )
    classes = frozenset(asked_labels(classes_of(header, where) or ()))
    pictures: dict[ImageId, _Picture | None] = {}
    for record, at in zip(entries(lines, "", where), places(lines, where), strict=True):
        image_id = image_id_of(record, "image_id", at)
        if "problem" in record:
            pictures.setdefault(image_id, None)
            continue
        picture = pictures.get(image_id) or _Picture()
        pictures[image_id] = picture
        try:
            picture.take(record, options, at)
        except AnnotationError as problem:
            raise AnnotationError(f"{at} (image {image_id!r:.60}): {problem}") from None
    images: dict[ImageId, dict[str, int]] = {}
    asked: dict[ImageId, frozenset[str]] = {}
    unsure = 0
    for image_id, of_image in pictures.items():
        labels = images[image_id] = {}
        if of_image is None:
            continue
        doubted = _count(of_image, labels, image_id, options)
        unsure += len(doubted)
        if classes or of_image.asked:
            asked[image_id] = frozenset(classes | of_image.asked.keys()) - doubted
    # Where all pictures were searched for the same, the classes say it.
    alike = bool(classes) and len(asked) == len(images) and set(asked.values()) == {classes}
    return ObjectLabels(
        images,
        "detections",
        where,
        options.lowest,
        # A picture about which there is no question has no line.
        lists_every_image=bool(classes),
        categories=classes if alike else (),
        asked={} if alike else asked,
        unsure=unsure,
    )


def _count(
    picture: _Picture, labels: dict[str, int], image_id: ImageId, options: ReadOptions
) -> set[str]:
    """Count the labels of a picture and keep their boxes; return those that are left open."""
    doubted: set[str] = set()
    for label, found in picture.found.items():
        there = options.answer(max(score for score, _, _ in found), options.lowest)
        if there is None:
            doubted.add(label)
        if not there:
            continue
        counted = [one for one in found if one[0] >= options.lowest]
        if len(counted) > _MOST_BOXES:
            raise AnnotationError(
                f"{options.where}: image {image_id!r:.60} has {len(counted)} boxes of {label!r:.40}"
                f", more than the {_MOST_BOXES} that are compared; give a higher --threshold."
            )
        kept = _distinct(counted)
        labels[label] = 1 if label in picture.asked else len(kept)
        for score, box, size in kept if options.boxes is not None else ():
            options.boxes.add_corners(image_id, label, box, score, size)  # type: ignore[union-attr]
    return doubted


def _distinct(
    found: list[tuple[float, Any, tuple[Any, Any]]],
) -> list[tuple[float, Any, tuple[Any, Any]]]:
    """Return the detections of a label, the best first, without those of the same object."""
    kept: list[tuple[float, Any, tuple[Any, Any]]] = []
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
