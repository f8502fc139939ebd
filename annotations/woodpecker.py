"""Samples of Woodpecker (Yin et al., 2023) with what its detector looked for.

A sample has ``img_path`` and ``entity_info``: ``{"dog": {"total_count": 1, "crop_path": [...],
"bbox": [[...]]}, "nut": {"total_count": 0, ...}}`` (``models/detector.py`` of
https://github.com/BradyFU/Woodpecker). A box is left, top, right and bottom in shares of the
image's sides.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..arguments import shows
from ..errors import AnnotationError
from ..image_ids import ImageId
from .carriers import places
from .coco import entries, image_id_of
from .labels import label_entries
from .objects import ObjectLabels, count
from .record import Format, ReadOptions, Way

_IMAGE = ("image_id", "img_path", "image")


def read_woodpecker(samples: list[Any], options: ReadOptions) -> ObjectLabels:
    """Read the entities of each sample: their number, 0 for those that were not found.

    Raises
    ------
    AnnotationError
        If an image is listed twice, or an entity has no ``total_count``.
    """
    where, boxes = options.where, options.boxes
    images: dict[ImageId, dict[str, int]] = {}
    asked: dict[ImageId, dict[str, int]] = {}
    key = next((key for key in _IMAGE if shows(samples, [f"[].{key}"])), _IMAGE[0])
    for sample, at in zip(entries(samples, "", where), places(samples, where), strict=True):
        image_id = image_id_of(sample, key, at)
        of = f"{at} (image {image_id!r:.60})"
        if image_id in images:
            raise AnnotationError(f"{at}: image {image_id!r:.60} is listed twice; keep one entry.")
        found = sample.get("entity_info")
        if not isinstance(found, Mapping):
            raise AnnotationError(f"{of}: 'entity_info' is not an object; write what was found.")
        for name, entity in found.items():
            if not isinstance(entity, Mapping) or "total_count" not in entity:
                raise AnnotationError(f"{of}: {name!r:.40} has no 'total_count'; write a number.")
        images[image_id], asked[image_id] = {}, {}
        try:
            numbers, _ = label_entries(
                {name: entity["total_count"] for name, entity in found.items()}, options.lowest
            )
        except AnnotationError as problem:
            raise AnnotationError(f"{of}: {problem}") from None
        for name, number in numbers:
            count(asked[image_id], name, at=of)
            if number:
                count(images[image_id], name, number, at=of)
            given = found[name].get("bbox")
            for box in given if boxes is not None and isinstance(given, list) else ():
                boxes.add_corners(image_id, name, box, size=(1.0, 1.0))  # type: ignore[union-attr]
    return ObjectLabels(images, "woodpecker", where, asked=asked)


FORMAT = Format(
    "Woodpecker",
    "Woodpecker's samples with `entity_info`, a list or JSON Lines",
    "",
    "the image is `image_id`, `img_path` or `image`; a `total_count` of 0 is not there",
    (Way("list", ("[].entity_info",), read_woodpecker),),
)
