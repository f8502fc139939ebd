"""Word vector files of any size: read once in bounded memory, then memory-mapped from a cache.

A file of the word2vec family is converted on first use into a folder of the cache:

- ``vectors.f32``: the rows, little-endian float32, in the order of the file;
- ``words.utf8`` and ``words.starts``: the words one after the other, and where each begins;
- ``hashes.u64`` and ``hashes.rows``: the words' hashes in ascending order, and their rows;
- ``layout.json``: number of words and dimensions.

A word is found by its hash and checked by its bytes, so neither the vocabulary nor the matrix is
ever held in memory. The folder's name pins path, size and time of the file: a changed file is
read again. Folders are renamed into place when they are complete, so that two processes that
start at once cannot see half of one.
"""

from __future__ import annotations

import contextlib
import glob
import gzip
import hashlib
import json
import os
import shutil
import tempfile
import warnings
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from ..errors import VectorsError
from ..files import reason

_BLOCK_BYTES = 1 << 24
_LAYOUT = "layout.json"
_BUILDING = "building-"
_FORMAT = 1  # of the cache; a change makes old folders unused


def cache_folder() -> Path:
    """Return where converted vectors are kept.

    ``VIFIDEL_EVAL_CACHE`` if that is set, else the user's cache folder of the platform.
    """
    from platformdirs import user_cache_path

    chosen = os.environ.get("VIFIDEL_EVAL_CACHE")
    return Path(chosen) if chosen else user_cache_path("vifidel_eval", appauthor=False)


class VectorStore:
    """A converted file of word vectors.

    Parameters
    ----------
    folder : path
        A complete folder of the cache.
    """

    def __init__(self, folder: Path) -> None:
        layout = json.loads((folder / _LAYOUT).read_text(encoding="utf-8"))
        shape = (layout["words"], layout["dimensions"])
        self.vectors = np.memmap(folder / "vectors.f32", dtype="<f4", mode="r", shape=shape)
        self._text = np.memmap(folder / "words.utf8", dtype=np.uint8, mode="r")
        self._starts = np.memmap(folder / "words.starts", dtype="<u8", mode="r")
        self._hashes = np.memmap(folder / "hashes.u64", dtype="<u8", mode="r")
        self._rows = np.memmap(folder / "hashes.rows", dtype="<u4", mode="r")

    def word(self, row: int) -> bytes:
        """Return the word of a row as UTF-8."""
        return bytes(self._text[int(self._starts[row]) : int(self._starts[row + 1])])

    def rows_of(self, words: Sequence[str]) -> list[int | None]:
        """Return the row of each word, None for unknown ones; of repeated words the first row."""
        encoded = [word.encode() for word in words]
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
    state = path.stat()
    name = f"{path.stem[:40]}-{_digest(os.fsencode(path.resolve()))}"
    version = _digest(f"{_FORMAT} {state.st_size} {state.st_mtime_ns}".encode())
    cache = cache_folder()
    folder = cache / f"{name}-{version}"
    try:
        return VectorStore(folder)
    except (OSError, ValueError, KeyError):  # not there yet, or damaged
        shutil.rmtree(folder, ignore_errors=True)
        _convert_into(folder, path, name)
    return VectorStore(folder)


def _convert_into(folder: Path, path: Path, name: str) -> None:
    cache = folder.parent
    try:
        cache.mkdir(parents=True, exist_ok=True)
        building = Path(tempfile.mkdtemp(prefix=_BUILDING, dir=cache))
    except OSError as problem:
        raise _unwritable(cache, problem) from None
    try:
        _convert(path, building)
        _put_in_place(building, folder)
    except (EOFError, zlib.error, gzip.BadGzipFile) as problem:
        raise VectorsError(
            f"{path}: not gzip to its end ({problem}); the file looks truncated, get it again."
        ) from None
    except OSError as problem:
        raise _unwritable(cache, problem) from None
    finally:
        shutil.rmtree(building, ignore_errors=True)
    for outdated in cache.glob(f"{glob.escape(name)}-*"):
        if outdated != folder:
            shutil.rmtree(outdated, ignore_errors=True)


def clear_cache() -> int:
    """Remove all converted vectors and return how many bytes they took."""
    cache = cache_folder()
    size = 0
    for folder in cache.iterdir() if cache.is_dir() else ():
        # Nothing else that may stand in the folder a user chose is ours to remove.
        if folder.name.startswith(_BUILDING) or (folder / _LAYOUT).is_file():
            size += sum(file.stat().st_size for file in folder.iterdir())
            shutil.rmtree(folder)
    return size


def _put_in_place(building: Path, folder: Path) -> None:
    try:
        building.rename(folder)
    except OSError:
        if not folder.is_dir():  # else another process was faster; its folder is the same
            raise


def _unwritable(cache: Path, problem: OSError) -> VectorsError:
    return VectorsError(
        f"{cache}: word vectors cannot be kept there ({reason(problem)}); set "
        "VIFIDEL_EVAL_CACHE to a folder with room for them."
    )


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:12]


def _hash(word: bytes) -> int:
    return int.from_bytes(hashlib.blake2b(word, digest_size=8).digest(), "little")


