import os

import pytest

from vifidel_eval.errors import CaptionError, VifidelError
from vifidel_eval.io.files import parse_json, write_whole


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


def test_failed_write_leaves_no_trace(tmp_path):
    (tmp_path / "scores.json").mkdir()
    with pytest.raises(VifidelError, match=r"scores\.json: cannot be written"):
        write_whole(tmp_path / "scores.json", "{}")
    assert os.listdir(tmp_path) == ["scores.json"]
