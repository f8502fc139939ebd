"""Pictures of a folder, found by image id or file name and made small."""

from __future__ import annotations

import base64
import contextlib
import io
import math
import warnings
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ...errors import ImageIdError, VifidelError, VifidelWarning
from ...files import first_line, read_json, reason
from ...image_ids import ImageId, from_json_value, match, mismatch

if TYPE_CHECKING:
    from PIL import Image

#: What Pillow and every browser read.
SUFFIXES = frozenset({".jpg", ".jpeg", ".png", ".gif", ".bmp", ".webp", ".tif", ".tiff"})

# What the suffixes promise, and AVIF, which calls itself anything. Pillow runs other programs to
# read some other formats.
_FORMATS = ("JPEG", "PNG", "GIF", "BMP", "WEBP", "TIFF", "AVIF")
# Of a picture that is larger, only a JPEG, which is decoded small, is opened.
_MOST_PIXELS = 1 << 27

# The tag of EXIF that says how a picture is turned, and its values for a quarter of a turn.
_ORIENTATION, _LYING = 0x0112, (5, 6, 7, 8)

# Longest sides that are tried, in pixels: the largest that keeps all pictures within the budget.
# On smaller ones little can be seen.
_SIDES = (1024, 800, 640, 512, 400, 320)
_QUALITY = 60
_SAMPLE = 50


def find_pictures(
    folder: Path, ids: Iterable[ImageId], file_names: Mapping[ImageId, str]
) -> dict[ImageId, Path]:
    """Return the picture of each image that has one.

    A picture belongs to an image if its name is the image's ``file_name``, or if its name with
    or without the suffix is the id, a COCO file stem standing for its number.

    Parameters
    ----------
    folder : path
        Read without its subfolders.
    ids : iterable
        The images.
    file_names : mapping
        What a COCO file says of the images' names.

    Raises
    ------
    VifidelError
        If the folder cannot be read or holds no picture.
    ImageIdError
        If no picture belongs to any image, or two belong to the same.
    """
    ids = list(ids)
    try:
        pictures = sorted(
            path for path in folder.iterdir() if path.suffix.lower() in SUFFIXES and path.is_file()
        )
    except OSError as problem:
        raise VifidelError(f"{folder}: {reason(problem)}; name a folder of images.") from None
    if not pictures:
        raise VifidelError(f"{folder}: there is no picture in it ({', '.join(sorted(SUFFIXES))}).")
    by_name: dict[ImageId, Path] = {path.name: path for path in pictures}
    of_stem: dict[str, list[ImageId]] = {}
    for path in pictures:
        of_stem.setdefault(path.stem, []).append(path.name)
    named = {image_id: Path(file_names.get(image_id, "")).name for image_id in ids}
    unnamed = [i for i in ids if named[i] not in by_name and str(i) not in of_stem]
    same_image = match(unnamed, by_name)
    found = {}
    for image_id in ids:
        names: list[ImageId] = of_stem.get(str(image_id), [])
        if named[image_id] in by_name:
            names = [named[image_id]]
        elif image_id in same_image:
            names = [same_image[image_id]]
        if len(names) > 1:
            raise ImageIdError(
                f"{folder}: {names[0]} and {names[1]} are both named after image id {image_id!r}; "
                "leave one of them there."
            )
        if names:
            found[image_id] = by_name[names[0]]
    if not found:
        raise mismatch(ids, list(by_name), "the captions", str(folder))
    return found


def file_names(sources: Iterable[Path]) -> dict[ImageId, str]:
    """Return the ``file_name`` of each image that COCO files list; the first source decides.

    Sources in other formats are skipped: they name no files.
    """
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
    """A picture made small.

    Attributes
    ----------
    data : str
        JPEG in base64.
    size : (int, int)
        Width and height of the file's own picture as it is seen, in pixels.
    """

    data: str
    size: tuple[int, int]


def shrink(pictures: Mapping[ImageId, Path], budget: int) -> dict[ImageId, Small]:
    """Return small pictures.

    All get the same longest side, the largest for which a sample says that they fit into the
    budget; when it is spent all the same, the last ones stay without. So do files that cannot be
    read as a picture: one warning counts and names them.

    Parameters
    ----------
    pictures : mapping
        Image id to file, the most important first.
    budget : int
        Characters that all of them may have together.
    """
    damaged: dict[Path, str] = {}

    nothing = Small("", (0, 0))

    def small(path: Path, side: int) -> Small:
        try:
            return nothing if path in damaged else _small(path, side)
        except _DamagedError as problem:
            damaged[path] = str(problem)
            return nothing

    paths = list(pictures.values())
    sample = paths[:: math.ceil(len(paths) / _SAMPLE) or 1]
    for side in _SIDES:
        mean = sum(len(small(path, side).data) for path in sample) / max(len(sample), 1)
        if mean * len(paths) <= budget:
            break
    thumbnails: dict[ImageId, Small] = {}
    for image_id, path in pictures.items():
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


class _DamagedError(Exception):
    """A file is not a picture that can be read."""


def _small(path: Path, side: int) -> Small:
    from PIL import Image, ImageOps, UnidentifiedImageError

    Image.init()
    file = io.BytesIO()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of what is wrong with the file, and of its size
            picture = Image.open(path, formats=[name for name in _FORMATS if name in Image.OPEN])
            with picture:
                size = picture.size
                if picture.getexif().get(_ORIENTATION, 1) in _LYING:
                    size = size[::-1]
                picture.draft("RGB", (2 * side, 2 * side))  # a JPEG is decoded small
                if picture.width * picture.height > _MOST_PIXELS:
                    raise _DamagedError(
                        f"{picture.width} x {picture.height} pixels, more than {_MOST_PIXELS}"
                    )
                upright = _in_colours(ImageOps.exif_transpose(picture))
        upright.thumbnail((side, side))
        upright.save(file, "JPEG", quality=_QUALITY, optimize=True)
    except UnidentifiedImageError:
        raise _DamagedError("not a picture") from None
    except _DamagedError:
        raise
    except Exception as problem:  # damaged pictures raise nearly anything
        raise _DamagedError(first_line(problem)) from None
    return Small(base64.b64encode(file.getvalue()).decode("ascii"), size)


def _in_colours(picture: Image.Image) -> Image.Image:
    """Return an RGB picture: what is transparent on white, 16 bits of grey as eight."""
    from PIL import Image

    if picture.mode.startswith("I"):
        picture = picture.convert("I").point(lambda grey: grey / 256).convert("L")
    if picture.has_transparency_data:
        layer = picture.convert("RGBA")
        picture = Image.new("RGBA", layer.size, "white")
        picture.alpha_composite(layer)
    return picture.convert("RGB")
