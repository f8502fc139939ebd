"""Hostile word vectors: files, objects and caches."""

import gzip
import os
import struct
from types import SimpleNamespace

import numpy as np
import pytest
from conftest import done
from hypothesis import given
from hypothesis import strategies as st

from vifidel_eval import VectorsError
from vifidel_eval.plugins.vectors import store as vector_store
from vifidel_eval.plugins.vectors.store import content_digest
from vifidel_eval.words.word_vectors import load_vectors


def binary(count, dimensions, words, end=b""):
    rows = [f"{word} ".encode() + struct.pack(f"<{len(r)}f", *r) for word, r in words.items()]
    return f"{count} {dimensions}\n".encode() + b"".join(rows) + end


ROWS = {"dog": [1.0, 2.0], "cat": [3.0, 4.0]}


@pytest.mark.parametrize(
    ("content", "said"),
    [
        # A header that promises other rows never makes a text binary.
        (b"2 3\ndog 1.0 2.0\ncat 3.0 4.0\n", "line 2 is not a word and 3 numbers"),
        (b"2 4\ndog 1.0 2.0\ncat 3.0 4.0\nowl 5 6\n", "line 2 is not"),
        (b"9 2\nd\xe9j\xe0 1.0\ncat 3.0 4.0\n", "v.txt"),
        (b"2 3\n" + "ch\u00e2t 1.0 2.0\n".encode() * 9000, "line 2 is not"),
        # Surplus and missing rows.
        (b"1 2\ndog 1.0 2.0\ncat 3.0 4.0\n", "holds 2 words, but its first line says 1"),
        (b"3 2\ndog 1.0 2.0\ncat 3.0 4.0\n", "holds 2 words, but its first line says 3"),
        (binary(1, 2, ROWS), "holds more than 1 words, but its first line says 1"),
        (binary(3, 2, ROWS), "holds 2 words, but its first line says 3"),
        (binary(2, 2, ROWS, b"\n\nowl"), "holds more than 2 words"),
        (binary(2, 3, ROWS), "holds 1 words, but its first line says 2"),
        (binary(0, 2, ROWS), "holds more than 0 words"),
        (b"dog 1 2\n\n\ncat 3 4\nowl 5\n", "line 5 is not a word and 2 numbers"),
        # Dimensions and counts.
        (b"2 0\ndog\ncat\n", "vectors have 0 dimensions"),
        (b"2 65537\ndog 1\n", "vectors have 65537 dimensions"),
        (b"2 999999999999999999\ndog \0\0\0\0", "dimensions; 1 to 65536 are possible"),
        (b"9" * 5000 + b" 2\ndog 1 2\n", "not word vectors"),
        (b"2 2\n" + b"\0" * 70_000, "word 1 has no end"),
        (b"2 2\n" + b"x" * 200_000, "bytes; the file is damaged"),
        # Numbers that float32 does not have, and damage.
        (b"1 2\ndog 1e300 2\n", "line 2 is not a word and 2 numbers"),
        (gzip.compress(b"2 2\ndog 1 2\ncat 3 4\n", mtime=0)[:-9],
         "the gzip data is damaged or truncated"),
        (gzip.compress(b"2 2\ndog 1 2\ncat 3 4\n", mtime=0)[:20] + b"\0" * 20,
         "the gzip data is damaged or truncated"),
    ],
)  # fmt: skip
def test_files_are_one_sentence(tmp_path, monkeypatch, content, said):
    monkeypatch.setattr(vector_store, "_BLOCK_BYTES", 1 << 16)
    path = tmp_path / "v.txt"
    path.write_bytes(content)
    with pytest.raises(VectorsError) as caught:
        load_vectors(path)
    assert said in str(caught.value)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_line_without_end_costs_bounded_memory(tmp_path, monkeypatch):
    """A gzip bomb of one line: no more than some blocks of it are ever held."""
    monkeypatch.setattr(vector_store, "_BLOCK_BYTES", 1 << 16)
    path = tmp_path / "v.txt.gz"
    path.write_bytes(gzip.compress(b"2 2\ndog " + b"1" * (1 << 24)))
    read = []
    block = gzip.GzipFile.read
    monkeypatch.setattr(gzip.GzipFile, "read", lambda *of_file: read.append(1) or block(*of_file))
    with pytest.raises(VectorsError, match="line 2 has more than"):
        load_vectors(path)
    assert len(read) < 8


@given(st.integers(0, 60), st.binary(min_size=0, max_size=3), st.booleans())
def test_mutated_files_are_vectors_or_one_sentence(tmp_path_factory, at, put, of_text):
    content = b"2 2\ndog 1.0 2.0\ncat 3.0 4.0\n" if of_text else binary(2, 2, ROWS)
    path = tmp_path_factory.mktemp("mutated") / "v"
    path.write_bytes(content[:at] + put + content[at + 1 :])
    message = ""
    try:
        assert load_vectors(path).lookup(["dog"]).shape[0] == 1
    except VectorsError as problem:
        message = str(problem)
    assert not message or (str(path) in message and "\n" not in message)


