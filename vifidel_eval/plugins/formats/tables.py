"""Objects in CSV and TSV: Open Images' boxes and image labels, and any table of images and labels.

Open Images (https://storage.googleapis.com/openimages/web/download_v7.html) names classes by a
machine id (``/m/01g317``), to which the class descriptions give a name. Image labels that people
verified have a confidence of 1 (there) or 0 (not there); those of machines have a score.

Other tables have one row per object, such as TensorFlow's tutorials and Roboflow write.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, islice

from ...annotations.categories import CategoryNames
from ...annotations.instances import Format, Instances, Variant, from_corners
from ...annotations.labels import (
    ANSWER_THRESHOLD,
    OPEN_IMAGES_THRESHOLD,
    check_count,
    check_score,
    listed,
    located,
)
from ...annotations.objects import ObjectLabels
from ...errors import AnnotationError
from ...io.containers import CsvTable, plain_name
from ...io.digits import number_of
from ...io.entries import Entry, shows


def _read_boxes(table: CsvTable, instances: Instances) -> ObjectLabels:
    instances.counts_from(OPEN_IMAGES_THRESHOLD)
    instances.scored = True
    for row in table.rows():
        image_id = row.text("ImageID")
        instances.image(image_id)
        if instances.counts(_score_of(row["Confidence"], row)):
            sides = _sides_of(row, ("XMin", "YMin", "XMax", "YMax"))
            name = class_name(row, instances.names)
            instances.add(image_id, name, row, sides=sides, size=(1.0, 1.0))
    return instances.object_labels("open-images", lists_every_image=False)


def class_name(row: Entry, names: CategoryNames, column: str = "LabelName") -> str:
    """Return the name of a class; a label that is no machine id is one."""
    label = row.text(column)
    if label in names.machine_ids:
        return names.machine_ids[label]
    if label.startswith("/"):
        raise AnnotationError(
            f"{row}: class {label} has no name; give the class descriptions CSV "
            "(categories=..., --categories) that lists it."
        )
    return label


def _score_of(text: str, row: Entry) -> float:
    number = number_of(text)
    return check_score(text if number is None else number, row)


def _count_of(row: Entry, column: str) -> int:
    number = number_of(row[column])
    if not isinstance(number, int):
        raise AnnotationError(f"{row}: count {row[column]!r:.40} is not a whole number; write one.")
    return check_count(number, f"{row}: count")


def _sides_of(row: Entry, columns: Sequence[str]) -> list[float] | None:
    return from_corners([number_of(row.get(column)) for column in columns])


def _is_open_images(table: CsvTable) -> bool:
    """Tell the header of Open Images' CSV; a quote may be broken in it."""
    labels = "LabelName" in table.first_line or not shows(table.columns, COLUMNS)
    return "ImageID" in table.first_line and labels


BOXES = Format(
    "Open Images boxes CSV",
    "Open Images boxes CSV",
    ".4",
    "`--categories class-descriptions-boxable.csv`",
    (Variant("table", _is_open_images, _read_boxes),),
    example="ImageID,LabelName,Confidence,XMin,XMax,YMin,YMax\n0013ea2087020901,/m/0bt9lr,1,0.1,0.5,0.1,0.5",
)


def _read_image_labels(table: CsvTable, instances: Instances) -> ObjectLabels:
    """Read labels that were looked for; of several sources, one that found a label is believed."""
    instances.counts_from(ANSWER_THRESHOLD)
    for row in table.rows():
        image_id, name = row.text("ImageID"), class_name(row, instances.names)
        score = _score_of(row["Confidence"], row)
        instances.scored = instances.scored or 0 < score < 1
        instances.asked_in(image_id)
        is_there = instances.there(score)
        if is_there is None:
            instances.unsure += 1
            continue
        label = instances.ask(image_id, name, row)
        if is_there and label:
            instances.image(image_id)[label] = 1
    return instances.object_labels("image-labels", says_asked=True)


