"""Open Images image labels, a CSV with ``ImageID``, ``Source``, ``LabelName`` and ``Confidence``.

Format: https://storage.googleapis.com/openimages/web/download_v7.html. Labels that people verified
have a confidence of 1 (there) or 0 (not there); those of machines have a score.
"""

from __future__ import annotations

from ..image_ids import ImageId
from .csv_rows import rows, rows_below_header, score_of
from .objects import ObjectLabels, count
from .open_images import check_filled, checked_columns, class_name
from .record import Format, ReadOptions, Way


def read_image_labels(text: str, options: ReadOptions) -> ObjectLabels:
    """Read image labels: each was looked for, and is there or not.

    Where several sources verified a label, one that found it is believed.

    Raises
    ------
    AnnotationError
        As for boxes (`.open_images`).
    """
    where = options.where
    _, header = next(rows(text, where), (1, []))
    image_at, label_at, confidence_at = checked_columns(header, where)
    images: dict[ImageId, dict[str, int]] = {}
    asked: dict[ImageId, dict[str, int]] = {}
    unsure, any_between = 0, False
    for line, row in rows_below_header(text, where):
        at = f"{where}: line {line}"
        check_filled(row[image_at], row[label_at], at)
        name = class_name(row[label_at], options.names.machine_ids, at)
        score = score_of(row[confidence_at], at)
        any_between = any_between or 0 < score < 1
        there = options.answer(score)
        found = images.setdefault(row[image_at], {})
        looked_for = asked.setdefault(row[image_at], {})
        if there is None:
            unsure += 1
            continue
        count(looked_for, name, at=at)
        if there:
            known: dict[str, int] = {}
            count(known, name, at=at)
            found.update(known)
    lowest = options.lowest_answer if any_between else None
    return ObjectLabels(images, "image-labels", where, lowest, asked=asked, unsure=unsure)


FORMAT = Format(
    "Open Images labels CSV",
    "Open Images image labels CSV, verified by people or from machines",
    ".5",
    "a `Confidence` of 0 is not there; `--categories oidv7-class-descriptions.csv`",
    (
        Way(
            "table",
            ("ImageID", "Source", "LabelName", "Confidence", "!XMin"),
            read_image_labels,
        ),
    ),
)
