"""Lists of records, each of an image and a caption: JSON, JSON Lines, CSV, TSV or Parquet."""

from __future__ import annotations

from ..errors import CaptionError
from ..image_ids import ImageId
from .columns import Wanted, caption_field, id_field
from .layout import Layout
from .records import Records
from .values import MISSING, SEVERAL, image_id_of, one_text_of, texts_of


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
    several = wanted.references
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


LAYOUT = Layout(
    'records {"image_id": ..., "caption": ...} (a JSON list, JSON Lines, CSV or TSV with a header, '
    "Parquet)",
    'records: JSON `[{"image_id": 42, "caption": "..."}]`, as COCO\'s server takes them; JSON '
    "Lines, one object per line; CSV or TSV with a header; Parquet "
    "(`pip install 'vifidel-eval[tables]'`)",
    "one per image; the caption may be in a list of one",
    "any number per image, each with a caption or, except in CSV and TSV, a list of captions",
    lambda content, wanted: isinstance(content, Records),
    read_records,
)
