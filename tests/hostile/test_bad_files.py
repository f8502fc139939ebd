"""One table of bad files by doors: whoever reads a file says in one sentence what is wrong with it.

What only one format can have wrong is tested beside its reader.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import zipfile
from pathlib import Path

import pytest

import vifidel_eval
from vifidel_eval import VifidelError
from vifidel_eval.annotations import read_categories, read_objects
from vifidel_eval.captions import read_references, read_results, read_samples
from vifidel_eval.io.image_ids import read_image_ids
from vifidel_eval.plugins.agreement.judgements import read_judgements
from vifidel_eval.plugins.agreement.readers import (
    read_distractors,
    read_hat,
    read_nocaps_foil,
)
from vifidel_eval.plugins.submission.command import read_image_list
from vifidel_eval.scores import leaderboard
from vifidel_eval.words.synonyms import read_classes


def scores(path):
    """Read scores of another tool."""
    return vifidel_eval.evaluate({"a": {1: "a dog"}}, scores={"a": Path(path)})


DOORS = {
    "objects": read_objects,
    "categories": read_categories,
    "results": read_results,
    "samples": read_samples,
    "references": read_references,
    "image ids": read_image_ids,
    "images of a submission": read_image_list,
    "scores of a run": vifidel_eval.load,
    "scores of another tool": scores,
    "leaderboard": leaderboard.read,
    "judgements": read_judgements,
    "HAT": read_hat,
    "FOIL": read_nocaps_foil,
    "distractors": read_distractors,
    "a list of classes": read_classes,
}
# A leaderboard begins where there is none.
OF_WHAT_IS_THERE = [door for door in DOORS if door != "leaderboard"]


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
}
BAD_JSON = {
    "a number": (b"42", ""),
    "null": (b"null", ""),
    "cut off": (b'[{"image_id": 42,\n  "capt', "truncated"),
    "nested": (b"[" * 100_000, "nested too deeply"),
    "a long number": (b"[" + b"9" * 5000 + b"]", "thousands of digits"),
    "an empty list": (b"[]", ""),
    "an empty object": (b"{}", ""),
    "a list of lists": (b"[[[1]]]", ""),
    "half a character": (b'["\\ud800", {"\\udfff": 1}]', ""),
}
# A line of text is an id or a name there.
GOOD = {
    "image ids": {"a number", "null"}, "categories": {"null"}, "a list of classes": BAD_JSON.keys()
}  # fmt: skip


def said(door, path):
    with pytest.raises(VifidelError) as problem:
        DOORS[door](path)
    message = str(problem.value)
    assert "\n" not in message
    assert len(message) < 600 + len(str(path))
    return message


@pytest.mark.parametrize("bad", BAD | BAD_JSON)
def test_a_bad_file_is_one_sentence_at_every_door(tmp_path, bad):
    content, sentence = (BAD | BAD_JSON)[bad]
    path = tmp_path / "file.json"
    path.write_bytes(content)
    for door in DOORS:
        if bad not in GOOD.get(door, ()):
            message = said(door, path)
            assert str(path) in message, door
            assert sentence in message, door


def missing(path):
    """Leave the path as it is."""


def loop(path):
    path.symlink_to(path)


PLACES = {"missing": missing, "a folder": Path.mkdir, "a loop": loop}


@pytest.mark.skipif(os.name != "posix", reason="POSIX links")
@pytest.mark.parametrize("place", PLACES)
def test_a_place_without_a_file_is_one_sentence_at_every_door(tmp_path, place):
    path = tmp_path / "file.json"
    PLACES[place](path)
    for door in OF_WHAT_IS_THERE:
        assert str(path) in said(door, path), door


@pytest.mark.parametrize("path", ["a\0b", "a\ud800b"])
def test_a_path_that_cannot_be_is_one_sentence_at_every_door(path):
    for door in OF_WHAT_IS_THERE:
        said(door, Path(path))
