"""COCO panoptic segmentation: things and stuff, with the segments of each image.

Format: https://cocodataset.org/#format-data (panoptic segmentation). An annotation is an image with
its ``segments_info``; ``isthing`` of a category tells things, which can be counted, from stuff.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ..errors import AnnotationError
from .coco import (
    category_name,
    category_names,
    check_listed,
    entries,
    image_id_of,
    listed_images,
)
from .objects import ObjectLabels, count
from .record import Format, ReadOptions, Way

# What COCO appends to the names of stuff: sky-other-merged, tree-merged, door-stuff.
_MERGED = re.compile(r"(?:-other)?(?:-merged|-stuff)?$")


def read_coco_panoptic(content: Mapping[str, Any], options: ReadOptions) -> ObjectLabels:
    """Read a panoptic annotation file.

    Every segment of a thing is one instance, and so is a crowd. Stuff counts once per image, since
    its segments are one per category. ``sky-other-merged`` becomes *sky*, and ``wall-brick``
    *wall brick*. A box is ``bbox``: x, y, width, height in pixels.

    Raises
    ------
    AnnotationError
        If a category id is unknown, an image is annotated twice or not among ``images``, or an
        entry has another shape.
    """
    where, boxes = options.where, options.boxes
    names = {
        category_id: _MERGED.sub("", name).replace("-", " ")
        for category_id, name in category_names(content.get("categories"), where).items()
    }
    labels, listed = listed_images(content, where)
    annotated: set[Any] = set()
    annotations = entries(content.get("annotations"), "annotations", where)
    for number, annotation in enumerate(annotations):
        at = f"{where}: annotations[{number}]"
        image_id = image_id_of(annotation, "image_id", at)
        check_listed(image_id, listed, at)
        if image_id in annotated:
            raise AnnotationError(f"{at}: image {image_id!r:.40} is annotated twice; keep one.")
        annotated.add(image_id)
        of_image = labels.setdefault(image_id, {})
        if "segments_info" not in annotation:
            raise AnnotationError(
                f"{at} (image {image_id!r:.40}): 'segments_info' is missing; every annotation of a "
                "panoptic file has it."
            )
        for segment in entries(annotation["segments_info"], "segments_info", at):
            name = category_name(segment, names, at, "this file's")
            count(of_image, name, at=at)
            if boxes is not None:
                image = listed.get(image_id, {})
                size = (image.get("width"), image.get("height"))
                boxes.add(image_id, name, segment.get("bbox"), size=size)
    return ObjectLabels(
        labels,
        "coco-panoptic",
        where,
        lists_every_image=bool(content.get("images")),
        categories=names.values(),
    )


FORMAT = Format(
    "COCO panoptic",
    "COCO `panoptic_*.json`",
    "",
    "things by instance, stuff once per image; `sky-other-merged` becomes *sky*",
    (
        Way(
            "object",
            ("categories", "annotations[].segments_info"),
            read_coco_panoptic,
        ),
    ),
)
