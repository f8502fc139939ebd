"""Samples of Woodpecker (Yin et al., 2023) with what its detector looked for.

A sample has ``img_path`` and ``entity_info``: ``{"dog": {"total_count": 1, "crop_path": [...],
"bbox": [[...]]}, "nut": {"total_count": 0, ...}}`` (``models/detector.py`` of
https://github.com/BradyFU/Woodpecker). A box is left, top, right and bottom in shares of the
image's sides.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..errors import AnnotationError
from .format import Format, Way, entries, first_key, image_id_of
from .instances import Instances, from_corners
from .listed import listed
from .objects import ObjectLabels

_IMAGE = ("image_id", "img_path", "image")


def read_woodpecker(samples: list[Any], found: Instances) -> ObjectLabels:
    """Read the entities of each sample: their number, 0 for those that were not found."""
    key = first_key(samples, _IMAGE)
    for at, sample in entries(samples, found.where):
        image_id = image_id_of(sample, key, at)
        of = f"{at} (image {image_id!r:.60})"
        found.image_once(image_id, at)
        entities = sample.get("entity_info")
        if not isinstance(entities, Mapping):
            raise AnnotationError(f"{of}: 'entity_info' is not an object; write what was found.")
        for name, entity in entities.items():
            if not isinstance(entity, Mapping) or "total_count" not in entity:
                raise AnnotationError(f"{of}: {name!r:.40} has no 'total_count'; write a number.")
        found.asked_in(image_id)
        try:
            counted = list(listed({n: e["total_count"] for n, e in entities.items()}, found.lowest))
        except AnnotationError as problem:
            raise AnnotationError(f"{of}: {problem}") from None
        for one in counted:
            label = found.ask(image_id, one.name, of)
            if one.number:
                found.add(image_id, one.name, of, one.number)
            boxes = entities[one.name].get("bbox")
            for box in boxes if label and isinstance(boxes, list) else ():
                found.keep_box(image_id, label, from_corners(box), size=(1.0, 1.0))
    return found.object_labels("woodpecker", says_asked=True)


FORMAT = Format(
    "Woodpecker",
    "Woodpecker's samples with `entity_info`, a list or JSON Lines",
    "",
    "the image is `image_id`, `img_path` or `image`; a `total_count` of 0 is not there",
    (Way("list", ("[].entity_info",), read_woodpecker),),
)
