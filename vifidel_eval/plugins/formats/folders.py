"""Objects in folders with one file per image: PASCAL VOC's XML, YOLO's text, and JSON.

Of PASCAL VOC (the development kit) only ``annotation/object/name`` counts: ``object/part`` is a
head, a hand or a foot.

YOLO's text (Ultralytics' ``Results.save_txt`` and its loader, Darknet, labelImg) has a line per
object: ``class x y w h`` and perhaps the confidence; outlines have the class and at least four
points. An image without objects may have no file.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path, PureWindowsPath
from typing import Any
from xml.etree import ElementTree

from ...annotations.instances import Format, Instances, Variant, from_corners
from ...annotations.labels import check_score
from ...annotations.objects import ObjectLabels
from ...annotations.plain import read_items
from ...errors import AnnotationError
from ...io.digits import number_of
from ...io.entries import Source, root, shows
from ...io.files import read_bytes, read_json, read_text
from ...io.image_ids import ImageId, from_json_key
from ...io.pictures import SUFFIXES
from .class_names import read_names


def _read_voc(
    files: list[Path], contents: Mapping[Path, bytes], instances: Instances
) -> ObjectLabels:
    """Read XML files; an image id is the stem of ``filename``, or where it is missing, of the file.

    `contents` has the files that were read already.
    """
    read_from: dict[ImageId, Path] = {}
    for path in files:
        content = contents[path] if path in contents else read_bytes(path, AnnotationError)
        try:
            root = ElementTree.fromstring(content)
        except (ElementTree.ParseError, ValueError, LookupError) as problem:  # encodings too
            raise AnnotationError(f"{path}: not well-formed XML ({problem}).") from None
        if root.tag != "annotation":
            raise AnnotationError(f"{path}: <{root.tag}> is not a PASCAL VOC <annotation>.")
        # A Windows path accepts both kinds of slash.
        image = PureWindowsPath(root.findtext("filename", "").strip() or path.name)
        image_id = from_json_key(image.stem)
        if image_id == "":
            raise AnnotationError(f"{path}: its <filename> is empty.")
        if image_id in read_from:
            raise AnnotationError(
                f"{path} and {read_from[image_id]} both annotate image {image_id!r}; "
                "keep one of them."
            )
        read_from[image_id] = path
        instances.image(image_id)
        for number, child in enumerate(root.findall("object"), 1):
            box = _voc_box(root, child) if instances.keeps_boxes else {}
            name = child.findtext("name", "").strip()
            instances.add(image_id, name, f"{path}: object {number}", **box)
    return instances.object_labels("voc")


def _voc_box(root: ElementTree.Element, child: ElementTree.Element) -> dict[str, Any]:
    """Return a box, in pixels counted from 1 with both corners inside, and its image's size."""
    names = ("bndbox/xmin", "bndbox/ymin", "bndbox/xmax", "bndbox/ymax")
    left, top, *right_and_bottom = [number_of(child.findtext(name)) for name in names]
    size = number_of(root.findtext("size/width")), number_of(root.findtext("size/height"))
    if left is None or top is None:
        return {}
    return {"sides": from_corners([left - 1, top - 1, *right_and_bottom]), "size": size}


VOC = Format(
    "PASCAL VOC XML",
    "PASCAL VOC XML, a folder or one file",
    "",
    "whole objects, not their parts; `diningtable` becomes *dining table*",
    (
        Variant(
            "xml",
            (),
            lambda raw, found: _read_voc([Path(found.where)], {Path(found.where): raw}, found),
        ),
        Variant(
            "folder",
            lambda folder: any(folder.glob("*.xml")),
            lambda folder, found: _read_voc(sorted(folder.glob("*.xml")), {}, found),
        ),
    ),
    example="<annotation><filename>1.jpg</filename><object><name>dog</name></object></annotation>",
)


_CLASSES = "classes.txt"  # labelImg writes the names of the classes beside the labels
_BOX, _BOX_AND_SCORE, _TRACKED = 5, 6, 7  # fields of a line
_INDEX = re.compile(r"[0-9]{1,9}")


def _label_files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.glob("*.txt") if path.name != _CLASSES)


def _read_yolo(folder: Path, instances: Instances) -> ObjectLabels:
    """Read labels; names of classes that are given come before those of ``classes.txt``."""
    names = instances.names
    if not names.by_index() and (folder / _CLASSES).is_file():
        names = read_names(folder / _CLASSES)
    for path in _label_files(folder):
        image_id = from_json_key(path.stem)
        instances.image(image_id)
        for number, line in enumerate(read_text(path, AnnotationError).split("\n"), 1):
            if line.strip():
                at = f"{path}: line {number}"
                index, score, sides = _yolo_object(line, at)
                name = names.of_index(index, at)
                instances.add(image_id, name, at, score=score, sides=sides, size=(1.0, 1.0))
    classes = names.by_index().values()
    return instances.object_labels("yolo", lists_every_image=False, categories=classes)


def _yolo_object(line: str, at: str) -> tuple[int, float | None, list[float]]:
    """Return class index, confidence, if there is one, and box, that around an outline too."""
    numbers = _numbers(line)
    if numbers is None:
        raise AnnotationError(
            f"{at}: {line.strip()!r:.40} is not an object; YOLO's lines are 'class x y w h' in "
            "numbers, followed by the confidence if there is one."
        )
    index, fields = int(numbers[0]), len(numbers)
    # A box with confidence and track has as many fields as a triangle; only a track is above 1.
    tracked = fields == _TRACKED and line.rsplit(maxsplit=1)[-1].isdigit()
    if fields in (_BOX, _BOX_AND_SCORE):
        score = None
        if fields == _BOX_AND_SCORE:
            score = check_score(numbers[-1], f"{at}, field {_BOX_AND_SCORE}")
        x, y, width, height = numbers[1:_BOX]
        return index, score, [x - width / 2, y - height / 2, width, height]
    # An outline is pairs of coordinates, so that there is no place for a confidence.
    if fields >= _TRACKED and fields % 2 and not tracked:
        xs, ys = numbers[1::2], numbers[2::2]
        return index, None, [min(xs), min(ys), max(xs) - min(xs), max(ys) - min(ys)]
    raise AnnotationError(
        f"{at} has {fields} fields; accepted are 'class x y w h', the same with a confidence, "
        "and outlines without one. Write the labels without tracks, and outlines without "
        "confidences."
    )


