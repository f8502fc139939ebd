"""Fidelity and coverage of captions: the formulas of VIFIDEL-PRF.

docs/fidelity.md has them in words. Every sum goes over the words or labels of one row in
alphabetical order, so that no other row decides its last bits.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..evaluation import Floats, Integers
from ..words.settings import SUPPORT
from .bags import Bags
from .support import NO_CLASS, Mask, ReferenceWords

# Settled in docs/fidelity.md; benchmarks/ablation.py says what each of them is good for.
_OTHER = 0.4  # what a word that names no thing counts beside one that does
_DOUBTED = 5  # m references deny what they do not mention with the strength m / (m + 5)
_NOT_KNOWN = 0.5  # P of a caption of which nothing can be judged
_INVENTION = 0.1  # what an invention takes if it is sure
_UNHEARD = 0.4  # share of P that true texts may miss in F, as far as nobody doubts them
_LOWEST = 0.01  # P and R within F are at least this
_WORDING = 0.08  # power of the wording within F

_CLASS_BITS = 32  # of a row and a class as one number


@dataclass(frozen=True, eq=False)
class Inventions:
    """Mentions that nothing names, and denials of what is there."""

    rows: Integers
    classes: Integers  # numbers
    sure: Floats  # in [0, 1]


def doubts(witnesses: Integers) -> Floats:
    """Return how strongly so many references, or lists of labels, doubt what they do not have."""
    strength: Floats = witnesses / (witnesses + _DOUBTED)
    return strength


def supports(near: Floats, by_labels: Mask, denied: Mask) -> Floats:
    """Return the support of words: full of mentions that labels alone name, none of denied ones."""
    return np.where(denied, 0.0, np.where(by_labels, 1.0, near))


def weights_in_p(
    words: Bags,
    support: Floats,
    named: Mask,
    denied: Mask,
    doubted: Mask,
    doubt: Floats,
    said: Mask,
) -> Floats:
    """Return the weight of each word: of mentions that are named, denied or doubted, and of others.

    Of each row there are its `doubts`, and whether it has references: without them nobody says
    anything of words that name no thing.
    """
    deny = doubt[words.owners]
    of_others = np.where(said, _OTHER, 0.0)[words.owners]
    counts = np.where(named | doubted & (deny > 0), 1.0, np.where(doubted, 0.0, of_others))
    return np.where(denied, 1.0, counts * (support + (1 - support) * deny))


def fidelity(words: Bags, support: Floats, weights: Floats) -> Floats:
    """Return P of each row, before the factors of its inventions.

    It is the supported share of the weight. Unsupported weight U counts as log(1 + U): of a long
    true text, much is said by no reference.
    """
    supported = _sums(words, weights * support)
    total = supported + np.log1p(_sums(words, weights * (1 - support)))
    share = np.full(len(words), _NOT_KNOWN)
    np.divide(supported, total, out=share, where=total > 0)
    p: Floats = np.maximum(share, _LOWEST)
    return p


def sureness(near: Floats, denied: Mask, doubt: Floats) -> Floats:
    """Return how sure it is that mentions which nothing names are inventions.

    It is 1 if labels deny them; else they are doubted, the less the `near`er the evidence comes.
    """
    return np.where(denied, 1.0, doubt * np.maximum(0.0, 1 - near / SUPPORT))


def kept_by_inventions(inventions: Inventions, rows: int) -> Floats:
    """Return the product of the factors of each row's inventions, each class once, (rows,)."""
    kept = np.ones(rows)
    if not len(inventions.rows):
        return kept
    keys, at = np.unique(_keys(inventions), return_inverse=True)
    surest = np.zeros(len(keys))
    np.maximum.at(surest, at, inventions.sure)
    np.multiply.at(kept, keys >> _CLASS_BITS, 1 - _INVENTION * surest)
    return kept


def number_of(inventions: Inventions, rows: int) -> Integers:
    """Return how many different classes each row invents for sure, (rows,)."""
    return np.bincount(
        np.unique(_keys(inventions)[inventions.sure == 1]) >> _CLASS_BITS, minlength=rows
    )


def _keys(inventions: Inventions) -> Integers:
    return inventions.rows << _CLASS_BITS | inventions.classes


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
    those of `NO_CLASS` are a thing each. `reached` tells how near the caption comes to each label,
    in [0, 1]. NaN without labels.
    """
    things = np.where(classes == NO_CLASS, NO_CLASS - 1 - labels.atoms, classes)
    order = np.lexsort((-reached, things, labels.owners))
    owners, things, reached = labels.owners[order], things[order], reached[order]
    nearest = np.ones(len(order), dtype=bool)
    nearest[1:] = (owners[1:] != owners[:-1]) | (things[1:] != things[:-1])
    owners, reached = owners[nearest], reached[nearest]
    with np.errstate(invalid="ignore"):
        share: Floats = np.bincount(owners, reached, len(labels)) / np.bincount(
            owners, minlength=len(labels)
        )
    return share


def combined(fidelity: Floats, r: Floats, kept: Floats, doubt: Floats, wording: Floats) -> Floats:
    """Return F: the geometric mean of `fidelity` and R, what inventions leave of it, and wording.

    True texts also say what no reference has: the fewer references deny it (`doubts`), the less of
    P is needed for all of its share. The wording is NaN without references.
    """
    heard = np.minimum(1.0, fidelity / (1 - _UNHEARD * (1 - doubt)))
    f = np.sqrt(heard * np.maximum(r, _LOWEST)) * kept
    worded: Floats = (f * wording**_WORDING) ** (1 / (1 + _WORDING))
    return np.where(np.isnan(wording), f, worded)


def _sums(bags: Bags, values: Floats) -> Floats:
    """Return the sum of each bag; atoms are added one after the other."""
    sums: Floats = np.bincount(bags.owners, values, len(bags)).astype(np.float64)
    return sums
