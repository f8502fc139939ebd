"""Pictures: decoded as people see them, upright, in colours; made small; found by image ids.

Warnings of Pillow about what is wrong with a file are left to the caller: `warnings.catch_warnings`
is not for threads, in which pictures are decoded.
"""

from __future__ import annotations

import base64
import contextlib
import io
import math
import os
import warnings
from collections.abc import Iterable, Mapping
from pathlib import Path, PurePosixPath
from typing import IO, TYPE_CHECKING, NamedTuple, TypeVar

from ..errors import ImageIdError, VifidelError, warn
from .files import first_line, read_json, reason
from .image_ids import ImageId, from_json_value, match, mismatch

if TYPE_CHECKING:
    from PIL import Image

#: What Pillow and every browser read.
SUFFIXES = frozenset({".jpg", ".jpeg", ".png", ".gif", ".bmp", ".webp", ".tif", ".tiff"})

#: What the suffixes promise, and AVIF, which calls itself anything. Pillow runs other programs to
#: read some other formats.
FORMATS = ("JPEG", "PNG", "GIF", "BMP", "WEBP", "TIFF", "AVIF")
# Of a picture that is larger, only a JPEG, which is decoded small, is opened.
_MOST_PIXELS = 1 << 27

# The tag of EXIF that says how a picture is turned, and its values for a quarter of a turn.
_ORIENTATION, _LYING = 0x0112, (5, 6, 7, 8)


# Longest sides that are tried, in pixels: the largest that keeps all pictures within a budget. On
# smaller ones little can be seen.
_SIDES = (1024, 800, 640, 512, 400, 320)
_QUALITY = 60
_SAMPLE = 50

_Key = TypeVar("_Key")


class DamagedPictureError(Exception):
    """A file is not a picture that can be read; the message says why, without its name."""


def decode(
    source: Path | IO[bytes], enough: int | None = None
) -> tuple[Image.Image, tuple[int, int]]:
    """Return an upright picture in RGB, and the width and height at which the file shows it.

    Of a file, open or not, it is the first frame, turned as EXIF says, with transparency on white.
    A JPEG is decoded at part of its size where both its sides keep at least `enough` pixels.
    """
    from PIL import Image, ImageOps, UnidentifiedImageError

    Image.init()
    try:
        formats = [name for name in FORMATS if name in Image.OPEN]
        with Image.open(source, formats=formats) as picture:
            size = picture.size
            if enough is not None:
                picture.draft("RGB", (enough, enough))
            if picture.width * picture.height > _MOST_PIXELS:
                raise DamagedPictureError(
                    f"{picture.width} x {picture.height} pixels, more than {_MOST_PIXELS}"
                )
            # After the check: to read what follows a PNG's pixels, Pillow decodes these.
            if picture.getexif().get(_ORIENTATION, 1) in _LYING:
                size = size[::-1]
            upright = ImageOps.exif_transpose(picture)
            if upright.mode.startswith("I"):  # 16 bits of grey as eight
                upright = upright.convert("I").point(lambda grey: grey / 256).convert("L")
            if upright.has_transparency_data:
                layer = upright.convert("RGBA")
                upright = Image.new("RGBA", layer.size, "white")
                upright.alpha_composite(layer)
            return upright.convert("RGB"), size
    except Exception as problem:  # damaged pictures raise nearly anything
        unknown = isinstance(problem, UnidentifiedImageError)
        raise DamagedPictureError("not a picture" if unknown else first_line(problem)) from None


class Small(NamedTuple):
    """A picture made small: JPEG in base64, and width and height of the file's own, upright."""

    data: str
    size: tuple[int, int]


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
    except (OSError, ValueError) as problem:  # ValueError: a path with a null character
        raise VifidelError(f"{folder}: {reason(problem)}; name a folder of images.") from None
    if not pictures and not below:
        raise VifidelError(f"{folder}: there is no picture in it ({', '.join(sorted(SUFFIXES))}).")
    by_name: dict[ImageId, Path] = {path.name: path for path in pictures}
    of_stem: dict[str, list[ImageId]] = {}
    for path in pictures:
        of_stem.setdefault(path.stem, []).append(path.name)
    others = [image_id for image_id in ids if image_id not in below]
    below_name: dict[ImageId, list[ImageId]] = {
        i: [name] for i in others if (name := Path(file_names.get(i, "")).name) in by_name
    }
    below_name |= {i: of_stem[str(i)] for i in others if i not in below_name and str(i) in of_stem}
    same_image = match([i for i in others if i not in below_name], by_name)
    below_name |= {image_id: [name] for image_id, name in same_image.items()}
    for image_id, (first, *also) in below_name.items():
        if also:
            raise ImageIdError(
                f"{folder}: {first} and {also[0]} are both named after image id {image_id!r}; "
                "leave one of them there."
            )
    picture_of = below | {image_id: by_name[name] for image_id, (name,) in below_name.items()}
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
        and path.suffix.lower() in SUFFIXES
        and os.path.isfile(folder / path)
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
