"""Distances between words.

Everything the metrics need of word vectors comes from the squared distances computed here: the
travel cost (Eq. 1 and 5) and the cosine (Eq. 4). They are summed by NumPy's own pairwise sum and
not by a matrix product: BLAS libraries differ in their last bits with machine and thread count.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..evaluation import Floats, Integers

_PAIRS_AT_ONCE = 128  # whose vectors fit in a core's cache
_FIRST_SLOT_BITS = 14
_SLOT_BITS = 20  # 25 MB
_LOW_BITS = (1 << 32) - 1
_FURTHER_WAYS = tuple(map(np.uint64, (1, 2, 3)))
_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)  # Fibonacci hashing: 2^64 over the golden ratio
_OTHER_MULTIPLIER = np.uint64(0xD6E8FEB86659FD93)  # odd: every bit counts


class WordDistances:
    """Squared distances and cosines between words of a lexicon.

    Captions use the same few words over and over: the distances of pairs seen last are kept, in
    a table that a pair's key indexes directly, so that memory stays bounded (25 MB). Threads share
    it without a lock: beside the values of a pair its key is written, combined with all bits of
    the values, so that values which another thread or an interrupt has torn apart are not taken
    for those of any pair and are computed again.

    Parameters
    ----------
    matrix : (number of words, dimensions) float64
        The vector of each word; rows may be written while this is used, but never changed.
    units : (number of words, dimensions) float64
        The same, of length 1.
    squared_lengths : (number of words,) float64
        ``||x||^2`` of each row of `matrix`.
    """

    def __init__(self, matrix: Floats, units: Floats, squared_lengths: Floats) -> None:
        self._matrix = matrix
        self._units = units
        self.squared_lengths = squared_lengths
        # Of each pair: its seal, and the bits of its squared distance and its cosine. A table that
        # is large from the start would spend more time on its memory than on the distances.
        slots = 1 << max(2, min(_FIRST_SLOT_BITS, _SLOT_BITS))
        self._table = np.zeros((slots, 3), dtype=np.uint64)
        self._written = 0

    def squared(self, left: Integers, right: Integers) -> Floats:
        """Return ``||x_i - x_j||^2`` for pairs of words."""
        return self._values_of(left, right)[:, 0]

    def cosines(self, left: Integers, right: Integers, keep: bool = True) -> Floats:
        """Return the cosine of pairs of words in [-1, 1]; exactly 1 for a word and itself.

        Pairs that are asked for once, and many, are not worth a place: do not `keep` them.
        """
        values = self._values_of(left, right) if keep else self._computed(left, right)
        return values[:, 1]

    def _values_of(self, left: Integers, right: Integers) -> Floats:
        low, high = np.minimum(left, right), np.maximum(left, right)
        keys = ((low << 32) + high + 1).view(np.uint64)  # no key is 0, the empty slot's
        table = self._table
        slots = _slots(keys, len(table))
        values, missing = _found(table, slots, keys)
        for way in _FURTHER_WAYS:  # a pair that found its slot taken may be in one beside it
            if not len(missing):
                return values
            beside, still = _found(table, slots[missing] ^ way, keys[missing])
            values[missing] = beside
            missing = missing[still]
        if len(missing):
            new, again = np.unique(keys[missing], return_inverse=True)
            pairs = (new - np.uint64(1)).view(np.int64)
            computed = self._computed(pairs >> 32, pairs & _LOW_BITS)
            values[missing] = computed[again]
            self._keep(new, computed)
        return values

    def _keep(self, keys: NDArray[np.uint64], values: Floats) -> None:
        """Put pairs into the table, which grows as long as it may and is a quarter full."""
        self._written += len(keys)  # a guess: threads may lose each other's additions
        table = self._table
        if 4 * self._written > len(table) and len(table) < 1 << _SLOT_BITS:
            wanted = (8 * self._written).bit_length()  # far more: growing again takes time
            table = _larger(table, 1 << min(wanted, _SLOT_BITS))
            self._table = table
        _put(table, keys, values.view(np.uint64))

    def _computed(self, left: Integers, right: Integers) -> Floats:
        distances = _squared_distances(self._matrix, left, right)
        x, y = self.squared_lengths[left], self.squared_lengths[right]
        apart = distances
        if self._units is not self._matrix:  # raw vectors have lengths that squares cannot hold
            apart = _squared_distances(self._units, left, right)
            x = y = np.ones(len(left))
        # 2 x.y = ||x||^2 + ||y||^2 - ||x - y||^2
        cosines = (x + y - apart) / (2 * np.sqrt(x * y))
        return np.column_stack([distances, np.clip(cosines, -1, 1)])


def _squared_distances(matrix: Floats, left: Integers, right: Integers) -> Floats:
    distances = np.empty(len(left))
    buffers = np.empty((2, min(len(left), _PAIRS_AT_ONCE), matrix.shape[1]))
    for start in range(0, len(left), _PAIRS_AT_ONCE):
        some = slice(start, start + _PAIRS_AT_ONCE)
        x, y = buffers[:, : len(left[some])]
        # Clipping changes nothing, but the default mode copies what it takes once more.
        np.take(matrix, left[some], axis=0, out=x, mode="clip")
        np.take(matrix, right[some], axis=0, out=y, mode="clip")
        x -= y
        x *= x
        x.sum(axis=1, out=distances[some])
    return distances


def _slots(keys: NDArray[np.uint64], slots: int) -> NDArray[np.uint64]:
    """Return where a table is to hold each key; where that is taken, it is one of three beside."""
    places: NDArray[np.uint64] = keys * _MULTIPLIER >> np.uint64(65 - slots.bit_length())
    return places


def _found(
    table: NDArray[np.uint64], slots: NDArray[np.uint64], keys: NDArray[np.uint64]
) -> tuple[Floats, NDArray[np.intp]]:
    """Return what the slots hold, and the places where that is not what the key asks for."""
    entries = table.take(slots, axis=0)
    bits = entries[:, 1:]
    missing = np.flatnonzero(entries[:, 0] ^ _mixed(bits) != keys)
    return bits.view(np.float64), missing


def _put(table: NDArray[np.uint64], keys: NDArray[np.uint64], bits: NDArray[np.uint64]) -> None:
    """Write pairs into the first empty slot of each, or over another pair."""
    own = _slots(keys, len(table))
    at = own.copy()
    taken = np.flatnonzero(table[own, 0])
    for way in _FURTHER_WAYS:
        if not len(taken):
            break
        beside = own[taken] ^ way
        empty = table[beside, 0] == 0
        at[taken[empty]] = beside[empty]
        taken = taken[~empty]
    entries = np.empty((len(keys), 3), dtype=np.uint64)
    entries[:, 0] = keys ^ _mixed(bits)
    entries[:, 1:] = bits
    table[at] = entries


def _larger(table: NDArray[np.uint64], slots: int) -> NDArray[np.uint64]:
    """Return a larger table with the same pairs; they keep their order, so that it is fast."""
    larger = np.zeros((slots, 3), dtype=np.uint64)
    kept = table[np.flatnonzero(table[:, 0])]
    keys = kept[:, 0] ^ _mixed(kept[:, 1:])
    _put(larger, keys, kept[:, 1:])
    return larger


def _mixed(bits: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return 64 bits that all bits of each row of two decide."""
    mixed: NDArray[np.uint64] = bits[:, 0] * _MULTIPLIER ^ bits[:, 1] * _OTHER_MULTIPLIER
    return mixed
