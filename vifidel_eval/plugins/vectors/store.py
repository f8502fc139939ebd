"""Word vector files of any size: read once in bounded memory, then looked up in a cache.

A file is converted on first use into a database of the cache folder, whose name has digests of the
file's path, of its content, and its own, so that what has changed or is damaged is made again.
Word2vec binary and text, GloVe text and fastText ``.vec`` are read, plain or gzipped:
``src/utils`` of https://github.com/stanfordnlp/GloVe (a word and its numbers per line) and
``word2vec.c`` (a line ``count size``, then a line per word, or word, blank and float32 numbers).
"""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import os
import secrets
import sqlite3
import warnings
import zlib
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from ...errors import VectorsError
from ...io.caches import cache_folder
from ...io.files import open_file, printable, reason, sha256_of
from ...words.word_vectors import OwnVectors, fingerprint, fingerprint_rows

# With digests of path, content and itself; `io.caches` knows these names.
_DATABASE, _BUILDING = "vectors-4-{}-{}-{}.db", "building-{}.db"
# A file up to this size is looked at as a whole, of others so many blocks of so many bytes.
_WHOLE, _SAMPLES, _SAMPLE_BYTES = 1 << 24, 256, 1 << 14

_BLOCK_BYTES = 1 << 24
_ROWS_PER_STEP = 1000  # of the progress bar
# Bounds on what a damaged file may cost.
_MOST_DIMENSIONS, _LONGEST_WORD = 1 << 16, 1 << 16
_LOOKED_AT = 1 << 16
_FIGURES = 18  # of the largest count that is believed
_NO_TEXT = frozenset(range(32)) - frozenset(b"\t\n\r")  # what no text has in it

Rows = Iterator[tuple[bytes, bytes]]  #: words and their rows, as little-endian float32


class VectorStore(OwnVectors):
    """The `WordVectors` of a file, whose database stays open; threads may share it."""

    def __init__(self, database: Path, path: Path) -> None:
        self._name, self._path, self._size = database, path, database.stat().st_size
        address = f"{database.absolute().as_uri()}?mode=ro&immutable=1"
        self._database = sqlite3.connect(address, uri=True, check_same_thread=False)
        [last] = self._rows("ORDER BY rowid DESC LIMIT ?", [1])
        if last is None:
            raise VectorsError(f"{path}: the word vectors hold no word.")
        self.shape = last[0], len(last[2])

    def __del__(self) -> None:
        if hasattr(self, "_database"):
            self._database.close()

    def _rows(
        self, chosen: str, keys: Iterable[Any]
    ) -> Iterator[tuple[int, bytes, NDArray[np.float32]] | None]:
        """Yield number, word and vector of the first row that is chosen for each key."""
        query = f"SELECT rowid, word, vector, digest FROM words {chosen}"
        try:
            for key in keys:
                row = self._database.execute(query, (key,)).fetchone()
                if row and zlib.crc32(row[2], zlib.crc32(row[1])) != row[3]:
                    raise sqlite3.DatabaseError
                yield row and (row[0], row[1], np.frombuffer(row[2], "<f4"))
            with contextlib.suppress(FileNotFoundError):  # what is removed is still open
                if self._name.stat().st_size != self._size:
                    raise sqlite3.DatabaseError
        except sqlite3.Error:
            raise VectorsError(
                f"{self._name}: the file was truncated while it was in use; start again to "
                "convert the word vectors again."
            ) from None

    def lookup(self, words: Sequence[str], listed_only: bool = False) -> NDArray[np.float64]:
        rows = np.full((len(words), self.shape[1]), np.nan)
        keys = [word.encode("utf-8", errors="surrogatepass") for word in words]
        # Of repeated words the first row counts, as in gensim.
        found_rows = self._rows("WHERE word = ? ORDER BY rowid LIMIT 1", keys)
        for row, stored in zip(rows, found_rows, strict=True):
            if stored is not None:
                row[:] = stored[2]
        return rows

    def signature(self) -> str:
        numbers = (fingerprint_rows(self.shape[0]) + 1).tolist()
        rows_found = list(self._rows("WHERE rowid = ?", numbers))
        words, rows = [row[1] for row in rows_found if row], [row[2] for row in rows_found if row]
        return f"{self._path.name}#{fingerprint(self.shape, np.array(rows), words)}"

    def __reduce__(self) -> tuple[Any, ...]:
        return open_store, (self._path.absolute(),)


