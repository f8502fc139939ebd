"""Open Images boxes, a CSV.

Format: https://storage.googleapis.com/openimages/web/download_v7.html. Boxes name their class by
a machine id (``/m/01g317``), to which the class descriptions give a name.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..arguments import named_if_wrong, shows
from ..errors import AnnotationError
from ..image_ids import ImageId
from .boxes import BoxCollector, number_of
from .csv_rows import check_named_once, rows, rows_below_header, score_of
from .label_csv import COLUMNS, columns_of
from .objects import OPEN_IMAGES_THRESHOLD, ObjectLabels, clean_label, count
from .record import Format, Way

_COLUMNS = {"ImageID", "LabelName", "Confidence"}


@named_if_wrong
def read_open_images(
    text: str,
    where: str,
    threshold: float | None = None,
    categories: Mapping[Any, str] | None = None,
    boxes: BoxCollector | None = None,
) -> ObjectLabels:
    """Read a boxes CSV with the columns ``ImageID``, ``LabelName`` and ``Confidence``.

    Every box is one instance, and so is a group box (``IsGroupOf``).

    Parameters
    ----------
    text : str
        The content of the CSV.
    where : str
        The file, for messages.
    threshold : float, optional
        The lowest confidence that counts, `OPEN_IMAGES_THRESHOLD` by default.
    categories : mapping, optional
        Machine id to name, from the class descriptions.
    boxes : BoxCollector, optional
        Keeps the boxes, whose sides are shares of the image's.

    Raises
    ------
    AnnotationError
        If a column is missing or named twice, a line has more or fewer fields than the header or
        a quote that does not end, a class has no name, or a confidence is not a number.
    """
    threshold = OPEN_IMAGES_THRESHOLD if threshold is None else threshold
    _, header = next(rows(text, where), (1, []))
    image_at, label_at, confidence_at = checked_columns(header, where)
    labels: dict[ImageId, dict[str, int]] = {}
    for line, row in rows_below_header(text, where):
        at = f"{where}: line {line}"
        image_id, label = row[image_at], row[label_at]
        check_filled(image_id, label, at)
        of_image = labels.setdefault(image_id, {})
        if score_of(row[confidence_at], at) >= threshold:
            name = class_name(label, categories or {}, at)
            count(of_image, name, at=at)
            if boxes is not None:
                by_column = dict(zip(header, row, strict=True))
                sides = [number_of(by_column.get(s)) for s in ("XMin", "YMin", "XMax", "YMax")]
                boxes.add_corners(image_id, name, sides, size=(1.0, 1.0))
    return ObjectLabels(labels, "open-images", where, threshold, lists_every_image=False)


def checked_columns(header: list[str], where: str) -> tuple[int, int, int]:
    """Return the places of the columns of images, labels and confidences.

    Raises
    ------
    AnnotationError
        If one is missing or named twice.
    """
    missing = sorted(_COLUMNS - set(header))
    if missing:
        raise AnnotationError(
            f"{where}: no column {', '.join(missing)}; Open Images boxes have ImageID, "
            "LabelName and Confidence."
        )
    for name in sorted(_COLUMNS):
        check_named_once(header, name, name, where)
    return header.index("ImageID"), header.index("LabelName"), header.index("Confidence")


def check_filled(image_id: str, label: str, at: str) -> None:
    """Check that a row names an image and a class.

    Raises
    ------
    AnnotationError
        If it does not; `at` names the file and the line.
    """
    if not image_id or not clean_label(label):
        raise AnnotationError(f"{at}: ImageID or LabelName is empty.")


def class_name(label: str, categories: Mapping[Any, str], at: str) -> str:
    """Return the name of a class; a label that is no machine id is one.

    Raises
    ------
    AnnotationError
        If the class descriptions do not have it.
    """
    if label in categories:
        return categories[label]
    if label.startswith("/"):
        raise AnnotationError(
            f"{at}: class {label} has no name; give the class descriptions CSV "
            "(categories=..., --categories) that lists it."
        )
    return label


def _is_open_images(text: str) -> bool:
    """Tell the header of Open Images' CSV; a quote may be broken in it."""
    first = text.lstrip("\n").partition("\n")[0]
    return "ImageID" in first and ("LabelName" in first or not shows(columns_of(text), COLUMNS))


FORMAT = Format(
    "Open Images boxes CSV",
    "Open Images boxes CSV",
    ".4",
    "`--categories class-descriptions-boxable.csv`",
    (
        Way(
            "table",
            _is_open_images,
            lambda text, options: read_open_images(
                text, options.where, options.threshold, options.names.machine_ids, options.boxes
            ),
        ),
    ),
)
