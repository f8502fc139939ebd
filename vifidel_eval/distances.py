"""Distances between words, and which words of two bags meet.

Everything the metrics need of word vectors comes from the squared distances computed here: the
travel cost (Eq. 1 and 5) and the cosine (Eq. 4). They are summed by NumPy's own pairwise sum and
not by a matrix product: BLAS libraries differ in their last bits with machine and thread count.
"""

from __future__ import annotations

import numpy as np

from .bags import Bags, Floats, Integers, Lexicon

_PAIRS_AT_ONCE = 256


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


def squared_distances(lexicon: Lexicon, left: Integers, right: Integers) -> Floats:
    """Return ``||x_i - x_j||^2`` for pairs of words, computed once a distinct pair."""
    size = max(len(lexicon.matrix), 1)
    keys, pair_of = np.unique(
        np.minimum(left, right) * size + np.maximum(left, right), return_inverse=True
    )
    first, second = np.divmod(keys, size)
    distances = np.empty(len(keys))
    for start in range(0, len(keys), _PAIRS_AT_ONCE):
        some = slice(start, start + _PAIRS_AT_ONCE)
        difference = lexicon.matrix[first[some]]
        difference -= lexicon.matrix[second[some]]
        distances[some] = (difference * difference).sum(axis=1)
    return distances[pair_of]


def cosines(lexicon: Lexicon, left: Integers, right: Integers) -> Floats:
    """Return the cosine of pairs of words in [-1, 1]; exactly 1 for a word and itself.

    2 x.y = ||x||^2 + ||y||^2 - ||x - y||^2.
    """
    x, y = lexicon.squared_lengths[left], lexicon.squared_lengths[right]
    dots = (x + y - squared_distances(lexicon, left, right)) / 2
    return np.clip(dots / np.sqrt(x * y), -1, 1)
