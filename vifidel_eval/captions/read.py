"""Result files and reference files of any layout, recognised by content."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from ..image_ids import ImageId, from_json_key
from .columns import Wanted
from .layouts import captions_of
from .records import Records, read_content


def read_results(
    path: str | os.PathLike[str],
    id_fields: Sequence[str] = (),
    caption_fields: Sequence[str] = (),
) -> dict[ImageId, str]:
    """Read a result file: one caption per image, of one system.

    Parameters
    ----------
    path : path
        A file of one of the `LAYOUTS` that hold results; ``-`` for standard input.
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
    return only_captions(captions_of(*_read(path), Wanted(False, id_fields, caption_fields)))


def read_references(
    path: str | os.PathLike[str],
    splits: Sequence[str] = (),
    id_fields: Sequence[str] = (),
    reference_fields: Sequence[str] = (),
) -> dict[ImageId, list[str]]:
    """Read references: any number of captions per image.

    Parameters
    ----------
    path : path
        A file of one of the `LAYOUTS` that hold references; ``-`` for standard input.
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
    return captions_of(*_read(path), Wanted(True, id_fields, reference_fields, splits))


def only_captions(captions: Mapping[ImageId, list[str]]) -> dict[ImageId, str]:
    """Return the one caption that each image has in results."""
    return {image_id: caption for image_id, (caption,) in captions.items()}


def _read(path: str | os.PathLike[str]) -> tuple[Records | dict[Any, Any], str]:
    """Return the content of a file and its name; the keys of a JSON object are image ids."""
    content, where = read_content(path)
    if isinstance(content, dict):
        return {from_json_key(key): value for key, value in content.items()}, where
    return content, where
