"""Tables without a lock whose slots follow from what they hold: words' distances and pieces."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..evaluation import Integers

#: What is to be in a slot may be in one of these beside it: its number, changed in these bits.
WAYS = tuple(map(np.uint64, range(4)))  # of 16 bytes each, four are a line of a core's cache
#: Odd: multiplied by it, every bit of a number counts.
MIXER = np.uint64(0xD6E8FEB86659FD93)
_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)  # Fibonacci hashing: 2^64 over the golden ratio

Keys = NDArray[np.uint64]


def slots_of(keys: Keys, slots: int) -> Keys:
    """Return the slot of each key, of a power of two of them."""
    places: Keys = keys * _MULTIPLIER
    places >>= np.uint64(65 - slots.bit_length())
    return places


def claim(column: NDArray[Any], own: Keys, marks: NDArray[Any]) -> tuple[Keys, Integers]:
    """Write each mark into the first empty slot of those that it may have.

    Parameters
    ----------
    column : (slots,)
        The marks of a table, 0 where a slot is empty; it is written.
    own : (n,) uint64
        As `slots_of` returns them.
    marks : (n,)
        Different ones; not 0.

    Returns
    -------
    slots : (n,) uint64
        Where each mark is now; the slot of its own, which is another's, for those left.
    left : int64
        The places of those that found no empty slot.
    """
    slots = own.copy()
    left = np.arange(len(own))
    for way in WAYS:
        at = own[left] ^ way
        empty = column[at] == 0
        column[at[empty]] = marks[left[empty]]
        got = column[at] == marks[left]  # of several, one
        slots[left[got]] = at[got]
        left = left[~got]
        if not len(left):
            break
    return slots, left
