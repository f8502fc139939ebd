"""Fidelity, coverage and wording of captions: the formulas of VIFIDEL-PRF.

docs/fidelity.md has them in words. Every sum goes over the words or labels of one row in
alphabetical order, so that no other row decides its last bits.

Wording is how near captions come to references in what bags of words do not see: order,
prepositions, counts, negation and attributes change which words there are and which follow each
other. A sentence is held against a reference by the words that both have, and by each with the one
of them before it, or with the sentence's start. Of CIDEr-D (Vedantam et al., CVPR 2015) it differs
in that words around a wrong one stay a pair.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from hashlib import blake2b
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..evaluation import Floats, Integers
from ..io.records import Remembered
from ..words.content_words import piece_runs, simplified
from ..words.english import sentence_places
from ..words.synonyms import rarity
from .bags import Bags, positions, slices, starts_of
from .support import NO_CLASS, Mask

# Settled in docs/fidelity.md; benchmarks/ablation.py says what each of them is good for.
_OTHER = 0.4  # what a word that names no thing counts beside one that does
_DOUBTED = 5  # m references deny what they do not mention with the strength m / (m + 5)
_NOT_KNOWN = 0.5  # P of a caption that mentions things, of which none can be judged
_INVENTION = 0.1  # what an invention takes if it is sure
_INVENTION_ALONE = 0.3  # and if there are no references, so that a guess does not pay
_UNHEARD = 0.4  # share of P that true texts may miss in F, as far as nobody doubts them
_LOWEST = 0.01  # P and R within F are at least this
_WORDING = 0.08  # power of the wording within F

_CLASS_BITS = 32  # of a row and a class as one number

#: W of a caption that shares no word with its references; that of a reference itself is 1.
LOWEST_WORDING = 0.05
_FAR = 1 << 32  # no text has so many words

Keys = NDArray[np.uint64]

_WORD = np.dtype([("key", "<u8"), ("rarity", "<f8")])


@dataclass(frozen=True, eq=False)
class Inventions:
    """Mentions that nothing names, and denials of what is there."""

    rows: Integers
    classes: Integers  # numbers
    sure: Floats  # in [0, 1]


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
    said: Mask,
) -> Floats:
    """Return the weight of each word in P: of what is named, denied or doubted, and of others."""
    deny = doubt[words.owners]
    of_others = np.where(said, _OTHER, 0.0)[words.owners]
    counts = np.where(named | doubted & (deny > 0), 1.0, np.where(doubted, 0.0, of_others))
    return np.where(denied, 1.0, counts * (support + (1 - support) * deny))


def fidelity(words: Bags, support: Floats, weights: Floats, mentions_things: Mask) -> Floats:
    """Return P of each row, before the factors of its inventions: the supported share of weight."""
    supported = _sums(words, weights * support)
    # Of a long true text, much is said by no reference: its weight grows with a logarithm.
    total = supported + np.log1p(_sums(words, weights * (1 - support)))
    # From labels alone, a text that mentions no thing says nothing of its image.
    share = np.where(mentions_things, _NOT_KNOWN, 0.0)
    some = total > 0
    share[some] = (supported[some] / total[some]).clip(_LOWEST)
    return share


def kept_by_inventions(inventions: Inventions, are_said: Mask) -> Floats:
    """Return the product of the factors of each row's inventions, each class once, (rows,).

    `are_said` has the rows with references.
    """
    kept = np.ones(len(are_said))
    if not len(inventions.rows):
        return kept
    keys, at = np.unique(_keys(inventions), return_inverse=True)
    surest = np.zeros(len(keys))
    np.maximum.at(surest, at, inventions.sure)
    rows_of_keys = keys >> _CLASS_BITS
    cost = np.where(are_said[rows_of_keys], _INVENTION, _INVENTION_ALONE)
    np.multiply.at(kept, rows_of_keys, 1 - cost * surest)
    return kept


def number_of(inventions: Inventions, rows: int) -> Integers:
    """Return how many different classes each row invents for sure, (rows,)."""
    return np.bincount(
        np.unique(_keys(inventions)[inventions.sure == 1]) >> _CLASS_BITS, minlength=rows
    )


def _keys(inventions: Inventions) -> Integers:
    return inventions.rows << _CLASS_BITS | inventions.classes


def coverage_of_references(said: Bags, shares: Floats, rarities: Floats, reached: Floats) -> Floats:
    """Return R of each row from how near the caption comes to each word of references; or NaN."""
    weights = shares * rarities
    total = _sums(said, weights)
    with np.errstate(invalid="ignore"):
        mean = _sums(said, weights * reached) / total
        agreement = np.sqrt(_sums(said, weights * shares) / total)
        # The odds of the mean by the root of the mean share: nobody can say everything that
        # references say which have little in common.
        return np.where(mean > 0, mean / (mean + (1 - mean) * agreement), mean)


def coverage_of_labels(labels: Bags, classes: Integers, reached: Floats) -> Floats:
    """Return R without references: how much of its labels each caption reaches; NaN without any."""
    # Labels of one class are one thing, whose nearest counts; those of no class are one each.
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
    """Return F: the geometric mean of `fidelity` and R, what inventions leave of it, wording."""
    # True texts also say what no reference has: the fewer references deny it, the less of P is
    # needed for all of its share. The wording is NaN without references.
    heard = np.minimum(1.0, fidelity / (1 - _UNHEARD * (1 - doubt)))
    f = np.sqrt(heard * np.maximum(r, _LOWEST)) * kept
    worded: Floats = (f * wording**_WORDING) ** (1 / (1 + _WORDING))
    return np.where(np.isnan(wording), f, worded)


def _sums(bags: Bags, values: Floats) -> Floats:
    """Return the sum of each bag; atoms are added one after the other."""
    return np.bincount(bags.owners, values, len(bags)).astype(np.float64)


# Words are known by 64 bits of a digest, so that runs and threads share no numbers.
def _word(word: str, rarity: float) -> bytes:
    digest = blake2b(word.encode(errors="surrogatepass"), digest_size=8).digest()
    return digest + struct.pack("<d", rarity)


# In place of a rarity: a sentence's start, which is a word that all of them have, and a text's end.
_IS_START, _IS_END = -1.0, -2.0
_START, _END = _word("", _IS_START), _word("", _IS_END)


@Remembered
def _of_piece(piece: str) -> bytes:
    """Return the words inside of what is between two blanks, as `_WORD`."""
    return b"".join(_word(word, rarity[word]) for word in piece_runs(piece))


@partial(Remembered, times=4)  # the references of many images
def _of_text(text: str) -> bytes:
    """Return the words of a text as `_WORD`, with the starts of its sentences and its end."""
    text, found = text.strip(), []
    for start, end in sentence_places(text):
        pieces = simplified(text[start:end], "not").split()
        words = b"".join(map(_of_piece.__getitem__, pieces))
        if words:
            found += [_START, words]
    return b"".join([*found, _END])


class _Texts:
    """The words of some texts, one after the other, with the starts of their sentences."""

    def __init__(self, texts: Sequence[str]) -> None:
        read = np.frombuffer(b"".join(map(_of_text.__getitem__, texts)), _WORD)
        rarities = read["rarity"]
        at = (rarities != _IS_END).nonzero()[0]
        self.keys: Keys = read["key"][at]
        self.rarities: Floats = rarities[at]
        self.is_start = self.rarities == _IS_START
        self.rarities[self.is_start] = 0.0
        #: The text of each word, and its sentence, numbered through all texts.
        self.texts: Integers = at - np.arange(len(at))
        self.sentences: Integers = self.is_start.cumsum() - 1
        #: Two differ by the words' distance, or by more than `_FAR` in two sentences.
        self.places: Integers = np.arange(len(at)) + _FAR * self.sentences

    def totals(self, owners: Integers, size: int) -> tuple[Floats, Floats]:
        """Return the weight of all words, and of all neighbours, of each of `size` owners."""
        sums = self.rarities[1:] + self.rarities[:-1]
        sums[self.places[1:] - self.places[:-1] > 1] = 0.0
        words = np.bincount(owners, self.rarities**2, size).astype(np.float64)
        return words, np.bincount(owners[1:], sums**2, size).astype(np.float64)


class _Own(NamedTuple):
    """The words of captions that references of their row have, sentence by sentence."""

    kinds: Integers
    places: Integers
    starts: Integers  # of the sentences, and the end
    totals: tuple[Floats, Floats]  # of the sentences


class ReferenceWording:
    """The wording of the references of some rows; references without a word do not count."""

    def __init__(self, references: Sequence[Sequence[str]]) -> None:
        texts = _Texts(list(chain.from_iterable(references)))
        given = np.arange(len(references)).repeat(list(map(len, references)))
        sizes = np.bincount(texts.texts, minlength=len(given))
        rows = given[sizes > 0]
        # Of references with words: how many words each has, the first of them, and their weight.
        self._sizes = sizes[sizes > 0]
        self._starts = starts_of(self._sizes)
        owners = np.arange(len(rows)).repeat(self._sizes)
        self._totals = texts.totals(owners, len(rows))
        self._places = texts.places
        # Of rows: how many of these references they have, and the first of them.
        self._numbers = np.bincount(rows, minlength=len(references))
        self._first = starts_of(self._numbers)
        # The words of all rows, sorted: each row's own follow each other. A kind is a place there.
        self._words, self._kinds, some = _grouped(self._of_rows(texts.keys, rows[owners]))
        self._rarities = texts.rarities[some]
        row_of_kind = rows[owners[some]]
        self._kinds_of_rows = np.bincount(row_of_kind, minlength=len(references))
        self._first_kinds = starts_of(self._kinds_of_rows)
        # How often each reference of its row has a kind: from a cell on, one after the other.
        self._cells = starts_of(self._numbers[row_of_kind])
        cells = self._cells[self._kinds] + owners - self._first[rows[owners]]
        self._counts = np.bincount(cells, minlength=self._cells[-1])
        self._has = self._counts > 0

    def _of_rows(self, keys: Keys, rows: Integers) -> Keys:
        """Return keys that are of one row alone, in the order of rows."""
        bits = np.uint64(len(self._numbers).bit_length())
        found: Keys = keys >> bits | rows.astype(np.uint64) << np.uint64(64) - bits
        return found

    def of(self, captions: Sequence[str]) -> Floats:
        """Return W of the caption of each row, (rows,), at least `LOWEST_WORDING`, or NaN."""
        said = _Texts(captions)
        rows = said.texts[said.is_start]
        wanted = self._of_rows(said.keys, said.texts)
        kinds = self._words.searchsorted(wanted)
        shared = (np.append(self._words, 0)[kinds] == wanted).nonzero()[0]
        sizes = np.bincount(said.sentences[shared], minlength=len(rows))
        totals = said.totals(said.sentences, len(rows))
        own = _Own(kinds[shared], said.places[shared], starts_of(sizes), totals)
        words = self._starts[self._first[1:]] - self._starts[self._first[:-1]]
        # The mean over references, and over words and pairs, of which the nearest sentence counts.
        alike = np.empty(len(rows))
        for start, end in slices(self._numbers[rows] * sizes + words[rows]):
            alike[start:end] = self._alike(own, slice(start, end), rows[start:end])
        best = np.zeros(len(captions))
        np.maximum.at(best, rows, alike)
        w: Floats = LOWEST_WORDING + (1 - LOWEST_WORDING) * np.minimum(best, 1.0)
        w[self._numbers == 0] = np.nan
        return w

    def _alike(self, own: _Own, some: slice, rows: Integers) -> Floats:
        """Return how near some sentences, which are of `rows`, come to the references they meet."""
        # A meeting is of a sentence and of a reference.
        meets = self._numbers[rows]
        sentences = np.arange(len(rows)).repeat(meets)
        references = positions(self._first[rows], meets)
        # How often each sentence has the kinds of its row, which its cells are of.
        first_kind, number = self._first_kinds[rows], self._kinds_of_rows[rows]
        cells = starts_of(number)
        to_cells = cells[:-1] - first_kind
        starts = own.starts[some.start : some.stop + 1]
        sizes = starts[1:] - starts[:-1]
        in_cells = own.kinds[starts[0] : starts[-1]] + to_cells.repeat(sizes)
        counts = np.bincount(in_cells, minlength=cells[-1])
        has = counts > 0

        size = int(number.max(initial=0))
        cell = has.nonzero()[0]
        of = np.arange(len(rows)).repeat(number)[cell]
        kinds, number = cell - to_cells[of], meets[of]
        theirs = self._counts[positions(self._cells[kinds], number)]
        least = np.minimum(counts[cell].repeat(number), theirs)
        meetings = positions(starts_of(meets)[of], number)
        weights = least * (self._rarities[kinds] ** 2).repeat(number)
        words = np.bincount(meetings, weights, len(sentences))

        # The words that both have: first in the sentence, then in the reference.
        to_kinds = first_kind[sentences]
        number = sizes[sentences]
        at = positions(starts[sentences], number)
        among = references - self._first[rows[sentences]]
        (shared,) = self._has[self._cells[own.kinds[at]] + among.repeat(number)].nonzero()
        at, meetings = at[shared], np.arange(len(sentences)).repeat(number)[shared]
        here, worth = _pairs(own.kinds[at] - to_kinds[meetings], own.places[at], meetings, size)

        number = self._sizes[references]
        at = positions(self._starts[references], number)
        (shared,) = has[self._kinds[at] + to_cells[sentences].repeat(number)].nonzero()
        at, meetings = at[shared], np.arange(len(sentences)).repeat(number)[shared]
        kinds = self._kinds[at] - to_kinds[meetings]
        there, their_worth = _pairs(kinds, self._places[at], meetings, size)

        pairs, groups, _ = _grouped(np.concatenate([here, there]))
        worth = np.minimum(
            np.bincount(groups[: len(here)], worth, len(pairs)),
            np.bincount(groups[len(here) :], their_worth, len(pairs)),
        )
        both = worth.nonzero()[0]
        pairs, second = np.divmod(pairs[both], size)
        meetings, first = np.divmod(pairs, size)
        to_kinds = to_kinds[meetings]
        sums = self._rarities[to_kinds + first] + self._rarities[to_kinds + second]
        pairs = np.bincount(meetings, worth[both] * sums**2, len(sentences))

        alike = np.zeros(len(sentences))
        for part, own_total, total in zip((words, pairs), own.totals, self._totals, strict=True):
            scale = np.sqrt(own_total[some][sentences] * total[references])
            alike += np.divide(part, scale, out=np.zeros(len(scale)), where=scale > 0)
        return np.bincount(sentences, alike, len(rows)) / np.maximum(meets, 1) / 2


def _pairs(
    kinds: Integers, places: Integers, meetings: Integers, size: int
) -> tuple[Integers, Floats]:
    """Return numbers of the pairs of neighbours among shared words, and what each is worth."""
    apart = places[1:] - places[:-1]  # of two meetings, it goes back or far ahead
    first = ((apart > 0) & (apart < _FAR)).nonzero()[0]
    # Of the meeting, the kind of the first word, of so many, and of the second.
    return (meetings[first] * size + kinds[first]) * size + kinds[first + 1], 1 / apart[first]


def _grouped(numbers: NDArray[Any]) -> tuple[NDArray[Any], Integers, Integers]:
    """Return the different numbers, sorted, the place of each there, and where one of each is."""
    order = numbers.argsort()
    numbers = numbers[order]
    is_new = np.ones(len(numbers), dtype=bool)
    np.not_equal(numbers[1:], numbers[:-1], out=is_new[1:])
    places = np.empty(len(numbers), np.int64)
    places[order] = is_new.cumsum() - 1
    return numbers[is_new], places, order[is_new]
