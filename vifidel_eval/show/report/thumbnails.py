"""Pictures of the page: found in a folder, made small, with the boxes of their objects."""

from __future__ import annotations

import base64
import contextlib
import io
import math
import warnings
from collections.abc import Iterable, Mapping
from pathlib import Path, PurePosixPath
from typing import NamedTuple, TypeVar

from ...annotations import ImageBoxes
from ...errors import ImageIdError, VifidelError, VifidelWarning
from ...io.files import read_json, reason
from ...io.image_ids import ImageId, from_json_value, match, mismatch
from ...io.pictures import SUFFIXES, DamagedPictureError, decode
from .content import Content

# What all pictures may take: base64 in the page.
_BYTES = 32_000_000
# Longest sides that are tried, in pixels: the largest that keeps all pictures within the budget.
# On smaller ones little can be seen.
_SIDES = (1024, 800, 640, 512, 400, 320)
_QUALITY = 60
_SAMPLE = 50
# A box's sides are whole numbers of this share of the picture's.
_STEPS = 1000

_Key = TypeVar("_Key")


def find_pictures(
    folder: Path, ids: Iterable[ImageId], file_names: Mapping[ImageId, str]
) -> dict[ImageId, Path]:
    """Return the picture of each image that has one: by COCO's ``file_name``, by id, or by path."""
    ids = list(ids)
    below: dict[ImageId, Path] = {
        image_id: folder / image_id
        for image_id in ids
        if isinstance(image_id, str) and _is_below(folder, image_id)
    }
    try:
        pictures = sorted(
            path for path in folder.iterdir() if path.suffix.lower() in SUFFIXES and path.is_file()
        )
    except OSError as problem:
        raise VifidelError(f"{folder}: {reason(problem)}; name a folder of images.") from None
    if not pictures and not below:
        raise VifidelError(f"{folder}: there is no picture in it ({', '.join(sorted(SUFFIXES))}).")
    by_name: dict[ImageId, Path] = {path.name: path for path in pictures}
    of_stem: dict[str, list[ImageId]] = {}
    for path in pictures:
        of_stem.setdefault(path.stem, []).append(path.name)
    others = [image_id for image_id in ids if image_id not in below]
    named: dict[ImageId, list[ImageId]] = {
        i: [name] for i in others if (name := Path(file_names.get(i, "")).name) in by_name
    }
    named |= {i: of_stem[str(i)] for i in others if i not in named and str(i) in of_stem}
    same_image = match([i for i in others if i not in named], by_name)
    named |= {image_id: [name] for image_id, name in same_image.items()}
    for image_id, (first, *also) in named.items():
        if also:
            raise ImageIdError(
                f"{folder}: {first} and {also[0]} are both named after image id {image_id!r}; "
                "leave one of them there."
            )
    picture_of = below | {image_id: by_name[name] for image_id, (name,) in named.items()}
    if not picture_of:
        raise mismatch(ids, list(by_name), "the captions", str(folder))
    return picture_of


def _is_below(folder: Path, image_id: str) -> bool:
    """Return whether an id is the path of a picture in a subfolder."""
    path = PurePosixPath(image_id)
    return (
        len(path.parts) > 1
        and not path.is_absolute()
        and ".." not in path.parts
        and "\0" not in image_id
        and path.suffix.lower() in SUFFIXES
        and (folder / path).is_file()
    )


def file_names(sources: Iterable[Path]) -> dict[ImageId, str]:
    """Return the ``file_name`` of each image that COCO files list; the first source decides."""
    names: dict[ImageId, str] = {}
    for path in sources:
        content = None
        if path.suffix.lower() == ".json":
            with contextlib.suppress(VifidelError):  # the name says nothing about the content
                content = read_json(path, VifidelError)
        images = content.get("images") if isinstance(content, dict) else None
        for image in images if isinstance(images, list) else []:
            if isinstance(image, dict) and isinstance(image.get("file_name"), str):
                names.setdefault(from_json_value(image.get("id")), image["file_name"])
    return names


class Small(NamedTuple):
    """A picture made small: JPEG in base64, and width and height of the file's own, upright."""

    data: str
    size: tuple[int, int]


def pictures(
    content: Content, places: Iterable[int], labels: list[str]
) -> tuple[dict[int, str], dict[int, list[int]]]:
    """Return the pictures of a page, as many as there is room for, and the boxes in them, by place.

    Boxes are in thousandths of the picture. Labels that `labels` lacks are added to it.
    """
    material, ids = content.material, list(content.references)
    files = {at: material.pictures[ids[at]] for at in places if ids[at] in material.pictures}
    small = shrink(files, _BYTES if material.picture_bytes is None else material.picture_bytes)
    place_of = {ids[at]: at for at in sorted(small)}
    known = material.boxes if content.explanations else {}
    same_image = match(known, place_of)
    boxes = {place_of[same_image[i]]: of for i, of in known.items() if i in same_image}
    numbers = {label: number for number, label in enumerate(labels)}
    drawn = {at: _drawn(boxes[at], small[at].size, numbers) for at in sorted(boxes)}
    labels += list(numbers)[len(labels) :]
    return (
        {at: small[at].data for at in sorted(small)},
        {at: of_image for at, of_image in drawn.items() if of_image},
    )


def _drawn(of_image: ImageBoxes, size: tuple[int, int], numbers: dict[str, int]) -> list[int]:
    width, height = of_image.size or size
    drawn: list[int] = []
    for box in of_image.boxes:
        left, right = (_step(x / width) for x in (box.x, box.x + box.width))
        top, bottom = (_step(y / height) for y in (box.y, box.y + box.height))
        if left < right and top < bottom:
            score = -1 if box.score is None else round(100 * box.score)
            label = numbers.setdefault(box.label, len(numbers))
            drawn += [label, left, top, right - left, bottom - top, score]
    return drawn


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
    for image_id, path in files.items():
        thumbnail = small(path, side)
        budget -= len(thumbnail.data)
        if budget < 0:
            break
        if thumbnail.data:
            thumbnails[image_id] = thumbnail
    if damaged:
        path, why = next(iter(damaged.items()))
        warnings.warn(
            f"{len(damaged)} of {len(paths)} pictures cannot be read and are left out, "
            f"such as {path} ({why}).",
            VifidelWarning,
            stacklevel=2,
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