IMAGE_LABELS = Format(
    "Open Images labels CSV",
    "Open Images image labels CSV, verified by people or from machines",
    ".5",
    "a `Confidence` of 0 means that the object is not there; `--categories "
    "oidv7-class-descriptions.csv`",
    (
        Variant(
            "table", ("ImageID", "Source", "LabelName", "Confidence", "!XMin"), _read_image_labels
        ),
    ),
    example="ImageID,Source,LabelName,Confidence\n0013ea2087020901,verification,/m/0bt9lr,1",
)


# Where several are there, the first of these is read.
_IMAGE = (
    "image_id imageid img_id image file_name filename image_name image_path img file path filepath"
).split()
_LABEL = (
    "label_name labelname class_name category_name object_name label class category object name "
    "tag labels objects tags"
).split()
_SCORE = "score confidence conf prob probability".split()
_LOOKED_AT = 100  # the first rows, in which the column of labels is found
_COUNT = ["count", "number", "instances"]
COLUMNS = (" ".join(_IMAGE), " ".join(_LABEL))  #: the signs of a table of images and labels
_USUAL = f"{', '.join(_IMAGE)} for images, and {', '.join(_LABEL)} for labels"


def _read_table(table: CsvTable, instances: Instances) -> ObjectLabels:
    """Read a table; an empty label makes its image known, a list of labels is like several rows."""
    names = table.header = [plain_name(field) for field in table.header]
    image_column, score_column, count_column = (
        next((name for name in usual_names if name in names), "")
        for usual_names in (_IMAGE, _SCORE, _COUNT)
    )
    instances.scored = bool(score_column)
    rows = table.rows(line_breaks=True)  # a cell may hold a model's answer, one label per line
    first = list(islice(rows, _LOOKED_AT))
    label_column = _label_column(first, [name for name in _LABEL if name in names])
    for row in chain(first, rows):
        image_id, label = row.image_id(image_column), instances.left_out.cell(row[label_column])
        instances.image(image_id)
        label = label.strip()
        if not label or instances.left_out.flagged(row):
            continue
        number = _count_of(row, count_column) if count_column else 1
        with located(row):
            tags = list(listed(label, instances.lowest, instances.uncertain, instances.names))
        for tag in tags:
            if not number * tag.number:
                instances.ask(image_id, tag.name, row)
                continue
            score = _score_of(row[score_column], row) if score_column else tag.score
            sides = _sides_of(row, ("xmin", "ymin", "xmax", "ymax"))
            size = number_of(row.get("width")), number_of(row.get("height"))
            instances.add(image_id, tag.name, row, number * tag.number, score, sides, size)
    if count_column and instances.asked:  # a count of 0 says that counts tell what was looked for
        for image_id in instances.images:
            instances.asked_in(image_id)
    return instances.object_labels("label-csv", lists_every_image=False)


def _label_column(rows: Sequence[Entry], columns: Sequence[str]) -> str:
    """Return the first of columns that has names: beside them, Ultralytics' ``class`` is a number.

    If none has any, it is the first.
    """
    texts = (c for c in columns if any(map(str.isalpha, "".join(row[c] for row in rows))))
    return next(texts, columns[0])


def _refuse(table: CsvTable, instances: Instances) -> ObjectLabels:
    fields = ", ".join(f"{field!r:.40}" for field in table.header[:8])
    raise AnnotationError(
        f"{instances.where}: a table without a column of labels ({fields}); the usual names are "
        f"{_USUAL}."
    )


TABLE = Format(
    "CSV or TSV of labels",
    "CSV or TSV with a column of images and one of labels",
    ".6, if there are scores",
    "columns with the usual names: `image_id`, `filename`, ...; `label`, `class`, ...; "
    '`score`; `count`; a label may be a list of them, such as `["dog", "cat"]`',
    (Variant("table", COLUMNS, _read_table), Variant("table", (" ".join(_IMAGE),), _refuse)),
    example="image_id,label\n1,dog",
    is_general=True,
)
