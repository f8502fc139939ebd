"""The command ``vifidel-eval detect``."""

from functools import partial

import pytest
from conftest import call, done
from drawn_pictures import read_lines
from fake_detector import ColourDetector

from vifidel_eval.commands.printing import size_of
from vifidel_eval.plugins.detect import loading

detect_pictures = partial(call, "detect")


@pytest.fixture
def colours(monkeypatch, tmp_path):
    """A model in a file; the detector in it is the one that is returned."""
    model = tmp_path / "colours.onnx"
    model.write_bytes(b"")
    state = {"detector": ColourDetector()}
    monkeypatch.setattr(loading, "load_detector", lambda files, device: state["detector"])
    return model, state


def test_pictures_to_objects(photos, colours, tmp_path):
    model, _ = colours
    output = tmp_path / "o.jsonl"
    result = detect_pictures(photos, "--model", model, "--output", output, "--lowest", "0.2")
    assert (result.exit_code, result.stderr) == (0, f"{output}: {size_of(output)}\n")
    assert result.stdout == f"{output}: 6 pictures read\n"
    assert list(read_lines(output)[1])[::3] == ["p0.png", "sub/p1.png"]
    result = detect_pictures(photos, "--model", model, "--output", output, "--lowest", "0.2")
    assert result.stdout == f"{output}: 0 pictures read, 6 known from before\n"


def test_a_vocabulary_without_captions_is_refused(photos, tmp_path):
    things, output = tmp_path / "things.txt", tmp_path / "o.jsonl"
    things.write_text("dog,puppy\n")
    result = detect_pictures(photos, "--model", "m", "--output", output, "--things", things)
    assert result.exit_code == 2
    assert "--things is only for --ask; give both." in result.stderr


def test_captions_are_what_is_asked(photos, colours, tmp_path):
    model, state = colours
    state["detector"] = ColourDetector(asked=True)
    mine, base, questions = (tmp_path / f"{name}.jsonl" for name in ("mine", "base", "q"))
    mine.write_text('{"image_id": "p0", "caption": "a dog by a lamp"}\n')
    base.write_text('{"image_id": "p0.png", "caption": "a puppy and a bus"}\n')
    questions.write_text('{"image_id": "photos/sub/p1.png", "thing": "red"}\n')
    asks = [word for path in (mine, base, questions) for word in ("--ask", path)]
    result = detect_pictures(photos, "--model", model, "--output", tmp_path / "o.jsonl", *asks)
    assert result.exit_code == 0
    assert "2 pictures read, 4 without a question" in result.stdout
    _, lines = read_lines(tmp_path / "o.jsonl")
    assert {i: line["asked"] for i, (line,) in lines.items()} == {
        "p0.png": ["dog", "lamp", "bus"],
        "sub/p1.png": ["red"],
    }
    assert lines["sub/p1.png"][0]["labels"] == ["red"]


def test_unreadable_pictures_are_counted(photos, colours, tmp_path):
    model, _ = colours
    (photos / "p2.png").write_bytes(b"")
    result = done("detect", photos, "--model", model, "--output", tmp_path / "o.jsonl")
    warned, written = result.stderr.splitlines()
    assert warned == (
        "Warning: 1 picture cannot be read, such as p2.png (not a picture); the same command "
        "tries again."
    )
    assert written.startswith(f"{tmp_path / 'o.jsonl'}: ")
    for path in photos.rglob("*.png"):
        path.write_bytes(b"")
    result = detect_pictures(photos, "--model", model, "--output", tmp_path / "p.jsonl")
    assert result.exit_code == 1
    assert "none of its 6 pictures can be read, such as p0.png (not a picture)" in result.stderr


def test_without_a_model(photos, tmp_path):
    result = detect_pictures(photos, "--output", tmp_path / "o.jsonl")
    assert result.exit_code == 2
    assert "there is no default: name the folder of a detector" in result.stderr
