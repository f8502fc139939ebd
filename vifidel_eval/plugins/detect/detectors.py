"""Detectors: what a run asks of any, what answers are, and their file (docs/objects.md).

The first line of the file is ``{"vifidel_eval": "detections", "version": 1, "classes": [...] or
null, ...}``. Then comes a line per picture and round of questions, ``{"image_id", "labels",
"scores", "boxes", "width", "height"}`` in pixels, with ``asked`` where there were questions, or
with a ``problem``.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeAlias

import numpy as np

from ...annotations.instances import Format, Instances, Variant, from_corners
from ...annotations.labels import asked_labels, check_score, checked_label, detections, located
from ...annotations.objects import ObjectLabels
from ...annotations.plain import below_header, classes_of
from ...errors import AnnotationError, VifidelError
from ...io.entries import Entries
from ...io.files import json_line, read_kept, write_whole
from ...io.image_ids import ImageId
from ...io.outputs import Parts

if TYPE_CHECKING:
    from PIL import Image

    from ..pytorch import ModelFiles


# What the header of a file says that it is, and its key among the parts of an unfinished run.
_KIND = {"vifidel_eval": "detections", "version": 1}
_HEADER = "header"


class Found(NamedTuple):
    """What a detector found in a picture."""

    labels: list[str]  #: names of classes, or questions
    scores: list[float]  #: from 0 to 1
    boxes: list[tuple[float, ...]]  #: left, top, right and bottom in pixels as it is seen
    #: How sure the model is, for each question, that it is there at all; None where models do not
    #: say it.
    presence: list[float] | None = None


@dataclass(frozen=True)
class Prepared:
    """A picture as a model reads it."""

    inputs: Mapping[str, Any]  #: the model's arrays, for one picture
    size: tuple[int, int]  #: width and height of the picture as it is seen, in pixels

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the arrays; pictures of one shape are read together, without padding."""
        return tuple(size for array in self.inputs.values() for size in array.shape)


class Detector(Protocol):
    """A model that says what is in pictures, and where."""

    files: ModelFiles  #: where it comes from
    classes: tuple[str, ...] | None  #: what it looks for; None if it takes questions
    #: A picture whose shorter side has more pixels tells the model no more.
    enough: int
    batch: int  #: how many pictures it usually reads at once

    def versions(self) -> dict[str, str]:
        """Return the versions of the libraries that it depends on."""

    def check(self, questions: Iterable[str]) -> None:
        """Raise a `VifidelError` if a question is longer than the model reads."""
        return

    def prepare(self, picture: Image.Image, size: tuple[int, int]) -> Prepared:
        """Prepare a picture; it may be smaller than its `size`. Runs in threads."""

    def detect(
        self, pictures: Sequence[Prepared], asked: Sequence[Sequence[str]], lowest: float
    ) -> list[Found]:
        """Return what is in each picture with a score above `lowest`, which is from 0 to 1.

        The pictures are of one shape; `asked` are the questions about each, if it is asked.
        """


class ObjectsFile:
    """The lines that earlier runs of this header wrote, and those that this one adds, alone."""

    def __init__(self, output: str | os.PathLike[str], header: Mapping[str, Any]) -> None:
        self.output = Path(output)
        self._header = {**_KIND, **header}
        #: Image id to the lines about its present bytes, or to one with its problem.
        self._lines: dict[str, list[Mapping[str, Any]]] = {}
        lines = read_kept(self.output, VifidelError).splitlines() if self.output.exists() else []
        for number, line in enumerate(lines, 1):
            try:
                entry = json.loads(line)
            except (ValueError, RecursionError):
                entry = None
            if number == 1:
                self._check_header(self.output, entry)
            elif _is_entry(entry):
                self._take(entry)
            else:
                raise VifidelError(
                    f"{output}: line {number} was not written by detect; delete the line, and "
                    "its picture is read again."
                )
        self._parts = Parts(self.output)
        parts = {key: self._parts[key] for key in self._parts}
        if parts:
            self._check_header(self._parts.path, parts.pop(_HEADER, None))
        for line in parts.values():
            self._take(json.loads(line))

    def __contains__(self, image_id: str) -> bool:
        """Whether there are lines of a picture, which say which bytes it had."""
        return any("digest" in line for line in self._lines.get(image_id, ()))

    def asked(self, image_id: str, digest: str) -> set[str] | None:
        """Return what was asked about a picture; None if nothing is known of one of these bytes."""
        lines = self._lines_about(image_id, digest)
        return {name for line in lines for name in line.get("asked", ())} if lines else None

    def pin(self, image_id: str, digest: str) -> None:
        """Say which bytes a picture has; what is known of others is forgotten."""
        self._lines[image_id] = self._lines_about(image_id, digest)

    def add(self, entries: Iterable[Mapping[str, Any]]) -> None:
        """Add lines, which are kept when this returns."""
        for entry in entries:
            if _HEADER not in self._parts:
                self._parts.add(_HEADER, self._header)
            depends_on = [entry.get(name) for name in ("image_id", "digest", "asked")]
            self._parts.add(json.dumps(depends_on), _line(entry).decode())
            self._take(entry)

    def finish(self, order: Iterable[str]) -> None:
        """Write all lines as a whole: pictures that are no longer there, then `order`."""
        listed = dict.fromkeys(order)
        gone = [image_id for image_id in self._lines if image_id not in listed]
        lines = [line for image_id in [*gone, *listed] for line in self._lines.get(image_id, ())]
        write_whole(self.output, b"".join(map(_line, [self._header, *lines])))
        self._parts.clear()

    def _take(self, entry: Mapping[str, Any]) -> None:
        image_id = entry["image_id"]
        if "problem" not in entry:
            lines = self._lines_about(image_id, entry.get("digest"))
            self._lines[image_id] = lines if entry in lines else [*lines, entry]
        elif all("problem" in line for line in self._lines.get(image_id, ())):
            self._lines[image_id] = [{"image_id": image_id, "problem": str(entry["problem"])}]

    def _lines_about(self, image_id: str, digest: str | None) -> list[Mapping[str, Any]]:
        """Return the lines of what was found in a picture of these bytes."""
        lines = self._lines.get(image_id, ())
        return [e for e in lines if "problem" not in e and e.get("digest") == digest]

    def _check_header(self, path: Path | None, header: Any) -> None:
        if not isinstance(header, dict) or header.get("vifidel_eval") != _KIND["vifidel_eval"]:
            raise VifidelError(
                f"{path}: already exists and is not a file of detections; name another --output."
            )
        now = json.loads(_line(self._header))
        for name in dict.fromkeys([*now, *header]):
            # A folder may have another name by now.
            if name != "model" and header.get(name) != now.get(name):
                raise VifidelError(
                    f"{path}: was made by a different run: {name} is {header.get(name)!r:.60} "
                    f"there and {now.get(name)!r:.60} now; name another --output, or delete the "
                    "file."
                )


