"""Bad content by doors: a result or one sentence, which names what is wrong and where.

What only one format can have wrong is in `test_sentences`.
"""

import bz2
import copy
import gzip
import io
import json
import lzma
import math
import os
import zipfile
from pathlib import Path

import pytest
from frames import LIBRARIES, frame_of
from hostile.doors import FILES, PYTHON, RECORDS
from hostile.test_doubling_formats import EXAMPLES, example_of

from vifidel_eval import VifidelError
from vifidel_eval.annotations import read_objects
from vifidel_eval.io import files

pytestmark = pytest.mark.filterwarnings("ignore::vifidel_eval.VifidelWarning")
posix = pytest.mark.skipif(os.name != "posix", reason="POSIX links, pipes and devices")
each_library = pytest.mark.parametrize("library", LIBRARIES)


def refusal(door, source):
    """Return the sentence with which a door refuses something; None if it takes it."""
    try:
        door(source)
    except VifidelError as problem:
        message = str(problem)
        assert "\n" not in message
        assert len(message) < 600 + (len(str(source)) if isinstance(source, str | Path) else 0)
        return message
    return None


# Files


def archive():
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as packed:
        packed.writestr("captions.json", "{}")
    return content.getvalue()


TEXT = b'{"1": "a dog"}'
BAD = {
    "empty": (b"", ""),
    "blank": (b" \n\t\n", ""),
    "of another encoding": ("[caf\u00e9 au lait]".encode("latin-1"), "not a UTF-8 text file (byte"),
    "gzip": (gzip.compress(TEXT), "is compressed with gzip; unpack it with gunzip"),
    "bzip2": (bz2.compress(TEXT), "is compressed with bzip2; unpack it."),
    "xz": (lzma.compress(TEXT), "is compressed with xz; unpack it."),
    "zip": (archive(), "is a zip archive; unpack it, and give a file in it."),
    "UTF-16 with a mark": (TEXT.decode().encode("utf-16"), "is text in UTF-16; save it as UTF-8."),
    "UTF-16": (TEXT.decode().encode("utf-16-le"), "is text in UTF-16; save it as UTF-8."),
    "the other UTF-16": (TEXT.decode().encode("utf-16-be"), "is text in UTF-16; save it as UTF-8."),
    "a number": (b"42", ""),
    "null": (b"null", ""),
    "cut off": (b'[{"image_id": 42,\n  "capt', "truncated"),
    "nested": (b"[" * 100_000, "nested too deeply"),
    "a long number": (b"[" + b"9" * 5000 + b"]", "thousands of digits"),
    "an empty list": (b"[]", ""),
    "an empty object": (b"{}", ""),
    "a list of lists": (b"[[[1]]]", ""),
    "half a character": (b'["\\ud800", {"\\udfff": 1}]', ""),
    "a key twice": (b'{"image_id": 1, "image_id": 2}', ""),
}
# A line of text is an id or a name there.
GOOD = {
    "image ids": {"a number", "null"},
    "categories": {"null"},
    "a list of classes": list(BAD)[list(BAD).index("a number") :],
}


@pytest.mark.parametrize("bad", BAD)
def test_a_bad_file(tmp_path, bad):
    content, sentence = BAD[bad]
    path = tmp_path / "file.json"
    path.write_bytes(content)
    for name, (door, _) in FILES.items():
        if bad not in GOOD.get(name, ()):
            message = refusal(door, path)
            where = path.with_name("thumb") if name == "THumB" else path
            assert message is not None, name
            assert str(where) in message, (name, message)
            assert sentence in message, (name, message)


PLACES = {
    "missing": lambda path: None,
    "a folder": Path.mkdir,
    "a loop": lambda path: path.symlink_to(path),
    "a pipe": os.mkfifo if os.name == "posix" else None,
    "a device": lambda path: path.symlink_to("/dev/zero"),
    "nothing": lambda path: path.symlink_to("/dev/null"),
}
# A leaderboard begins where there is none.
OF_WHAT_IS_THERE = FILES.keys() - {"leaderboard", "THumB"}


@posix
@pytest.mark.parametrize("place", PLACES)
def test_a_place_without_a_file(tmp_path, monkeypatch, place):
    monkeypatch.setattr(files, "MOST_OF_A_PIPE", 1 << 16)
    monkeypatch.setattr(files, "_PATIENCE", 0.01)
    path = tmp_path / "file.json"
    PLACES[place](path)
    for name in OF_WHAT_IS_THERE:
        for given in (path, str(path)):
            message = refusal(FILES[name][0], given)
            assert message is not None, name
            assert str(path) in message, (name, message)


@pytest.mark.parametrize("path", ["a\0b", "a\ud800b", "", 5, b"file", None, ["x", 5]], ids=repr)
def test_what_is_no_path(path):
    for name in OF_WHAT_IS_THERE - {"objects", "instances", "detections", "categories"}:
        given = Path(path) if isinstance(path, str) and path else path
        assert refusal(FILES[name][0], given) is not None, name


@pytest.mark.parametrize("name", [name for name, (_, right) in FILES.items() if right])
def test_marks_and_line_ends_change_nothing(tmp_path, name):
    door, right = FILES[name]
    path = tmp_path / "file.json"
    read = []
    for start, indent, end in (("", None, ""), ("\ufeff", 1, "\r\n\n")):
        text = start + json.dumps(right, indent=indent).replace("\n", "\r\n") + end
        path.write_text(text, encoding="utf-8", newline="")
        read.append(repr(door(path)))
    assert read[0] == read[1]