def _numbers(line: str) -> list[float] | None:
    """Return the numbers of a line whose first is a class index, else None."""
    fields = line.split()
    numbers = [number_of(field) for field in fields]
    finite = [number for number in numbers if number is not None and math.isfinite(number)]
    is_object = bool(fields) and bool(_INDEX.fullmatch(fields[0])) and len(finite) == len(fields)
    return finite if is_object else None


def _are_label_lines(text: str) -> bool:
    """Tell whether the first line looks like an object: at least five numbers, an index first."""
    return len(_numbers(text.strip().partition("\n")[0]) or ()) >= _BOX


def _has_labels(folder: Path) -> bool:
    if any(folder.glob("*.json")):
        return False
    files = _label_files(folder)
    texts = (read_text(path, AnnotationError) for path in files)
    first = next((text for text in texts if text.strip()), None)
    return bool(files) if first is None else _are_label_lines(first)


YOLO = Format(
    "a folder of YOLO labels",
    "YOLO text labels, a folder with one file per image",
    ".6, if there are scores",
    "class names from `classes.txt` in the folder, or `--categories` with `data.yaml`, "
    "`obj.names` or another file with one name per line",
    (
        Variant("folder", _has_labels, _read_yolo),
        Variant(
            "table",
            lambda table: _are_label_lines(table.text),
            "looks like YOLO labels of one image; give the folder that has one such file per "
            "image.",
        ),
    ),
    example="16 0.5 0.5 0.2 0.2",
)


def _read_labelme(files: Iterable[tuple[Path, Any]], instances: Instances) -> ObjectLabels:
    """Read LabelMe's files, one per image; the parts of a group are one object."""
    for path, content in files:
        file = root(content, Source(str(path), AnnotationError))
        image_id = from_json_key(PureWindowsPath(file.text("imagePath")).stem)
        if image_id in instances.images:
            raise AnnotationError(f"{path}: image {image_id!r:.60} is annotated twice; keep one.")
        instances.image(image_id)
        size = file.get("imageWidth"), file.get("imageHeight")
        points: dict[tuple[str, Any], list[Any]] = {}
        for number, shape in enumerate(file.entries("shapes")):
            group = shape.get("group_id")
            thing = shape.text("label"), f"shape {number}" if group is None else group
            # Of a circle, the points are its centre and one of its edge.
            corners = [] if shape.get("shape_type") == "circle" else shape["points"]
            points.setdefault(thing, []).extend(corners)
        for (label, _), corners in points.items():
            ends = [f(axis) for f in (min, max) for axis in zip(*corners, strict=True)]
            instances.add(image_id, label, path, sides=from_corners(ends), size=size)
    return instances.object_labels("labelme")


def _json_of(folder: Path) -> Iterator[tuple[Path, Any]]:
    return ((path, read_json(path, AnnotationError)) for path in sorted(folder.glob("*.json")))


_SHAPES = ("shapes[]", "imagePath")
LABELME = Format(
    "LabelMe",
    "LabelMe's JSON, a folder or one file",
    "",
    "the image is the stem of `imagePath`; shapes of one label and `group_id` are one object",
    (
        Variant(
            "object",
            _SHAPES,
            lambda file, found: _read_labelme([(Path(found.where), file.content)], found),
        ),
        Variant(
            "folder",
            lambda folder: any(shows(file, _SHAPES) for _, file in islice(_json_of(folder), 1)),
            lambda folder, found: _read_labelme(_json_of(folder), found),
        ),
    ),
    example='{"imagePath": "1.jpg", "shapes": [{"label": "dog", "points": [[0, 0], [9, 9]]}]}',
)


def _read_json_files(folder: Path, instances: Instances) -> ObjectLabels:
    images: dict[ImageId, Any] = {}
    for path, content in _json_of(folder):
        if isinstance(content, dict) and ("images" in content or "predictions" in content):
            raise AnnotationError(
                f"{path}: describes a whole dataset, not the detections in one image; give the "
                "file itself instead of its folder."
            )
        images[from_json_key(path.stem)] = content
    return read_items(images, instances)


def _refuse_folder(folder: Path, instances: Instances) -> ObjectLabels:
    todo = "give a folder with one file of objects per image."
    if any(path.suffix.lower() in SUFFIXES for path in folder.rglob("*")):
        todo = (
            "name a detector that looks at the pictures (--detector FOLDER_OR_ID), as "
            "docs/objects.md says."
        )
    raise AnnotationError(
        f"{instances.where}: no XML or JSON file in this folder (subfolders are not read), nor a "
        f"text file of YOLO labels ('class x y w h' in each line); {todo}"
    )


JSON = Format(
    "a folder of JSON detections",
    'detections `[{"label", "score", "box"}]` (Hugging Face) or `[{"name", "confidence", '
    '"box"}]` (Ultralytics), as `{"id": [...]}` or a folder with one JSON file per image',
    ".6",
    "",
    (
        Variant("folder", lambda folder: any(folder.glob("*.json")), _read_json_files),
        Variant("folder", (), _refuse_folder),
    ),
    example='{"1": [{"label": "dog", "score": 0.9}]}',
)
