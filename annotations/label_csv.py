"""CSV and TSV files with a column of images and a column of labels: one row per object.

The columns are found by the names that people give them, such as ``filename`` and ``class`` in the
CSV that TensorFlow's object detection tutorials and Roboflow write.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..errors import AnnotationError
from ..io.cell_lists import listed_in
from ..io.image_ids import from_json_key
from .csv_rows import check_named_once, header_of, number_of, records, score_of
from .format import Format, Way
from .instances import Instances, from_corners
from .objects import CLEAN, HIGHEST_COUNT, ObjectLabels

# Where several are there, the first of these is read.
_IMAGE = (
    "image_id imageid img_id image file_name filename image_name image_path img file path filepath"
).split()
_LABEL = (
    "label_name labelname class_name category_name object_name label class category object name "
    "tag labels objects tags"
).split()
_SCORE = "score confidence conf prob probability".split()
_COUNT = ["count", "number", "instances"]
#: The signs of a table of images and labels.
COLUMNS = (" ".join(_IMAGE), " ".join(_LABEL))
_USUAL = f"{', '.join(_IMAGE)} for images, and {', '.join(_LABEL)} for labels"


def columns_of(text: str) -> dict[str, str]:
    """Return the names of the columns of a table as they are and in plain spelling, as keys."""
    fields = header_of(text)[0]
    return dict.fromkeys([*fields, *map(_plain, fields)], "")


def read_label_csv(text: str, found: Instances) -> ObjectLabels:
    """Read a table of images and labels, with optional columns of scores and counts.

    Commas, semicolons or tabs separate the fields. A row is one object, or as many as its count
    says; without a column of scores every row counts. An image whose label is empty is known and
    has no object in that row. Text that spells a list of labels stands for a row each. A box is
    ``xmin`` to ``ymax`` in pixels, where ``width`` and ``height`` are the image's.
    """
    where = found.where
    fields, delimiter = header_of(text)
    names = [_plain(field) for field in fields]
    columns = [  # the signs say that there are images and labels
        next((name for name in wanted if name in names), "")
        for wanted in (_IMAGE, _LABEL, _SCORE, _COUNT)
    ]
    for column in filter(None, columns):
        check_named_once(names, column, f"{fields[names.index(column)]!r:.40}", where)
    image_column, label_column, score_column, count_column = columns
    image_field = fields[names.index(image_column)]
    found.scored = bool(score_column)
    for at, row in records(text, where, delimiter, _plain):
        image_id, label = from_json_key(row[image_column].strip()), row[label_column].strip()
        if image_id == "":
            raise AnnotationError(f"{at}: {image_field!r:.40} is empty; every row needs one.")
        found.image(image_id)
        if not label:
            continue
        listed = listed_in(label, at, AnnotationError)
        number = _whole_number(row[count_column], at) if count_column else 1
        for name in [label] if listed is None else listed:
            if not isinstance(name, str) or not any(c.isalpha() for c in CLEAN[name]):
                raise AnnotationError(
                    f"{at}: the label is {name!r:.40}; write the name of the class, not a number."
                )
            if number:
                score = score_of(row[score_column], at) if score_column else None
                box = {} if found.boxes is None else _box(row)
                found.add(image_id, name, at, number, score, **box)
    return found.object_labels("label-csv", lists_every_image=False)


def _box(row: Mapping[str, str]) -> dict[str, Any]:
    """Return the sides of a box and the size of its image, as `Instances.add` takes them."""
    columns = ("xmin", "ymin", "xmax", "ymax", "width", "height")
    *corners, width, height = (number_of(row.get(column)) for column in columns)
    return {"sides": from_corners(corners), "size": (width, height)}


def _plain(name: str) -> str:
    return "_".join(name.strip().lower().replace("-", " ").split())


def _whole_number(text: str, at: str) -> int:
    if not (text.strip().isascii() and text.strip().isdigit() and len(text) < 20):
        raise AnnotationError(f"{at}: count {text!r:.40} is not a whole number.")
    number = int(text)
    if number > HIGHEST_COUNT:
        raise AnnotationError(f"{at}: count {text!r:.40} is above 2**53; is it a count?")
    return number


def _refuse(text: str, found: Instances) -> ObjectLabels:
    fields = ", ".join(f"{field!r:.40}" for field in header_of(text)[0][:8])
    raise AnnotationError(
        f"{found.where}: a table without a column of labels ({fields}); the usual names are "
        f"{_USUAL}."
    )


TABLE = Format(
    "CSV or TSV of labels",
    "CSV or TSV with a column of images and one of labels",
    ".6, if there are scores",
    "columns with the usual names: `image_id`, `filename`, ...; `label`, `class`, ...; "
    '`score`; `count`; a label may be a list of them, such as `["dog", "cat"]`',
    (
        Way("table", COLUMNS, read_label_csv),
        Way("table", (" ".join(_IMAGE),), _refuse),
    ),
)
