"""JSON or a mapping keyed by image id: ``{"42": ["caption", ...]}``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..image_ids import ImageId
from .columns import Wanted
from .layout import Layout
from .values import list_of, one_text_of, text_of


def read_by_image(
    content: Mapping[Any, Any], where: str, wanted: Wanted
) -> dict[ImageId, list[str]]:
    """Return the captions of each image.

    Raises
    ------
    CaptionError
        If a value is not a list of strings, or for results not one string.
    """
    found: dict[ImageId, list[str]] = {}
    for image_id, captions in content.items():
        at = f"{where}: image {image_id!r:.60}"
        if wanted.references:
            found[image_id] = [text_of(caption, at) for caption in list_of(captions, at)]
        else:
            found[image_id] = [one_text_of(captions, at)]
    return found


LAYOUT = Layout(
    '{"id": "caption"}',
    '`{"id": "caption"}`, `{"id": ["caption"]}`, which `compute_score` takes',
    "yes",
    "lists of any length",
    lambda content, wanted: isinstance(content, Mapping),
    read_by_image,
)
