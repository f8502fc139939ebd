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
from ..io.files import read_text
from ..io.image_ids import from_json_key
from .categories import read_names
from .csv_rows import number_of
from .format import Format, Way
from .instances import Instances
from .objects import ObjectLabels
from .scores import check_score

#: labelImg writes the names of the classes beside the labels.
CLASSES = "classes.txt"

_BOX, _BOX_AND_SCORE, _TRACKED = 5, 6, 7
_INDEX = re.compile(r"[0-9]{1,9}")


def label_files(folder: Path) -> list[Path]:
    """Return the text files of a folder but the names of its classes, in order."""
    return sorted(path for path in folder.glob("*.txt") if path.name != CLASSES)


def read_yolo(folder: Path, found: Instances) -> ObjectLabels:
    """Read a folder of YOLO labels; the id of an image is the stem of its file.

    Lines without a confidence always count. Given names of classes come before those that a
    ``classes.txt`` in the folder has. Boxes are in shares of the image's sides; an outline has one
    too.
    """
    names = found.names
    if not names.by_index() and (folder / CLASSES).is_file():
        names = read_names(folder / CLASSES)
    for path in label_files(folder):
        image_id = from_json_key(path.stem)
        found.image(image_id)
        for number, line in enumerate(read_text(path, AnnotationError).split("\n"), 1):
            if line.strip():
                at = f"{path}: line {number}"
                index, score, sides = _parsed(line, at)
                name = names.of_index(index, at)
                found.add(image_id, name, at, score=score, sides=sides, size=(1.0, 1.0))
    return found.object_labels(
        "yolo", lists_every_image=False, categories=names.by_index().values()
    )


def _parsed(line: str, at: str) -> tuple[int, float | None, list[float]]:
    """Return the class index of a line, its confidence, if it has one, and its box.

    That is x, y, width and height, of the box around a centre or around the points of an outline.
    """
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


def _is_label_line(line: str) -> bool:
    """Tell whether a line looks like an object: at least five numbers, an index first."""
    return len(_numbers(line) or ()) >= _BOX


def _has_labels(folder: Path) -> bool:
    """Tell whether the first line in the text files of a folder is one of YOLO's."""
    files = label_files(folder)
    texts = (read_text(path, AnnotationError).strip() for path in files)
    first = next(filter(None, texts), None)
    return bool(files) if first is None else _is_label_line(first.partition("\n")[0])


YOLO = Format(
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
        Way(
            "table",
            lambda text: _is_label_line(text.strip().partition("\n")[0]),
            "looks like YOLO labels of one image; give the folder that has one such file per "
            "image.",
        ),
    ),
)
