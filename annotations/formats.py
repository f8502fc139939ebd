"""The table of formats of objects.

`FORMATS` is the only place that knows them all: content is recognised by it, messages and help list
it, and the table of docs/objects.md is its rows.
"""

from __future__ import annotations

from typing import Any

from ..errors import AnnotationError
from ..signs import shows
from . import (
    arrays,
    coco_instances,
    coco_results,
    detections,
    label_csv,
    label_records,
    labels,
    nocaps,
    open_images,
    panoptic,
    visual_genome,
    voc,
    yolo,
)
from .carriers import Carrier
from .label_csv import columns_of
from .record import Format, Way

#: Tried in this order: the first way of a format that recognises content reads it.
FORMATS: tuple[Format, ...] = (
    coco_instances.FORMAT,
    coco_results.FORMAT,
    panoptic.FORMAT,
    voc.FORMAT,
    open_images.FORMAT,
    nocaps.FORMAT,
    label_records.FORMAT,
    visual_genome.FORMAT,
    yolo.FORMAT,
    label_csv.FORMAT,
    arrays.FORMAT,
    detections.FORMAT,
    labels.FORMAT,
)


def way_of(carrier: Carrier, content: Any, where: str) -> Way:
    """Return the way that recognises content.

    Raises
    ------
    AnnotationError
        If none does; `where` is the file or folder.
    """
    seen = columns_of(content) if carrier == "table" else content
    for known in FORMATS:
        for way in known.ways:
            if way.carrier == carrier and (
                shows(seen, way.recognised)
                if isinstance(way.recognised, tuple)
                else way.recognised(content)
            ):
                return way
    raise AnnotationError(f"{where}: not a source of objects; accepted: {accepted()}.")


def accepted() -> str:
    """Return the names of all formats, as messages list them."""
    return ", ".join(known.name for known in FORMATS)


def table_rows() -> list[str]:
    """Return the lines of the table of docs/objects.md."""
    return [f"| {known.source} | {known.scores} | {known.notes} |" for known in FORMATS]
