"""The table of layouts of caption files, as results and as references.

`LAYOUTS` is the only place that knows them all: content is recognised by it, messages list it, and
the table of docs/captions.md is its rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..errors import CaptionError
from ..image_ids import ImageId, check_distinct
from . import captions_by_image, coco_captions, karpathy, listed, llava, lmms_eval
from .columns import Wanted
from .layout import Layout
from .records import Records

#: Tried in this order: the first layout that recognises content reads it.
LAYOUTS: tuple[Layout, ...] = (
    coco_captions.LAYOUT,
    karpathy.LAYOUT,
    lmms_eval.LAYOUT,
    llava.LAYOUT,
    listed.LAYOUT,
    captions_by_image.LAYOUT,
)


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
    layout = next(known for known in LAYOUTS if known.recognised(content, wanted))
    if not layout.serves(wanted):
        raise CaptionError(f"{where}: holds {layout.name}; accepted {accepted(wanted)}.")
    if wanted.splits and not layout.has_splits:
        raise CaptionError(f"{where}: has no splits, so that --split has no effect; leave it out.")
    captions = layout.read(content, where, wanted)
    if not captions:
        nothing = "no image and no caption" if wanted.references else "no caption"
        raise CaptionError(f"{where}: there is {nothing} in it.")
    check_distinct(captions, where)
    return captions


def accepted(wanted: Wanted) -> str:
    """Return the names of the layouts that are accepted, as messages list them."""
    names = [one.name for one in LAYOUTS if one.serves(wanted)]
    return f"as {'references' if wanted.references else 'results'}: {', '.join(names)}"


def table_rows() -> list[str]:
    """Return the lines of the table of docs/captions.md."""
    return [f"| {one.source} | {one.as_results} | {one.as_references} |" for one in LAYOUTS]
