"""Open Images: boxes and image labels, two kinds of CSV.

Format: https://storage.googleapis.com/openimages/web/download_v7.html. Both name their class by a
machine id (``/m/01g317``), to which the class descriptions give a name. Image labels that people
verified have a confidence of 1 (there) or 0 (not there); those of machines have a score.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ..errors import AnnotationError
from ..io.arguments import named_if_wrong, shows
from .csv_rows import check_named_once, number_of, records, rows, score_of
from .format import Format, Way
from .instances import Instances, from_corners
from .label_csv import COLUMNS, columns_of
from .listed import CategoryNames
from .objects import CLEAN, ObjectLabels
from .scores import ANSWER_THRESHOLD, OPEN_IMAGES_THRESHOLD

_COLUMNS = {"ImageID", "LabelName", "Confidence"}


@named_if_wrong
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
    text, where : str
        The content of the CSV, and the file, for messages.
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
    return _read(text, Instances(where, threshold, CategoryNames(machine_ids=categories or {})))


def _read(text: str, found: Instances) -> ObjectLabels:
    """Read boxes as `read_open_images` does; their sides are shares of the image's."""
    found.counts_from(OPEN_IMAGES_THRESHOLD)
    found.scored = True
    for at, row in labelled(text, found.where):
        image_id = row["ImageID"]
        found.image(image_id)
        if found.counts(score_of(row["Confidence"], at)):
            sides = None
            if found.boxes is not None:
                columns = ("XMin", "YMin", "XMax", "YMax")
                sides = from_corners([number_of(row.get(column)) for column in columns])
            name = class_name(row["LabelName"], found, at)
            found.add(image_id, name, at, sides=sides, size=(1.0, 1.0))
    return found.object_labels("open-images", lists_every_image=False)


def labelled(text: str, where: str) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield rows as `records` does, each of which names an image and a class."""
    _, header = next(rows(text, where), (1, []))
    missing = sorted(_COLUMNS - set(header))
    if missing:
        raise AnnotationError(
            f"{where}: no column {', '.join(missing)}; Open Images boxes have ImageID, "
            "LabelName and Confidence."
        )
    for name in sorted(_COLUMNS):
        check_named_once(header, name, name, where)
    for at, row in records(text, where):
        if not row["ImageID"] or not CLEAN[row["LabelName"]]:
            raise AnnotationError(f"{at}: ImageID or LabelName is empty.")
        yield at, row


def class_name(label: str, found: Instances, at: str) -> str:
    """Return the name of a class; a label that is no machine id is one."""
    if label in found.names.machine_ids:
        return found.names.machine_ids[label]
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


BOXES = Format(
    "Open Images boxes CSV",
    "Open Images boxes CSV",
    ".4",
    "`--categories class-descriptions-boxable.csv`",
    (Way("table", _is_open_images, _read),),
)


def read_image_labels(text: str, found: Instances) -> ObjectLabels:
    """Read image labels: each was looked for, and is there or not.

    Where several sources verified a label, one that found it is believed.
    """
    found.counts_from(ANSWER_THRESHOLD)
    for at, row in labelled(text, found.where):
        image_id = row["ImageID"]
        name = class_name(row["LabelName"], found, at)
        score = score_of(row["Confidence"], at)
        found.scored = found.scored or 0 < score < 1
        found.asked_in(image_id)
        there = found.there(score)
        if there is None:
            found.unsure += 1
            continue
        label = found.ask(image_id, name, at)
        if there and label:
            found.image(image_id)[label] = 1
    return found.object_labels("image-labels", says_asked=True)


LABELS = Format(
    "Open Images labels CSV",
    "Open Images image labels CSV, verified by people or from machines",
    ".5",
    "a `Confidence` of 0 is not there; `--categories oidv7-class-descriptions.csv`",
    (Way("table", ("ImageID", "Source", "LabelName", "Confidence", "!XMin"), read_image_labels),),
)
