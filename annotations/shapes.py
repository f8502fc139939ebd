"""By what content is recognised: the keys, lists and columns that only one format has."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, TypeAlias

from .arrays import is_arrays
from .csv_rows import header
from .label_csv import has_label_columns

#: What content comes as: a JSON object or Python mapping, a JSON list, text that is not JSON, the
#: bytes of an XML file, or a folder with one file per image.
Carrier: TypeAlias = Literal["object", "list", "table", "xml", "folder"]

_OF_AN_IMAGE = {"id", "imgid", "file_name", "filename"}


def first_entry(entries: Any) -> Mapping[str, Any]:
    """Return the first entry of a list, if it is an object."""
    first = entries[0] if isinstance(entries, list) and entries else None
    return first if isinstance(first, Mapping) else {}


def is_panoptic(content: Mapping[str, Any]) -> bool:
    """Tell COCO's panoptic annotations from its instances."""
    return "categories" in content and "segments_info" in first_entry(content.get("annotations"))


def is_instances(content: Mapping[str, Any]) -> bool:
    """Tell whether there are annotations and categories."""
    listed = isinstance(content.get("annotations"), list)
    return listed and "categories" in content and not is_panoptic(content)


def is_nocaps(content: Mapping[str, Any]) -> bool:
    """Tell whether the images have Open Images ids too."""
    return "open_images_id" in first_entry(content.get("images"))


def is_captions(content: Mapping[str, Any]) -> bool:
    """Tell whether there are annotations without categories."""
    listed = isinstance(content.get("annotations"), list)
    return listed and "categories" not in content and not is_nocaps(content)


def is_image_list(content: Mapping[str, Any]) -> bool:
    """Tell whether images are listed without annotations; an image may be called *images*."""
    lacks = not isinstance(content.get("annotations"), list) and not is_nocaps(content)
    images = content.get("images")
    return (
        lacks
        and isinstance(images, list)
        and ("categories" in content or bool(first_entry(images).keys() & _OF_AN_IMAGE))
    )


def is_one_image(content: Mapping[str, Any]) -> bool:
    """Tell the parallel arrays of one image from images and their labels."""
    labelled = "labels" in content or "text_labels" in content
    boxed = any(key in content for key in ("scores", "boxes", "bboxes"))
    return labelled and boxed and is_arrays(content)


def is_inferencer_result(content: Mapping[str, Any]) -> bool:
    """Tell what MMDetection's DetInferencer returns."""
    predictions = first_entry(content.get("predictions"))
    return bool(predictions) and is_arrays(predictions)


def is_open_images(text: str) -> bool:
    """Tell the header of Open Images' CSV; a quote may be broken in it."""
    first = text.lstrip("\n").partition("\n")[0]
    return "ImageID" in first and ("LabelName" in first or not has_label_columns(header(text)[0]))
