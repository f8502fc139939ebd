"""Fidelity and coverage of captions: the formulas of VIFIDEL-PRF, second edition.

docs/fidelity.md has them in words. Every sum goes over the words or labels of one row in
alphabetical order, so that no other row decides its last bits.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..evaluation import Floats, Integers
from ..things.grounded import SUPPORT
from .bags import Bags
from .support import NO_CLASS, ReferenceWords

# Settled in docs/fidelity.md.
_OTHER = 0.4  # weight in P of a word that names no thing, if it is fully supported
_UNSUPPORTED = 0.5  # share of that weight which an unsupported one keeps, where references deny
_DOUBTED = 5  # m references deny what they do not mention with the strength m / (m + 5)
_SAME = 0.75  # support from which a thing counts that nothing can deny
_NOT_KNOWN = 0.5  # P of a caption of which nothing can be judged
_LOWEST = 0.01  # P before the factors of inventions, and R within F, are at least this
_INVENTION = 0.12  # what an invention takes from P if it is sure
_SHARE_OF_P = 0.4  # in the geometric mean
_INVENTIONS_IN_F = 0.8  # power of the factors of inventions within F
_UNHEARD = 0.35  # share of P that true texts may miss in F, as far as references do not deny
_MOST_THINGS = 10  # nobody names more than these

Mask = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Inventions:
    """Mentions that are not in the image.

    Each has its row, the number of its class, its support, which is the largest cosine to the
    evidence, and whether the object labels alone deny it.
    """

    rows: Integers
    classes: Integers
    supports: Floats
    denied: Mask


def doubts(references: Integers) -> Floats:
    """Return how strongly references deny what they do not mention, by how many there are."""
    strength: Floats = references / (references + _DOUBTED)
    return strength


def weights_in_p(
    words: Bags, support: Floats, is_thing: Mask, denied: Mask, doubt: Floats
) -> Floats:
    """Return the weight of each word of the captions.

    Of each is given its support, in [0, 1], whether it names a thing, and whether one that the
    object labels deny; of each row its `doubts`.
    """
    deny = doubt[words.owners]
    heard = deny > 0  # without references only labels say anything, and of things alone
    own = np.where(heard | (support >= _SAME), support * support, 0.0)
    of_things = np.where(denied, 1.0, own + (1 - own) * deny)
    of_others = np.where(heard, _OTHER * (support + (1 - support) * _UNSUPPORTED * deny), 0.0)
    return np.where(is_thing, of_things, of_others)


def fidelity(words: Bags, support: Floats, weights: Floats) -> Floats:
    """Return P of each row, before the factors of its inventions.

    It is the supported share of the weight. Unsupported weight above 1 counts as its cube root: of
    a long true text, much is said by no reference.
    """
    supported = _sums(words, weights * support)
    unsupported = _sums(words, weights * (1 - support))
    unsupported = np.minimum(unsupported, np.cbrt(unsupported))
    total = supported + unsupported
    share = np.full(len(words), _NOT_KNOWN)
    np.divide(supported, total, out=share, where=total > 0)
    p: Floats = np.maximum(share, _LOWEST)
    return p


def kept_by_inventions(inventions: Inventions, rows: int, doubt: Floats) -> Floats:
    """Return the product of the factors of each row's inventions, each class once, (rows,).

    An invention that labels deny is sure; one that references do not mention is as sure as these
    deny, and the less the nearer something is that they do mention.
    """
    if not len(inventions.rows):
        return np.ones(rows)
    sure: Floats = doubt[inventions.rows] * np.maximum(0.0, 1 - inventions.supports / SUPPORT)
    sure[inventions.denied] = 1.0
    classes = int(inventions.classes.max(initial=0)) + 1
    keys, at = np.unique(inventions.rows * classes + inventions.classes, return_inverse=True)
    surest = np.zeros(len(keys))
    np.maximum.at(surest, at, sure)
    kept = np.ones(rows)
    np.multiply.at(kept, keys // classes, 1 - _INVENTION * surest)
    return kept


def number_of(inventions: Inventions, rows: int) -> Integers:
    """Return how many different classes each row invents, (rows,)."""
    classes = int(inventions.classes.max(initial=0)) + 1
    return np.bincount(
        np.unique(inventions.rows * classes + inventions.classes) // classes, minlength=rows
    )


def coverage_of_references(said: ReferenceWords, reached: Floats, rarities: Floats) -> Floats:
    """Return R of each row from how near the caption comes to each word of its references.

    Words count by the share of references that have them and by their rarity. The odds of the mean
    are then divided by the root of the mean share: nobody can say everything that references say
    which have little in common. NaN without references.
    """
    weights = said.shares * rarities
    total = _sums(said.words, weights)
    with np.errstate(invalid="ignore"):
        mean = _sums(said.words, weights * reached) / total
        agreement = np.sqrt(_sums(said.words, weights * said.shares) / total)
        return np.where(mean > 0, mean / (mean + (1 - mean) * agreement), mean)


def coverage_of_labels(labels: Bags, classes: Integers, reached: Floats) -> Floats:
    """Return R without references: how much of its labels each caption speaks of, in [0, 1].

    Labels of one class are one thing, of which the label counts that the caption comes nearest to;
    those of `NO_CLASS` are a thing each. Of more than ten things, the ten count that it speaks of
    most: nobody names all of 300 tags. `reached` tells how near the caption comes to each label, in
    [0, 1]. NaN without labels.
    """
    things = np.where(classes == NO_CLASS, NO_CLASS - 1 - labels.atoms, classes)
    order = np.lexsort((-reached, things, labels.owners))
    owners, things, reached = labels.owners[order], things[order], reached[order]
    nearest = np.ones(len(order), dtype=bool)
    nearest[1:] = (owners[1:] != owners[:-1]) | (things[1:] != things[:-1])
    owners, reached = owners[nearest], reached[nearest]
    order = np.lexsort((-reached, owners))
    numbers = np.bincount(owners, minlength=len(labels))
    best = order[np.arange(len(order)) - (numbers.cumsum() - numbers)[owners] < _MOST_THINGS]
    with np.errstate(invalid="ignore"):
        sums = np.bincount(owners[best], reached[best], len(labels))
        share: Floats = sums / np.minimum(numbers, _MOST_THINGS)
    return share


def combined(fidelity: Floats, r: Floats, kept: Floats, doubt: Floats) -> Floats:
    """Return F: the geometric mean of `fidelity` and R, and what inventions leave of it.

    True texts also say what no reference has: the fewer references deny it (`doubts`), the less of
    P is needed for all of its share.
    """
    heard = np.minimum(1.0, fidelity / (1 - _UNHEARD * (1 - doubt)))
    means = heard**_SHARE_OF_P * np.maximum(r, _LOWEST) ** (1 - _SHARE_OF_P)
    f: Floats = means * kept**_INVENTIONS_IN_F
    return f


def _sums(bags: Bags, values: Floats) -> Floats:
    """Return the sum of each bag; atoms are added one after the other."""
    sums: Floats = np.bincount(bags.owners, values, len(bags)).astype(np.float64)
    return sums
