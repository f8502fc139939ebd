"""Rows of a file that is held open, read one by one.

Nothing is mapped: to touch a mapped page behind the end of a file that has become shorter ends the
process, and no check beforehand is early enough.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from ..errors import VifidelError


class FileRows:
    """The rows of an array of that shape, one dimension or more, in C order from `offset` on.

    The file is opened at once and closed with the last use of this. Threads and forked processes
    may share it; a file that gets another's name meanwhile changes nothing. If it ends before a row
    that is asked for, `error` says what is `said`.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        dtype: DTypeLike,
        shape: Sequence[int],
        offset: int,
        error: type[VifidelError],
        said: str,
    ) -> None:
        self.dtype: np.dtype[Any] = np.dtype(dtype)
        self.shape = tuple(shape)
        self._offset = offset
        self._row_bytes = int(np.prod(self.shape[1:], dtype=np.int64)) * self.dtype.itemsize
        self._error, self._said = error, said
        self._file = open(path, "rb", buffering=0)  # noqa: SIM115 - held open
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return self.shape[0]

    def __del__(self) -> None:
        if hasattr(self, "_file"):
            self._file.close()

    def span(self, start: int, end: int) -> NDArray[Any]:
        """Return the rows from `start` up to `end`, a copy."""
        at, wanted = self._offset + start * self._row_bytes, (end - start) * self._row_bytes
        parts = []
        while wanted > 0:
            part = self._read_some(at, wanted)
            if not part:
                raise self._error(self._said)
            parts.append(part)
            at, wanted = at + len(part), wanted - len(part)
        return np.frombuffer(b"".join(parts), self.dtype).reshape((end - start, *self.shape[1:]))

    def __getitem__(self, rows: int | Sequence[int] | NDArray[np.int64]) -> NDArray[Any]:
        """Return a row, or several, a copy."""
        if isinstance(rows, int):
            return self.span(rows, rows + 1)[0]  # type: ignore[no-any-return]
        taken = [self.span(row, row + 1) for row in map(int, rows)]
        return np.concatenate([np.empty((0, *self.shape[1:]), self.dtype), *taken])

    def _read_some(self, at: int, wanted: int) -> bytes:
        if hasattr(os, "pread"):  # forked processes share a place in the file
            return os.pread(self._file.fileno(), wanted, at)
        with self._lock:
            self._file.seek(at)
            return self._file.read(wanted)


def unmapped(mapped: NDArray[Any], error: type[VifidelError], said: str) -> FileRows | NDArray[Any]:
    """Return the rows of a mapped array without the map; of one in another order, a copy."""
    if not isinstance(mapped, np.memmap) or not mapped.flags.c_contiguous or not mapped.ndim:
        return np.array(mapped)
    return FileRows(str(mapped.filename), mapped.dtype, mapped.shape, mapped.offset, error, said)