# Objects


class KeyedVectorsLike(SimpleNamespace):
    pass


def like(matrix, words=("dog", "cat"), **more):
    return KeyedVectorsLike(
        key_to_index={word: at for at, word in enumerate(words)}, vectors=np.array(matrix), **more
    )


@pytest.mark.parametrize(
    ("vectors", "said"),
    [
        (like([[1.0, 2.0]]), "has 2 words and 1 vectors"),
        (like(np.empty((2, 0))), r"shape \(2, 0\)"),
        (like(np.ones((2, 2), dtype=complex)), "complex128"),
        (like(np.ones((2, 2), dtype=bool)), "bool"),
        (like([["a", "b"], ["c", "d"]]), "<U1"),
        (like([1.0, 2.0]), r"shape \(2,\)"),
        (like([[1.0], [2.0]], words=()), "hold no word"),
        (KeyedVectorsLike(key_to_index={"a": -1}, vectors=np.ones((2, 2))), "number must be"),
        (KeyedVectorsLike(key_to_index={"a": "b"}, vectors=np.ones((2, 2))), "number must be"),
        (KeyedVectorsLike(key_to_index=["a"], vectors=np.ones((2, 2))), "hold no word"),
    ],
)
def test_keyed_vectors_that_are_none(vectors, said):
    with pytest.raises(VectorsError, match=said):
        load_vectors(vectors)


def test_keyed_vectors_need_no_vector_size():
    vectors = load_vectors(like([[1.0, 2.0], [3.0, 4.0]]))
    assert vectors.lookup(["cat"]).tolist() == [[3, 4]]
    assert np.isnan(vectors.lookup(["owl", "\ud83d"])).all()
    assert vectors.signature() == load_vectors(like([[1.0, 2.0], [3.0, 4.0]])).signature()


class Answers(SimpleNamespace):
    """Vectors of somebody else, with any answer."""

    def lookup(self, words, listed_only=False):
        return self.answer

    def signature(self):
        return "mine"


@pytest.mark.parametrize("shape", [(2,), (3, 2), (2, 0), None])
def test_a_lookup_of_a_wrong_shape(shape):
    answers = [None, [["a"]] * 2, np.ones((2, 2), complex)] if shape is None else [np.ones(shape)]
    for answer in answers:
        with pytest.raises(VectorsError, match=r"Answers\.lookup returned an array of shape"):
            load_vectors(Answers(answer=answer)).lookup(["dog", "cat"])


# Caches


def test_other_content_of_the_same_size_and_time(tmp_path):
    path = tmp_path / "v.txt"
    path.write_bytes(b"dog 1 2\n")
    first, state = load_vectors(path), path.stat()
    assert first.lookup(["dog"]).tolist() == [[1, 2]]
    for content, row in ((b"dog 3 4\n", [3, 4]), (b"dog 1 2\n", [1, 2]), (b"dog 5 6\n", [5, 6])):
        path.write_bytes(content)
        os.utime(path, ns=(state.st_atime_ns, state.st_mtime_ns))
        again = load_vectors(path)
        assert again.lookup(["dog"]).tolist() == [row]
        assert (again.signature() == first.signature()) == (row == [1, 2])


def test_a_large_file_is_looked_at_in_blocks(tmp_path, monkeypatch):
    """Even where no time tells, a change in a block that is looked at is noticed."""
    monkeypatch.setattr(vector_store, "_WHOLE", 100)
    monkeypatch.setattr(vector_store, "_SAMPLE_BYTES", 32)
    path = tmp_path / "v.txt"
    content = bytearray(b"x" * 5000)
    digests = []
    for at in (1, 0, 4999, 2500):
        content[at] = ord("y")
        path.write_bytes(content)
        os.utime(path, ns=(1, 1))
        digests.append(content_digest(path))
    os.utime(path, ns=(1, 2))  # and even where no block tells, a change of the time
    assert len({*digests, content_digest(path)}) == 5


@pytest.mark.parametrize(
    "name",
    ["vectors-4-0123.db", "layout.json", "digests/thesis.txt", "vectors-4-0123/thesis.txt"],
)
def test_clear_cache_deletes_only_what_is_ours(tmp_path, monkeypatch, name, run):
    folder = tmp_path / "cache"
    monkeypatch.setenv("VIFIDEL_EVAL_CACHE", str(folder))
    (tmp_path / "v.txt").write_bytes(b"dog 1 2\n")
    load_vectors(tmp_path / "v.txt")
    precious, linked = folder / name, folder / f"building-{'0' * 32}.db"
    precious.parent.mkdir(exist_ok=True)
    precious.write_text("precious")
    linked.symlink_to(precious)
    result = done("clear-cache")
    assert set(folder.iterdir()) == {folder / name.partition("/")[0], linked}
    assert linked.read_text() == "precious"
    if "/" in name:
        assert f"{precious.parent}: left alone" in result.stderr
