"""Open Images boxes and class descriptions, both CSV.

Format: https://storage.googleapis.com/openimages/web/download_v7.html. Boxes name their class by
a machine id (``/m/01g317``); the class descriptions give each id its name, with a header line in
some releases and without one in others.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from typing import Any

from ..errors import AnnotationError
from ..image_ids import ImageId
from .objects import OPEN_IMAGES_THRESHOLD, ObjectLabels, check_score, count


def read_open_images(
    text: str,
    where: str,
    threshold: float | None = None,
    categories: Mapping[Any, str] | None = None,
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

    Raises
    ------
    AnnotationError
        If a column or a class name is missing, or a confidence is not a number.
    """
    threshold = OPEN_IMAGES_THRESHOLD if threshold is None else threshold
    rows = csv.DictReader(io.StringIO(text))
    try:
        return _read_rows(rows, where, threshold, categories or {})
    except csv.Error as problem:
        raise AnnotationError(f"{where}: not CSV ({problem}); is it the right file?") from None


def _read_rows(
    rows: csv.DictReader[str], where: str, threshold: float, categories: Mapping[Any, str]
) -> ObjectLabels:
    labels: dict[ImageId, dict[str, int]] = {}
    missing = {"ImageID", "LabelName", "Confidence"} - set(rows.fieldnames or ())
    if missing:
        raise AnnotationError(
            f"{where}: no column {', '.join(sorted(missing))}; Open Images boxes have ImageID, "
            "LabelName and Confidence."
        )
    for row in rows:
        at = f"{where}: line {rows.line_num}"
        image_id, label = row["ImageID"], row["LabelName"]
        if not image_id or not label:
            raise AnnotationError(f"{at}: ImageID or LabelName is empty.")
        of_image = labels.setdefault(image_id, {})
        if _confidence(row["Confidence"], at) >= threshold:
            count(of_image, _class_name(label, categories, at))
    return ObjectLabels(labels, "open-images", where, threshold, lists_every_image=False)


def read_class_descriptions(text: str, where: str) -> dict[Any, str]:
    """Return ``{machine id: name}`` from a class descriptions CSV, with or without its header.

    Raises
    ------
    AnnotationError
        If a line does not have two fields, or none names a class.
    """
    names: dict[Any, str] = {}
    rows = csv.reader(io.StringIO(text))
    try:
        for row in rows:
            if row and len(row) != 2:
                raise AnnotationError(
                    f"{where}: line {rows.line_num} has {len(row)} fields; class descriptions "
                    "have two, the machine id and the name."
                )
            if row and row[0].startswith("/"):  # the header does not
                names[row[0]] = row[1]
    except csv.Error as problem:
        raise AnnotationError(
            f"{where}: line {rows.line_num} is not CSV ({problem}); is it the right file?"
        ) from None
    if not names:
        raise AnnotationError(f"{where}: no class in it, such as '/m/01g317,Person'.")
    return names


def _confidence(text: str | None, at: str) -> float:
    try:
        value: object = float(text or "")
    except ValueError:
        value = text
    return check_score(value, at)


def _class_name(label: str, categories: Mapping[Any, str], at: str) -> str:
    if label in categories:
        return categories[label]
    if label.startswith("/"):
        raise AnnotationError(
            f"{at}: class {label} has no name; give the class descriptions CSV "
            "(categories=..., --categories) that lists it."
        )
    return label
