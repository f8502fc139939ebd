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

from .errors import VifidelError


class FileRows:
    """The rows of an array in a file, in C order.

    Threads and forked processes may share it. A file that gets another's name meanwhile changes
    nothing.

    Parameters
    ----------
    path : path
        The file, which is opened at once and closed with the last use of this.
    dtype : data type
        Of the numbers.
    shape : sequence of int
        Of the array; one dimension or more.
    offset : int
        Where the array begins in the file.
    error : type of VifidelError
        Raised if the file ends before a row that is asked for.
    said : str
        Its message.

    Raises
    ------
    OSError
        If it cannot be opened.
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
        """Return the rows from `start` up to `end`, a copy.

        Raises
        ------
        VifidelError
            Of the class that was given, if the file ends before.
        """
        wanted = (end - start) * self._row_bytes
        content = self._read(self._offset + start * self._row_bytes, wanted)
        if len(content) < wanted:
            raise self._error(self._said)
        return np.frombuffer(content, self.dtype).reshape((end - start, *self.shape[1:]))

    def __getitem__(self, rows: int | Sequence[int] | NDArray[np.int64]) -> NDArray[Any]:
        """Return a row, or several, a copy; raises as `span` does."""
        if isinstance(rows, int):
            return self.span(rows, rows + 1)[0]  # type: ignore[no-any-return]
        taken = [self.span(row, row + 1) for row in map(int, rows)]
        return np.concatenate([np.empty((0, *self.shape[1:]), self.dtype), *taken])

    def _read(self, at: int, wanted: int) -> bytes:
        parts = []
        while wanted > 0 and (part := self._read_some(at, wanted)):
            parts.append(part)
            at, wanted = at + len(part), wanted - len(part)
        return b"".join(parts)

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
