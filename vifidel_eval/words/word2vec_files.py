"""Files of the word2vec family: word2vec binary and text, GloVe text, fastText ``.vec``.

They are read in bounded memory, plain or gzipped. Formats: ``src/utils`` of
https://github.com/stanfordnlp/GloVe (a word and its numbers per line) and ``word2vec.c`` (a line
``count size``, then a line per word, or word, blank and float32 numbers).
"""

from __future__ import annotations

import codecs
import gzip
import warnings
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from ..errors import VectorsError
from ..io.files import open_file, printable, reason

_BLOCK_BYTES = 1 << 24
# Bounds on what a damaged file may cost.
_MOST_DIMENSIONS, _LONGEST_WORD = 1 << 16, 1 << 16
_LOOKED_AT = 1 << 16
_FIGURES = 18  # of a count that can be true

# What stands in no text.
_NO_TEXT = frozenset(range(32)) - frozenset(b"\t\n\r")

#: Words and rows, some at a time; the rows as little-endian float32.
Blocks = Iterator[tuple[list[bytes], bytes]]


def read_blocks(path: Path) -> Blocks:
    """Yield the words and rows of a file; whoever waits sees how much of it is read.

    A VectorsError is raised if the file is none of these formats, is damaged, or has more or fewer
    words than it says.
    """
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
            for block in _recognised(path, opened):
                yield block
                progress.update(file.tell() - progress.n)
        except (EOFError, zlib.error, gzip.BadGzipFile) as problem:
            raise VectorsError(
                f"{path}: the gzip data is damaged or truncated ({problem}); get a fresh copy."
            ) from None
        except OSError as problem:
            raise VectorsError(f"{path}: cannot be read: {reason(problem)}.") from None


def _recognised(path: Path, file: IO[bytes]) -> Blocks:
    start = file.read(_BLOCK_BYTES)
    first = start[:_LOOKED_AT].partition(b"\n")[0]
    fields = first.split()
    if len(fields) == 2 and all(f.isdigit() and len(f) <= _FIGURES for f in fields):
        count, dimensions = int(fields[0]), int(fields[1])
        if not 1 <= dimensions <= _MOST_DIMENSIONS:
            raise VectorsError(
                f"{path}: its first line says that vectors have {dimensions} dimensions; "
                f"they have 1 to {_MOST_DIMENSIONS}."
            )
        start = start[len(first) + 1 :] or file.read(_BLOCK_BYTES)
        rows = _text_rows if _is_text(start[:_LOOKED_AT]) else _binary_rows
        return rows(path, file, start, dimensions, count)
    if len(fields) > 2 and _are_numbers(fields[1:]):
        return _text_rows(path, file, start, len(fields) - 1, None)
    raise VectorsError(
        f"{path}: not word vectors; accepted: gensim .kv, word2vec .bin or text, GloVe "
        "text, fastText .vec or .bin."
    )


def _is_text(start: bytes) -> bool:
    """Return whether what follows the first line is text, however wrong that line is."""
    line = start.partition(b"\n")[0]
    numbers = line.rstrip().split(b" ")[1:]
    # Numbers that a person can read; float32 bytes pass for two of them once in 10^7 files.
    if _are_numbers(numbers) and (len(numbers) > 1 or len(b"".join(numbers)) > 2):
        return True
    if not _NO_TEXT.isdisjoint(start):
        return False
    try:
        codecs.getincrementaldecoder("utf-8")().decode(start)  # its end may be half a character
    except UnicodeDecodeError:
        return False
    return True


def _binary_rows(path: Path, file: IO[bytes], data: bytes, dimensions: int, count: int) -> Blocks:
    """Yield words and rows of word2vec's binary format: word, blank, float32 numbers."""
    row_bytes = 4 * dimensions
    read = 0
    while read < count:
        words: list[bytes] = []
        rows: list[bytes] = []
        at = 0
        while read + len(words) < count:
            blank = data.find(b" ", at, at + _LONGEST_WORD)
            if blank < 0 and len(data) - at >= _LONGEST_WORD:
                raise VectorsError(
                    f"{path}: word {read + len(words) + 1} has no end; the file is damaged, "
                    "get a fresh copy."
                )
            end = blank + 1 + row_bytes
            if blank < 0 or end > len(data):
                break
            words.append(data[at:blank].lstrip(b"\n"))
            rows.append(data[blank + 1 : end])
            at = end
        read += len(words)
        if words:
            yield words, b"".join(rows)
        data = data[at:]
        if read < count:
            more = file.read(_BLOCK_BYTES)
            if not more:
                raise _miscounted(path, f"{read}", count)
            data += more
    while data or (data := file.read(_BLOCK_BYTES)):
        if data.strip():
            raise _miscounted(path, f"more than {count}", count)
        data = b""


def _text_rows(
    path: Path, file: IO[bytes], data: bytes, dimensions: int, count: int | None
) -> Blocks:
    """Yield words and rows of the text formats: a line per word, its numbers after it."""
    first_line = line = 1 if count is None else 2
    longest = _LONGEST_WORD + 64 * dimensions
    more = file.read(_BLOCK_BYTES)
    while data:
        end = data.rfind(b"\n") + 1 if more else len(data)
        if len(data) - end > longest:
            raise VectorsError(
                f"{path}: line {line + data.count(10, 0, end)} has more than {longest} "
                "bytes; the file is damaged, get a fresh copy."
            )
        lines = [text for text in data[:end].split(b"\n") if text.strip()]
        if lines:
            yield _parsed(lines, dimensions, path, line)
        line += len(lines)
        data = data[end:] + more
        more = file.read(_BLOCK_BYTES) if more else b""
    if count is not None and line - first_line != count:
        raise _miscounted(path, f"{line - first_line}", count)


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


def _miscounted(path: Path, found: str, count: int) -> VectorsError:
    return VectorsError(
        f"{path}: holds {found} words where its first line promises {count}; the file looks "
        "damaged or truncated, get a fresh copy."
    )
