"""Where the objects of images are: the boxes of the sources that `read_objects` reads.

Only pictures need them, so that nothing else keeps them. A source is read by `read_objects` first,
which refuses what is wrong with it; here an entry without a usable box is left out.
"""

from __future__ import annotations

import csv
import math
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree import ElementTree

from ..errors import AnnotationError
from ..files import as_text, parse_json, read_bytes, read_json
from ..image_ids import ImageId, from_json_key, from_json_value, match
from .coco import COCO_CATEGORIES, category_names
from .names import CategoryNames, CategorySource, read_categories
from .objects import DETECTION_THRESHOLD, OPEN_IMAGES_THRESHOLD, clean_label
from .voc import image_id_of

_Size = tuple[float, float]


class Box(NamedTuple):
    """An object in an image.

    Attributes
    ----------
    label : str
        Its label, as `ObjectLabels` has it.
    x, y : float
        The upper left corner, from the upper left corner of the image.
    width, height : float
        Positive, in the unit of `x` and `y`.
    score : float, optional
        Of a detection.
    """

    label: str
    x: float
    y: float
    width: float
    height: float
    score: float | None = None


@dataclass(frozen=True)
class ImageBoxes:
    """The boxes of an image.

    Attributes
    ----------
    boxes : list of Box
        In the order of the source.
    size : (float, float), optional
        Width and height of the image in the unit of the boxes; None where the source does not say
        it, and boxes are pixels.
    """

    boxes: list[Box]
    size: _Size | None = None


def read_boxes(
    source: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    threshold: float | None = None,
    categories: CategorySource = None,
) -> dict[ImageId, ImageBoxes]:
    """Return the boxes of the images of a source of objects, for the images that have any.

    Parameters
    ----------
    source : path or list of paths
        COCO or LVIS instances (``bbox``), COCO detection results, PASCAL VOC XML (``bndbox``),
        Open Images boxes (``XMin`` to ``YMax``), or detections of Hugging Face and Ultralytics
        (``box``) by image id or with one file per image. Of several sources that have boxes for
        an image, the first counts.
    threshold, categories : optional
        As for `read_objects`.

    Raises
    ------
    AnnotationError
        If a file cannot be read.
    """
    if isinstance(source, str | os.PathLike):
        names = read_categories(categories)
        found = _of_path(Path(source), threshold, names)
        return {image_id: of_image for image_id, of_image in found.items() if of_image.boxes}
    united: dict[ImageId, ImageBoxes] = {}
    for member in source:
        of_member = read_boxes(member, threshold, categories)
        same_image = match(of_member, united)
        for image_id, of_image in of_member.items():
            united.setdefault(same_image.get(image_id, image_id), of_image)
    return united


def _of_path(
    path: Path, threshold: float | None, names: CategoryNames
) -> dict[ImageId, ImageBoxes]:
    if path.is_dir():
        return _of_folder(path, threshold)
    raw = read_bytes(path, AnnotationError)
    if raw[:64].removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"<"):
        return dict([_of_voc(path.name, raw)])
    text = as_text(raw, str(path), AnnotationError)
    if text.lstrip()[:1] not in ("{", "["):
        lowest = OPEN_IMAGES_THRESHOLD if threshold is None else threshold
        return _of_open_images(text, lowest, names.machine_ids)
    lowest = DETECTION_THRESHOLD if threshold is None else threshold
    content = parse_json(text, str(path), AnnotationError)
    if isinstance(content, list):
        return _of_coco(content, {}, names.ids or COCO_CATEGORIES, lowest)
    if isinstance(content.get("annotations"), list):
        sizes = {
            from_json_value(image.get("id")): (image.get("width"), image.get("height"))
            for image in content.get("images") or []
            if isinstance(image, dict)
        }
        listed = content.get("categories")  # nocaps has none, and no boxes
        named = {} if listed is None else category_names(listed, str(path))
        return _of_coco(content["annotations"], sizes, named, lowest)
    return {
        from_json_key(key): ImageBoxes(list(_of_detections(items, lowest)))
        for key, items in content.items()
    }


def _of_folder(folder: Path, threshold: float | None) -> dict[ImageId, ImageBoxes]:
    voc = sorted(folder.glob("*.xml"))
    if voc:
        return dict(_of_voc(path.name, read_bytes(path, AnnotationError)) for path in voc)
    lowest = DETECTION_THRESHOLD if threshold is None else threshold
    return {
        from_json_key(path.stem): ImageBoxes(
            list(_of_detections(read_json(path, AnnotationError), lowest))
        )
        for path in sorted(folder.glob("*.json"))
    }


