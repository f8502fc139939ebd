"""Result files and reference files of any layout, recognised by content; the table of layouts.

`LAYOUTS` is the only place that knows them all: content is recognised by it, messages list it, and
the table of docs/captions.md is its rows.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from ..arguments import named_if_wrong
from ..errors import CaptionError
from ..image_ids import ImageId, check_distinct, from_json_key
from ..signs import shows
from . import coco_captions, karpathy, listed, llava, lmms_eval
from .field_paths import steps_of, value_at, with_paths
from .layout import MISSING, Layout, Wanted
from .records import Records, read_content

#: Tried in this order: the first layout that recognises content reads it.
LAYOUTS: tuple[Layout, ...] = (
    coco_captions.LAYOUT,
    karpathy.LAYOUT,
    lmms_eval.LAYOUT,
    llava.LAYOUT,
    listed.LISTED,
    listed.BY_IMAGE,
)


@named_if_wrong
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
        What the fields of records are called, instead of the usual names, or paths to them, such as
        ``doc.image_id`` and ``filtered_resps[0]``; of several, the first that the file has.

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


@named_if_wrong
def read_samples(
    path: str | os.PathLike[str],
    id_fields: Sequence[str] = (),
    caption_fields: Sequence[str] = (),
) -> dict[ImageId, list[str]]:
    """Read a result file with any number of captions per image: an entry for each, or lists.

    Parameters
    ----------
    path, id_fields, caption_fields
        As for `read_results`.

    Returns
    -------
    dict
        Image id to its captions, in the order of the file.

    Raises
    ------
    CaptionError, ImageIdError
        As `read_results` raises them, or if an image has no caption.
    """
    wanted = Wanted(False, id_fields, caption_fields, samples=True)
    return captions_of(*_read(path), wanted)


@named_if_wrong
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
        What the fields of records are called, or paths to them, as in `read_results`.

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


def captions_of(
    content: Records | Mapping[Any, Any], where: str, wanted: Wanted
) -> dict[ImageId, list[str]]:
    """Return the captions of each image: of results one, of references any number.

    Parameters
    ----------
    content : Records or mapping
        What was read; the keys of a mapping are image ids as they are, unless it is a dataset.
    where : str
        What messages call it.
    wanted : Wanted
        Results or references, and what the user says of the file.

    Raises
    ------
    CaptionError
        If the content is not what is wanted, has no splits and some are named, or is broken.
    ImageIdError
        If two ids mean the same image, such as 1 and ``"1"``.
    """
    if isinstance(content, Mapping) and _is_record(content, wanted):
        content = Records(where, [content])
    if isinstance(content, Records):
        content = with_paths(content, wanted)
        fields = dict.fromkeys(content.names)
        layout = next(
            one for one in LAYOUTS if one.fields is not None and shows(fields, one.fields)
        )
    else:
        layout = next(one for one in LAYOUTS if one.keys is not None and shows(content, one.keys))
    if not layout.serves(wanted):
        raise CaptionError(f"{where}: holds {layout.name}; accepted {accepted(wanted)}.")
    if wanted.splits and not layout.has_splits:
        raise CaptionError(f"{where}: has no splits, so that --split has no effect; leave it out.")
    captions = layout.read(content, where, wanted)
    if not captions:
        nothing = "no image and no caption" if wanted.references else "no caption"
        raise CaptionError(f"{where}: there is {nothing} in it.")
    if wanted.samples:
        for image_id, of_image in captions.items():
            if not of_image:
                raise CaptionError(f"{where}: image {image_id!r:.60} has a list without a caption.")
    check_distinct(captions, where)
    return captions


def _is_record(content: Mapping[Any, Any], wanted: Wanted) -> bool:
    """Return whether a JSON object is a record: the only line of a file whose ids are in a path."""
    paths = [steps for name in wanted.id_fields if len(steps := steps_of(name)) > 1]
    return any(value_at(content, steps) is not MISSING for steps in paths) or shows(
        content, lmms_eval.SAMPLE
    )


def accepted(wanted: Wanted) -> str:
    """Return the names of the layouts that are accepted, as messages list them."""
    names = [one.name for one in LAYOUTS if one.serves(wanted)]
    return f"as {'references' if wanted.references else 'results'}: {', '.join(names)}"


def table_rows() -> list[str]:
    """Return the lines of the table of docs/captions.md."""
    return [f"| {one.source} | {one.as_results} | {one.as_references} |" for one in LAYOUTS]
