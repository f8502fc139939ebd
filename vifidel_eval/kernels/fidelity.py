"""Fidelity, coverage and wording of captions: the formulas of VIFIDEL-PRF.

docs/metrics.md has them in words. Every sum goes over the words or labels of one row in
alphabetical order, so that no other row decides its last bits.

Wording is how near captions come to references in what bags of words do not see: order,
prepositions, counts, negation and attributes change which words there are and which follow each
other. A sentence is held against a reference by the words that both have, and by each with the one
of them before it, or with the sentence's start. Of CIDEr-D (Vedantam et al., CVPR 2015) it differs
in that words around a wrong one stay a pair.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain

import numpy as np

from ..evaluation import Floats, Integers
from ..io.caches import Remembered
from ..words.content_words import piece_runs, rarity, simplified
from ..words.english import sentence_places
from .bags import Bags, distinct, positions, slices, starts_of
from .support import NO_CLASS, Mask

# Settled in docs/metrics.md; benchmarks/ablation.py says what each of them is good for.
_OTHER = 0.4  # the weight of a word that names no thing; one that names a thing has 1
_DOUBTED = 5  # m references deny what they do not mention with the strength m / (m + 5)
_NOT_KNOWN = 0.5  # P of a caption whose things cannot be judged
_INVENTION = 0.4  # the share of P that a sure invention costs, so that a guess does not pay
_AGREED = 3  # power of a doubt: few references cannot tell inventions from true detail
_UNHEARD = 0.5  # share of P that true texts may miss in F if nobody doubts them
_LOWEST = 0.01  # P and R within F are at least this
_WORDING = 0.08  # power of the wording within F

_CLASS_BITS = 32  # the lower bits of a number that holds a row and a class

#: W of a caption that shares no word with its references; that of a reference itself is 1.
LOWEST_WORDING = 0.05
# Before the words of each sentence stands a word that all have, whose rarity is 0.
_START, _START_NUMBER, _NO_WORD = ".", 0, -1


@dataclass(frozen=True, eq=False)
class Inventions:
    """Mentions that nothing names, and denials of what is there."""

    rows: Integers
    classes: Integers  # numbers
    sure: Floats  # in [0, 1]

    def __add__(self, others: Inventions) -> Inventions:
        return Inventions(
            np.append(self.rows, others.rows),
            np.append(self.classes, others.classes),
            np.append(self.sure, others.sure),
        )


def doubts(witnesses: Integers) -> Floats:
    """Return how strongly so many references, or lists of labels, doubt what they do not have."""
    return np.divide(witnesses, witnesses + _DOUBTED)


def weights_in_p(
    words: Bags,
    support: Floats,
    named: Mask,
    denied: Mask,
    doubted: Mask,
    doubt: Floats,
    has_references: Mask,
) -> Floats:
    """Return the weight of each word in P: those named, denied or doubted weigh more."""
    deny = doubt[words.owners]
    of_others = np.where(has_references, _OTHER, 0.0)[words.owners]
    counts = np.where(named | doubted & (deny > 0), 1.0, np.where(doubted, 0.0, of_others))
    return np.where(denied, 1.0, counts * (support + (1 - support) * deny))


def fidelity(words: Bags, support: Floats, weights: Floats, mentions_things: Mask) -> Floats:
    """Return P of each row, before the factors of its inventions: the supported share of weight."""
    supported = _sums(words, weights * support)
    # A long true text tells much that no reference does: that weight grows with a logarithm.
    total = supported + np.log1p(_sums(words, weights * (1 - support)))
    # Without references, a text that mentions no thing cannot be judged.
    share = np.where(mentions_things, _NOT_KNOWN, 0.0)
    some = total > 0
    share[some] = (supported[some] / total[some]).clip(_LOWEST)
    return share


def sureness(doubt: Floats) -> Floats:
    """Return how sure it is that something doubted is an invention."""
    return doubt**_AGREED


def kept_by_inventions(inventions: Inventions, rows: int) -> Floats:
    """Return the product of the factors of each row's inventions, each class once, (rows,)."""
    kept = np.ones(rows)
    if not len(inventions.rows):
        return kept
    keys, at, _ = distinct(_keys(inventions))
    surest = np.zeros(len(keys))
    np.maximum.at(surest, at, inventions.sure)
    rows_of_keys = keys >> _CLASS_BITS
    np.multiply.at(kept, rows_of_keys, 1 - _INVENTION * surest)
    return kept


def sure_inventions_per_row(inventions: Inventions, rows: int) -> Integers:
    """Return how many different classes each row makes up for sure, (rows,)."""
    return np.bincount(_sure(inventions) >> _CLASS_BITS, minlength=rows)


def sure_inventions_by_name(
    inventions: Inventions, class_numbers: Mapping[str, int], labels_of: Sequence[Mapping[str, str]]
) -> Counter[str]:
    """Return in how many rows each class is made up for sure, by what their objects call it."""
    names = {number: name for name, number in class_numbers.items()}
    keys = _sure(inventions)
    rows, classes = keys >> _CLASS_BITS, keys & ((1 << _CLASS_BITS) - 1)
    made_up = zip(rows.tolist(), map(names.get, classes.tolist()), strict=True)
    return Counter(labels_of[row].get(name, name) for row, name in made_up if name)


