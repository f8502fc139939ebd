"""Lists of records, each of an image and a caption: JSON, JSON Lines, CSV, TSV or Parquet."""

from __future__ import annotations

from ..errors import CaptionError
from ..image_ids import ImageId
from .columns import caption_field, id_field
from .layout import Layout, Wanted
from .records import Records
from .values import MISSING, SEVERAL, image_id_of, one_text_of, texts_of


def read_records(records: Records, where: str, wanted: Wanted) -> dict[ImageId, list[str]]:
    """Return the captions of each image, in the order of the file.

    Raises
    ------
    CaptionError
        If the fields of image ids and captions are not clear, a value is neither an image id nor a
        caption, or a result file has two captions for an image.
    """
    if not records.entries:
        return {}
    id_name = id_field(records.names, wanted.id_fields, where)
    caption_name = caption_field(
        records.names, wanted.usual, wanted.caption_fields, where, wanted.option
    )
    return captions_in(records, id_name, caption_name, wanted.references)


def captions_in(
    records: Records, id_name: str, caption_name: str, several: bool
) -> dict[ImageId, list[str]]:
    """Return the captions of each image from the fields of those names.

    Parameters
    ----------
    records : Records
        The entries.
    id_name, caption_name : str
        The fields.
    several : bool
        Whether an image may have several captions.

    Raises
    ------
    CaptionError
        As `read_records` raises it.
    """
    found: dict[ImageId, list[str]] = {}
    for number, entry in enumerate(records.entries):
        image_id: ImageId = entry.get(id_name, MISSING)
        if type(image_id) is not int:
            image_id = image_id_of(image_id, id_name, records.at(number), records.textual)
        if image_id in found and not several:
            # Where a file has several captions per image, the second entry shows it.
            raise _two_captions(records, image_id, list(found).index(image_id), number)
        caption = entry.get(caption_name, MISSING)
        if type(caption) is str:
            captions = [caption]
        else:
            at = f"{records.at(number)} (image {image_id!r:.60})"
            captions = texts_of(caption, at) if several else [one_text_of(caption, at)]
        found.setdefault(image_id, []).extend(captions)
    return found


def _two_captions(records: Records, image_id: ImageId, first: int, second: int) -> CaptionError:
    what = "entries " if records.lines is None else ""
    return CaptionError(
        f"{records.where}: two captions for image {image_id!r:.60} "
        f"({what}{records.place(first)} and {records.place(second)}); keep one ({SEVERAL})."
    )


JSON = Layout(
    'a list of {"image_id": ..., "caption": ...} in JSON',
    'JSON `[{"image_id": 42, "caption": "..."}]`, which COCO\'s server takes',
    "yes; the caption may be in a list of one",
    "yes; several entries per image are allowed, each with a caption or a list of captions",
    lambda content, wanted: isinstance(content, Records) and content.lines is None,
    read_records,
)

JSON_LINES = Layout(
    "JSON Lines",
    "JSON Lines: one object per line",
    "one line per image",
    "any number of lines per image, each with a caption or a list of captions",
    lambda content, wanted: (
        isinstance(content, Records) and content.unit == "line" and not content.textual
    ),
    read_records,
)

TABLE = Layout(
    "CSV or TSV with a header, Parquet",
    "CSV or TSV with a header, Parquet (`pip install 'vifidel-eval[tables]'`)",
    "one row per image",
    "any number of rows per image; in Parquet, a row may also hold a list of captions",
    lambda content, wanted: isinstance(content, Records),
    read_records,
)
