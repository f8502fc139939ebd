"""Word vector files of any size: read once in bounded memory, then memory-mapped from a cache.

A file of the word2vec family is converted on first use into a folder of the cache:

- ``vectors.f32``: the rows, little-endian float32, in the order of the file;
- ``words.utf8`` and ``words.starts``: the words one after the other, and where each begins;
- ``hashes.u64`` and ``hashes.rows``: the words' hashes in ascending order, and their rows;
- ``layout.json``: number of words and dimensions, and of each file its size and a digest, which
  are checked whenever it is opened.

A word is found by its hash and checked by its bytes, so neither the vocabulary nor the matrix is
ever held in memory. The folder is named after the content of the file: a changed file is read
again, and a copy is not. Folders are renamed into place when they are complete, so that two
processes that start at once cannot see half of one.
"""

from __future__ import annotations

import hashlib
import json
import mmap
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from ..errors import VectorsError
from .cache import (
    building,
    cache_folder,
    content_digest,
    is_ours,
    remove,
    sampled_digest,
    whole_digest,
)
from .formats import read_blocks

_LAYOUT = "layout.json"
_ROWS = "vectors.f32"
_FILES = (_ROWS, "words.utf8", "words.starts", "hashes.u64", "hashes.rows")
_FORMAT = 2  # of the cache; a change makes old folders unused


class VectorStore:
    """A converted file of word vectors.

    Parameters
    ----------
    folder : path
        A complete folder of the cache.

    Raises
    ------
    OSError, ValueError, KeyError, TypeError
        If it is not complete, or is damaged.
    """

    def __init__(self, folder: Path) -> None:
        layout = json.loads((folder / _LAYOUT).read_bytes())
        if layout["digest"] != _layout_digest(layout) or not is_ours(folder):
            raise ValueError("damaged layout")
        for name in _FILES:
            with open(folder / name, "rb") as file:
                if layout["files"][name] != _file_digest(file):
                    raise ValueError(f"damaged {name}")
        self._folder = folder
        self._maps: list[mmap.mmap] = []
        shape = (layout["words"], layout["dimensions"])
        self._vectors = self._mapped(_ROWS, "<f4").reshape(shape)
        self._text = self._mapped("words.utf8", "u1")
        self._starts = self._mapped("words.starts", "<u8")
        self._hashes = self._mapped("hashes.u64", "<u8")
        self._rows = self._mapped("hashes.rows", "<u4")

    def _mapped(self, name: str, kind: str) -> NDArray[Any]:
        with open(self._folder / name, "rb") as file:
            mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        self._maps.append(mapped)
        return np.frombuffer(mapped, dtype=kind)

    @property
    def vectors(self) -> NDArray[np.float32]:
        """The rows, (number of words, dimensions), in the order of the file.

        Raises
        ------
        VectorsError
            If a file was cut since it was opened: reading behind its end would end the process.
        """
        self._check_sizes()
        return self._vectors

    def _check_sizes(self) -> None:
        if any(mapped.size() < len(mapped) for mapped in self._maps):
            raise VectorsError(
                f"{self._folder}: a file was cut while it was in use; start again, and the word "
                "vectors are converted anew."
            )

    def word(self, row: int) -> bytes:
        """Return the word of a row as UTF-8."""
        return bytes(self._text[int(self._starts[row]) : int(self._starts[row + 1])])

    def rows_of(self, words: Sequence[str]) -> list[int | None]:
        """Return the row of each word, None for unknown ones; of repeated words the first row."""
        self._check_sizes()
        encoded = [word.encode("utf-8", errors="surrogatepass") for word in words]
        hashes = np.array([_hash(word) for word in encoded], dtype="<u8")
        found: list[int | None] = []
        starts = np.searchsorted(self._hashes, hashes, side="left").tolist()
        ends = np.searchsorted(self._hashes, hashes, side="right").tolist()
        for word, start, end in zip(encoded, starts, ends, strict=True):
            same_hash = self._rows[start:end].tolist()
            found.append(next((row for row in same_hash if self.word(row) == word), None))
        return found


def open_store(path: Path) -> VectorStore:
    """Return the vectors of a word2vec, GloVe or fastText text file, converting it if needed.

    Parameters
    ----------
    path : path
        word2vec binary or text, GloVe text (no header), or fastText ``.vec``; gzip or plain.

    Raises
    ------
    VectorsError
        If the file is none of these or damaged, or the cache cannot be written.
    """
    digest = content_digest(path)
    folder = cache_folder() / f"vectors-{_FORMAT}-{digest}"
    store = _opened(folder)
    if store is not None:
        return store
    with building(folder.parent) as aside:
        _convert(path, aside)
        if content_digest(path) != digest:
            raise VectorsError(f"{path}: changed while it was read; start again.")
        return _in_place(aside, folder)


def _opened(folder: Path) -> VectorStore | None:
    try:
        return VectorStore(folder)
    except (OSError, ValueError, KeyError, TypeError, RecursionError):  # not there yet, or damaged
        return None


def _in_place(aside: Path, folder: Path) -> VectorStore:
    try:
        aside.rename(folder)
    except OSError:
        if not folder.is_dir():
            raise
        store = _opened(folder)
        if store is not None:  # another process was faster; its folder is the same
            return store
        if not is_ours(folder):
            raise VectorsError(
                f"{folder}: is in the way of converted word vectors and lacks the mark of "
                "vifidel-eval; move or delete it."
            ) from None
        remove(folder)  # damaged
        aside.rename(folder)
    return VectorStore(folder)


def _layout_digest(layout: dict[str, Any]) -> str:
    content = {key: value for key, value in layout.items() if key != "digest"}
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def _hash(word: bytes) -> int:
    return int.from_bytes(hashlib.blake2b(word, digest_size=8).digest(), "little")


def _convert(path: Path, folder: Path) -> None:
    hashes: list[NDArray[Any]] = []
    ends = [np.zeros(1, dtype="<u8")]
    with (
        read_blocks(path) as (dimensions, blocks),
        open(folder / _ROWS, "wb") as vectors,
        open(folder / "words.utf8", "wb") as text,
    ):
        for words, rows in blocks:
            vectors.write(rows)
            text.write(b"".join(words))
            hashes.append(np.array([_hash(word) for word in words], dtype="<u8"))
            ends.append(ends[-1][-1] + np.cumsum([len(word) for word in words], dtype="<u8"))
        text.write(b"\n")  # an empty file cannot be mapped
    all_hashes = np.concatenate(hashes) if hashes else np.empty(0, dtype="<u8")
    if not len(all_hashes):
        raise VectorsError(f"{path}: the word vectors hold no word.")
    order = np.argsort(all_hashes, kind="stable").astype("<u4")
    all_hashes[order].tofile(folder / "hashes.u64")
    order.tofile(folder / "hashes.rows")
    np.concatenate(ends).tofile(folder / "words.starts")
    layout: dict[str, Any] = {
        "words": len(all_hashes),
        "dimensions": dimensions,
        "files": {},
    }
    for name in _FILES:
        with open(folder / name, "rb") as file:
            layout["files"][name] = _file_digest(file)
    layout["digest"] = _layout_digest(layout)
    (folder / _LAYOUT).write_text(json.dumps(layout), encoding="utf-8")


def _file_digest(file: IO[bytes]) -> str:
    """Return what an open file of the cache is checked by: of the rows themselves, samples."""
    return sampled_digest(file) if file.name.endswith(_ROWS) else whole_digest(file)
