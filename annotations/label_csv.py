"""CSV and TSV files with a column of images and a column of labels: one row per object.

The columns are found by the names that people give them, such as ``filename`` and ``class`` in the
CSV that TensorFlow's object detection tutorials and Roboflow write.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..errors import AnnotationError
from ..image_ids import ImageId, from_json_key
from .csv_rows import header, rows
from .objects import (
    DETECTION_THRESHOLD,
    HIGHEST_COUNT,
    ObjectLabels,
    check_score,
    clean_label,
    count,
)

# Where several are there, the first of these is read.
_IMAGE = (
    "image_id imageid img_id image file_name filename image_name image_path img file path filepath"
).split()
_LABEL = (
    "label_name labelname class_name category_name object_name label class category object name tag"
).split()
_SCORE = "score confidence conf prob probability".split()
_COUNT = ["count", "number", "instances"]


def has_label_columns(fields: Sequence[str]) -> bool:
    """Tell whether a header has a column of images and one of labels, under their usual names."""
    names = [_plain(field) for field in fields]
    return _first(_IMAGE, names) is not None and _first(_LABEL, names) is not None


def has_image_column(fields: Sequence[str]) -> bool:
    """Tell whether a header has a column of images."""
    return _first(_IMAGE, [_plain(field) for field in fields]) is not None


def usual_names() -> str:
    """Return the names of columns that are known, for messages."""
    return f"{', '.join(_IMAGE)} for images, and {', '.join(_LABEL)} for labels"


def read_label_csv(text: str, where: str, threshold: float | None = None) -> ObjectLabels:
    """Read a table of images and labels, with optional columns of scores and counts.

    A row is one object, or as many as its count says. An image whose label is empty is known
    and has no object in that row.

    Parameters
    ----------
    text : str
        The content of the file; commas, semicolons or tabs separate its fields.
    where : str
        The file, for messages.
    threshold : float, optional
        The lowest score that counts, `DETECTION_THRESHOLD` by default; without a column of scores
        every row counts.

    Raises
    ------
    AnnotationError
        If a line has more or fewer fields than the header, an image is empty, a label is a number,
        or a score or count is none.
    """
    fields, delimiter = header(text)
    names = [_plain(field) for field in fields]
    lowest = DETECTION_THRESHOLD if threshold is None else threshold
    image_at, label_at = _first(_IMAGE, names), _first(_LABEL, names)
    score_at, count_at = _first(_SCORE, names), _first(_COUNT, names)
    for column in (image_at, label_at, score_at, count_at):
        if column is not None and names.count(names[column]) > 1:
            raise AnnotationError(
                f"{where}: line 1 names the column {fields[column]!r:.40} twice; keep one."
            )
    if image_at is None or label_at is None:
        raise AnnotationError(f"{where}: columns are missing; the usual names are {usual_names()}.")
    labels: dict[ImageId, dict[str, int]] = {}
    table = rows(text, where, delimiter)
    next(table)
    for line, row in table:
        at = f"{where}: line {line}"
        if len(row) != len(fields):
            raise AnnotationError(
                f"{at} has {len(row)} fields but the header has {len(fields)}; fix the line."
            )
        image_id, label = from_json_key(row[image_at].strip()), row[label_at].strip()
        if image_id == "":
            raise AnnotationError(f"{at}: {fields[image_at]!r:.40} is empty; every row needs one.")
        of_image = labels.setdefault(image_id, {})
        if not label:
            continue
        if not any(c.isalpha() for c in clean_label(label)):
            raise AnnotationError(
                f"{at}: the label is {label!r:.40}; write the name of the class, not a number."
            )
        number = 1 if count_at is None else _whole_number(row[count_at], at)
        if number and (score_at is None or _score(row[score_at], at) >= lowest):
            count(of_image, label, number, at=at)
    return ObjectLabels(
        labels,
        "label-csv",
        where,
        None if score_at is None else lowest,
        lists_every_image=False,
    )


def _plain(name: str) -> str:
    return "_".join(name.strip().lower().replace("-", " ").split())


def _first(wanted: Sequence[str], names: Sequence[str]) -> int | None:
    """Return the column with the first of the wanted names that is there."""
    return next((names.index(name) for name in wanted if name in names), None)


def _score(text: str, at: str) -> float:
    try:
        value: object = float(text)
    except ValueError:
        value = text
    return check_score(value, at)


def _whole_number(text: str, at: str) -> int:
    if not (text.strip().isascii() and text.strip().isdigit() and len(text) < 20):
        raise AnnotationError(f"{at}: count {text!r:.40} is not a whole number.")
    number = int(text)
    if number > HIGHEST_COUNT:
        raise AnnotationError(f"{at}: count {text!r:.40} is above 2**53; is it a count?")
    return number
