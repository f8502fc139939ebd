"""COCO's caption annotations, ``captions_*.json``.

Format: https://cocodataset.org/#format-data.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..errors import CaptionError
from ..image_ids import ImageId
from .fields import MISSING, Wanted
from .layouts import ByImage, Layout, image_id_of, list_of, text_of


def _read_captions(content: Mapping[str, Any], where: str, wanted: Wanted) -> ByImage:
    """Return the captions of each image, in the order of ``images``."""
    references: ByImage = {}
    listed: dict[ImageId, Any] = {}
    for number, image in enumerate(list_of(content.get("images", []), f"{where}: images")):
        at = f"{where}: images[{number}]"
        image_id = _image_id(image, "id", at)
        if listed.setdefault(image_id, image) != image:
            raise CaptionError(f"{at}: image {image_id!r} is listed twice; keep one entry.")
        references[image_id] = []
    annotations = list_of(content["annotations"], f"{where}: annotations")
    for number, annotation in enumerate(annotations):
        at = f"{where}: annotations[{number}]"
        image_id = _image_id(annotation, "image_id", at)
        if listed and image_id not in listed:
            raise CaptionError(
                f"{at}: image {image_id!r:.40} is not among the file's images; list it, or leave "
                "its captions out."
            )
        references.setdefault(image_id, []).append(_caption(annotation, at, image_id))
    return references


def _image_id(entry: Any, key: str, at: str) -> ImageId:
    if not isinstance(entry, dict):
        raise CaptionError(f"{at}: expected an object with '{key}', found {entry!r:.40}.")
    return image_id_of(entry.get(key, MISSING), key, at)


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
