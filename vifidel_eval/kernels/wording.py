"""Wording: how near captions come to references in what bags of words do not see.

Order, prepositions, counts, negation and attributes change which words there are and which follow
each other. A sentence is held against a reference by the words that both have, and by each with the
one of them before it, or with the sentence's start; docs/fidelity.md has the formula. Of CIDEr-D
(Vedantam et al., CVPR 2015) it differs in that words around a wrong one stay a pair. Words are
known by 64 bits of a digest, so that runs and threads share no numbers.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
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
from .bags import positions, slices, starts_of

#: W of a caption that shares no word with its references; that of a reference itself is 1.
LOWEST = 0.05
_FAR = 1 << 32  # no text has so many words

Keys = NDArray[np.uint64]

_WORD = np.dtype([("key", "<u8"), ("rarity", "<f8")])


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
        """Return W of the caption of each row, (rows,), in [`LOWEST`, 1]; NaN without references.

        It is the mean over references, and over words and pairs, of the sentence that comes
        nearest: no sentence has to pay for others.
        """
        said = _Texts(captions)
        rows = said.texts[said.is_start]
        wanted = self._of_rows(said.keys, said.texts)
        kinds = self._words.searchsorted(wanted)
        shared = (np.append(self._words, 0)[kinds] == wanted).nonzero()[0]
        sizes = np.bincount(said.sentences[shared], minlength=len(rows))
        totals = said.totals(said.sentences, len(rows))
        own = _Own(kinds[shared], said.places[shared], starts_of(sizes), totals)
        words = self._starts[self._first[1:]] - self._starts[self._first[:-1]]
        alike = np.empty(len(rows))
        for start, end in slices(self._numbers[rows] * sizes + words[rows]):
            alike[start:end] = self._alike(own, slice(start, end), rows[start:end])
        best = np.zeros(len(captions))
        np.maximum.at(best, rows, alike)
        w: Floats = LOWEST + (1 - LOWEST) * np.minimum(best, 1.0)
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
    """Return numbers of the pairs of neighbours among shared words, and what each is worth.

    A number is that of the meeting, of the kind of the first word, of so many, and of the second.
    """
    apart = places[1:] - places[:-1]  # of two meetings, it goes back or far ahead
    first = ((apart > 0) & (apart < _FAR)).nonzero()[0]
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
