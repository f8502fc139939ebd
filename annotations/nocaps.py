"""nocaps beside Open Images: the same images under two ids.

Format: https://nocaps.org/download. ``images`` have an ``id``, which captions and results use, and
an ``open_images_id``, which Open Images' boxes use. The file has no objects of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..errors import AnnotationError
from ..io.image_ids import ImageId, mismatch
from .format import Format, Way, entries, image_id_of
from .instances import ImageBoxes, Instances
from .objects import ObjectLabels


@dataclass(frozen=True)
class NocapsImages:
    """nocaps' id of each Open Images id, and the file for messages."""

    ids: Mapping[ImageId, ImageId]
    where: str

    def rename(self, objects: ObjectLabels) -> ObjectLabels:
        """Return objects of Open Images under nocaps' ids, for nocaps' images only.

        An image without boxes is known and empty. Objects that have nocaps' ids stay as they are.
        """
        known = [image_id for image_id in self.ids if image_id in objects]
        if not known and any(image_id in objects for image_id in self.ids.values()):
            return objects
        if 2 * len(known) < len(self.ids):
            missing = [image_id for image_id in self.ids if image_id not in objects]
            raise mismatch(missing, objects, f"nocaps' images ({self.where})", objects.where)
        return objects.renamed(self.ids)

    def rename_boxes(self, boxes: Mapping[ImageId, ImageBoxes]) -> dict[ImageId, ImageBoxes]:
        """Return boxes of Open Images under nocaps' ids; an image with another id keeps it."""
        return {self.ids.get(image_id, image_id): of_image for image_id, of_image in boxes.items()}


def read_nocaps(content: Mapping[str, Any], found: Instances) -> NocapsImages:
    """Read the images of a nocaps file, with or without captions."""
    ids: dict[ImageId, ImageId] = {}
    for at, image in entries(content.get("images"), found.where, "images"):
        image_id, open_images_id = image_id_of(image, "id", at), image.get("open_images_id")
        if not isinstance(open_images_id, str) or not open_images_id:
            raise AnnotationError(f"{at} (image {image_id!r:.40}): 'open_images_id' is missing.")
        if open_images_id in ids:
            raise AnnotationError(f"{at}: {open_images_id!r:.40} is listed twice; keep one entry.")
        ids[open_images_id] = image_id
    if len(set(ids.values())) < len(ids):
        raise AnnotationError(
            f"{found.where}: two images have the same 'id'; every image needs its own."
        )
    return NocapsImages(ids, found.where)


NOCAPS = Format(
    "nocaps JSON",
    "nocaps JSON (its images have `open_images_id`) beside Open Images boxes",
    "",
    "give both: `--objects nocaps.json --objects boxes.csv`; the boxes get nocaps' image ids",
    (Way("object", ("images[].open_images_id",), read_nocaps),),
)
