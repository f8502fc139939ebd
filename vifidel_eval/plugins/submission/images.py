"""The images that a results file must describe, from any file that lists images."""

from __future__ import annotations

import os
from collections.abc import Iterable

from ...captions import datasets
from ...captions.fields import IMAGE_IDS, id_field, usual
from ...captions.layouts import records_of
from ...errors import CaptionError
from ...io.arguments import named_if_wrong
from ...io.containers import content_of
from ...io.entries import Entries, Entry
from ...io.files import as_text, read_bytes
from ...io.image_ids import ImageId, check_distinct
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
    content = content_of(raw, where, CaptionError)
    ids: Iterable[ImageId]
    if content.kind == "table" and not usual(content.value.header, IMAGE_IDS):
        ids = parse_image_ids(content.value.text, where)
    elif content.kind == "table" and not content.value.delimiter:
        rows = content.value.text.partition("\n")[2]
        ids = parse_image_ids(f"\n{rows}", where)  # the lines keep their numbers
    elif content.kind == "list" and content.value and not isinstance(content.value.values[0], dict):
        ids = parse_image_ids(as_text(raw, where, CaptionError), where)
    else:
        records = records_of(content)
        ids = _of_records(records) if isinstance(records, Entries) else _of_object(records)
    listed = dict.fromkeys(ids)
    if not listed:
        raise CaptionError(f"{where}: there is no image id in it.")
    check_distinct(listed, where)
    return listed


def _of_object(content: Entry) -> list[ImageId]:
    if datasets.has_splits(content.content):
        raise CaptionError(
            f"{content}: has Karpathy's splits; write the ids of the split that is submitted, "
            "one per line."
        )
    for key, name in (("images", "id"), ("annotations", "image_id")):
        if isinstance(content.get(key), list):
            return [entry.image_id(name) for entry in content.entries(key)]
    return list(content.content)


def _of_records(records: Entries) -> list[ImageId]:
    if not records:
        return []
    name = id_field(records.names, (), records.source.where)
    return [record.image_id(name) for record in records]
