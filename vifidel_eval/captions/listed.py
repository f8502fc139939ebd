"""The two plain layouts: records of an image and a caption each, and ``{"42": ["caption", ...]}``.

Records come as a list in JSON, JSON Lines, CSV, TSV or Parquet.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..errors import CaptionError
from ..image_ids import ImageId
from .columns import caption_field, id_field
from .layout import (
    MISSING,
    SEVERAL,
    Layout,
    Wanted,
    image_id_of,
    list_of,
    one_text_of,
    text_of,
    texts_of,
)
from .records import Records


def read_records(records: Records, where: str, wanted: Wanted) -> dict[ImageId, list[str]]:
    """Return the captions of each image, in the order of the file.

    Raises
    ------
    CaptionError
        If the fields of image ids and captions are not clear, or `captions_in` raises it.
    """
    if not records.entries:
        return {}
    id_name = id_field(records.names, wanted.id_fields, where)
    caption_name = caption_field(records.names, wanted, where)
    return captions_in(records, id_name, caption_name, wanted)


def captions_in(
    records: Records, id_name: str, caption_name: str, wanted: Wanted
) -> dict[ImageId, list[str]]:
    """Return the captions of each image from the fields of those names.

    Parameters
    ----------
    records : Records
        The entries.
    id_name, caption_name : str
        The fields.
    wanted : Wanted
        Results or references.

    Raises
    ------
    CaptionError
        If a value is neither an image id nor a caption, or results have two captions for an image.
    """
    several = wanted.several
    found: dict[ImageId, list[str]] = {}
    for number, entry in enumerate(records.entries):
        image_id: ImageId = entry.get(id_name, MISSING)
        if type(image_id) is not int:
            image_id = image_id_of(image_id, id_name, records.at(number), records.textual)
        of_image = found.get(image_id)
        if of_image is not None and not several:
            # Where a file has several captions per image, the second entry shows it.
            raise _two_captions(records, image_id, list(found).index(image_id), number)
        caption = entry.get(caption_name, MISSING)
        if type(caption) is str:
            captions = [caption]
        else:
            at = f"{records.at(number)} (image {image_id!r:.60})"
            captions = texts_of(caption, at) if several else [one_text_of(caption, at)]
        if of_image is None:
            found[image_id] = captions
        else:
            of_image += captions
    return found


def _two_captions(records: Records, image_id: ImageId, first: int, second: int) -> CaptionError:
    what = "entries " if records.lines is None else ""
    return CaptionError(
        f"{records.where}: two captions for image {image_id!r:.60} "
        f"({what}{records.place(first)} and {records.place(second)}); keep one ({SEVERAL})."
    )


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
        elif wanted.samples:
            found[image_id] = texts_of(captions, at)
        else:
            found[image_id] = [one_text_of(captions, at)]
    return found


LISTED = Layout(
    'records {"image_id": ..., "caption": ...} (a JSON list, JSON Lines, CSV or TSV with a header, '
    "Parquet)",
    'records: JSON `[{"image_id": 42, "caption": "..."}]`, as COCO\'s server takes them; JSON '
    "Lines, one object per line; CSV or TSV with a header; Parquet "
    "(`pip install 'vifidel-eval[tables]'`)",
    "one per image; the caption may be in a list of one",
    "any number per image, each with a caption or, except in CSV and TSV, a list of captions",
    None,
    (),
    read_records,
)
BY_IMAGE = Layout(
    '{"id": "caption"}',
    '`{"id": "caption"}`, `{"id": ["caption"]}`, which `compute_score` takes',
    "yes",
    "lists of any length",
    (),
    None,
    read_by_image,
)
