"""Result files: one caption per image, of one system."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from ..errors import CaptionError
from ..image_ids import ImageId, check_distinct, from_json_key
from . import llava, lmms_eval
from .columns import CAPTIONS, caption_field, id_field
from .records import Records, read_content
from .values import MISSING, SEVERAL, image_id_of, one_text_of


def read_results(
    path: str | os.PathLike[str],
    id_fields: Sequence[str] = (),
    caption_fields: Sequence[str] = (),
) -> dict[ImageId, str]:
    """Read a result file of any accepted format, recognised by its content.

    Records of an image id and a caption (``[{"image_id": 42, "caption": "..."}]``, JSON Lines, CSV
    or TSV with a header, Parquet), ``{"id": "caption"}``, ``{"id": ["caption"]}``, lmms-eval's
    samples, LLaVA's answers.

    Parameters
    ----------
    path : path
        The file; ``-`` for standard input.
    id_fields, caption_fields : sequence of str
        What the fields of records are called, instead of the usual names; of several, the first
        that the file has.

    Returns
    -------
    dict
        Image id to its caption, in the order of the file.

    Raises
    ------
    CaptionError
        If the file cannot be read, holds something else, has two captions for one image, or a
        caption is not a string.
    ImageIdError
        If two ids mean the same image, such as 1 and ``"1"``.
    """
    read, where = read_content(path)
    content: Records | dict[Any, Any] = read
    if isinstance(read, dict):
        content = {from_json_key(key): caption for key, caption in read.items()}
    return results_of(content, where, id_fields, caption_fields)


def results_of(
    content: Records | Mapping[Any, Any],
    where: str,
    id_fields: Sequence[str] = (),
    caption_fields: Sequence[str] = (),
) -> dict[ImageId, str]:
    """Return the captions of records, or of a mapping of image id to caption.

    Parameters
    ----------
    content : Records or mapping
        What was read; the keys of a mapping are image ids as they are.
    where : str
        What messages call it.
    id_fields, caption_fields : sequence of str
        As for `read_results`.

    Raises
    ------
    CaptionError, ImageIdError
        As `read_results` raises them.
    """
    if isinstance(content, Records):
        results = _from_records(content, id_fields, caption_fields) if content.entries else {}
    else:
        results = _from_keyed(content, where)
    if not results:
        raise CaptionError(f"{where}: there is no caption in it.")
    check_distinct(results, where)
    return results


def _from_records(
    records: Records, id_fields: Sequence[str], caption_fields: Sequence[str]
) -> dict[ImageId, str]:
    names = records.names()
    if lmms_eval.are_samples(names):
        records = lmms_eval.predictions(records)
        id_name, caption_name = "image_id", "caption"
    else:
        id_name = id_field(names, id_fields, records.where)
        caption_name = caption_field(
            names, CAPTIONS, caption_fields, records.where, "--caption-field"
        )
        if not caption_fields:
            llava.check_answers(names, caption_name, records.where)
    results: dict[ImageId, str] = {}
    first_at: dict[ImageId, int] = {}
    for number, entry in enumerate(records.entries):
        image_id: ImageId = entry.get(id_name, MISSING)
        if type(image_id) is not int:
            image_id = image_id_of(image_id, id_name, records.at(number), records.textual)
        if image_id in first_at:
            # Where a file has several captions per image, the second entry shows it.
            what = "entries" if records.lines is None else ""
            places = f"{records.place(first_at[image_id])} and {records.place(number)}"
            raise CaptionError(
                f"{records.where}: two captions for image {image_id!r:.60} "
                f"({f'{what} {places}'.strip()}); keep one ({SEVERAL})."
            )
        first_at[image_id] = number
        caption = entry.get(caption_name, MISSING)
        if type(caption) is not str:
            caption = one_text_of(caption, f"{records.at(number)} (image {image_id!r:.60})")
        results[image_id] = caption
    return results


def _from_keyed(content: Mapping[Any, Any], where: str) -> dict[ImageId, str]:
    lmms_eval.refuse_summary(content, where)
    if "annotations" in content or isinstance(content.get("images"), list):
        raise CaptionError(
            f"{where}: holds a dataset's annotations; a result file is a list of "
            '{"image_id": ..., "caption": ...}, or another format of docs/captions.md.'
        )
    results: dict[ImageId, str] = {}
    for image_id, caption in content.items():
        results[image_id] = one_text_of(caption, f"{where}: image {image_id!r:.60}")
    return results
