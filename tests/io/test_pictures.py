"""Decoding of pictures: what people see, at what size, and what is no picture."""

from __future__ import annotations

import io
import struct
import warnings
import zlib

import numpy as np
import pytest
from PIL import Image

from vifidel_eval.io.pictures import DamagedPictureError, decode


def half(width=40, height=20):
    """A picture whose left half is red and whose right half is blue."""
    picture = Image.new("RGB", (width, height), "red")
    picture.paste("blue", (width // 2, 0, width, height))
    return picture


def colours(picture):
    """Return the colours in the middle of the left and the right half."""
    assert picture.mode == "RGB"
    width, height = picture.size
    return [picture.getpixel((at, height // 2)) for at in (width // 4, 3 * width // 4)]


def close(found, expected, by=12):
    np.testing.assert_allclose(np.array(found, int), np.array(expected, int), atol=by)


RED_AND_BLUE = [(255, 0, 0), (0, 0, 255)]


@pytest.mark.parametrize(
    ("name", "mode"),
    [("a.png", "RGB"), ("a.png", "P"), ("a.png", "RGBA"), ("a.gif", "P"), ("a.bmp", "RGB"),
     ("a.webp", "RGB"), ("a.tiff", "RGB"), ("a.tiff", "CMYK"), ("a.jpg", "RGB"),
     ("a.jpg", "CMYK")],
)  # fmt: skip
def test_modes(tmp_path, name, mode):
    half().convert(mode).save(tmp_path / name)
    picture, size = decode(tmp_path / name)
    assert size == picture.size == (40, 20)
    close(colours(picture), RED_AND_BLUE, by=40 if mode == "CMYK" or name == "a.webp" else 12)
    content = (tmp_path / name).read_bytes()
    np.testing.assert_array_equal(np.asarray(decode(io.BytesIO(content))[0]), np.asarray(picture))


@pytest.mark.parametrize("kind", ["uint16", "int32"])
def test_16_bits_are_scaled_not_cut(tmp_path, kind):
    values = np.array([[0, 25600, 65535]], kind)
    suffix = "png" if kind == "uint16" else "tiff"
    Image.fromarray(values).save(tmp_path / f"a.{suffix}")
    grey = np.asarray(decode(tmp_path / f"a.{suffix}")[0])[0, :, 0]
    close(grey, [0, 100, 255], by=1)


@pytest.mark.parametrize("mode", ["RGBA", "LA", "P"])
def test_what_is_transparent_is_white(tmp_path, mode):
    picture = Image.new("RGBA", (4, 4), (255, 0, 0, 0)).convert(mode)
    picture.save(tmp_path / "a.png", **({"transparency": 0} if mode == "P" else {}))
    if mode == "P":
        picture = Image.new("P", (4, 4), 0)
        picture.putpalette([255, 0, 0] * 256)
        picture.save(tmp_path / "a.png", transparency=0)
    assert decode(tmp_path / "a.png")[0].getpixel((1, 1)) == (255, 255, 255)


def test_exif_turns_the_picture_and_its_size(tmp_path):
    """Orientation 6: the camera was turned; the right of the picture is below."""
    exif = Image.Exif()
    exif[0x0112] = 6
    half(160, 80).save(tmp_path / "a.jpg", exif=exif, quality=95)
    for enough, size in ((None, (80, 160)), (30, (40, 80))):
        picture, own_size = decode(tmp_path / "a.jpg", enough)
        assert own_size == (80, 160)
        assert picture.size == size
        width, height = size
        shown = [picture.getpixel((width // 2, at)) for at in (height // 4, 3 * height // 4)]
        close(shown, RED_AND_BLUE)


def test_the_first_frame_of_several(tmp_path):
    frames = [half(), Image.new("RGB", (40, 20), "green")]
    frames[0].save(tmp_path / "a.gif", save_all=True, append_images=frames[1:])
    close(colours(decode(tmp_path / "a.gif")[0]), RED_AND_BLUE)


def png_of_size(width, height):
    """A PNG that claims a size and holds no pixels."""

    def chunk(kind, content):
        summed = struct.pack(">I", zlib.crc32(kind + content))
        return struct.pack(">I", len(content)) + kind + content + summed

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(b""))


@pytest.mark.parametrize("size", [(12000, 12000), (60000, 60000), (2**31 - 1, 2**31 - 1)])
def test_decompression_bombs(size):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the caller's business: see the module
        with pytest.raises(DamagedPictureError, match=r"pixels|size"):
            decode(io.BytesIO(png_of_size(*size)))


@pytest.mark.parametrize(
    "content", [b"", b"nothing", b"%!PS-Adobe-3.0 EPSF-3.0\n", b"<svg/>", b"\xff\xd8\xff"]
)
def test_what_is_no_picture(content):
    with pytest.raises(DamagedPictureError, match="not a picture"):
        decode(io.BytesIO(content))
