"""Pictures decoded as people see them: upright, in colours, large JPEGs at part of their size.

Warnings of Pillow about what is wrong with a file are left to the caller: `warnings.catch_warnings`
is not for threads, in which pictures are decoded.
"""

from __future__ import annotations

from pathlib import Path
from typing import IO, TYPE_CHECKING, NamedTuple

from .files import first_line

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


class DamagedPictureError(Exception):
    """A file is not a picture that can be read; the message says why, without its name."""


class Decoded(NamedTuple):
    """A picture, upright and in RGB, and the width and height of the file's own as it is seen."""

    picture: Image.Image
    size: tuple[int, int]


def decode(source: Path | IO[bytes], enough: int | None = None) -> Decoded:
    """Decode a file, open or not: the first frame, turned as EXIF says, transparency on white.

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
            # After the check: what a PNG says comes behind its pixels, which are decoded for it.
            if picture.getexif().get(_ORIENTATION, 1) in _LYING:
                size = size[::-1]
            upright = ImageOps.exif_transpose(picture)
            if upright.mode.startswith("I"):  # 16 bits of grey as eight
                upright = upright.convert("I").point(lambda grey: grey / 256).convert("L")
            if upright.has_transparency_data:
                layer = upright.convert("RGBA")
                upright = Image.new("RGBA", layer.size, "white")
                upright.alpha_composite(layer)
            return Decoded(upright.convert("RGB"), size)
    except Exception as problem:  # damaged pictures raise nearly anything
        unknown = isinstance(problem, UnidentifiedImageError)
        raise DamagedPictureError("not a picture" if unknown else first_line(problem)) from None
