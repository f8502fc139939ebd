"""What people give instead of objects: how it is recognised, and what is said."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .arrays import is_arrays
from .csv_rows import header
from .label_csv import has_image_column, has_label_columns, usual_names
from .shapes import (
    Carrier,
    first_entry,
    is_captions,
    is_image_list,
    is_inferencer_result,
    is_one_image,
    is_open_images,
)
from .yolo import is_label_line


@dataclass(frozen=True)
class LookAlike:
    """Content that is not objects: how it is recognised, and what is said."""

    carrier: Carrier
    recognised: Callable[[Any], bool]
    message: str | Callable[[Any], str]

    def said(self, content: Any) -> str:
        """Return what is wrong with the content and what to do, without its name."""
        return self.message if isinstance(self.message, str) else self.message(content)


def _table_without_labels(text: str) -> str:
    fields = ", ".join(f"{field!r:.40}" for field in header(text)[0][:8])
    return f"a table without a column of labels ({fields}); the usual names are {usual_names()}."


#: Tried before the formats; the first that is recognised is said.
NOT_OBJECTS = (
    LookAlike(
        "object",
        is_captions,
        "has 'annotations' but no 'categories': a caption file says nothing of objects; give the "
        "instances file of the same images.",
    ),
    LookAlike("object", is_image_list, "has no 'annotations'; give the instances file."),
    LookAlike(
        "object",
        is_one_image,
        "the detections in one image as parallel arrays, and nothing says which image; give the "
        "folder with one such file per image, or {image id: detections}.",
    ),
    LookAlike(
        "object",
        is_inferencer_result,
        "what MMDetection's DetInferencer returns, where nothing says which image each prediction "
        "is of; give the folder preds/ that it writes, or {image id: prediction}.",
    ),
    LookAlike("list", lambda found: not found, "an empty list; there is no detection in it."),
    LookAlike(
        "list",
        lambda found: "caption" in first_entry(found),
        "holds captions, not objects; give captions as results or references.",
    ),
    LookAlike(
        "list",
        lambda found: (
            is_arrays(first_entry(found))
            and not first_entry(found).keys() & {"image_id", "objects"}
        ),
        "a list of detections as parallel arrays (Hugging Face's post_process_... or torchvision), "
        "where nothing says which image each is of; write {image id: detections}.",
    ),
    LookAlike(
        "list",
        lambda found: not first_entry(found).keys() & {"image_id", "objects"},
        "a list whose entries have no 'image_id', so nothing says which image each belongs to; "
        "write {image id: [detections]} instead.",
    ),
    LookAlike(
        "table",
        lambda text: is_label_line(text.strip().partition("\n")[0]),
        "looks like YOLO labels of one image; give the folder that has one such file per image.",
    ),
    LookAlike(
        "table",
        lambda text: (
            has_image_column(header(text)[0])
            and not has_label_columns(header(text)[0])
            and not is_open_images(text)
        ),
        _table_without_labels,
    ),
)
