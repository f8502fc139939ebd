"""Distances between words.

Everything the metrics need of word vectors comes from the squared distances computed here: the
travel cost (Eq. 1 and 5) and the cosine (Eq. 4). They are summed by NumPy's own pairwise sum and
not by a matrix product: BLAS libraries differ in their last bits with machine and thread count.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray

from ..evaluation import Floats, Integers

_PAIRS_AT_ONCE = 256  # whose vectors fit in a core's cache
_FEW = 32  # pairs are computed in the time in which they are looked up
_SLOT_BITS = 20  # of a table of 17 MB, whose memory comes as it is written
_LOW_BITS = (1 << 32) - 1
_BESIDE = np.uint64(1)  # changes the number of a slot to that of another in the same cache line
# Odd: multiplied by it, every bit of a number counts.
_MIXER = np.uint64(0xD6E8FEB86659FD93)
_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)  # Fibonacci hashing: 2^64 over the golden ratio

Keys = NDArray[np.uint64]


class WordDistances:
    """Squared distances and cosines between words of a lexicon.

    Captions use the same few words over and over: what was computed last is kept.

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
        self.squared_lengths = squared_lengths
        # Raw vectors have lengths that squares cannot hold, and those of length 1 only nearly 1.
        lengths = squared_lengths if units is matrix else np.ones(len(units))
        self._computed_cosines = partial(_cosines, units, lengths)
        # Neither knows this object: without a cycle, memory is free as soon as nobody needs it.
        self._of_squared = _PairCache(partial(_squared_distances, matrix))
        self._of_cosines = _PairCache(self._computed_cosines)

    def squared(self, left: Integers, right: Integers) -> Floats:
        """Return ``||x_i - x_j||^2`` for pairs of words."""
        return self._of_squared.values(left, right)

    def cosines(self, left: Integers, right: Integers, keep: bool = True) -> Floats:
        """Return the cosine of pairs of words in [-1, 1]; exactly 1 for a word and itself.

        Pairs that are asked for once, and many, are not worth a place: do not `keep` them.
        """
        values = self._of_cosines.values if keep else self._computed_cosines
        return values(left, right)


class _PairCache:
    """Values of pairs, of which those seen last are kept.

    They are in a table that a pair's key indexes directly, so that memory stays bounded (17 MB).
    Threads share it without a lock: beside the value of a pair its key is written, combined with
    all bits of the value, so that a value which another thread or an interrupt has torn apart is
    not taken for that of any pair and is computed again.

    Parameters
    ----------
    compute : callable
        From the numbers on the left and on the right to the value of each pair, the same for both
        orders.
    """

    def __init__(self, compute: Callable[[Integers, Integers], Floats]) -> None:
        self._compute = compute
        # Of each pair: its seal, and the bits of its value.
        self._table = np.zeros((1 << _SLOT_BITS, 2), dtype=np.uint64)

    def values(self, left: Integers, right: Integers) -> Floats:
        """Return the value of each pair, computed or as it was kept."""
        if len(left) <= _FEW:
            return self._compute(left, right)
        numbers = np.minimum(left, right)
        numbers <<= 32
        numbers += np.maximum(left, right)
        numbers += 1  # no key is 0, the empty slot's
        keys = numbers.view(np.uint64)
        table = self._table
        slots = _slots_of(keys, len(table))
        values, missing = _found(table, slots, keys)
        if len(missing):  # a pair that found its slot taken may be beside it
            values[missing], still = _found(table, slots[missing] ^ _BESIDE, keys[missing])
            missing = missing[still]
        if len(missing):
            sought = keys[missing]
            new = np.unique(sought)
            pairs = new.view(np.int64) - 1
            computed = self._compute(pairs >> 32, pairs & _LOW_BITS)
            values[missing] = computed[new.searchsorted(sought)]
            _put(table, new, computed.view(np.uint64))
        return values


def _cosines(matrix: Floats, squared_lengths: Floats, left: Integers, right: Integers) -> Floats:
    x, y = squared_lengths[left], squared_lengths[right]
    # 2 x.y = ||x||^2 + ||y||^2 - ||x - y||^2
    cosines: Floats = (x + y - _squared_distances(matrix, left, right)) / (2 * np.sqrt(x * y))
    return cosines.clip(-1, 1, out=cosines)


def _squared_distances(matrix: Floats, left: Integers, right: Integers) -> Floats:
    distances = np.empty(len(left))
    for start in range(0, len(left), _PAIRS_AT_ONCE):
        some = slice(start, start + _PAIRS_AT_ONCE)
        apart = matrix.take(left[some], axis=0)
        apart -= matrix.take(right[some], axis=0)
        apart *= apart
        np.add.reduce(apart, axis=1, out=distances[some])
    return distances


def _found(table: Keys, slots: Keys, keys: Keys) -> tuple[Floats, NDArray[np.intp]]:
    """Return the values in slots, and the places where they are not those of the key."""
    seals, bits = table.take(slots.view(np.int64), axis=0).T
    return bits.copy().view(np.float64), (_sealed(keys, bits) != seals).nonzero()[0]


def _sealed(keys: Keys, bits: Keys) -> Keys:
    """Return what marks the pairs of these keys, whose values have these bits."""
    seals: Keys = bits * _MIXER
    seals ^= keys
    return seals


def _slots_of(keys: Keys, slots: int) -> Keys:
    """Return the slot of each key, of a power of two of them."""
    places: Keys = keys * _MULTIPLIER
    places >>= np.uint64(65 - slots.bit_length())
    return places


def _put(table: Keys, keys: Keys, bits: Keys) -> None:
    """Write pairs into their slots; where one is taken, beside it, over whatever is there."""
    slots = _slots_of(keys, len(table))
    slots[table[slots, 0] != 0] ^= _BESIDE
    table[slots, 0] = _sealed(keys, bits)
    table[slots, 1] = bits
