"""Distances between words, and which words of two bags meet.

Everything the metrics need of word vectors comes from the squared distances computed here: the
travel cost (Eq. 1 and 5) and the cosine (Eq. 4). They are summed by NumPy's own pairwise sum and
not by a matrix product: BLAS libraries differ in their last bits with machine and thread count.
"""

from __future__ import annotations

import numpy as np

from ..evaluation import Floats, Integers
from .bags import Bags, Lexicon

_PAIRS_AT_ONCE = 256  # whose vectors fit in a core's cache
_SLOT_BITS = 21
_NEXT = np.uint64(1)
_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)  # Fibonacci hashing: 2^64 over the golden ratio


def meetings(left: Bags, right: Bags) -> tuple[Integers, Integers]:
    """Return every pair of atoms of bag i of `left` and bag i of `right`, for all i.

    Returns
    -------
    left_at, right_at : int64 arrays of equal length
        Positions in ``left.atoms`` and ``right.atoms``, bag after bag, the right one running
        faster: the rows of one bag's (left, right) matrix after the other.
    """
    return cross(left.starts[:-1], left.sizes, right.starts[:-1], right.sizes)


def cross(
    left_starts: Integers, left_sizes: Integers, right_starts: Integers, right_sizes: Integers
) -> tuple[Integers, Integers]:
    """Return the positions of all pairs of two lists of ranges, as `meetings` does of bags."""
    pairs = left_sizes * right_sizes
    of_range = np.repeat(np.arange(len(pairs)), pairs)
    within = np.arange(len(of_range)) - np.repeat(np.cumsum(pairs) - pairs, pairs)
    left_within, right_within = np.divmod(within, right_sizes[of_range])
    return left_starts[of_range] + left_within, right_starts[of_range] + right_within


class WordDistances:
    """Squared distances and cosines between words of a lexicon.

    Captions use the same few words over and over: the distances of pairs seen last are kept, in
    a table that a pair's key indexes directly, so that memory stays bounded (48 MB).

    Parameters
    ----------
    lexicon : Lexicon
        The words and their vectors; it may grow.
    """

    def __init__(self, lexicon: Lexicon) -> None:
        self._lexicon = lexicon
        # NumPy's zeros take no memory until they are written.
        self._keys = np.zeros(1 << _SLOT_BITS, dtype=np.uint64)
        self._values = np.zeros((1 << _SLOT_BITS, 2))  # squared distance, cosine

    @property
    def squared_lengths(self) -> Floats:
        """``||x||^2`` of every word."""
        return self._lexicon.squared_lengths

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
        slots = (keys * _MULTIPLIER) >> np.uint64(64 - _SLOT_BITS)
        values: Floats = self._values.take(slots, axis=0)
        missing = np.flatnonzero(self._keys.take(slots) != keys)
        if len(missing):  # a pair that found its slot taken is in the next one
            slots[missing] ^= _NEXT
            values[missing] = self._values[slots[missing]]
            missing = missing[self._keys[slots[missing]] != keys[missing]]
        if len(missing):
            new, first, again = np.unique(keys[missing], return_index=True, return_inverse=True)
            at = missing[first]
            computed = self._computed(low[at], high[at])
            values[missing] = computed[again]
            own = slots[at] ^ _NEXT
            kept_at = np.where(self._keys[own] == 0, own, slots[at])
            self._keys[kept_at] = new
            self._values[kept_at] = computed
        return values

    def _computed(self, left: Integers, right: Integers) -> Floats:
        matrix = self._lexicon.matrix
        distances = np.empty(len(left))
        for start in range(0, len(left), _PAIRS_AT_ONCE):
            some = slice(start, start + _PAIRS_AT_ONCE)
            difference = matrix[left[some]]
            difference -= matrix[right[some]]
            difference *= difference
            distances[some] = difference.sum(axis=1)
        # 2 x.y = ||x||^2 + ||y||^2 - ||x - y||^2
        x, y = self.squared_lengths[left], self.squared_lengths[right]
        cosines = (x + y - distances) / (2 * np.sqrt(x * y))
        return np.column_stack([distances, np.clip(cosines, -1, 1)])
