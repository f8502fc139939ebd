"""Columns of texts joined to one, by Arrow rather than one by one."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..evaluation import Integers
from ..text.words import END, joined
from .arrow import pyarrow

# Texts with these bytes are simplified by `joined`: letters that are not ASCII, apostrophes, and
# what could be taken for the end of a text. Most texts have none.
_SPECIAL = np.zeros(256, dtype=bool)
_SPECIAL[[*END.encode(), ord("'"), *range(0x80, 0x100)]] = True


def joined_column(column: Any) -> bytes:
    """Return the texts of a column as `vifidel_eval.text.words.joined` joins them, in UTF-8.

    Parameters
    ----------
    column : pyarrow.Array
        Of strings or large strings, without nulls.
    """
    pa = pyarrow()
    special = _special(column)
    if len(special):
        simplified = [
            joined([text]).rpartition(END)[0] for text in column.take(pa.array(special)).to_pylist()
        ]
        mask = np.zeros(len(column), dtype=bool)
        mask[special] = True
        column = pa.compute.replace_with_mask(
            column, pa.array(mask), pa.array(simplified, column.type)
        )
    end, blank = (pa.scalar(text, column.type) for text in (f"{END} ", " "))
    ended = pa.compute.binary_join_element_wise(pa.compute.ascii_lower(column), end, blank)
    offsets, characters = _characters(ended)
    return characters[offsets[0] : offsets[-1]].tobytes()


def _special(column: Any) -> Integers:
    """Return the rows of texts that Arrow cannot simplify."""
    offsets, characters = _characters(column)
    places = np.flatnonzero(_SPECIAL[characters[offsets[0] : offsets[-1]]]) + offsets[0]
    rows: Integers = np.unique(np.searchsorted(offsets, places, "right") - 1)
    return rows


def _characters(column: Any) -> tuple[NDArray[np.integer[Any]], NDArray[np.uint8]]:
    """Return where each text begins, with the end of the last, and the bytes of all."""
    pa = pyarrow()
    _, starts, content = column.buffers()
    if content is None or not len(column):
        return np.zeros(1, dtype=np.int64), np.zeros(0, dtype=np.uint8)
    wide = pa.types.is_large_string(column.type)
    offsets = np.frombuffer(starts, np.int64 if wide else np.int32)
    offsets = offsets[column.offset : column.offset + len(column) + 1]
    return offsets, np.frombuffer(content, np.uint8)
