"""Arrays of numbers of batches: ranges one after the other, and which values differ."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..evaluation import Integers

#: How many pairs of words are held in memory at once, at some 100 bytes each.
PAIRS_AT_ONCE = 1 << 16


def starts_of(sizes: Integers) -> Integers:
    """Return where each of some bags starts and the last one ends, from their sizes."""
    starts = np.zeros(len(sizes) + 1, dtype=np.int64)
    sizes.cumsum(out=starts[1:])
    return starts


def distinct(values: Integers) -> tuple[Integers, Integers, Integers]:
    """Return the different values in order, the place of each value among them, and its first.

    `numpy.unique` sorts values that are nearly in order, as those of batches are, more slowly.
    """
    order = values.argsort(kind="stable")
    in_order = values[order]
    is_new = np.ones(len(values), dtype=bool)
    is_new[1:] = in_order[1:] != in_order[:-1]
    places = np.empty(len(values), dtype=np.int64)
    places[order] = is_new.cumsum() - 1
    return in_order[is_new], places, order[is_new]


def positions(starts: Integers, sizes: Integers) -> Integers:
    """Return all positions of ranges, one range after the other."""
    at: Integers = (starts - sizes.cumsum() + sizes).repeat(sizes)
    at += np.arange(len(at))
    return at


def slices(pairs: Integers) -> Iterator[tuple[int, int]]:
    """Yield ranges of things that have at most `PAIRS_AT_ONCE` pairs together, or a thing alone."""
    together = pairs.cumsum()
    if len(pairs) and together[-1] <= PAIRS_AT_ONCE:
        yield 0, len(pairs)
        return
    start = 0
    while start < len(pairs):
        done = together[start - 1] if start else 0
        end = max(int(np.searchsorted(together, done + PAIRS_AT_ONCE, "right")), start + 1)
        yield start, end
        start = end
