"""COCO panoptic segmentation: things and stuff, with the segments of each image.

Format: https://cocodataset.org/#format-data (panoptic segmentation). An annotation is an image with
its ``segments_info``; ``isthing`` of a category tells things, which can be counted, from stuff.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ..errors import AnnotationError
from ..image_ids import ImageId
from .boxes import ImageBoxes, sized_box
from .coco import (
    category_name,
    category_names,
    check_listed,
    entries,
    image_id_of,
    image_sizes,
    listed_images,
)
from .objects import ObjectLabels, count
from .record import Format, ReadOptions, Way, first_entry

# What COCO appends to the names of stuff: sky-other-merged, tree-merged, door-stuff.
_MERGED = re.compile(r"(?:-other)?(?:-merged|-stuff)?$")


def read_coco_panoptic(content: Mapping[str, Any], where: str) -> ObjectLabels:
    """Read a panoptic annotation file.

    Every segment of a thing is one instance, and so is a crowd. Stuff counts once per image, since
    its segments are one per category. ``sky-other-merged`` becomes *sky*, and ``wall-brick``
    *wall brick*.

    Raises
    ------
    AnnotationError
        If a category id is unknown, an image is annotated twice or not among ``images``, or an
        entry has another shape.
    """
    names = _names(content, where)
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
            count(of_image, category_name(segment, names, at, "this file's"), at=at)
    return ObjectLabels(
        labels,
        "coco-panoptic",
        where,
        lists_every_image=bool(content.get("images")),
        categories=names.values(),
    )


def _names(content: Mapping[str, Any], where: str) -> dict[Any, str]:
    return {
        category_id: _MERGED.sub("", name).replace("-", " ")
        for category_id, name in category_names(content.get("categories"), where).items()
    }


def _boxes(content: Mapping[str, Any], options: ReadOptions) -> dict[ImageId, ImageBoxes]:
    """Return the boxes of segments: ``bbox`` is x, y, width, height in pixels."""
    names = _names(content, options.where)
    sizes = image_sizes(content)
    found: dict[ImageId, ImageBoxes] = {}
    for annotation in content["annotations"]:
        image_id = image_id_of(annotation, "image_id", options.where)
        found[image_id] = ImageBoxes([], sizes.get(image_id))
        for segment in annotation["segments_info"]:
            found[image_id].boxes.extend(
                sized_box(names[segment["category_id"]], segment.get("bbox"))
            )
    return found


FORMAT = Format(
    "COCO panoptic JSON",
    "COCO `panoptic_*.json`",
    "",
    "things by instance, stuff once per image; `sky-other-merged` becomes *sky*",
    (
        Way(
            "object",
            lambda found: (
                "categories" in found and "segments_info" in first_entry(found.get("annotations"))
            ),
            lambda found, options: read_coco_panoptic(found, options.where),
            _boxes,
        ),
    ),
)