def _of_coco(
    entries: Sequence[Any],
    sizes: Mapping[ImageId | None, tuple[Any, Any]],
    names: Mapping[Any, str],
    lowest: float,
) -> dict[ImageId, ImageBoxes]:
    """Return the boxes of annotations or results: ``bbox`` is x, y, width, height in pixels."""
    found: dict[ImageId, ImageBoxes] = {}
    for entry in entries:
        image_id = from_json_value(entry.get("image_id")) if isinstance(entry, dict) else None
        corner = _numbers(entry.get("bbox")) if image_id is not None else None
        label = names.get(entry.get("category_id")) if corner is not None else None
        if image_id is None or corner is None or label is None:
            continue
        score = entry.get("score")
        box = _box(label, *corner, score)
        if box is not None and (score is None or score >= lowest):
            size = _size(*sizes.get(image_id, (None, None)))
            found.setdefault(image_id, ImageBoxes([], size)).boxes.append(box)
    return found


def _of_detections(items: Any, lowest: float) -> Iterator[Box]:
    """Yield the boxes of one image: ``{"label" or "name", "score" or "confidence", "box"}``."""
    for item in items if isinstance(items, list) else []:
        if not isinstance(item, dict) or not isinstance(item.get("box"), dict):
            continue
        box = item["box"]
        names = ("xmin", "ymin", "xmax", "ymax") if "xmin" in box else ("x1", "y1", "x2", "y2")
        corners = _numbers([box.get(name) for name in names])
        label, score = (
            item.get("label", item.get("name")),
            item.get("score", item.get("confidence")),
        )
        if corners is None or not isinstance(label, str):
            continue
        if score is None or score >= lowest:
            yield from _between(label, *corners, score)


def _of_voc(name: str, raw: bytes) -> tuple[ImageId, ImageBoxes]:
    """Return the boxes of one XML file: pixels are counted from 1, and both corners are inside."""
    root = ElementTree.fromstring(raw)
    boxes: list[Box] = []
    for child in root.findall("object"):
        texts = [child.findtext(f"bndbox/{side}") for side in ("xmin", "ymin", "xmax", "ymax")]
        corners = _numbers([_number(text) for text in texts])
        if corners is not None:
            left, top, right, bottom = corners
            boxes += _between(child.findtext("name", "").strip(), left - 1, top - 1, right, bottom)
    width, height = (_number(root.findtext(f"size/{side}")) for side in ("width", "height"))
    return image_id_of(root, name), ImageBoxes(boxes, _size(width, height))


def _of_open_images(
    text: str, lowest: float, names: Mapping[Any, str]
) -> dict[ImageId, ImageBoxes]:
    """Return the boxes of a CSV, whose sides are shares of the image's."""
    found: dict[ImageId, ImageBoxes] = {}
    for row in csv.DictReader(text.splitlines()):
        corners = _numbers([_number(row.get(side)) for side in ("XMin", "YMin", "XMax", "YMax")])
        score = _number(row.get("Confidence"))
        if corners is None or score is None or score < lowest:
            continue
        label = names.get(row["LabelName"], row["LabelName"])
        boxes = found.setdefault(row["ImageID"], ImageBoxes([], (1.0, 1.0))).boxes
        boxes += _between(label, *corners)
    return found


def _between(
    label: str, left: float, top: float, right: float, bottom: float, score: float | None = None
) -> Iterator[Box]:
    box = _box(label, left, top, right - left, bottom - top, score)
    if box is not None:
        yield box


def _box(
    label: str, x: float, y: float, width: float, height: float, score: float | None = None
) -> Box | None:
    return Box(clean_label(label), x, y, width, height, score) if min(width, height) > 0 else None


def _numbers(values: Any) -> tuple[float, float, float, float] | None:
    if not isinstance(values, list) or len(values) != 4:
        return None
    if not all(isinstance(v, Real) and math.isfinite(v) for v in values):
        return None
    x, y, third, fourth = map(float, values)
    return x, y, third, fourth


def _number(text: str | None) -> float | None:
    try:
        return float(text or "")
    except ValueError:
        return None


def _size(width: Any, height: Any) -> _Size | None:
    sides = _numbers([width, height, 1, 1])
    return None if sides is None or min(sides) <= 0 else sides[:2]
