"""Penalties of words that references hardly mention: Eq. 4 of the VIFIDEL paper."""

from __future__ import annotations

import numpy as np

from ..evaluation import Floats, Integers
from .bags import Bags, positions, slices
from .distances import WordDistances


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
    # A segment is an atom and a reference: the words of one reference follow each other.
    images = row_of_reference[usable]
    of_segment, segment_sizes, first_words = _segments(bags, references, images, usable)
    sums = np.zeros(len(bags.atoms))
    counts = np.bincount(of_segment, minlength=len(bags.atoms)).astype(np.float64)
    for start, end in slices(segment_sizes):
        some, sizes = of_segment[start:end], segment_sizes[start:end]
        words = positions(first_words[start:end], sizes)
        atoms = np.repeat(bags.atoms[some], sizes)
        best = _best_cosines(distances, atoms, references.atoms[words], sizes)
        np.add.at(sums, some, (1 - best) / 2)  # one by one: the same wherever a slice ends
    return np.divide(sums, counts, out=np.ones(len(bags.atoms)), where=counts > 0)


def _segments(
    bags: Bags, references: Bags, images: Integers, usable: Integers
) -> tuple[Integers, Integers, Integers]:
    """Return atom, number of words and place of the first word of every atom and reference."""
    atoms = bags.sizes[images]
    return (
        positions(bags.starts[images], atoms),
        np.repeat(references.sizes[usable], atoms),
        np.repeat(references.starts[usable], atoms),
    )


def _best_cosines(
    distances: WordDistances, atoms: Integers, words: Integers, segment_sizes: Integers
) -> Floats:
    """Return the largest cosine of each segment of pairs."""
    held = np.logical_or.reduceat(atoms == words, np.cumsum(segment_sizes) - segment_sizes)
    best = np.ones(len(held))  # the cosine of a word and itself, if the reference holds it
    if not held.all():
        others = np.repeat(~held, segment_sizes)
        cosines = distances.cosines(atoms[others], words[others])
        sizes = segment_sizes[~held]
        best[~held] = np.maximum.reduceat(cosines, np.cumsum(sizes) - sizes)
    return best