def open_store(path: Path) -> VectorStore:
    """Return the vectors of a file of the word2vec family, converting it if needed."""
    cache, digest = cache_folder(), content_digest(path)
    of_path = hashlib.sha256(os.fsencode(os.path.realpath(path))).hexdigest()[:32]
    aside = cache / _BUILDING.format(secrets.token_hex(16))
    try:
        for kept_database in cache.glob(_DATABASE.format("*", digest, "*")):
            with contextlib.suppress(FileNotFoundError):  # another process has just removed it
                with kept_database.open("rb") as file:
                    is_whole = kept_database.stem.endswith(_digest(file))
                if is_whole:
                    return VectorStore(kept_database, path)
                kept_database.unlink()
        cache.mkdir(parents=True, exist_ok=True)
        try:
            _convert(path, aside)
        except sqlite3.Error:  # it says "disk I/O error"; the system says why
            with aside.open("ab") as file:
                file.write(bytes(_SAMPLE_BYTES))
            raise
        if content_digest(path) != digest:
            raise VectorsError(f"{path}: changed while it was read; start again.")
        # What another process has made of the same content meanwhile stays: it may be opening it.
        current = set(cache.glob(_DATABASE.format(of_path, digest, "*")))
        for old in set(cache.glob(_DATABASE.format(of_path, "*", "*"))) - current:
            with contextlib.suppress(OSError):  # another process may use it
                old.unlink()
        with aside.open("rb") as file:
            database = cache / _DATABASE.format(of_path, digest, _digest(file))
        aside.replace(database)
        return VectorStore(database, path)
    except (OSError, sqlite3.Error) as problem:
        why = reason(problem) if isinstance(problem, OSError) else problem
        raise VectorsError(
            f"{cache}: word vectors cannot be saved there ({why}); set VIFIDEL_EVAL_CACHE to a "
            "folder with enough space."
        ) from None
    finally:
        with contextlib.suppress(OSError):
            aside.unlink(missing_ok=True)


def _convert(path: Path, aside: Path) -> None:
    with contextlib.closing(sqlite3.connect(aside, isolation_level=None)) as database:
        # Nobody sees it before it is complete.
        for setting in ("page_size=8192", "journal_mode=OFF", "synchronous=OFF"):
            database.execute(f"PRAGMA {setting}")
        database.execute("BEGIN")
        database.execute("CREATE TABLE words (word BLOB, vector BLOB, digest INTEGER)")
        listed = ((word, row, zlib.crc32(row, zlib.crc32(word))) for word, row in _rows_of(path))
        database.executemany("INSERT INTO words VALUES (?, ?, ?)", listed)
        database.execute("CREATE INDEX by_word ON words (word)")
        database.execute("COMMIT")


def content_digest(path: Path) -> str:
    """Return a digest of a file's content, and for a large file of its time of change too."""
    with open_file(path, VectorsError) as file:
        try:
            state = os.fstat(file.fileno())
            digest = _digest(file)
        except OSError as problem:
            raise VectorsError(f"{path}: cannot be read: {reason(problem)}.") from None
    if state.st_size <= _WHOLE:
        return digest
    return hashlib.sha256(f"{digest} {state.st_mtime_ns}".encode()).hexdigest()[:32]


