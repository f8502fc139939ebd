"""Open Images boxes and class descriptions, both CSV.

Format: https://storage.googleapis.com/openimages/web/download_v7.html. Boxes name their class by
a machine id (``/m/01g317``); the class descriptions give each id its name, with a header line in
some releases and without one in others.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..errors import AnnotationError
from ..image_ids import ImageId
from .csv_rows import rows
from .objects import OPEN_IMAGES_THRESHOLD, ObjectLabels, check_score, clean_label, count

_COLUMNS = {"ImageID", "LabelName", "Confidence"}


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
        If a column is missing or named twice, a line has more or fewer fields than the header or
        a quote that does not end, a class has no name, or a confidence is not a number.
    """
    threshold = OPEN_IMAGES_THRESHOLD if threshold is None else threshold
    table = rows(text, where)
    _, header = next(table, (1, []))
    missing = sorted(_COLUMNS - set(header))
    if missing:
        raise AnnotationError(
            f"{where}: no column {', '.join(missing)}; Open Images boxes have ImageID, "
            "LabelName and Confidence."
        )
    twice = sorted(name for name in _COLUMNS if header.count(name) > 1)
    if twice:
        raise AnnotationError(f"{where}: line 1 names the column {twice[0]} twice; keep one.")
    image_at, label_at, confidence_at = map(header.index, ("ImageID", "LabelName", "Confidence"))
    labels: dict[ImageId, dict[str, int]] = {}
    for line, row in table:
        at = f"{where}: line {line}"
        if len(row) != len(header):
            raise AnnotationError(
                f"{at} has {len(row)} fields but the header has {len(header)}; fix the line."
            )
        image_id, label = row[image_at], row[label_at]
        if not image_id or not clean_label(label):
            raise AnnotationError(f"{at}: ImageID or LabelName is empty.")
        of_image = labels.setdefault(image_id, {})
        if _confidence(row[confidence_at], at) >= threshold:
            count(of_image, _class_name(label, categories or {}, at), at=at)
    return ObjectLabels(labels, "open-images", where, threshold, lists_every_image=False)


def read_class_descriptions(text: str, where: str) -> dict[Any, str]:
    """Return ``{machine id: name}`` from a class descriptions CSV, with or without its header.

    Raises
    ------
    AnnotationError
        If a line does not have two fields, none names a class, or a class has two names.
    """
    names: dict[Any, str] = {}
    for number, (line, row) in enumerate(rows(text, where)):
        if len(row) != 2:
            raise AnnotationError(
                f"{where}: line {line} has {len(row)} fields; class descriptions have two, the "
                "machine id and the name, and other lists of classes have one name per line."
            )
        machine_id, name = row
        if not machine_id.startswith("/"):
            if number == 0:
                continue  # the header
            raise AnnotationError(
                f"{where}: line {line}: {machine_id!r:.40} is not a machine id such as /m/01g317."
            )
        if not clean_label(name):
            raise AnnotationError(f"{where}: line {line}: class {machine_id!r:.40} has no name.")
        if names.setdefault(machine_id, name) != name:
            raise AnnotationError(
                f"{where}: line {line}: class {machine_id!r:.40} is called "
                f"{names[machine_id]!r:.40} and {name!r:.40}; keep one."
            )
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
