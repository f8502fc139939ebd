"""CIDEr-D of many systems against one set of references, to the last digit of pycocoevalcap's.

pycocoevalcap's ``CiderScorer`` weighs the references' n-grams inside the function that scores one
system, so that they cannot be handed over. What follows computes what
``CiderScorer.compute_cider`` does, with every sum in its order: that of the n-grams in the
captions. n-grams are cooked and document frequencies counted by pycocoevalcap itself.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from typing import NamedTuple

import numpy as np

_ORDERS = 4  # n-grams of up to so many tokens
_SIGMA = 6.0  # of the penalty for another length

#: How often each n-gram is in a caption.
Counts = Mapping[tuple[str, ...], int]


class _Vector(NamedTuple):
    """A caption's n-grams with their weights, the norm for each order, and how many bigrams."""

    weights: dict[tuple[str, ...], float]
    norms: list[float]
    length: int


class CiderCorpus:
    """The references of a run, weighted by how few images have their n-grams.

    Parameters
    ----------
    references : sequence of sequences of Counts
        What ``cook_refs`` makes of the references of each image; each has at least one.
    """

    def __init__(self, references: Sequence[Sequence[Counts]]) -> None:
        from pycocoevalcap.cider.cider_scorer import CiderScorer

        self._cooked = references
        scorer = CiderScorer(n=_ORDERS)
        scorer.crefs = references
        scorer.compute_doc_freq()
        log_images = float(np.log(float(len(references))))
        # NumPy's logarithm of one number at a time, as there; few of them differ.
        log = cache(lambda images: float(np.log(max(1.0, images))))
        self._idf = {
            ngram: log_images - log(images) for ngram, images in scorer.document_frequency.items()
        }
        self._unseen = log_images - log(0.0)
        vectors: dict[int, list[_Vector]] = {}  # by identity: an image can be in several rows
        for of_image in references:
            if id(of_image) not in vectors:
                vectors[id(of_image)] = [self._vector(counts) for counts in of_image]
        self._vectors = [vectors[id(of_image)] for of_image in references]

    def is_of(self, references: Sequence[Sequence[Counts]]) -> bool:
        """Return whether it was made of these very objects."""
        return len(references) == len(self._cooked) and all(
            one is other for one, other in zip(references, self._cooked, strict=True)
        )

    def scores(self, captions: Sequence[str]) -> list[float]:
        """Return the score of one caption per image: tokens joined by blanks."""
        from pycocoevalcap.cider.cider_scorer import cook_test

        return [
            self._score(self._vector(cook_test(caption)), references)
            for caption, references in zip(captions, self._vectors, strict=True)
        ]

    def _vector(self, counts: Counts) -> _Vector:
        weights = {}
        squares = [0.0] * _ORDERS
        length = 0
        for ngram, count in counts.items():
            weight = weights[ngram] = count * self._idf.get(ngram, self._unseen)
            squares[len(ngram) - 1] += weight**2
            if len(ngram) == 2:
                length += count
        return _Vector(weights, [math.sqrt(square) for square in squares], length)

    def _score(self, candidate: _Vector, references: Sequence[_Vector]) -> float:
        total = [0.0] * _ORDERS
        for reference in references:
            weights = reference.weights
            products = [0.0] * _ORDERS
            for ngram, weight in candidate.weights.items():
                other = weights.get(ngram)
                if other is not None:  # the others would add 0
                    products[len(ngram) - 1] += min(weight, other) * other
            penalty = _penalty(candidate.length - reference.length)
            for order in range(_ORDERS):
                norms = candidate.norms[order], reference.norms[order]
                if norms[0] != 0 and norms[1] != 0:
                    products[order] /= norms[0] * norms[1]
                total[order] += products[order] * penalty
        # NumPy's mean of four numbers adds them in an order of its own.
        return float(np.mean(np.array(total)) / len(references) * 10.0)


@lru_cache(1024)
def _penalty(difference: int) -> float:
    return float(np.e ** (-(float(difference) ** 2) / (2 * _SIGMA**2)))
