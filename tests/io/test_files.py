import bz2
import gzip
import json
import lzma
import os
import zipfile

import pytest

from vifidel_eval.errors import CaptionError, VifidelError
from vifidel_eval.io.files import parse_json, read_json, read_text, write_whole


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_json_with_and_without_a_byte_order_mark(tmp_path, mark):
    path = tmp_path / "captions.json"
    path.write_bytes(mark + '{"42": ["Hündchen"]}'.encode())
    assert read_json(path, CaptionError) == {"42": ["Hündchen"]}
    assert read_json(str(path), CaptionError) == {"42": ["Hündchen"]}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the file is empty"),
        (" \n\t", "the file is empty"),
        ("[", r"the JSON ends too early, .*truncated \(line 1, column 2: "),
        ('[{"image_id": 42', "the JSON ends too early"),
        (
            '[{"image_id": 42,\n  "capt',
            r"the JSON ends too early, .*truncated \(line 2, column 3: ",
        ),
        ('{"42": "A dog."}, ', r"not JSON \(line 1, column 17: Extra data\)"),
        ("[1, 2,\n dog, 3]", r"not JSON \(line 2, column 2: "),
        ("image_id,caption", r"not JSON \(line 1, column 1: "),
        ("[" * 200_000, "the JSON cannot be read: it is nested too deeply"),
        ("[" + "9" * 5000 + "]", "."),  # Python reads no integer that long
    ],
    ids=range(10),
)
def test_text_that_is_not_json(text, message):
    with pytest.raises(CaptionError, match=rf"captions\.json: {message}"):
        parse_json(text, "captions.json", CaptionError)


def test_file_that_is_not_utf8(tmp_path):
    path = tmp_path / "captions.json"
    path.write_bytes("Hündchen".encode("latin-1"))
    with pytest.raises(CaptionError, match=r"captions\.json: not a UTF-8 text file \(byte 1\)"):
        read_text(path, CaptionError)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (gzip.compress(b'{"1": "a dog"}'), "is compressed with gzip; unpack it with gunzip"),
        (bz2.compress(b'{"1": "a dog"}'), "is compressed with bzip2; unpack it."),
        (lzma.compress(b'{"1": "a dog"}'), "is compressed with xz; unpack it."),
        ('{"1": "a dog"}'.encode("utf-16"), "is text in UTF-16; save it as UTF-8."),
        ('{"1": "a dog"}'.encode("utf-16-le"), "is text in UTF-16; save it as UTF-8."),
        ("image_id,caption".encode("utf-16-be"), "is text in UTF-16; save it as UTF-8."),
    ],
    ids=["gzip", "bzip2", "xz", "UTF-16 with a mark", "UTF-16", "UTF-16, the other order"],
)
def test_files_that_need_one_step_are_named_with_it(tmp_path, content, said):
    path = tmp_path / "captions.json"
    path.write_bytes(content)
    with pytest.raises(CaptionError) as caught:
        read_text(path, CaptionError)
    assert str(caught.value).startswith(f"{path}: {said}")


def test_a_zip_archive_is_named(tmp_path):
    path = tmp_path / "captions.json"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("captions.json", "{}")
    with pytest.raises(CaptionError, match=r"is a zip archive; unpack it, and give a file in it\."):
        read_text(path, CaptionError)


def test_written_text_replaces_what_stood_there(tmp_path):
    path = tmp_path / "scores.json"
    path.write_text("an old and longer text")
    write_whole(path, "Hündchen\n")
    assert path.read_bytes() == "Hündchen\n".encode()
    assert os.listdir(tmp_path) == ["scores.json"]


@pytest.mark.skipif(os.name != "posix", reason="POSIX permissions")
def test_written_file_has_the_permissions_of_an_ordinary_file(tmp_path):
    write_whole(tmp_path / "scores.json", "")
    (tmp_path / "ordinary").touch()
    assert (tmp_path / "scores.json").stat().st_mode == (tmp_path / "ordinary").stat().st_mode


def test_failed_write_leaves_no_trace(tmp_path):
    (tmp_path / "scores.json").mkdir()
    with pytest.raises(VifidelError, match=r"scores\.json: cannot be written"):
        write_whole(tmp_path / "scores.json", "{}")
    assert os.listdir(tmp_path) == ["scores.json"]


def test_half_a_character_stays_spelt(tmp_path):
    path = tmp_path / "scores.json"
    write_whole(path, json.dumps({"half": "\ud83d"}, ensure_ascii=False))
    assert json.loads(path.read_text("utf-8")) == {"half": "\ud83d"}
