"""Reference files: any number of captions per image."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from ..errors import CaptionError
from ..image_ids import ImageId, check_distinct, from_json_key
from . import coco, karpathy, llava, lmms_eval
from .columns import REFERENCES, caption_field, id_field
from .records import Records, read_content
from .values import MISSING, image_id_of, texts_of


def read_references(
    path: str | os.PathLike[str],
    splits: Sequence[str] = (),
    id_fields: Sequence[str] = (),
    reference_fields: Sequence[str] = (),
) -> dict[ImageId, list[str]]:
    """Read references of any accepted format, recognised by its content.

    COCO ``captions_*.json``, ``{"id": ["caption", ...]}``, Karpathy's ``dataset_*.json``, the
    answers in lmms-eval's samples, and records (JSON, JSON Lines, CSV, TSV, Parquet) with one
    caption or a list of captions each; an image may have any number of records.

    Parameters
    ----------
    path : path
        The file; ``-`` for standard input.
    splits : sequence of str
        The splits that count, where the file has splits.
    id_fields, reference_fields : sequence of str
        What the fields of records are called, instead of the usual names; of several, the first
        that the file has.

    Returns
    -------
    dict
        Image id to its captions, in the order of the file's images; images without a caption have
        an empty list.

    Raises
    ------
    CaptionError
        If the file cannot be read, holds something else, has splits of which none is named, a
        caption is not a string or is of an image that ``images`` does not list, or an image is
        listed twice in different ways.
    ImageIdError
        If two ids mean the same image, such as 1 and ``"1"``.
    """
    content, where = read_content(path)
    if isinstance(content, dict):
        content = {from_json_key(key): captions for key, captions in content.items()}
    return references_of(content, where, splits, id_fields, reference_fields)


def references_of(
    content: Records | Mapping[Any, Any],
    where: str,
    splits: Sequence[str] = (),
    id_fields: Sequence[str] = (),
    reference_fields: Sequence[str] = (),
) -> dict[ImageId, list[str]]:
    """Return the captions of records, of a dataset, or of a mapping of image id to captions.

    Parameters
    ----------
    content : Records or mapping
        What was read; the keys of a mapping are image ids as they are, unless it is a dataset.
    where : str
        What messages call it.
    splits, id_fields, reference_fields : sequence of str
        As for `read_references`.

    Raises
    ------
    CaptionError, ImageIdError
        As `read_references` raises them.
    """
    if isinstance(content, Mapping) and karpathy.has_splits(content):
        references = karpathy.read_splits(content, where, splits)
    elif splits:
        raise CaptionError(f"{where}: has no splits, so that --split has no effect; leave it out.")
    elif isinstance(content, Records):
        references = _from_records(content, id_fields, reference_fields)
    elif "annotations" in content:
        references = coco.read_captions(content, where)
    else:
        references = _from_keyed(content, where)
    if not references:
        raise CaptionError(f"{where}: there is no image and no caption in it.")
    check_distinct(references, where)
    return references


def _from_records(
    records: Records, id_fields: Sequence[str], reference_fields: Sequence[str]
) -> dict[ImageId, list[str]]:
    if not records.entries:
        return {}
    names = records.names()
    if lmms_eval.are_samples(names):
        records = lmms_eval.answers(records)
        id_name, caption_name = "image_id", "captions"
    else:
        id_name = id_field(names, id_fields, records.where)
        caption_name = caption_field(
            names, REFERENCES, reference_fields, records.where, "--reference-field"
        )
        if not reference_fields:
            llava.check_answers(names, caption_name, records.where)
    references: dict[ImageId, list[str]] = {}
    for number, entry in enumerate(records.entries):
        image_id: ImageId = entry.get(id_name, MISSING)
        if type(image_id) is not int:
            image_id = image_id_of(image_id, id_name, records.at(number), records.textual)
        captions = entry.get(caption_name, MISSING)
        of_image = references.setdefault(image_id, [])
        if type(captions) is str:
            of_image.append(captions)
        else:
            of_image += texts_of(captions, f"{records.at(number)} (image {image_id!r:.60})")
    return references


def _from_keyed(content: Mapping[Any, Any], where: str) -> dict[ImageId, list[str]]:
    lmms_eval.refuse_summary(content, where)
    if isinstance(content.get("images"), list):
        raise CaptionError(
            f"{where}: lists images, but has neither 'annotations' nor 'sentences': there is no "
            "caption in it."
        )
    return coco.read_keyed(content, where)
