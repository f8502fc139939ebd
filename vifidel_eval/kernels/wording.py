"""Wording: how near captions come to references in what bags of words do not see.

Order, prepositions, counts, negation and added attributes change which words stand near each other.
So a sentence of a caption is held against a reference twice: by its words, and by its pairs of
words, of which the second follows at most eight words later. A pair counts the more the nearer they
are, by the inverse of their distance. Both sides are alike as far as what they share makes up the
geometric mean of what each has. A word weighs the square of its rarity, a pair that of the sum of
both (`vifidel_eval.things.nouns.rarity`); stop words are words here. With n-grams in place of pairs
it would be CIDEr-D's cosine (Vedantam et al., CVPR 2015), without its penalty for length and with
weights that no other image decides.

Words are known by 64 bits of a digest, cut to make room for the row: nothing is numbered that runs
and threads would have to share.
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
from ..remembered import MOST, Remembered
from ..text.words import END, piece_runs, pieces
from ..things.claims import sentence_places
from ..things.nouns import rarity
from .bags import positions, starts_of

#: W of a caption that shares no word with its references; that of a reference itself is 1.
LOWEST = 0.05
_REACH = 8  # the words of a pair are at most so far apart
_NEXT = 840  # what a pair of neighbours counts: a whole number for each distance

Keys = NDArray[np.uint64]

_WORD = np.dtype([("key", np.uint64), ("rarity", np.float64)])
# In place of a rarity: the ends of a sentence and of a text.
_SENTENCE_END, _TEXT_END = -1.0, -2.0


@Remembered
def _of_piece(piece: str) -> bytes:
    """Return the words inside of what is between two blanks, as `_WORD`."""
    if piece == END:
        return _word(0, _SENTENCE_END)
    return b"".join(_word(_digest(word), rarity[word]) for word in piece_runs(piece))


def _word(key: int, rarity: float) -> bytes:
    return struct.pack("=Qd", key, rarity)


def _digest(word: str) -> int:
    digest = blake2b(word.encode(errors="surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "little")


@partial(Remembered, most=4 * MOST)  # the references of many images
def _of_text(text: str) -> bytes:
    """Return the words of a text as `_WORD`, with the ends of its sentences and its own."""
    sentences = [text[start:end] for start, end in sentence_places(text)]
    words = b"".join(map(_of_piece.__getitem__, pieces(sentences, "not")))
    return words + _word(0, _TEXT_END)


class _Texts:
    """The words of some texts, one after the other."""

    def __init__(self, texts: Sequence[str]) -> None:
        read = np.frombuffer(b"".join(map(_of_text.__getitem__, texts)), _WORD)
        rarities = read["rarity"]
        at = np.flatnonzero(rarities >= 0)
        self.keys: Keys = read["key"][at]
        self.rarities: Floats = rarities[at]
        #: The text of each word, and its sentence, numbered through all texts; some have no words.
        self.texts: Integers = (rarities == _TEXT_END).cumsum()[at]
        self.sentences: Integers = at - np.arange(len(at)) - self.texts
        #: Where each word is; words of two sentences are further apart than those of a pair.
        self.places: Integers = np.arange(len(at)) + _REACH * self.sentences

    def totals(self, owners: Integers, size: int) -> tuple[Floats, Floats]:
        """Return the weight of all words, and of all pairs, of each of `size` owners of words."""
        of_pairs = np.zeros(len(owners))
        for ahead in range(1, min(_REACH + 1, len(owners))):
            sums = self.rarities[ahead:] + self.rarities[:-ahead]
            sums *= sums
            sums *= self.places[ahead:] - self.places[:-ahead] == ahead
            sums *= _NEXT // ahead
            of_pairs[:-ahead] += sums
        weights = self.rarities**2
        return np.bincount(owners, weights, size), np.bincount(owners, of_pairs, size)


class _Pairs(NamedTuple):
    """Pairs of words: the first ones, the second ones, and what each pair counts."""

    first: Integers
    second: Integers
    amounts: Integers

    def some(self, at: Integers) -> _Pairs:
        """Return some of the pairs."""
        return _Pairs(self.first[at], self.second[at], self.amounts[at])


def _pairs(places: Integers, some: Integers) -> _Pairs:
    """Return the pairs among some words, which are in the order of their places."""
    places = places[some]
    found = [(np.empty(0, np.int64),) * 3]
    for ahead in range(1, _REACH + 1):
        distances = places[ahead:] - places[:-ahead]
        first = np.flatnonzero(distances <= _REACH)
        if not len(first):
            break
        found.append((some[first], some[first + ahead], _NEXT // distances[first]))
    return _Pairs(*map(np.concatenate, zip(*found, strict=True)))


class ReferenceWording:
    """The wording of the references of some rows, which all systems share.

    Parameters
    ----------
    references : sequence of sequence of str
        The references of each row. Those without a word do not count.
    """

    def __init__(self, references: Sequence[Sequence[str]]) -> None:
        texts = _Texts(list(chain.from_iterable(references)))
        given = np.arange(len(references)).repeat(list(map(len, references)))
        has_words = np.zeros(len(given), dtype=bool)
        has_words[texts.texts] = True
        rows = given[has_words]
        #: How many references with words each row has, and the first of them.
        self._numbers = np.bincount(rows, minlength=len(references))
        self._first = starts_of(self._numbers)
        owners = (has_words.cumsum() - 1)[texts.texts]
        self._totals = texts.totals(owners, len(rows))
        self._places = texts.places
        # The place of each word's reference among those of its row.
        self._among = owners - self._first[rows[owners]]
        # The words of all rows, sorted: each row's own follow each other. A kind is a place there.
        self._words, self._kinds, some = _grouped(self._of_rows(texts.keys, rows[owners]))
        self._rows = rows[owners[some]]
        self._counts = self._amounts(self._rows, self._kinds, self._among, None)

    def of(self, captions: Sequence[str]) -> Floats:
        """Return W of the caption of each row, (rows,), in [`LOWEST`, 1]; NaN without references.

        It is the mean over references, and over words and pairs, of the sentence that comes
        nearest: no sentence has to pay for others.
        """
        said = _Texts(captions)
        rows = np.zeros(int(said.sentences.max(initial=-1)) + 1, np.int64)
        rows[said.sentences] = said.texts
        wanted = self._of_rows(said.keys, said.texts)
        kinds = self._words.searchsorted(wanted)
        shared = np.flatnonzero(np.append(self._words, 0)[kinds] == wanted)
        of_words = _Shared(
            kinds[shared],
            said.sentences[shared],
            np.ones(len(shared)),
            said.rarities[shared] ** 2,
            self._counts,
        )
        meets = self._numbers[rows]
        references = positions(self._first[rows], meets)
        sentences = np.arange(len(rows)).repeat(meets)
        alike = np.zeros(len(references))
        of_pairs = self._pairs(said, kinds, shared)
        totals = zip(said.totals(said.sentences, len(rows)), self._totals, strict=True)
        for some, (own, their) in zip((of_words, of_pairs), totals, strict=True):
            scale = np.sqrt(own[sentences] * their[references])
            shares = np.zeros(len(scale))
            np.divide(some.weight(meets), scale, out=shares, where=scale > 0)
            alike += shares
        means = np.bincount(sentences, alike / 2, len(rows)) / np.maximum(meets, 1)
        best = np.zeros(len(captions))
        np.maximum.at(best, rows, means)
        w: Floats = LOWEST + (1 - LOWEST) * np.minimum(best, 1.0)
        w[self._numbers == 0] = np.nan
        return w

    def _pairs(self, said: _Texts, kinds: Integers, shared: Integers) -> _Shared:
        """Return the pairs of words of captions that references of their rows have.

        Of captions, the `shared` words are in a reference, where they are of some `kinds`.
        """
        size = len(self._words)
        there = np.zeros(size, dtype=bool)
        there[kinds[shared]] = True
        own = _pairs(said.places, shared)
        their = _pairs(self._places, np.flatnonzero(there[self._kinds]))
        names = [
            of[pairs.first] * size + of[pairs.second]
            for of, pairs in ((kinds, own), (self._kinds, their))
        ]
        _, groups, _ = _grouped(np.concatenate(names))
        of_own, of_their = np.split(groups, [len(own.first)])
        both = np.zeros((2, len(groups)), dtype=bool)
        both[0, of_own] = both[1, of_their] = True
        in_both = both.all(axis=0)
        number = in_both.cumsum() - 1
        at, their_at = (np.flatnonzero(in_both[of]) for of in (of_own, of_their))
        own, their = own.some(at), their.some(their_at)
        pairs = number[of_own[at]]
        rows = np.empty(np.count_nonzero(in_both), np.int64)
        rows[pairs] = said.texts[own.first]
        amounts = self._amounts(
            rows, number[of_their[their_at]], self._among[their.first], their.amounts
        )
        weights = (said.rarities[own.first] + said.rarities[own.second]) ** 2
        return _Shared(pairs, said.sentences[own.first], own.amounts, weights, amounts)

    def _of_rows(self, keys: Keys, rows: Integers) -> Keys:
        """Return keys that are of one row alone, in the order of rows."""
        bits = len(self._numbers).bit_length()
        return keys >> np.uint64(bits) | rows.astype(np.uint64) << np.uint64(64 - bits)

    def _amounts(
        self, rows: Integers, kinds: Integers, references: Integers, amounts: Integers | None
    ) -> _Amounts:
        """Return how much of each kind each reference has: sums of amounts, or how often.

        `rows` are those of the kinds; of each amount there is the kind, and its reference among
        those of the row.
        """
        starts = starts_of(self._numbers[rows])
        sums = np.bincount(starts[kinds] + references, amounts, starts[-1])
        return _Amounts(starts[:-1], sums)


class _Amounts(NamedTuple):
    """How much of each kind of words, or of pairs, each reference of its row has.

    Those of a kind begin at `starts`.
    """

    starts: Integers
    amounts: Floats


class _Shared(NamedTuple):
    """Words, or pairs, of captions that a reference may have; and what their kinds are there."""

    kinds: Integers
    sentences: Integers
    amounts: Floats | Integers
    weights: Floats
    theirs: _Amounts

    def weight(self, meets: Integers) -> Floats:
        """Return the weight of what each sentence shares with each reference that it meets.

        `meets` has the number of these. Kinds are added in their order, which is a row's own.
        """
        size = len(meets)
        _, groups, some = _grouped(self.kinds * size + self.sentences)
        own = np.bincount(groups, self.amounts, len(some))
        kinds, sentences = self.kinds[some], self.sentences[some]
        number = meets[sentences]
        theirs = self.theirs.amounts[positions(self.theirs.starts[kinds], number)]
        weights = np.minimum(own.repeat(number), theirs) * self.weights[some].repeat(number)
        starts = starts_of(meets)
        return np.bincount(positions(starts[sentences], number), weights, starts[-1])


def _grouped(numbers: NDArray[Any]) -> tuple[NDArray[Any], Integers, Integers]:
    """Return the different numbers, sorted, the place of each there, and where one of each is."""
    order = numbers.argsort()
    numbers = numbers[order]
    is_new = np.ones(len(numbers), dtype=bool)
    np.not_equal(numbers[1:], numbers[:-1], out=is_new[1:])
    places = np.empty(len(numbers), np.int64)
    places[order] = is_new.cumsum() - 1
    return numbers[is_new], places, order[is_new]