def _sure(inventions: Inventions) -> Integers:
    """Return rows and classes of sure inventions as numbers, each once."""
    return distinct(_keys(inventions)[inventions.sure == 1])[0]


def _keys(inventions: Inventions) -> Integers:
    return inventions.rows << _CLASS_BITS | inventions.classes


def coverage_of_references(
    words: Bags, shares: Floats, rarities: Floats, reached: Floats
) -> Floats:
    """Return R of each row from how near the caption comes to each word of references; or NaN."""
    weights = shares * rarities
    total = _sums(words, weights)
    with np.errstate(invalid="ignore"):
        mean = _sums(words, weights * reached) / total
        agreement = np.sqrt(_sums(words, weights * shares) / total)
        # The odds of the mean are divided by the root of the mean share: no caption can repeat
        # everything in references that have little in common.
        return np.where(mean > 0, mean / (mean + (1 - mean) * agreement), mean)


def coverage_of_labels(labels: Bags, classes: Integers, reached: Floats) -> Floats:
    """Return R without references: how much of its labels each caption reaches; NaN without any."""
    # Of labels of one class, only the nearest counts. A label without a class counts alone.
    things = np.where(classes == NO_CLASS, NO_CLASS - 1 - labels.atoms, classes)
    order = np.lexsort((-reached, things, labels.owners))
    owners, things, reached = labels.owners[order], things[order], reached[order]
    nearest = np.ones(len(order), dtype=bool)
    nearest[1:] = (owners[1:] != owners[:-1]) | (things[1:] != things[:-1])
    owners, reached = owners[nearest], reached[nearest]
    numbers = np.bincount(owners, minlength=len(labels))
    with np.errstate(invalid="ignore"):
        return np.divide(np.bincount(owners, reached, len(labels)), numbers)


def combined(fidelity: Floats, r: Floats, kept: Floats, doubt: Floats, wording: Floats) -> Floats:
    """Return F: the geometric mean of `fidelity` and R, lowered by inventions and the wording."""
    # True texts also tell what no reference has. The fewer references deny it, the lower the P that
    # counts in full. The wording is NaN without references.
    heard = np.minimum(1.0, fidelity / (1 - _UNHEARD * (1 - doubt)))
    f = np.sqrt(heard * np.maximum(r, _LOWEST)) * kept
    worded: Floats = (f * wording**_WORDING) ** (1 / (1 + _WORDING))
    return np.where(np.isnan(wording), f, worded)


def _sums(bags: Bags, values: Floats) -> Floats:
    """Return the sum of each bag; atoms are added one after the other."""
    return np.bincount(bags.owners, values, len(bags)).astype(np.float64)


@Remembered
def _words_of_piece(piece: str) -> str:
    """Return the words inside of what is between two blanks, with blanks between them."""
    return " ".join(piece_runs(piece))


@partial(Remembered, times=4)  # the references of many images
def _words_of_text(text: str) -> str:
    """Return the words of a text, with blanks between them, and `_START` before each sentence."""
    text, sentences = text.strip(), []
    for start, end in sentence_places(text):
        pieces = simplified(text[start:end], "not").split()
        words = " ".join(map(_words_of_piece.__getitem__, pieces))
        if words.strip():
            sentences.append(f"{_START} {words}")
    return " ".join(sentences)


class _Words:
    """The words of some texts, or sentences, one text after the other."""

    def __init__(
        self, texts: Sequence[Sequence[str]], vocabulary: Mapping[str, int], rarities: Floats
    ) -> None:
        words = list(chain.from_iterable(texts))
        numbers = np.array([vocabulary.get(word, _NO_WORD) for word in words], dtype=np.int64)
        is_known, rarities = numbers != _NO_WORD, rarities[numbers]
        others = (~is_known).nonzero()[0]
        rarities[others] = [rarity[words[at]] for at in others.tolist()]
        sizes = np.array(list(map(len, texts)), dtype=np.int64)
        owners = np.arange(len(texts)).repeat(sizes)
        pairs = np.where(numbers[1:] == _START_NUMBER, 0.0, rarities[1:] + rarities[:-1])
        #: The weight of all words, and of all neighbours, of each text.
        self.weights: tuple[Floats, Floats] = (
            np.bincount(owners, rarities**2, len(texts)).astype(np.float64),
            np.bincount(owners[1:], pairs**2, len(texts)).astype(np.float64),
        )
        self.numbers, self.places = numbers[is_known], is_known.nonzero()[0]
        #: How many of these words, which alone can be shared, each text has, and the first of them.
        self.sizes = np.bincount(owners[is_known], minlength=len(texts))
        self.starts = starts_of(self.sizes)

    def meet(self, texts: Integers) -> tuple[Integers, Integers]:
        """Return the meeting and the position of each word, if text `texts[i]` is at meeting i."""
        sizes = self.sizes[texts]
        return np.arange(len(texts)).repeat(sizes), positions(self.starts[texts], sizes)