# Values


def deep(levels=3000):
    nested = []
    for _ in range(levels):
        nested = [nested]
    return nested


#: Values that are no numbers, or none that a score is.
NO_NUMBERS = {
    "True": True, "infinite": math.inf, "thousands": "1_000", "full-width": "\uff11",
    "huge": 10**400, "empty": "", "a list": [],
}  # fmt: skip
ODD = NO_NUMBERS | {
    "an object": {}, "null": None, "negative": -1, "a fraction": 1.5, "NaN": math.nan,
    "text": "dog", "half a character": "a\ud800b", "an override": "a\u202eb",
    "a control": "\x1b[31m", "long": "a" * 3000, "nested": [[]], "of nothing": [None],
    "a nameless key": {"": None}, "another id": "000000000001", "a number in text": "1",
}  # fmt: skip
#: What only Python has.
ODD_IN_PYTHON = {"bytes": b"dog", "a thing": object(), "deep": deep()}
# What holds a list of texts, for which a text is no list.
OF_TEXTS = {"references", "answer"}


def places(value, at=()):
    """Yield the place of every value in nested lists and mappings."""
    yield at
    items = value.items() if isinstance(value, dict) else ()
    for key, inner in enumerate(value) if isinstance(value, list) else items:
        yield from places(inner, (*at, key))


def changed(content, at, value):
    """Return content with another value in a place."""
    if not at:
        return value
    new = copy.copy(content)
    new[at[0]] = changed(content[at[0]], at[1:], value)
    return new


def value_at(content, at):
    return value_at(content[at[0]], at[1:]) if at else content


def must_be_refused(name, right, at, kind):
    """Return whether a door must not take a value of a kind in place of the right one."""
    if isinstance(right, float):
        return kind in NO_NUMBERS.keys() - {"empty", "a list"} | {"bytes", "a thing"}
    if isinstance(right, list) and OF_TEXTS.intersection(at) and name != "judgements":
        return kind in {"text", "bytes", "a thing", "True", "a fraction"}
    return False


def formats():
    """Return an example of every format of objects in JSON, with the door that reads it."""
    examples = {name: example_of(name, 2, 2, "thing") for name in EXAMPLES}
    return {
        name: (read_objects, json.loads(files["o.json"]))
        for name, files in examples.items()
        if files.keys() == {"o.json"}
    }


VALUES = {name: of for name, of in FILES.items() if of[1]} | formats()


@pytest.mark.parametrize("name", VALUES)
def test_every_value_of_a_file(tmp_path, name):
    door, right = VALUES[name]
    path = tmp_path / "file.json"
    path.write_text(json.dumps(right))
    door(path)
    for at in places(right):
        for kind, value in ODD.items():
            path.write_text(json.dumps(changed(right, at, value)))
            message = refusal(door, path)
            if must_be_refused(name, value_at(right, at), at, kind):
                assert message is not None, (at, kind)
            # What images lack is a matter of two sides.
            two_sides = ("lacks", "nothing to choose from", "no column", "no score called")
            if message is not None and not any(output in message for output in two_sides):
                assert str(path) in message, (at, kind, message)


@pytest.mark.parametrize("name", PYTHON)
def test_every_value_of_python(name):
    door, right = PYTHON[name]
    door(right)
    top = () if isinstance(right, dict) and not isinstance(next(iter(right)), int) else None
    for at in places(right):
        if at == top or (name in ("capevalkit", "lmms-eval") and len(at) < 2):
            continue  # that is Python's call, not what is given
        for kind, value in (ODD | ODD_IN_PYTHON).items():
            message = refusal(door, changed(right, at, value))
            if must_be_refused(name, value_at(right, at), at, kind):
                assert message is not None, (at, kind)


# DataFrames


FRAMES = {
    "captions": ("captions", RECORDS),
    "references": ("references", RECORDS),
    "scores": ("named scores", [{"image_id": n, "PAC-S": n / 4} for n in (1, 2)]),
    "objects": ("objects", [{"image_id": 1, "label": "dog"}, {"image_id": 2, "label": "cat"}]),
}


def repeated(frame, library):
    """Return a DataFrame with its last column twice."""
    if library == "pyarrow":
        return frame.append_column(frame.column_names[-1], frame[frame.num_columns - 1])
    import pandas

    return pandas.concat([frame, frame.iloc[:, -1:]], axis=1)


@each_library
@pytest.mark.parametrize("name", FRAMES)
def test_a_frame(library, name):
    door, records = PYTHON[FRAMES[name][0]][0], FRAMES[name][1]
    frame = frame_of(library, records)
    other = frame_of(LIBRARIES[0], records)
    assert door(frame) == door(other)
    if library != "polars":  # which has no column twice
        assert "twice" in refusal(door, repeated(frame, library))
    assert refusal(door, frame_of(library, [{"x": 1}])) is not None
    for key in records[0]:
        odd = [{**record, key: None if at else record[key]} for at, record in enumerate(records)]
        refusal(door, frame_of(library, odd))
