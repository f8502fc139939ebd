"""How little the references mention a word: the penalty of VIFIDEL's Eq. 4."""

from __future__ import annotations

import numpy as np

from .bags import Bags, Floats, Integers
from .distances import WordDistances, cross


def penalties(
    distances: WordDistances, bags: Bags, references: Bags, image_of_reference: Integers
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
    image_of_reference : (number of references,)
        Which bag of `bags` each reference belongs to.

    Returns
    -------
    (number of atoms of `bags`,) float64
        In [0, 1]; 1 throughout for images that have no usable reference, which leaves Eq. 5
        equal to Eq. 1.
    """
    usable = np.flatnonzero(references.sizes > 0)
    images = image_of_reference[usable]
    reference_sizes = references.sizes[usable]
    atom_at, word_at = cross(
        bags.starts[images], bags.sizes[images], references.starts[usable], reference_sizes
    )
    # The words of one reference follow each other: one maximum an atom and reference.
    atom_counts = bags.sizes[images]
    segment_sizes = np.repeat(reference_sizes, atom_counts)
    segment_starts = np.cumsum(segment_sizes) - segment_sizes
    if not len(segment_starts):
        return np.ones(len(bags.atoms))
    atoms, words = bags.atoms[atom_at], references.atoms[word_at]
    best = np.logical_or.reduceat(atoms == words, segment_starts).astype(np.float64)
    # Where a reference holds the word itself, its best cosine is 1; the others are computed.
    others = np.flatnonzero(best == 0)
    if len(others):
        sizes = segment_sizes[others]
        pairs = np.flatnonzero(np.repeat(best == 0, segment_sizes))
        similarity = distances.cosines(atoms[pairs], words[pairs])
        best[others] = np.maximum.reduceat(similarity, np.cumsum(sizes) - sizes)
    atom_of_segment = atom_at[segment_starts]
    sums = np.bincount(atom_of_segment, weights=(1 - best) / 2, minlength=len(bags.atoms))
    counts = np.bincount(atom_of_segment, minlength=len(bags.atoms))
    return np.divide(sums, counts, out=np.ones(len(bags.atoms)), where=counts > 0)