class ReferenceWording:
    """The wording of the references of some rows; references without a word do not count."""

    def __init__(self, references: Sequence[Sequence[str]]) -> None:
        split = [list(filter(None, map(_words_of_text.__getitem__, texts))) for texts in references]
        texts = [words.split() for of_row in split for words in of_row]
        # In alphabetical order, so that sums do not depend on what other rows have.
        alphabet = [_START, *sorted(set().union(*texts) - {_START})]
        self._vocabulary = {word: number for number, word in enumerate(alphabet)}
        self._rarities = np.array([0.0, *map(rarity.__getitem__, alphabet[1:])])
        self._words = _Words(texts, self._vocabulary, self._rarities)
        #: How many references each row has, and the first of them.
        self._numbers = np.array(list(map(len, split)), dtype=np.int64)
        self._first = starts_of(self._numbers)

    def score(self, captions: Sequence[str]) -> Floats:
        """Return W of the caption of each row, (rows,), at least `LOWEST_WORDING`, or NaN."""
        read = [list(dict.fromkeys(_words_of_text[c].split(_START)[1:])) for c in captions]
        rows = np.arange(len(read)).repeat(list(map(len, read)))
        texts = [[_START, *words.split()] for of_row in read for words in of_row]
        sentences = _Words(texts, self._vocabulary, self._rarities)
        alike, meets = np.empty(len(rows)), self._numbers[rows]
        for start, end in slices(meets):
            # A sentence meets each reference of its row.
            own = np.arange(start, end).repeat(meets[start:end])
            theirs = positions(self._first[rows[start:end]], meets[start:end])
            shared = np.empty(len(own))
            for first, last in slices(sentences.sizes[own] + self._words.sizes[theirs]):
                some = slice(first, last)
                shared[some] = self._alike(sentences, own[some], theirs[some])
            sums = np.bincount(own - start, shared, end - start)
            alike[start:end] = sums / np.maximum(meets[start:end], 1) / 2
        best = np.zeros(len(captions))
        np.maximum.at(best, rows, alike)  # the nearest sentence counts
        w: Floats = LOWEST_WORDING + (1 - LOWEST_WORDING) * np.minimum(best, 1.0)
        w[self._numbers == 0] = np.nan
        return w

    def _alike(self, own: _Words, sentences: Integers, references: Integers) -> Floats:
        """Return how near sentences come to references, by words and pairs."""
        size = len(self._rarities)
        meetings, at = own.meet(sentences)
        words, places = meetings * size + own.numbers[at], own.places[at]
        meetings, at = self._words.meet(references)
        their_words = meetings * size + self._words.numbers[at]
        their_places = self._words.places[at]

        common, least, shared, are_shared = _least(words, their_words)
        alike = least * self._rarities[common % size] ** 2
        of_words = np.bincount(common // size, alike, len(references))

        pairs, worth = _pairs(words[shared], places[shared], size)
        their_pairs, their_worth = _pairs(their_words[are_shared], their_places[are_shared], size)
        common, least, _, _ = _least(pairs, their_pairs, worth, their_worth)
        alike = least * (self._rarities[common // size % size] + self._rarities[common % size]) ** 2
        of_pairs = np.bincount(common // size**2, alike, len(references))

        # Twice the mean over words and pairs.
        total = np.zeros(len(references))
        of_both = zip((of_words, of_pairs), own.weights, self._words.weights, strict=True)
        for part, weights, their_weights in of_both:
            scale = np.sqrt(weights[sentences] * their_weights[references])
            total += np.divide(part, scale, out=np.zeros(len(scale)), where=scale > 0)
        return total


def _least(
    keys: Integers,
    other_keys: Integers,
    worth: Floats | None = None,
    other_worth: Floats | None = None,
) -> tuple[Integers, Floats, Mask, Mask]:
    """Return the keys that both sides have, sorted, what the side has of each that has less of it.

    Each occurrence counts 1, or what it is worth. The masks are of the occurrences of these keys.
    """
    merged, at, _ = distinct(np.append(keys, other_keys))
    at_left, at_right = at[: len(keys)], at[len(keys) :]
    least = np.minimum(
        np.bincount(at_left, worth, len(merged)), np.bincount(at_right, other_worth, len(merged))
    )
    in_both = least > 0
    return merged[in_both], least[in_both], in_both[at_left], in_both[at_right]


def _pairs(words: Integers, places: Integers, size: int) -> tuple[Integers, Floats]:
    """Return the pairs of neighbours among the shared words of meetings, and what each is worth.

    It is worth the less, the more other words are between the two.
    """
    # Behind the last word of a sentence comes the start of the next one.
    follows = (words[1:] // size == words[:-1] // size) & (words[1:] % size != _START_NUMBER)
    first = follows.nonzero()[0]
    return words[first] * size + words[first + 1] % size, 1 / (places[first + 1] - places[first])
