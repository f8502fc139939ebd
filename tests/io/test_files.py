import json
import os

import pytest

from vifidel_eval.errors import CaptionError, VifidelError
from vifidel_eval.io.files import parse_json, read_json, write_whole


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
