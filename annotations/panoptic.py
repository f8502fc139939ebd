"""COCO panoptic segmentation: things and stuff, with the segments of each image.

Format: https://cocodataset.org/#format-data (panoptic segmentation). An annotation is an image with
its ``segments_info``; ``isthing`` of a category tells things, which can be counted, from stuff.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ..errors import AnnotationError
from .categories import category_name, category_names
from .coco_instances import image_of, listed_images, size_of
from .format import Format, Way, entries
from .instances import Instances
from .objects import ObjectLabels

# What COCO appends to the names of stuff: sky-other-merged, tree-merged, door-stuff.
_MERGED = re.compile(r"(?:-other)?(?:-merged|-stuff)?$")


def read_coco_panoptic(content: Mapping[str, Any], found: Instances) -> ObjectLabels:
    """Read a panoptic annotation file.

    Every segment of a thing is one instance, and so is a crowd. Stuff counts once per image, since
    its segments are one per category. ``sky-other-merged`` becomes *sky*, and ``wall-brick``
    *wall brick*. A box is ``bbox``: x, y, width, height in pixels.
    """
    names = {
        category_id: _MERGED.sub("", name).replace("-", " ")
        for category_id, name in category_names(content.get("categories"), found.where).items()
    }
    listed = listed_images(content, found)
    annotated: set[Any] = set()
    for at, annotation in entries(content.get("annotations"), found.where, "annotations"):
        image_id = image_of(annotation, listed, at)
        if image_id in annotated:
            raise AnnotationError(f"{at}: image {image_id!r:.40} is annotated twice; keep one.")
        annotated.add(image_id)
        found.image(image_id)
        if "segments_info" not in annotation:
            raise AnnotationError(
                f"{at} (image {image_id!r:.40}): 'segments_info' is missing; every annotation of a "
                "panoptic file has it."
            )
        size = size_of(listed.get(image_id, {}))
        for _, segment in entries(annotation["segments_info"], at, "segments_info"):
            name = category_name(segment, names, at, "this file's")
            found.add(image_id, name, at, sides=segment.get("bbox"), size=size)
    return found.object_labels(
        "coco-panoptic", lists_every_image=bool(listed), categories=names.values()
    )


FORMAT = Format(
    "COCO panoptic",
    "COCO `panoptic_*.json`",
    "",
    "things by instance, stuff once per image; `sky-other-merged` becomes *sky*",
    (Way("object", ("categories", "annotations[].segments_info"), read_coco_panoptic),),
)