def _is_entry(entry: Any) -> bool:
    if not isinstance(entry, dict) or not isinstance(entry.get("image_id"), str):
        return False
    asked, digest = entry.get("asked", []), entry.get("digest", "")
    return isinstance(asked, list) and all(isinstance(text, str) for text in [*asked, digest])


def _line(entry: Mapping[str, Any]) -> bytes:
    # A name that is not UTF-8 has lone surrogates, which JSON can spell.
    return json_line(entry).encode("utf-8", errors="backslashreplace") + b"\n"


def exact(value: float) -> float:
    """Return the shortest number that single precision reads as a value: 0.1 for float32(0.1)."""
    return float(str(np.float32(value)))


# Two boxes of a label show the same object if their intersection over union is larger.
_SAME = 0.7
# Detectors give some hundreds for a picture; each box of a label is compared with all others.
_MOST_BOXES = 1000

#: The score of a detection, its box (left, top, right, bottom), and the picture's width and height.
_Detection: TypeAlias = tuple[float, Any, tuple[Any, Any]]


def _read_detected(records: Entries, instances: Instances) -> ObjectLabels:
    """Read a file of detections: a class is counted by its boxes, what was asked for once."""
    where = instances.where
    header, pictures = below_header(records)
    if not header or header.get("version") != _KIND["version"]:
        raise AnnotationError(
            f"{where}: line 1: not version {_KIND['version']} of the files of vifidel-eval detect, "
            "the one that this version reads."
        )
    classes = set(asked_labels(classes_of(header) or ()))
    asked_for: dict[ImageId, set[str]] = {}
    detected: dict[tuple[ImageId, str], list[_Detection]] = {}
    for picture in pictures:
        image_id = picture.image_id()
        instances.image(image_id)
        if "problem" in picture:
            continue
        size = picture.get("width"), picture.get("height")
        with located(picture):
            asked_for.setdefault(image_id, set()).update(asked_labels(picture.get("asked", ())))
            tags = list(detections(picture.content, 0, instances.names))
        for tag in tags:
            score, label = check_score(tag.score, picture), checked_label(tag.name, picture)
            if label:
                detected.setdefault((image_id, label), []).append((score, tag.box, size))
    for image_id, asked in asked_for.items():
        if classes or asked:
            instances.asked_in(image_id).update(dict.fromkeys(classes | asked, where))
    instances.scored = True
    for (image_id, label), of_label in detected.items():
        is_there = instances.there(max(score for score, _, _ in of_label))
        if is_there is None:
            instances.unsure += 1
            instances.asked.get(image_id, {}).pop(label, None)
        if is_there:
            separate = _separate(image_id, label, of_label, instances)
            instances.image(image_id)[label] = 1 if label in asked_for[image_id] else len(separate)
            for score, box, size in separate:
                instances.keep_box(image_id, label, from_corners(box), score, size)
    # Where all pictures were searched for the same, the classes say it.
    asked_in = [instances.asked.get(image_id, {}).keys() for image_id in instances.images]
    alike = bool(classes and asked_in) and all(asked == classes for asked in asked_in)
    if alike:
        instances.asked.clear()
    return instances.object_labels(
        "detections",
        # A picture about which there is no question has no line.
        lists_every_image=bool(classes),
        categories=classes if alike else (),
        says_asked=True,
    )


def _separate(
    image_id: ImageId, label: str, detected: list[_Detection], instances: Instances
) -> list[_Detection]:
    """Return the detections of a label that count, the best first, one of each object."""
    counted = [detection for detection in detected if instances.counts(detection[0])]
    if len(counted) > _MOST_BOXES:
        raise AnnotationError(
            f"{instances.where}: image {image_id!r:.60} has {len(counted)} boxes of {label!r:.40}, "
            f"more than the {_MOST_BOXES} that are compared; give a higher --threshold."
        )
    separate: list[_Detection] = []
    for best in sorted(counted, key=lambda detection: -detection[0]):
        if all(_overlap(best[1], other[1]) <= _SAME for other in separate):
            separate.append(best)
    return separate


def _overlap(box: Any, other: Any) -> float:
    """Return the intersection of two boxes over their union; 0 where one is no box."""
    try:
        (left, top, right, bottom), (left2, top2, right2, bottom2) = box, other
        width = min(right, right2) - max(left, left2)
        height = min(bottom, bottom2) - max(top, top2)
        areas = (right - left) * (bottom - top) + (right2 - left2) * (bottom2 - top2)
        intersection = max(width, 0.0) * max(height, 0.0)
        return float(intersection / (areas - intersection)) if areas > intersection else 0.0
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
