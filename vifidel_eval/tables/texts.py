"""Columns of texts cut into the pieces that hold their words, by Arrow rather than one by one."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..evaluation import Integers
from ..text.words import Pieces, pieces
from .arrow import pyarrow
from .columns import lists

# Texts with these bytes are cut by `pieces`: letters that are not ASCII, apostrophes, and control
# characters that are blanks in Python and not in Arrow. Most texts have none.
_SPECIAL = np.zeros(256, dtype=bool)
_SPECIAL[[0x00, 0x1C, 0x1D, 0x1E, 0x1F, ord("'"), *range(0x80, 0x100)]] = True


def pieces_of(column: Any) -> Pieces:
    """Return the pieces of texts, as `vifidel_eval.text.words.pieces` cuts them.

    Parameters
    ----------
    column : pyarrow.Array
        Of strings or large strings, without nulls.
    """
    pa = pyarrow()
    special = _special(column)
    if len(special):
        simplified = [
            " ".join(pieces([text])[:-1]) for text in column.take(pa.array(special)).to_pylist()
        ]
        mask = np.zeros(len(column), dtype=bool)
        mask[special] = True
        column = pa.compute.replace_with_mask(
            column, pa.array(mask), pa.array(simplified, column.type)
        )
    cut = pa.compute.ascii_split_whitespace(pa.compute.ascii_lower(column))
    sizes, found = lists(cut)
    encoded = found.dictionary_encode()
    return Pieces(
        encoded.dictionary.to_pylist(),
        encoded.indices.to_numpy(zero_copy_only=False),
        np.cumsum(sizes),
    )


def _special(column: Any) -> Integers:
    """Return the rows of texts that Arrow cannot cut."""
    pa = pyarrow()
    _, starts, content = column.buffers()
    if content is None or not len(column):
        return np.zeros(0, dtype=np.int64)
    wide = pa.types.is_large_string(column.type)
    offsets = np.frombuffer(starts, np.int64 if wide else np.int32)
    offsets = offsets[column.offset : column.offset + len(column) + 1]
    first, last = int(offsets[0]), int(offsets[-1])
    characters = np.frombuffer(content, np.uint8)[first:last]
    places = np.flatnonzero(_SPECIAL[characters]) + first
    rows: Integers = np.unique(np.searchsorted(offsets, places, "right") - 1)
    return rows
