"""Pictures of the page: made small, with the boxes of their objects."""

from __future__ import annotations

import base64
import io
import math
import warnings
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple, TypeVar

from ...annotations import ImageBoxes
from ...errors import warn
from ...io.image_ids import match
from ...io.pictures import DamagedPictureError, decode
from .content import Content
from .data import Box, numbers

# Longest sides that are tried, in pixels: the largest that keeps all pictures within the budget.
# On smaller ones little can be seen.
_SIDES = (1024, 800, 640, 512, 400, 320)
_QUALITY = 60
_SAMPLE = 50
# A box's sides are whole numbers of this share of the picture's.
_STEPS = 1000

_Key = TypeVar("_Key")


class Small(NamedTuple):
    """A picture made small: JPEG in base64, and width and height of the file's own, upright."""

    data: str
    size: tuple[int, int]


def pictures(
    content: Content, places: Iterable[int], labels: list[str]
) -> tuple[dict[int, str], dict[int, tuple[int, ...]]]:
    """Return the pictures of a page, as many as there is room for, and the boxes in them, by place.

    Boxes are in thousandths of the picture. Labels that `labels` lacks are added to it.
    """
    ids = list(content.references)
    files = {at: content.pictures[ids[at]] for at in places if ids[at] in content.pictures}
    small = shrink(files, content.picture_bytes)
    place_of = {ids[at]: at for at in sorted(small)}
    known = content.boxes if content.explanations else {}
    same_image = match(known, place_of)
    boxes = {place_of[same_image[i]]: known[i] for i in known if i in same_image}
    label_numbers = {label: number for number, label in enumerate(labels)}
    drawn = {at: _drawn(boxes[at], small[at].size, label_numbers) for at in sorted(boxes)}
    labels += list(label_numbers)[len(labels) :]
    return (
        {at: small[at].data for at in sorted(small)},
        {at: numbered for at, numbered in drawn.items() if numbered},
    )


def _drawn(
    of_image: ImageBoxes, size: tuple[int, int], label_numbers: dict[str, int]
) -> tuple[int, ...]:
    width, height = of_image.size or size
    drawn = []
    for box in of_image.boxes:
        left, right = (_step(x / width) for x in (box.x, box.x + box.width))
        top, bottom = (_step(y / height) for y in (box.y, box.y + box.height))
        if left < right and top < bottom:
            drawn.append(
                Box(
                    label=label_numbers.setdefault(box.label, len(label_numbers)),
                    left=left,
                    top=top,
                    width=right - left,
                    height=bottom - top,
                    score=-1 if box.score is None else round(100 * box.score),
                )
            )
    return numbers(drawn)


def _step(share: float) -> int:
    return round(_STEPS * min(max(share, 0.0), 1.0))


def shrink(files: Mapping[_Key, Path], budget: int) -> dict[_Key, Small]:
    """Return pictures with a longest side that, by a sample, fits into a budget of characters."""
    damaged: dict[Path, str] = {}

    def small(path: Path, side: int) -> Small:
        if path not in damaged:
            try:
                return _small(path, side)
            except DamagedPictureError as problem:
                damaged[path] = str(problem)
        return Small("", (0, 0))

    paths = list(files.values())
    sample = paths[:: math.ceil(len(paths) / _SAMPLE) or 1]
    for side in _SIDES:
        mean = sum(len(small(path, side).data) for path in sample) / max(len(sample), 1)
        if mean * len(paths) <= budget:
            break
    thumbnails: dict[_Key, Small] = {}
    for key, path in files.items():
        thumbnail = small(path, side)
        budget -= len(thumbnail.data)
        if budget < 0:
            break
        if thumbnail.data:
            thumbnails[key] = thumbnail
    if damaged:
        path, why = next(iter(damaged.items()))
        warn(
            f"{len(damaged)} of {len(paths)} pictures cannot be read and are left out, "
            f"such as {path} ({why})."
        )
    return thumbnails


def _small(path: Path, side: int) -> Small:
    file = io.BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of what is wrong with the file, and of its size
        upright, size = decode(path, enough=2 * side)
    upright.thumbnail((side, side))
    upright.save(file, "JPEG", quality=_QUALITY, optimize=True)
    return Small(base64.b64encode(file.getvalue()).decode("ascii"), size)
