"""YOLO text labels: a folder with one text file per image, and a line per object.

Layout (Ultralytics' ``Results.save_txt`` and its loader, Darknet, labelImg): ``class x y w h`` with
the class index first, and the confidence last where ``save_conf`` was set; outlines have the class
and at least four points. An image without objects may have no file.
"""

from __future__ import annotations

import math
import re
from pathlib import Path

from ..errors import AnnotationError
from ..files import read_text
from ..image_ids import ImageId, from_json_key
from .names import read_names
from .objects import ObjectLabels, check_score, count
from .record import Format, ReadOptions, Way, refused

#: labelImg writes the names of the classes beside the labels.
CLASSES = "classes.txt"

_BOX, _BOX_AND_SCORE, _TRACKED = 5, 6, 7
_INDEX = re.compile(r"[0-9]{1,9}")


def label_files(folder: Path) -> list[Path]:
    """Return the text files of a folder but the names of its classes, in order."""
    return sorted(path for path in folder.glob("*.txt") if path.name != CLASSES)


def _is_label_line(line: str) -> bool:
    """Tell whether a line looks like an object: at least five numbers, an index first."""
    fields = line.split()
    return (
        len(fields) >= _BOX
        and bool(_INDEX.fullmatch(fields[0]))
        and all(_number(field) is not None for field in fields)
    )


def read_yolo(folder: Path, options: ReadOptions) -> ObjectLabels:
    """Read a folder of YOLO labels; the id of an image is the stem of its file.

    Lines without a confidence always count. Given names of classes come before those that a
    ``classes.txt`` in the folder has. Boxes are in shares of the image's sides; an outline has one
    too.

    Raises
    ------
    AnnotationError
        If a line has another shape or a class has no name.
    """
    names, boxes = options.names, options.boxes
    if not names.by_index() and (folder / CLASSES).is_file():
        names = read_names(folder / CLASSES)
    lowest = options.lowest
    labels: dict[ImageId, dict[str, int]] = {}
    any_scored = False
    for path in label_files(folder):
        of_image = labels.setdefault(from_json_key(path.stem), {})
        for number, line in enumerate(read_text(path, AnnotationError).split("\n"), 1):
            if not line.strip():
                continue
            at = f"{path}: line {number}"
            index, score = _parsed(line, at)
            name = names.of_index(index, at)
            any_scored = any_scored or score is not None
            if score is None or score >= lowest:
                count(of_image, name, at=at)
                if boxes is not None:
                    sides = _sides([float(field) for field in line.split()[1:]])
                    boxes.add(from_json_key(path.stem), name, sides, score, (1.0, 1.0))
    return ObjectLabels(
        labels,
        "yolo",
        str(folder),
        lowest if any_scored else None,
        lists_every_image=False,
        categories=names.by_index().values(),
    )


def _parsed(line: str, at: str) -> tuple[int, float | None]:
    """Return the class index of a line and its confidence, if it has one."""
    fields = line.split()
    numbers = [_number(field) for field in fields]
    if not _INDEX.fullmatch(fields[0]) or None in numbers:
        raise AnnotationError(
            f"{at}: {line.strip()!r:.40} is not an object; YOLO's lines are 'class x y w h' in "
            "numbers, followed by the confidence if there is one."
        )
    index, last = int(fields[0]), numbers[-1]
    if len(fields) == _BOX_AND_SCORE:
        return index, check_score(last, f"{at}, field {_BOX_AND_SCORE}")
    # From here on an outline: pairs of coordinates, so that there is no place for a confidence. A
    # box with confidence and track has as many fields as a triangle; only a track is above 1.
    outline = len(fields) >= _TRACKED and len(fields) % 2
    if len(fields) == _BOX or (outline and not (len(fields) == _TRACKED and fields[-1].isdigit())):
        return index, None
    raise AnnotationError(
        f"{at} has {len(fields)} fields; accepted are 'class x y w h', the same with a confidence, "
        "and outlines without one. Write the labels without tracks, and outlines without "
        "confidences."
    )


def _sides(numbers: list[float]) -> list[float]:
    """Return x, y, width and height of a box around its centre, or of an outline of points."""
    if len(numbers) < _TRACKED - 1:
        x, y, width, height = numbers[:4]
        return [x - width / 2, y - height / 2, width, height]
    xs, ys = numbers[::2], numbers[1::2]
    return [min(xs), min(ys), max(xs) - min(xs), max(ys) - min(ys)]


def _number(field: str) -> float | None:
    try:
        number = float(field)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _has_labels(folder: Path) -> bool:
    """Tell whether the first line in the text files of a folder is one of YOLO's."""
    files = label_files(folder)
    for path in files:
        lines = read_text(path, AnnotationError).strip().split("\n")
        if lines[0]:
            return _is_label_line(lines[0])
    return bool(files)


FORMAT = Format(
    "a folder of YOLO labels",
    "YOLO text labels, a folder with one file per image",
    ".6, if there are scores",
    "class names from `classes.txt` in the folder, or `--categories` with `data.yaml`, "
    "`obj.names` or another file with one name per line",
    (
        Way(
            "folder",
            lambda folder: not any(folder.glob("*.json")) and _has_labels(folder),
            read_yolo,
        ),
        refused(
            "table",
            lambda text: _is_label_line(text.strip().partition("\n")[0]),
            "looks like YOLO labels of one image; give the folder that has one such file per "
            "image.",
        ),
    ),
)
