"""Word vector files of any size: read once in bounded memory, then looked up in a cache.

A file of the word2vec family is converted on first use into a database of the cache folder: a row
for each word with its vector, in the order of the file, and an index of the words, so that neither
the vocabulary nor the matrix is ever held in memory. Its name has digests of the file's path and of
its content, so that a changed file is read again, and its own, so that a damaged one is made again.
Databases are renamed into place when they are complete.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import secrets
import sqlite3
import zlib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import VectorsError
from ..io.files import open_file, reason, sha256_of
from .word2vec_files import read_blocks

_DATABASE, _BUILDING = "vectors-4-{}-{}-{}.db", "building-{}.db"  # path, content, own digest
# The names of what we write into the cache folder; nothing else in it is ever removed.
_OWN_NAME = re.compile(r"(vectors-4(-[0-9a-f]{32}){3}|building-[0-9a-f]{32})\.db")
# A file up to this size is looked at as a whole, of others so many blocks of so many bytes.
_LOOKED_AT, _BLOCKS, _BLOCK_BYTES = 1 << 24, 256, 1 << 14
_FINGERPRINT_ROWS = 1000


class Cleared(NamedTuple):
    """How many bytes `clear_cache` removed, and the folders in the cache that are not ours."""

    bytes: int
    left: list[Path]


def cache_folder() -> Path:
    """Return where converted vectors are kept.

    ``VIFIDEL_EVAL_CACHE`` if that is set, else the user's cache folder of the platform.
    """
    from platformdirs import user_cache_path

    chosen = os.environ.get("VIFIDEL_EVAL_CACHE")
    return Path(chosen) if chosen else user_cache_path("vifidel_eval", appauthor=False)


def clear_cache() -> Cleared:
    """Remove what this package keeps in the cache folder, and nothing else.

    A VectorsError is raised if something cannot be removed.
    """
    cache = cache_folder()
    try:
        found = sorted(cache.iterdir()) if cache.is_dir() else []
        own = [p for p in found if _OWN_NAME.fullmatch(p.name) and not p.is_symlink()]
        size = sum(path.stat().st_size for path in own)
        for path in own:
            path.unlink(missing_ok=True)
    except OSError as problem:
        raise VectorsError(
            f"{problem.filename or cache}: cannot be removed: {reason(problem)}."
        ) from None
    return Cleared(size, [path for path in found if path.is_dir()])


class VectorStore:
    """The word vectors of a file of the word2vec family, as `WordVectors` describes them.

    The database stays open, also when another process removes it; threads share it.
    """

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
                found = self._database.execute(query, (key,)).fetchone()
                if found and zlib.crc32(found[2], zlib.crc32(found[1])) != found[3]:
                    raise sqlite3.DatabaseError
                yield found and (found[0], found[1], np.frombuffer(found[2], "<f4"))
            with contextlib.suppress(FileNotFoundError):  # what is removed is still open
                if self._name.stat().st_size != self._size:
                    raise sqlite3.DatabaseError
        except sqlite3.Error:
            raise VectorsError(
                f"{self._name}: the file was cut while it was in use; start again, and the word "
                "vectors are converted anew."
            ) from None

    def lookup(self, words: Sequence[str], listed_only: bool = False) -> NDArray[np.float64]:
        rows = np.full((len(words), self.shape[1]), np.nan)
        keys = [word.encode("utf-8", errors="surrogatepass") for word in words]
        # Of repeated words the first row counts, as in gensim.
        found_rows = self._rows("WHERE word = ? ORDER BY rowid LIMIT 1", keys)
        for row, found in zip(rows, found_rows, strict=True):
            if found is not None:
                row[:] = found[2]
        return rows

    def signature(self) -> str:
        numbers = (fingerprint_rows(self.shape[0]) + 1).tolist()
        found = list(self._rows("WHERE rowid = ?", numbers))
        words, rows = [row[1] for row in found if row], [row[2] for row in found if row]
        return f"{self._path.name}#{fingerprint(self.shape, np.array(rows), words)}"

    def __reduce__(self) -> tuple[Any, ...]:
        return open_store, (self._path.absolute(),)


def fingerprint_rows(count: int) -> NDArray[np.int64]:
    """Return which of so many rows `fingerprint` is made of: evenly spaced ones."""
    return np.linspace(0, count - 1, min(count, _FINGERPRINT_ROWS)).astype(int)


def fingerprint(shape: tuple[int, ...], rows: NDArray[Any], words: Sequence[bytes] = ()) -> str:
    """Return eight hexadecimal digits that stand for a shape, some rows and their words."""
    digest = hashlib.sha256(repr(shape).encode() + b"\n".join(words))
    with np.errstate(over="ignore"):
        digest.update(np.ascontiguousarray(rows, dtype="<f4").tobytes())
    return digest.hexdigest()[:8]


def open_store(path: Path) -> VectorStore:
    """Return the vectors of a file that `word2vec_files` reads, converting it if needed.

    A VectorsError is raised if the file is damaged or another one, or the cache cannot be written.
    """
    cache, digest = cache_folder(), content_digest(path)
    of_path = hashlib.sha256(os.fsencode(os.path.realpath(path))).hexdigest()[:32]
    aside = cache / _BUILDING.format(secrets.token_hex(16))
    try:
        for known in cache.glob(_DATABASE.format("*", digest, "*")):
            with known.open("rb") as file:
                if known.stem.endswith(_digest(file)):
                    return VectorStore(known, path)
            known.unlink()  # damaged
        cache.mkdir(parents=True, exist_ok=True)
        _convert(path, aside)
        if content_digest(path) != digest:
            raise VectorsError(f"{path}: changed while it was read; start again.")
        for old in cache.glob(_DATABASE.format(of_path, "*", "*")):
            old.unlink(missing_ok=True)
        with aside.open("rb") as file:
            database = cache / _DATABASE.format(of_path, digest, _digest(file))
        aside.replace(database)
        return VectorStore(database, path)
    except (OSError, sqlite3.Error) as problem:
        why = reason(problem) if isinstance(problem, OSError) else problem
        raise VectorsError(
            f"{cache}: word vectors cannot be kept there ({why}); set VIFIDEL_EVAL_CACHE to a "
            "folder with room for them."
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
        for words, rows in read_blocks(path):
            size = len(rows) // len(words)
            vectors = (rows[at : at + size] for at in range(0, len(rows), size))
            database.executemany(
                "INSERT INTO words VALUES (?, ?, ?)",
                (
                    (word, vector, zlib.crc32(vector, zlib.crc32(word)))
                    for word, vector in zip(words, vectors, strict=True)
                ),
            )
        database.execute("CREATE INDEX by_word ON words (word)")
        database.execute("COMMIT")


def content_digest(path: Path) -> str:
    """Return a digest of a file, which is that of its content, of a large file also of its time.

    A VectorsError is raised if it cannot be read.
    """
    with open_file(path, VectorsError) as file:
        try:
            state = os.fstat(file.fileno())
            digest = _digest(file)
        except OSError as problem:
            raise VectorsError(f"{path}: cannot be read: {reason(problem)}.") from None
    if state.st_size <= _LOOKED_AT:
        return digest
    return hashlib.sha256(f"{digest} {state.st_mtime_ns}".encode()).hexdigest()[:32]


def _digest(file: IO[bytes]) -> str:
    """Return a digest of a file's content, of a large file its size and evenly spaced blocks."""
    size = os.fstat(file.fileno()).st_size
    if size <= _LOOKED_AT:
        return sha256_of(file)[:32]
    digest = hashlib.sha256(str(size).encode())
    for number in range(_BLOCKS):
        file.seek((size - _BLOCK_BYTES) * number // (_BLOCKS - 1))
        digest.update(file.read(_BLOCK_BYTES))
    return digest.hexdigest()[:32]
