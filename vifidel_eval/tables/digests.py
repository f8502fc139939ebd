"""A digest of the rows of a table that does not depend on their order.

Each row is hashed with BLAKE2b; the hashes are added as four numbers of 64 bits, modulo 2**64.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ..evaluation import Integers

_LANES = 4
_BYTES = 8 * _LANES
_BINARY = pa.large_binary()

#: Bytes, and the place where each row's begin: one more than there are rows.
_Part = tuple[NDArray[np.generic], Integers]

#: The digest of no rows; digests of parts are added with `add_digests`.
NO_ROWS = (0,) * _LANES


def digest_rows(columns: Sequence[pa.Array]) -> tuple[int, ...]:
    """Return the sum of the hashes of rows.

    Equal values have equal hashes whatever type holds them: ``string`` or ``large_string``, lists
    of any kind, single or double precision of the same number.

    Parameters
    ----------
    columns : sequence of Array
        What a row consists of, all of one length.
    """
    rows = len(columns[0])
    if not rows:
        return NO_ROWS
    views = [
        (values.view(np.uint8).data, starts.tolist())
        for column in columns
        for values, starts in _nested(column)
    ]
    blake2b = hashlib.blake2b
    hashes = b"".join(
        blake2b(
            b"".join([view[starts[row] : starts[row + 1]] for view, starts in views]),
            digest_size=_BYTES,
        ).digest()
        for row in range(rows)
    )
    lanes = np.frombuffer(hashes, dtype="<u8").reshape(rows, _LANES).astype(np.uint64)
    return tuple(map(int, lanes.sum(axis=0, dtype=np.uint64)))


def add_digests(digests: Iterable[Sequence[int]]) -> tuple[int, ...]:
    """Return the digest of all rows of several parts."""
    return tuple(sum(lane) % (1 << 64) for lane in zip(NO_ROWS, *digests, strict=True))


def as_text(digest: Sequence[int]) -> str:
    """Return a digest as it is written: 64 hexadecimal digits."""
    return "".join(f"{lane:016x}" for lane in digest)


def _nested(column: pa.Array) -> list[_Part]:
    """Return the bytes of a column's rows, as parts with the place where each row begins.

    A part is preceded by what says how long it is, so that different rows have different bytes.
    """
    column = _canonical(column)
    kind, size = column.type, len(column)
    fixed = 8 * np.arange(size + 1, dtype=np.int64)
    if pa.types.is_struct(kind) or not (pa.types.is_nested(kind) or kind == _BINARY):
        missing = (np.asarray(column.is_null()).astype("<i8"), fixed)
        if pa.types.is_null(kind):
            return [missing]
        if pa.types.is_struct(kind):
            return [missing, *(part for field in column.flatten() for part in _nested(field))]
        values = np.asarray(pc.fill_null(column, 0))
        little = values.dtype.newbyteorder("<")
        return [missing, (np.ascontiguousarray(values, dtype=little), fixed)]
    lengths = pc.binary_length(column) if kind == _BINARY else pc.list_value_length(column)
    own = np.asarray(pc.fill_null(lengths, -1)).astype("<i8")
    starts = np.concatenate([[0], np.maximum(own, 0).cumsum()])
    if kind == _BINARY:
        return [(own, fixed), (_bytes_of(column), starts)]
    # Flattened without what lists that are null may hold.
    return [(own, fixed), *((values, at[starts]) for values, at in _nested(column.flatten()))]


def _bytes_of(column: pa.LargeBinaryArray) -> NDArray[np.uint8]:
    """Return the bytes of all values, one after another."""
    column = column.drop_null()  # a null may have bytes
    _, offsets, data = column.buffers()
    if data is None:
        return np.empty(0, dtype=np.uint8)
    first, last = np.frombuffer(offsets, dtype="<i8")[[column.offset, column.offset + len(column)]]
    return np.frombuffer(data, dtype=np.uint8)[first:last]


def _canonical(column: pa.Array) -> pa.Array:
    """Return a column in the one type of its kind that is hashed."""
    kind, types = column.type, pa.types
    if isinstance(column, pa.ExtensionArray):
        column = _canonical(column.storage)
    elif types.is_dictionary(kind):
        column = _canonical(column.dictionary_decode())
    elif types.is_map(kind):
        entries = pa.struct([("key", kind.key_type), ("value", kind.item_type)])
        column = column.cast(pa.large_list(entries))
    elif types.is_floating(kind):
        column = pc.add(column.cast(pa.float64()), 0.0)  # -0 becomes 0
    elif types.is_integer(kind) or types.is_boolean(kind):
        column = column.cast(pa.int64(), safe=False)
    elif not (types.is_null(kind) or types.is_nested(kind)):
        column = (column if types.is_binary(kind) else column.cast(pa.large_string())).cast(_BINARY)
    return column
