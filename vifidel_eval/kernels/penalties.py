"""How little the references mention a word: the penalty of VIFIDEL's Eq. 4."""

from __future__ import annotations

import numpy as np

from ..evaluation import Floats, Integers
from .bags import Bags, cross
from .distances import WordDistances

_PAIRS_AT_ONCE = 1 << 20  # long captions would fill the memory at once


def penalties(
    distances: WordDistances, bags: Bags, references: Bags, row_of_reference: Integers
) -> Floats:
    """Return the penalty rho of every atom: Eq. 4 of Madhyastha et al. (2019).

    rho_k is the mean over the image's references r of (1 - max over words t of r of
    cos(x_k, x_t)) / 2: 0 for a word that all references hold, 1 for the opposite of all.
    References without a usable word are left out of the mean.

    Parameters
    ----------
    distances : WordDistances
        Between the words of all bags.
    bags : Bags
        One bag an image, of labels or of caption words.
    references : Bags
        One bag a reference.
    row_of_reference : (number of references,)
        Which bag of `bags` each reference belongs to.

    Returns
    -------
    (number of atoms of `bags`,) float64
        In [0, 1]; 1 throughout for images that have no usable reference, which leaves Eq. 5
        equal to Eq. 1.
    """
    usable = np.flatnonzero(references.sizes > 0)
    pairs = np.cumsum(bags.sizes[row_of_reference[usable]] * references.sizes[usable])
    sums = np.zeros(len(bags.atoms))
    counts = np.zeros(len(bags.atoms))
    start = 0
    while start < len(usable):
        done = pairs[start - 1] if start else 0
        end = max(int(np.searchsorted(pairs, done + _PAIRS_AT_ONCE)), start + 1)
        some = usable[start:end]
        start = end
        images, sizes = row_of_reference[some], references.sizes[some]
        atom_at, word_at = cross(
            bags.starts[images], bags.sizes[images], references.starts[some], sizes
        )
        # The words of one reference follow each other: a segment is an atom and a reference.
        segment_sizes = np.repeat(sizes, bags.sizes[images])
        if not len(segment_sizes):
            continue
        of_segment = atom_at[np.cumsum(segment_sizes) - segment_sizes]
        best = _best_cosines(
            distances, bags.atoms[atom_at], references.atoms[word_at], segment_sizes
        )
        np.add.at(sums, of_segment, (1 - best) / 2)  # one by one: the same wherever a slice ends
        counts += np.bincount(of_segment, minlength=len(sums))
    return np.divide(sums, counts, out=np.ones(len(bags.atoms)), where=counts > 0)


def _best_cosines(
    distances: WordDistances, atoms: Integers, words: Integers, segment_sizes: Integers
) -> Floats:
    """Return the largest cosine of each segment of pairs."""
    held = np.logical_or.reduceat(atoms == words, np.cumsum(segment_sizes) - segment_sizes)
    best = np.ones(len(held))  # the cosine of a word and itself, if the reference holds it
    if not held.all():
        others = np.flatnonzero(np.repeat(~held, segment_sizes))
        cosines = distances.cosines(atoms[others], words[others])
        sizes = segment_sizes[~held]
        best[~held] = np.maximum.reduceat(cosines, np.cumsum(sizes) - sizes)
    return best
