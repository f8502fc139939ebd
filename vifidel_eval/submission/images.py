"""The images that a submission must describe: any list of image ids, or the splits of COCO."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable
from typing import Any

from ..arguments import named_if_wrong
from ..captions import karpathy
from ..captions.columns import IMAGE_IDS, id_field, usual
from ..captions.layout import MISSING, image_id_of
from ..captions.records import Records, content_of
from ..captions.tables import PARQUET, delimiter
from ..errors import CaptionError, VifidelWarning
from ..files import as_text, read_bytes, read_json
from ..image_ids import ImageId, check_distinct, from_json_key
from ..runs.pairing import parse_image_ids
from .results import SPLITS


@named_if_wrong
def read_image_list(path: str | os.PathLike[str]) -> dict[ImageId, None]:
    """Read image ids from any file that lists images.

    COCO-style JSON (``images`` with ``id``, as captions, instances and image info files have it), a
    JSON list of ids, one id per line, ``{"id": ...}``, or records (JSON, JSON Lines, CSV, TSV,
    Parquet) whose image id has a usual name.

    Returns
    -------
    dict
        The ids as keys, in the order of the file.

    Raises
    ------
    CaptionError
        If the file cannot be read or lists no images.
    ImageIdError
        If two ids mean the same image, or a plain list has one twice.
    """
    where, raw = str(path), read_bytes(path, CaptionError)
    text = "" if raw.startswith(PARQUET) else as_text(raw, where, CaptionError)
    header, _, rows = text.partition("\n")
    between = delimiter(text)
    columns = header.split(between) if between else [header]
    is_table = bool(usual([name.strip('"') for name in columns], IMAGE_IDS))
    ids: Iterable[ImageId]
    if text and not is_table and text.lstrip()[:1] not in ("{", "["):
        ids = parse_image_ids(text, where)
    elif is_table and not between:
        ids = parse_image_ids(f"\n{rows}", where)  # the lines keep their numbers
    else:
        content = content_of(raw, where)
        if isinstance(content, dict):
            ids = _of_object(content, where)
        elif content.entries and not isinstance(content.entries[0], dict):
            ids = parse_image_ids(text, where)
        else:
            ids = _of_records(content)
    listed = dict.fromkeys(ids)
    if not listed:
        raise CaptionError(f"{where}: there is no image id in it.")
    check_distinct(listed, where)
    return listed


@named_if_wrong
def read_images(path: str | os.PathLike[str], split: str) -> dict[int, None]:
    """Read the image ids of a split: COCO ``captions_val2014.json``, ``image_info_test2014.json``.

    Returns
    -------
    dict
        The ids as keys, in the order of the file.

    Raises
    ------
    CaptionError
        If the file cannot be read or does not list images, or there is no such split.

    Warns
    -----
    VifidelWarning
        If it has more or fewer images than the split, so that the server asks for others.
    """
    if split not in SPLITS:
        raise CaptionError(f"split must be one of {', '.join(SPLITS)}, not {split!r:.40}.")
    content = read_json(path, CaptionError)
    images = content.get("images") if isinstance(content, dict) else None
    if (
        not isinstance(images, list)
        or not images
        or not all(isinstance(image, dict) and type(image.get("id")) is int for image in images)
    ):
        raise CaptionError(
            f"{path}: no list of images with whole-number ids; give COCO's captions_val2014.json "
            "or image_info_test2014.json."
        )
    ids = dict.fromkeys(image["id"] for image in images)
    if len(ids) != SPLITS[split]:
        warnings.warn(
            f"{path}: {len(ids)} images, but {split} has {SPLITS[split]}: the server asks for a "
            "caption of each; is it the right file?",
            VifidelWarning,
            stacklevel=2,
        )
    return ids


def _of_object(content: dict[str, Any], where: str) -> list[ImageId]:
    if karpathy.has_splits(content):
        raise CaptionError(
            f"{where}: has Karpathy's splits; write the ids of the split that is submitted, "
            "one per line."
        )
    for key, name in (("images", "id"), ("annotations", "image_id")):
        entries = content.get(key)
        if isinstance(entries, list):
            return [
                image_id_of(
                    entry.get(name, MISSING) if isinstance(entry, dict) else entry,
                    name,
                    f"{where}: {key}[{number}]",
                )
                for number, entry in enumerate(entries)
            ]
    return [from_json_key(key) for key in content]


def _of_records(records: Records) -> list[ImageId]:
    if not records.entries:
        return []
    name = id_field(records.names, (), records.where)
    return [
        image_id_of(entry.get(name, MISSING), name, records.at(number), records.textual)
        for number, entry in enumerate(records.entries)
    ]
