"""COCO's caption annotations, ``captions_*.json``.

Format: https://cocodataset.org/#format-data.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..errors import CaptionError
from ..io.image_ids import ImageId
from .fields import MISSING, Wanted
from .layouts import ByImage, Layout, entries, image_id_of, text_of


def _read_captions(content: Mapping[str, Any], where: str, wanted: Wanted) -> ByImage:
    """Return the captions of each image, in the order of ``images``."""
    references: ByImage = {}
    listed: dict[ImageId, Any] = {}
    for at, image in entries(content.get("images", []), f"{where}: images", "id"):
        image_id = image_id_of(image.get("id", MISSING), "id", at)
        if listed.setdefault(image_id, image) != image:
            raise CaptionError(f"{at}: image {image_id!r} is listed twice; keep one entry.")
        references[image_id] = []
    annotations = content["annotations"]
    for at, annotation in entries(annotations, f"{where}: annotations", "image_id"):
        image_id = image_id_of(annotation.get("image_id", MISSING), "image_id", at)
        if listed and image_id not in listed:
            raise CaptionError(
                f"{at}: image {image_id!r:.40} is not among the file's images; list it, or leave "
                "its captions out."
            )
        references.setdefault(image_id, []).append(_caption(annotation, at, image_id))
    return references


def _caption(entry: Mapping[str, Any], at: str, image_id: ImageId) -> str:
    if "caption" not in entry:
        keys = ", ".join(map(repr, entry))
        holds = "object annotations" if "category_id" in entry else f"only {keys:.60}"
        raise CaptionError(
            f"{at} (image {image_id!r}): no 'caption', but {holds}; is it a caption file?"
        )
    return text_of(entry["caption"], f"{at} (image {image_id!r})")


LAYOUT = Layout(
    "a dataset's annotations",
    "COCO `captions_*.json`",
    "",
    "yes",
    ("annotations",),
    None,
    _read_captions,
)
