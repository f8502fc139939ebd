"""The table of formats of objects.

`FORMATS` is the only place that knows them all: content is recognised by it, messages and help list
it, and the table of docs/objects.md is its rows.
"""

from __future__ import annotations

from typing import Any

from ..arguments import shows
from ..errors import AnnotationError
from . import (
    amber,
    answers,
    arrays,
    coco_instances,
    coco_results,
    detected,
    detections,
    image_labels,
    label_csv,
    label_records,
    labels,
    nocaps,
    open_images,
    panoptic,
    pope,
    visual_genome,
    voc,
    woodpecker,
    yolo,
)
from .carriers import RECORD, Carrier, Lines
from .label_csv import columns_of
from .objects import ObjectLabels
from .record import Format, ReadOptions

#: Tried in this order: the first way of a format that recognises content reads it.
FORMATS: tuple[Format, ...] = (
    coco_instances.FORMAT,
    coco_results.FORMAT,
    panoptic.FORMAT,
    voc.FORMAT,
    image_labels.FORMAT,
    open_images.FORMAT,
    nocaps.FORMAT,
    label_records.FORMAT,
    visual_genome.FORMAT,
    yolo.FORMAT,
    label_csv.FORMAT,
    detected.FORMAT,
    answers.FORMAT,
    pope.FORMAT,
    amber.FORMAT,
    woodpecker.FORMAT,
    arrays.FORMAT,
    detections.FORMAT,
    labels.FORMAT,
)


def read_content(
    carrier: Carrier, content: Any, options: ReadOptions
) -> ObjectLabels | nocaps.NocapsImages:
    """Return the labels of content, or the companion that it is, and keep its boxes.

    Raises
    ------
    AnnotationError
        If no format recognises it, or the one that does raises it.
    """
    if carrier == "object" and shows(content, RECORD):
        carrier, content = "list", Lines([content], [1])
    seen = columns_of(content) if carrier == "table" else content
    for known in FORMATS:
        for way in known.ways:
            if way.carrier == carrier and (
                shows(seen, way.recognised)
                if isinstance(way.recognised, tuple)
                else way.recognised(content)
            ):
                return way.read(content, options)
    raise AnnotationError(f"{options.where}: not a source of objects; accepted: {accepted()}.")


def accepted() -> str:
    """Return the names of all formats, as messages list them."""
    return ", ".join(known.name for known in FORMATS)


def table_rows() -> list[str]:
    """Return the lines of the table of docs/objects.md."""
    return [f"| {known.source} | {known.scores} | {known.notes} |" for known in FORMATS]
