"""Hostile pictures and features of networks: what they may cost, and that one loses only itself."""

import io
import warnings

import numpy as np
import pytest
from PIL import Image

from vifidel_eval.errors import VifidelError, VifidelWarning
from vifidel_eval.io import pictures
from vifidel_eval.io.pictures import shrink
from vifidel_eval.plugins.networks import regions
from vifidel_eval.plugins.networks.regions import read_boxed_regions
from vifidel_eval.plugins.networks.tiger import read_regions


def encoded(kind, size=(40, 30), **settings):
    content = io.BytesIO()
    Image.new("RGB", size, "red").save(content, kind, **settings)
    return content.getvalue()


KINDS = ["JPEG", "PNG", "GIF", "BMP", "WEBP", "TIFF", "AVIF"]
EPS = b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n%%EndComments\nshowpage\n%%EOF\n"


def report(tmp_path, contents):
    """Shrink good pictures with bad ones among them; return what was made and said."""
    paths = {}
    for number, content in enumerate(contents):
        paths[number] = tmp_path / f"{number}.png"
        paths[number].write_bytes(content)
    with warnings.catch_warnings(record=True) as message:
        warnings.simplefilter("always")
        built = shrink(paths, 1 << 20)
    assert all(warning.category is VifidelWarning for warning in message), message
    return built, [str(warning.message) for warning in message]


@pytest.mark.parametrize("bad", [b"", b"<html>", b"\x89PNG\r\n\x1a\n", EPS])
def test_a_bad_picture_loses_only_itself(tmp_path, bad):
    built, (message,) = report(tmp_path, [encoded("PNG"), bad, encoded("JPEG")])
    assert list(built) == [0, 2]
    assert message.startswith(f"1 of 3 pictures cannot be read and are left out, such as "
                           f"{tmp_path / '1.png'} (")  # fmt: skip
    assert "\n" not in message


@pytest.mark.parametrize("kind", KINDS)
def test_damage_anywhere_loses_only_that_picture(tmp_path, kind):
    Image.init()
    if kind not in Image.SAVE:
        pytest.skip(f"this Pillow has no {kind}")
    whole = encoded(kind)
    step = max(1, len(whole) // 25)
    damaged = [whole[:at] + b"\xff" * 4 + whole[at + 4 :] for at in range(0, len(whole), step)]
    cut = [whole[:at] for at in range(0, len(whole), step)]
    built, message = report(tmp_path, [whole, *damaged, *cut, whole])
    assert {0, 1 + len(damaged) + len(cut)} <= set(built)
    lost = 2 + len(damaged) + len(cut) - len(built)
    assert [text.partition(" ")[0] for text in message] == [str(lost)] * (lost > 0)


def test_no_program_runs_for_a_picture():
    """PostScript would be run by Ghostscript: a report never asks for it."""
    assert not {"EPS", "WMF", "PSD", "PDF"} & set(pictures.FORMATS)


# Features


def npz(path, **arrays):
    np.savez_compressed(path, **arrays)
    return path


def test_features_that_unpack_to_too_much(tmp_path, monkeypatch):
    monkeypatch.setattr(regions, "_MOST_BYTES", 1 << 20)
    npz(tmp_path / "1.npz", features=np.zeros((1 << 19, 1)), boxes=1, width=1, height=1)
    features = read_boxed_regions(tmp_path)
    with pytest.raises(VifidelError, match=r"1\.npz: unpacks to 4 MiB, and at most 1"):
        features.read(1)


FIRST = b"1\t9\t9\t2\t" + b"A" * 44 + b"\t" + b"A" * 44 + b"\n"


@pytest.mark.parametrize("at", range(0, len(FIRST), 3))
@pytest.mark.parametrize("put", [b"\t", b"\n", b"\xff", b"x", b""])
def test_a_table_damaged_in_its_second_line(tmp_path, at, put):
    second = FIRST.replace(b"1\t", b"2\t", 1)
    path = tmp_path / "f.tsv"
    path.write_bytes(FIRST + second[:at] + put + second[at + 1 :])
    message = ""
    try:
        regions = read_regions(path)
        for image in regions.images():
            regions.read(image)
    except VifidelError as problem:
        message = str(problem)
    assert not message or (str(path) in message and "\n" not in message)
