"""Records of images and their objects: JSON Lines, one image a line, or a list in JSON.

``{"image": "beach.jpg", "objects": ["dog", "dog", "frisbee"]}``; the objects of an image are in any
of the shapes that `.labels` reads. ``"asked": ["dog", "nut"]`` in a record says what was looked for
in its image, and ``{"classes": ["dog", ...]}`` as the first record what was looked for in all.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..arguments import shows
from ..errors import AnnotationError
from ..image_ids import ImageId
from .carriers import below_header, classes_of, places
from .coco import entries, image_id_of
from .labels import LabelList, read_items
from .objects import ObjectLabels
from .record import Format, ReadOptions, Way

# The names of image ids; of several in the first record, the first of these counts.
_IMAGE = ("image_id", "image", "file_name", "filename", "id")
# These tell a record of an image from an image that is called *objects*.
_RECORD = ("objects", " ".join(f"{key}=" for key in _IMAGE))


def read_records(records: list[Any], options: ReadOptions) -> ObjectLabels:
    """Read one object per image, with its id and its ``objects``.

    Raises
    ------
    AnnotationError
        If a record has no image or no objects, an image has two, or `.labels` raises it.
    """
    where = options.where
    header, records = below_header(records)
    classes = classes_of(header, where)
    key = next((key for key in _IMAGE if shows(records, [f"[].{key}"])), _IMAGE[0])
    images: dict[ImageId, LabelList] = {}
    for record, at in zip(entries(records, "", where), places(records, where), strict=True):
        image_id = image_id_of(record, key, at)
        if image_id in images:
            raise AnnotationError(f"{at}: image {image_id!r:.40} is listed twice; keep one entry.")
        if "objects" not in record:
            raise AnnotationError(
                f"{at} (image {image_id!r:.40}): 'objects' is missing; every image needs a list of "
                "them."
            )
        images[image_id] = (
            {"objects": record["objects"], "asked": record["asked"]}
            if "asked" in record
            else record["objects"]
        )
    return read_items(images, options, classes)


def _are_records(found: list[Any]) -> bool:
    """Tell records from Visual Genome's, whose objects have ``names``; it lists image ids only."""
    header, found = below_header(found)
    if not found or not shows(found[0], _RECORD):
        return False
    if header or any(isinstance(entry, dict) and "asked" in entry for entry in found):
        return True
    given = [entry["objects"] for entry in found if isinstance(entry, dict) and "objects" in entry]
    first = next(filter(None, given), None)
    if isinstance(first, list):
        return not isinstance(first[0], Mapping) or bool({"label", "name"} & first[0].keys())
    return first is not None or not {"image_id", "id"} & found[0].keys()


FORMAT = Format(
    "JSON Lines of objects",
    'JSON Lines `{"image": "beach.jpg", "objects": ["dog", "dog"]}`, one image a line, or a list '
    "of such records",
    ".6, if there are scores",
    "the image is `image_id`, `image`, `file_name`, `filename` or `id`; its objects are as in the "
    'rows below; with `"asked": ["dog", "nut"]` per image, or `{"classes": [...]}` as the first '
    "line, what was looked for can be absent",
    (Way("list", _are_records, read_records),),
)
