"""The images that a results file must describe, from any file that lists images."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

from ...captions import karpathy
from ...captions.fields import IMAGE_IDS, MISSING, id_field, usual
from ...captions.layouts import image_id_of
from ...captions.records import PARQUET, Records, content_of, delimiter
from ...errors import CaptionError
from ...io.arguments import named_if_wrong
from ...io.files import as_text, read_bytes
from ...io.image_ids import ImageId, check_distinct, from_json_key
from ...scores.systems import parse_image_ids


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