def _digest(file: IO[bytes]) -> str:
    """Return a digest of a file's content, of a large file its size and evenly spaced blocks."""
    size = os.fstat(file.fileno()).st_size
    if size <= _WHOLE:
        return sha256_of(file)[:32]
    digest = hashlib.sha256(str(size).encode())
    for number in range(_SAMPLES):
        file.seek((size - _SAMPLE_BYTES) * number // (_SAMPLES - 1))
        digest.update(file.read(_SAMPLE_BYTES))
    return digest.hexdigest()[:32]


def _rows_of(path: Path) -> Rows:
    """Yield the words and rows of a file; whoever waits sees how much of it is read."""
    from tqdm import tqdm

    with (
        open_file(path, VectorsError) as file,
        tqdm(
            total=path.stat().st_size,
            desc=f"reading {printable(path.name)}",
            disable=None,
            delay=1,
            leave=False,
            unit="B",
            unit_scale=True,
        ) as progress,
    ):
        packed = file.read(2) == b"\x1f\x8b"
        file.seek(0)
        opened: Any = gzip.GzipFile(fileobj=file) if packed else file
        try:
            for number, row in enumerate(_recognised(path, opened)):
                yield row
                if number % _ROWS_PER_STEP == 0:
                    progress.update(file.tell() - progress.n)
        except (EOFError, zlib.error, gzip.BadGzipFile) as problem:
            raise VectorsError(
                f"{path}: the gzip data is damaged or truncated ({problem}); get a fresh copy."
            ) from None
        except OSError as problem:
            raise VectorsError(f"{path}: cannot be read: {reason(problem)}.") from None


def _recognised(path: Path, file: IO[bytes]) -> Rows:
    first, _, after_first = file.read(_LOOKED_AT).partition(b"\n")
    fields = first.split()
    if len(fields) == 2 and all(f.isdigit() and len(f) <= _FIGURES for f in fields):
        count, dimensions = int(fields[0]), int(fields[1])
        if not 1 <= dimensions <= _MOST_DIMENSIONS:
            raise VectorsError(
                f"{path}: its first line says that vectors have {dimensions} dimensions; 1 to "
                f"{_MOST_DIMENSIONS} are possible."
            )
        file.seek(len(first) + 1)
        rows = _text_rows if _is_text(after_first) else _binary_rows
        return rows(path, file, dimensions, count)
    if len(fields) > 2 and _are_numbers(fields[1:]):
        file.seek(0)
        return _text_rows(path, file, len(fields) - 1, None)
    raise VectorsError(
        f"{path}: not word vectors; accepted: gensim .kv, word2vec .bin or text, GloVe "
        "text, fastText .vec or .bin."
    )


def _is_text(start: bytes) -> bool:
    """Return whether what follows the first line is text, however wrong that line is."""
    numbers = start.partition(b"\n")[0].rstrip().split(b" ")[1:]
    # Numbers that a person can read; float32 bytes pass for two of them once in 10^7 files.
    readable = _are_numbers(numbers) and (len(numbers) > 1 or len(b"".join(numbers)) > 2)
    return readable or _NO_TEXT.isdisjoint(start)


def _binary_rows(path: Path, file: IO[bytes], dimensions: int, count: int) -> Rows:
    """Yield words and rows of word2vec's binary format: word, blank, float32 numbers."""
    data, at = b"", 0
    for number in range(count):
        while True:
            blank = data.find(b" ", at, at + _LONGEST_WORD)
            end = blank + 1 + 4 * dimensions
            if blank >= 0 and end <= len(data):
                break
            if blank < 0 and len(data) - at >= _LONGEST_WORD:
                raise VectorsError(
                    f"{path}: word {number + 1} has no end; the file is damaged, get a fresh copy."
                )
            block = file.read(_BLOCK_BYTES)
            if not block:
                raise _miscounted(path, f"{number}", count)
            data, at = data[at:] + block, 0
        yield data[at:blank].lstrip(b"\n"), data[blank + 1 : end]
        at = end
    data = data[at:]
    while data or (data := file.read(_BLOCK_BYTES)):
        if data.strip():
            raise _miscounted(path, f"more than {count}", count)
        data = b""


def _text_rows(path: Path, file: IO[bytes], dimensions: int, count: int | None) -> Rows:
    """Yield words and rows of the text formats: a line per word, its numbers after it."""
    line, count_of_rows = 1 if count is None else 2, 0
    longest = _LONGEST_WORD + 64 * dimensions
    every_line = iter(partial(file.readline, longest + 1), b"")
    while lines := list(islice(every_line, 1 + _BLOCK_BYTES // (8 * dimensions))):
        for number, text in enumerate(lines, line):
            if len(text) > longest:
                raise VectorsError(
                    f"{path}: line {number} has more than {longest} bytes; the file is damaged, "
                    "get a fresh copy."
                )
        numbered = {at: text for at, text in enumerate(lines, line) if text.strip()}
        yield from _parsed(numbered, dimensions, path)
        line, count_of_rows = line + len(lines), count_of_rows + len(numbered)
    if count is not None and count_of_rows != count:
        raise _miscounted(path, f"{count_of_rows}", count)


def _parsed(lines: dict[int, bytes], dimensions: int, path: Path) -> Rows:
    if all(text.rstrip().count(b" ") == dimensions for text in lines.values()):
        halves = [text.partition(b" ") for text in lines.values()]
        numbers = _numbers(b" ".join(half[2] for half in halves), len(lines) * dimensions)
        if numbers is not None:
            rows = numbers.reshape(len(lines), dimensions)
            yield from ((half[0], row.tobytes()) for half, row in zip(halves, rows, strict=True))
            return
    for line, text in lines.items():  # some word holds blanks (GloVe 840B), or a line is damaged
        word, *fields = text.rstrip().rsplit(b" ", dimensions)
        row = _numbers(b" ".join(fields), dimensions) if len(fields) == dimensions else None
        if row is None:
            raise VectorsError(
                f"{path}: line {line} is not a word and {dimensions} numbers separated by "
                "blanks; the file may be truncated."
            )
        yield word, row.tobytes()


def _numbers(text: bytes, count: int) -> NDArray[Any] | None:
    """Return so many numbers of a text; None if there are others, or they are not float32."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            numbers = np.fromstring(text, dtype=np.float64, sep=" ").astype("<f4")
        except (Warning, ValueError):
            return None
    return numbers if len(numbers) == count else None


def _are_numbers(fields: list[bytes]) -> bool:
    try:
        [float(field) for field in fields]
    except ValueError:
        return False
    return True


def _miscounted(path: Path, words: str, count: int) -> VectorsError:
    return VectorsError(
        f"{path}: holds {words} words, but its first line says {count}; the file looks damaged "
        "or truncated, get a fresh copy."
    )
