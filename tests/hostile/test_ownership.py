"""Files that are not ours stay; what a run left behind is read as anybody's; disks fill."""

import json
import os

import pytest
from hostile.command import OBJECTS, REFERENCES, RESULTS, refused, run
from hostile.test_doors import changed, places, refusal

import vifidel_eval
from vifidel_eval import VectorsError, VifidelError, load
from vifidel_eval.io.outputs import Parts, locked
from vifidel_eval.plugins.detect.detectors import ObjectsFile
from vifidel_eval.plugins.leaderboard import board as leaderboard
from vifidel_eval.plugins.tables.folder_runs import _RunFolder
from vifidel_eval.words.word_vectors import load_vectors

posix = pytest.mark.skipif(os.name != "posix", reason="POSIX limits")

SCORE = ["score", RESULTS, "--references", REFERENCES, "--objects", OBJECTS, "--metrics", "VIFIDEL"]


# What is not ours


def test_a_lock_that_is_none_is_not_emptied(tmp_path):
    output = tmp_path / "out.json"
    lock = tmp_path / "out.json.lock"
    lock.write_text("precious")
    with (
        pytest.raises(VifidelError, match=r"out\.json\.lock: exists and is not one"),
        locked(lock),
    ):
        pass
    refused(run(*SCORE, "--leaderboard", output), lock)
    assert lock.read_text() == "precious"


def lock_it(path):
    with locked(path):
        pytest.fail("a pipe was locked")


KEPT = {
    "o.json.unfinished": lambda path: Parts(path.with_suffix("")),
    "o.jsonl.unfinished": lambda path: ObjectsFile(path.with_suffix(""), {}),
    "o.jsonl": lambda path: ObjectsFile(path, {}),
    "o.json.lock": lock_it,
    "leaderboard.json": leaderboard.read,
    "manifest.json": lambda path: _RunFolder(path.parent, PLAN),
    "manifest.json.unfinished": lambda path: _RunFolder(path.parent, PLAN),
}
PLAN = dict.fromkeys(("command", "signature", "settings", "versions"), "")


@posix
@pytest.mark.parametrize("kind", ["pipe", "device", "folder"])
@pytest.mark.parametrize("name", KEPT)
def test_what_a_run_keeps_is_an_ordinary_file(tmp_path, name, kind):
    """Opening a pipe would wait for whoever writes into it."""
    path = tmp_path / name
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "device":
        path.symlink_to("/dev/zero")
    else:
        path.mkdir()
    with pytest.raises(VifidelError, match=rf"{name}: (is a|exists and is not one)"):
        KEPT[name](path)


# What a run left behind


def damaged(content):
    """Yield a file cut at every place, with every byte another, and with lines twice."""
    for at in range(len(content)):
        yield content[:at]
        yield content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :]
    yield content + content
    yield content.replace(b"1", b"1e999")
    yield content.replace(b"1", b"NaN")
    yield content + b'{"key": ' + b"[" * 100_000 + b"\n"


def test_records_are_right_or_made_again(tmp_path):
    file = tmp_path / "o.unfinished"
    parts = Parts(tmp_path / "o")
    kept = {"a": [1.5, None], "b": {"x": [1, 2]}}
    for key, content in kept.items():
        parts.add(key, content)
    for content in damaged(file.read_bytes()):
        file.write_bytes(content)
        try:
            result = Parts(tmp_path / "o")
        except VifidelError as problem:
            assert "o.unfinished" in str(problem)  # noqa: PT017 - either is right
        else:
            assert all(kept[key] == result[key] for key in result)


@pytest.mark.parametrize(
    "line",
    [b"5", b"[]", b"{}", b'{"image_id": 5}', b'{"image_id": "1", "asked": 5}',
     b'{"image_id": "1", "asked": [[]]}', b'{"image_id": "1", "asked": {"a": 1}}', b"[" * 99_999],
)  # fmt: skip
def test_lines_of_detections_of_a_wrong_kind(tmp_path, line):
    output = tmp_path / "o"
    header = {"model": "m"}
    ObjectsFile(output, header).finish([])
    output.write_bytes(output.read_bytes() + line + b"\n")
    with pytest.raises(VifidelError, match="line 2 was not written by detect"):
        ObjectsFile(output, header)


WRONG = [None, 5, "x", [], {}, [None], {"a": 5}, 1e308, 10**4000, True]


def test_saved_scores_of_wrong_types_are_read_or_refused(tmp_path):
    """Every value of a saved run is replaced by every wrong one."""
    path = tmp_path / "scores.json"
    vifidel_eval.evaluate({"a": {1: "a dog"}}, objects={1: ["dog"]}, metrics="VIFIDEL").save(path)
    content = json.loads(path.read_text())
    for at in places(content):
        for wrong in WRONG:
            path.write_text(json.dumps(changed(content, at, wrong)))
            message = refusal(lambda source: str(load(source)), path)
            assert message is None or "scores.json" in message, (at, wrong)


# Files that shrink


def test_converted_vectors_that_are_cut_while_they_are_in_use(tmp_path, monkeypatch):
    monkeypatch.setenv("VIFIDEL_EVAL_CACHE", str(tmp_path / "cache"))
    vectors, words = tmp_path / "v.txt", [f"word{n}" for n in range(20_000)]
    vectors.write_text("".join(f"{word} {n}" + " 1" * 50 + "\n" for n, word in enumerate(words)))
    loaded = load_vectors(vectors)
    (file,) = tmp_path.glob("cache/vectors-*")
    os.truncate(file, 0)
    with pytest.raises(VectorsError, match="the file was truncated while it was in use"):
        loaded.lookup(words)
    again = load_vectors(vectors).lookup(words)  # converted anew
    assert again[:, 0].tolist() == list(range(20_000))
