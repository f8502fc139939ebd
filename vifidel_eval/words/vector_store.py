"""Word vector files of any size: read once in bounded memory, then row by row from a cache.

A file of the word2vec family is converted on first use into a folder of the cache, each file of it
after the mark of `cache`:

- ``vectors.f32``: the rows, little-endian float32, in the order of the file;
- ``words.utf8`` and ``words.starts``: the words one after the other, and where each begins;
- ``hashes.u64`` and ``hashes.rows``: the words' hashes in ascending order, and their rows;
- ``layout.json``: the digest of each of these files, which is checked whenever they are opened.

A word is found by its hash and checked by its bytes, so neither the vocabulary nor the matrix is
ever held in memory: of the hashes, every 512th is. The folder is named after the content of the
file: a changed file is read again, and a copy is not. Folders are renamed into place when they are
complete, so that two processes that start at once cannot see half of one.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import VectorsError
from ..io.files import FileRows
from .vector_cache import (
    SIGN,
    building,
    cache_folder,
    checked_content,
    content_digest,
    is_ours,
    remove,
    sampled_digest,
    signed,
    whole_digest,
)
from .word2vec_files import read_blocks

_LAYOUT = "layout.json"
_ROWS = "vectors.f32"
_FILES = (_ROWS, "words.utf8", "words.starts", "hashes.u64", "hashes.rows")
_APART = 512  # hashes, from one that is held in memory to the next
_MOST_BYTES = 1 << 16  # of a word
_FINGERPRINT_ROWS = 1000
_FORMAT = 3  # of the cache; a change makes old folders unused


class VectorStore:
    """The word vectors of a file of the word2vec family, as `sources.WordVectors` describes them.

    They are in a folder of the cache. Where that is not complete, or damaged, it raises OSError,
    ValueError, KeyError or TypeError.
    """

    def __init__(self, folder: Path, path: Path) -> None:
        self._path, self._folder = path, folder
        self._text = self._column("words.utf8", "u1")
        self._starts = self._column("words.starts", "<u8")
        self._hashes = self._column("hashes.u64", "<u8")
        self._rows = self._column("hashes.rows", "<u4")
        #: The rows, (number of words, dimensions), in the order of the file.
        self.vectors = self._column(_ROWS, "<f4", len(self._hashes))
        # Now that their sizes are known: what is cut from here on is noticed where it is read.
        digests = checked_content((folder / _LAYOUT).read_bytes())["files"]
        if not is_ours(folder) or any(digests[name] != _digest(folder / name) for name in _FILES):
            raise ValueError("damaged")
        self._some_hashes = self._hashes[range(0, len(self._hashes), _APART)]

    def _column(self, name: str, kind: str, rows: int | None = None) -> FileRows:
        """Open a file of numbers: so many rows of them, or a row for each; it may be damaged."""
        path = self._folder / name
        numbers = (path.stat().st_size - len(SIGN)) // np.dtype(kind).itemsize
        said = (
            f"{self._folder}: a file was cut while it was in use; start again, and the word "
            "vectors are converted anew."
        )
        shape = (numbers,) if rows is None else (rows, numbers // max(rows, 1))
        return FileRows(path, kind, shape, len(SIGN), VectorsError, said)

    def lookup(self, words: Sequence[str], listed_only: bool = False) -> NDArray[np.float64]:
        rows = np.full((len(words), self.vectors.shape[1]), np.nan)
        for row, at in zip(rows, self.rows_of(words), strict=True):
            if at is not None:
                row[:] = self.vectors[at]
        return rows

    def signature(self) -> str:
        return f"{self._path.name}#{fingerprint(self.word, self.vectors)}"

    def __reduce__(self) -> tuple[Any, ...]:
        return open_store, (self._path.absolute(),)

    def word(self, row: int) -> bytes:
        """Return the word of a row as UTF-8; a VectorsError if a file was cut or changed since."""
        start, end = self._starts.span(row, row + 2).tolist()
        if not 0 <= end - start <= _MOST_BYTES:
            raise VectorsError(f"{self._folder}: a file was changed while it was in use.")
        return self._text.span(start, end).tobytes()

    def rows_of(self, words: Sequence[str]) -> list[int | None]:
        """Return the row of each word, None for unknown ones; of repeated words the first row."""
        encoded = [word.encode("utf-8", errors="surrogatepass") for word in words]
        hashes = np.array([_hash(word) for word in encoded], dtype="<u8")
        before = np.searchsorted(self._some_hashes, hashes, side="left").tolist()
        behind = np.searchsorted(self._some_hashes, hashes, side="right").tolist()
        found: list[int | None] = []
        for word, hashed, low, high in zip(encoded, hashes, before, behind, strict=True):
            first = max(low - 1, 0) * _APART
            near = self._hashes.span(first, min(high * _APART, len(self._hashes)))
            start = first + int(np.searchsorted(near, hashed, side="left"))
            end = first + int(np.searchsorted(near, hashed, side="right"))
            same_hash = self._rows.span(start, end).tolist()
            found.append(next((row for row in same_hash if self.word(row) == word), None))
        return found


def open_store(path: Path) -> VectorStore:
    """Return the vectors of a file that `word2vec_files` reads, converting it if needed.

    A VectorsError is raised if the file is damaged or another one, or the cache cannot be written.
    """
    digest = content_digest(path)
    folder = cache_folder() / f"vectors-{_FORMAT}-{digest}"
    store = _opened(folder, path)
    if store is not None:
        return store
    with building(folder.parent) as aside:
        _convert(path, aside)
        if content_digest(path) != digest:
            raise VectorsError(f"{path}: changed while it was read; start again.")
        return _in_place(aside, folder, path)


def _opened(folder: Path, path: Path) -> VectorStore | None:
    try:
        return VectorStore(folder, path)
    except (OSError, ValueError, KeyError, TypeError, RecursionError):  # not there yet, or damaged
        return None


def _in_place(aside: Path, folder: Path, path: Path) -> VectorStore:
    try:
        aside.rename(folder)
    except OSError:
        if not folder.is_dir():
            raise
        store = _opened(folder, path)
        if store is not None:  # another process was faster; its folder is the same
            return store
        if not is_ours(folder):
            raise VectorsError(
                f"{folder}: is in the way of converted word vectors and lacks the mark of "
                "vifidel-eval; move or delete it."
            ) from None
        remove(folder)  # damaged
        if folder.exists():
            raise VectorsError(
                f"{folder}: holds what is not known to be ours, or is damaged; move or delete it."
            ) from None
        aside.rename(folder)
    return VectorStore(folder, path)


def fingerprint(word_of: Callable[[int], bytes] | None, matrix: NDArray[Any] | FileRows) -> str:
    """Return eight hexadecimal digits that stand for the shape and evenly spaced rows."""
    chosen = np.linspace(0, len(matrix) - 1, min(len(matrix), _FINGERPRINT_ROWS)).astype(int)
    digest = hashlib.sha256(repr(matrix.shape).encode())
    if word_of is not None:
        digest.update(b"\n".join(word_of(row) for row in chosen.tolist()))
    with np.errstate(over="ignore"):
        digest.update(np.ascontiguousarray(matrix[chosen], dtype="<f4").tobytes())
    return digest.hexdigest()[:8]


def _hash(word: bytes) -> int:
    return int.from_bytes(hashlib.blake2b(word, digest_size=8).digest(), "little")


def _convert(path: Path, folder: Path) -> None:
    hashes: list[NDArray[Any]] = []
    ends = [np.zeros(1, dtype="<u8")]
    with (
        read_blocks(path) as blocks,
        open(folder / _ROWS, "wb") as vectors,
        open(folder / "words.utf8", "wb") as text,
    ):
        vectors.write(SIGN)
        text.write(SIGN)
        for words, rows in blocks:
            vectors.write(rows)
            text.write(b"".join(words))
            hashes.append(np.array([_hash(word) for word in words], dtype="<u8"))
            ends.append(ends[-1][-1] + np.cumsum([len(word) for word in words], dtype="<u8"))
    all_hashes = np.concatenate(hashes) if hashes else np.empty(0, dtype="<u8")
    if not len(all_hashes):
        raise VectorsError(f"{path}: the word vectors hold no word.")
    order = np.argsort(all_hashes, kind="stable").astype("<u4")
    columns = {
        "hashes.u64": all_hashes[order],
        "hashes.rows": order,
        "words.starts": np.concatenate(ends),
    }
    for name, column in columns.items():
        (folder / name).write_bytes(SIGN + column.tobytes())
    digests = {name: _digest(folder / name) for name in _FILES}
    (folder / _LAYOUT).write_bytes(signed({"files": digests}))


def _digest(path: Path) -> str:
    """Return what a file of the cache is checked by: of the rows themselves, samples."""
    with path.open("rb") as file:
        return sampled_digest(file) if path.name == _ROWS else whole_digest(file)
