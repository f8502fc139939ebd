"""Wording: how near a caption comes to its references in order, prepositions, counts, negation.

Bags of words do not see these. N-grams do: a caption and a reference are alike in n-grams of one
length as far as the weight of those that they share is the geometric mean of the weight of all of
the one and of the other. An n-gram weighs the square of the sum of its words' rarities
(`vifidel_eval.things.nouns.rarity`), each time that it occurs; stop words are words here. It is the
clipped cosine of CIDEr-D (Vedantam et al., CVPR 2015) without its penalty for length, and with
weights that no other image decides.

A word is 64 bits of a digest, and so is an n-gram: of one row, in which two of some thousand would
have to be the same by chance, less are kept. Nothing is numbered that would have to be shared, kept
or bounded, and references are never sorted.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from hashlib import blake2b
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..evaluation import Floats, Integers
from ..remembered import Remembered
from ..text.words import END, piece_runs, pieces
from ..things.claims import sentence_places
from ..things.nouns import rarity
from .bags import positions, starts_of

ORDERS = 4  # n-grams of up to so many words
#: W of a caption that shares no word with its references; 1 is that of a reference itself.
LOWEST = 0.05

Keys = NDArray[np.uint64]
Mask = NDArray[np.bool_]

_WORD = np.dtype([("key", np.uint64), ("rarity", np.float64)])
_END = struct.pack("=Qd", 0, -1.0)  # no word has a rarity below 0
_MIXER = np.uint64(0xD6E8FEB86659FD93)  # odd: multiplied by it, every bit of a key counts


@Remembered
def _words_of(piece: str) -> bytes:
    """Return the words inside of what is between two blanks, as `_WORD`."""
    if piece == END:
        return _END
    return b"".join(
        struct.pack("=Q", int.from_bytes(_digest(word), "little")) + struct.pack("=d", rarity[word])
        for word in piece_runs(piece)
    )


def _digest(word: str) -> bytes:
    return blake2b(word.encode(errors="surrogatepass"), digest_size=8).digest()


class _Ngrams(NamedTuple):
    """The n-grams of one length in texts, by the place of the word that each begins with."""

    keys: Keys
    weights: Floats
    #: Whether there is one: the text does not end before.
    whole: Mask


class _Texts:
    """The words of those texts that have some, one text after the other."""

    def __init__(self, texts: Sequence[str]) -> None:
        read = b"".join(map(_words_of.__getitem__, pieces(texts, "not")))
        words = np.frombuffer(read, _WORD)
        is_word = words["rarity"] >= 0
        sizes = np.diff(np.flatnonzero(~is_word), prepend=-1) - 1
        #: Of all texts, which have words.
        self.filled: Mask = sizes > 0
        self.sizes: Integers = sizes[self.filled]
        self.owners = np.arange(len(self.sizes)).repeat(self.sizes)
        self._keys = words["key"][is_word]
        self._rarities = words["rarity"][is_word]

    def __len__(self) -> int:
        return len(self._keys)

    def ngrams(self) -> Iterator[_Ngrams]:
        """Yield the n-grams of each length, from single words on."""
        left = self.sizes.cumsum().repeat(self.sizes) - np.arange(len(self))
        keys, rarities = self._keys, self._rarities
        for order in range(ORDERS):
            if order:
                keys = keys[:-1] * _MIXER + self._keys[order:]
                rarities = rarities[:-1] + self._rarities[order:]
            yield _Ngrams(keys, rarities * rarities, left[: len(keys)] > order)

    def totals(self, ngrams: _Ngrams) -> Floats:
        """Return the weight of all n-grams of each text, (texts,), added in their order."""
        owners = self.owners[: len(ngrams.keys)]
        return np.bincount(owners, ngrams.weights * ngrams.whole, len(self.sizes)).astype(float)


class ReferenceWording:
    """The wording of the references of some rows, which all systems share.

    Parameters
    ----------
    references : sequence of sequence of str
        The references of each row. Those without a word do not count.
    """

    def __init__(self, references: Sequence[Sequence[str]]) -> None:
        self._texts = _Texts(list(chain.from_iterable(references)))
        rows = np.arange(len(references)).repeat(list(map(len, references)))
        self._rows = rows[self._texts.filled]
        self._numbers = np.bincount(self._rows, minlength=len(references))
        self._ngrams = list(self._texts.ngrams())
        self._totals = [self._texts.totals(ngrams) for ngrams in self._ngrams]

    def of(self, captions: Sequence[str]) -> Floats:
        """Return W of the caption of each row, (rows,); NaN without references.

        It is in [`LOWEST`, 1]: the mean over references and lengths of n-grams of the sentence that
        comes nearest, so that no sentence has to pay for others.
        """
        places = [list(sentence_places(caption)) for caption in captions]
        said = _Texts(
            [
                caption[start:end]
                for caption, of_caption in zip(captions, places, strict=True)
                for start, end in of_caption
            ]
        )
        rows = len(captions)
        row_of_sentence = np.arange(rows).repeat(list(map(len, places)))[said.filled]
        row_of_reference = self._rows
        first_reference = starts_of(self._numbers)
        # A pair is a sentence and a reference of its row.
        meets = self._numbers[row_of_sentence]
        first_pair = starts_of(meets)
        references = positions(first_reference[row_of_sentence], meets)
        sentences = np.arange(len(meets)).repeat(meets)
        alike = np.zeros(len(references))
        matched, found = np.ones(len(said), bool), np.ones(len(self._texts), bool)
        said_rows = row_of_sentence[said.owners]
        their_rows = row_of_reference[self._texts.owners]
        of_orders = zip(said.ngrams(), self._ngrams, self._totals, strict=True)
        for order, (ours, theirs, totals) in enumerate(of_orders):
            scales = said.totals(ours)[sentences] * totals[references]
            if order:  # only where both n-grams within, one word shorter, are shared
                matched, found = matched[:-1] & matched[1:], found[:-1] & found[1:]
            own = np.flatnonzero(matched[: len(ours.keys)] & ours.whole)
            at = np.flatnonzero(found[: len(theirs.keys)] & theirs.whole)
            row, sentence = said_rows[own], said.owners[own]
            bits = np.uint64(rows.bit_length())
            keys = _of_rows(ours.keys[own], row, bits)
            distinct, place, again = _grouped(keys, sentence)
            of_distinct = np.empty(len(distinct), np.int64)
            of_distinct[place] = row
            cells = starts_of(self._numbers[of_distinct])
            wanted = _of_rows(theirs.keys[at], their_rows[at], bits)
            where = np.searchsorted(distinct, wanted)
            is_there = np.append(distinct, 0)[where] == wanted
            at, where = at[is_there], where[is_there]
            reference = self._texts.owners[at]
            counts = np.bincount(
                cells[where] + reference - first_reference[row_of_reference[reference]],
                minlength=cells[-1],
            )
            number = self._numbers[row]
            shared = counts[positions(cells[place], number)] > again.repeat(number)
            pairs = positions(first_pair[sentence], number)
            sums = np.bincount(pairs, shared * ours.weights[own].repeat(number), len(alike))
            some = scales > 0
            alike[some] += sums[some] / np.sqrt(scales[some])
            found = np.zeros(len(theirs.keys), bool)
            found[at] = True
            there = np.zeros(len(distinct), bool)
            there[where] = True
            matched = np.zeros(len(ours.keys), bool)
            matched[own] = there[place]
        means = np.bincount(sentences, alike, len(meets)) / np.maximum(meets, 1) / ORDERS
        best = np.zeros(rows)
        np.maximum.at(best, row_of_sentence, means)
        return np.where(self._numbers > 0, LOWEST + (1 - LOWEST) * best, np.nan)


def _of_rows(keys: Keys, rows: Integers, bits: np.uint64) -> Keys:
    """Return keys that begin with the row: in the order of rows, and of one row alone."""
    return keys >> bits | rows.astype(np.uint64) << np.uint64(64) - bits


def _grouped(keys: Keys, sentences: Integers) -> tuple[Keys, Integers, Integers]:
    """Return the distinct keys, sorted, the place of each, and how often its sentence had it."""
    order = keys.argsort(kind="stable")
    keys, sentences = keys[order], sentences[order]
    is_new = np.append(True, keys[1:] != keys[:-1])[: len(keys)]
    starts = is_new | np.append(True, sentences[1:] != sentences[:-1])[: len(keys)]
    place, again = np.empty((2, len(keys)), np.int64)
    place[order] = is_new.cumsum() - 1
    at = np.arange(len(keys))
    again[order] = at - np.maximum.accumulate(np.where(starts, at, 0))
    return keys[is_new], place, again