def _convert(path: Path, folder: Path) -> None:
    hashes: list[NDArray[Any]] = []
    ends = [np.zeros(1, dtype="<u8")]
    with (
        _opened(path) as source,
        open(folder / "vectors.f32", "wb") as vectors,
        open(folder / "words.utf8", "wb") as text,
    ):
        dimensions, blocks = _blocks(source, path)
        for words, rows in blocks:
            vectors.write(rows)
            text.write(b"".join(words))
            hashes.append(np.array([_hash(word) for word in words], dtype="<u8"))
            ends.append(ends[-1][-1] + np.cumsum([len(word) for word in words], dtype="<u8"))
    all_hashes = np.concatenate(hashes) if hashes else np.empty(0, dtype="<u8")
    if not len(all_hashes):
        raise VectorsError(f"{path}: the word vectors hold no word.")
    order = np.argsort(all_hashes, kind="stable").astype("<u4")
    all_hashes[order].tofile(folder / "hashes.u64")
    order.tofile(folder / "hashes.rows")
    np.concatenate(ends).tofile(folder / "words.starts")
    layout = {"words": len(all_hashes), "dimensions": dimensions}
    (folder / _LAYOUT).write_text(json.dumps(layout), encoding="utf-8")


@contextlib.contextmanager
def _opened(path: Path) -> Iterator[IO[bytes]]:
    """Open a plain or gzipped file; a person who waits sees how much of it is read."""
    from tqdm import tqdm

    with open(path, "rb") as file:
        packed = file.read(2) == b"\x1f\x8b"
        file.seek(0)
        with tqdm.wrapattr(
            file,
            "read",
            total=path.stat().st_size,
            desc=f"reading {path.name}",
            disable=None,
            delay=1,
            leave=False,
        ) as watched:
            stream: Any = watched  # tqdm's types know files of text only
            opened: Any = gzip.GzipFile(fileobj=stream) if packed else stream
            yield opened


def _blocks(source: IO[bytes], path: Path) -> tuple[int, Iterator[tuple[list[bytes], bytes]]]:
    """Recognise the layout; return the dimensions and the rows, some at a time.

    Raises
    ------
    VectorsError
        If the first lines are neither ``count size`` nor a word and its numbers.
    """
    first = source.readline(1 << 16)
    fields = first.split()
    if len(fields) == 2 and all(field.isdigit() for field in fields):
        count, dimensions = int(fields[0]), int(fields[1])
        start = source.read(_BLOCK_BYTES)
        second = start.partition(b"\n")[0].rstrip().split(b" ")
        if len(second) > dimensions and _are_numbers(second[-dimensions:]):
            return dimensions, _text_rows(source, start, dimensions, path, 2, count)
        return dimensions, _binary_rows(source, start, dimensions, path, count)
    if len(fields) > 2 and _are_numbers(fields[1:]):
        return len(fields) - 1, _text_rows(source, first, len(fields) - 1, path, 1, None)
    raise VectorsError(
        f"{path}: not word vectors; accepted: gensim .kv, word2vec .bin or text, GloVe text, "
        "fastText .vec or .bin."
    )


def _binary_rows(
    source: IO[bytes], data: bytes, dimensions: int, path: Path, count: int
) -> Iterator[tuple[list[bytes], bytes]]:
    """Yield words and rows of word2vec's binary format: word, blank, float32 numbers."""
    row_bytes = 4 * dimensions
    read = 0
    while read < count:
        words: list[bytes] = []
        rows: list[bytes] = []
        at = 0
        while read + len(words) < count:
            blank = data.find(b" ", at)
            end = blank + 1 + row_bytes
            if blank < 0 or end > len(data):
                break
            words.append(data[at:blank].lstrip(b"\n"))
            rows.append(data[blank + 1 : end])
            at = end
        read += len(words)
        if words:
            yield words, b"".join(rows)
        more = source.read(_BLOCK_BYTES)
        if not more and read < count:
            raise _truncated(path, read, count)
        data = data[at:] + more


def _text_rows(
    source: IO[bytes], data: bytes, dimensions: int, path: Path, line: int, count: int | None
) -> Iterator[tuple[list[bytes], bytes]]:
    """Yield words and rows of the text formats: a line a word, its numbers after it."""
    first_line = line
    more = source.read(_BLOCK_BYTES)
    while data:
        end = data.rfind(b"\n") + 1 if more else len(data)
        lines = [text for text in data[:end].split(b"\n") if text.strip()]
        if lines:
            yield _parsed(lines, dimensions, path, line)
        line += len(lines)
        data = data[end:] + more
        more = source.read(_BLOCK_BYTES) if more else b""
    if count is not None and line - first_line != count:
        raise _truncated(path, line - first_line, count)


def _parsed(
    lines: list[bytes], dimensions: int, path: Path, line: int
) -> tuple[list[bytes], bytes]:
    if all(text.rstrip().count(b" ") == dimensions for text in lines):
        halves = [text.partition(b" ") for text in lines]
        numbers = _numbers(b" ".join(half[2] for half in halves))
        if numbers is not None and len(numbers) == len(lines) * dimensions:
            return [half[0] for half in halves], numbers.tobytes()
    words: list[bytes] = []
    rows: list[bytes] = []
    for at, text in enumerate(lines):  # some word holds blanks (GloVe 840B), or a line is damaged
        word, *fields = text.rstrip().rsplit(b" ", dimensions)
        row = _numbers(b" ".join(fields))
        if len(fields) != dimensions or row is None or len(row) != dimensions:
            raise VectorsError(
                f"{path}: line {line + at} is not a word and {dimensions} numbers with blanks "
                "between; the file may be truncated."
            )
        words.append(word)
        rows.append(row.tobytes())
    return words, b"".join(rows)


def _numbers(text: bytes) -> NDArray[Any] | None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            return np.fromstring(text, dtype=np.float64, sep=" ").astype("<f4")
        except (Warning, ValueError):  # not all of it is (float32) numbers
            return None


def _are_numbers(fields: list[bytes]) -> bool:
    try:
        [float(field) for field in fields]
    except ValueError:
        return False
    return True


def _truncated(path: Path, read: int, count: int) -> VectorsError:
    return VectorsError(
        f"{path}: holds {read} words where its first line promises {count}; the file looks "
        "truncated, get it again."
    )
