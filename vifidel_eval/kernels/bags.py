"""Bags of words: captions and object labels as numbered words with masses.

A `Lexicon` numbers the words of a run and holds their vectors; `Bags` holds many bags one after
the other, as a sparse matrix in CSR layout does. Atoms within a bag stand in the order of their
words, so that a bag's sums do not depend on where its words came from.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..errors import VectorsError
from ..evaluation import Floats, Integers, Tally
from ..text.words import END, piece_words, pieces
from ..vectors.sources import WordVectors

_LONGEST = 1e100  # squares of larger numbers are not finite
_END = 0  # the number of the piece after each caption


@dataclass(frozen=True)
class Bags:
    """Normalised bags of words.

    Attributes
    ----------
    starts : (number of bags + 1,) int64
        Bag i holds ``atoms[starts[i]:starts[i + 1]]``.
    atoms : (number of atoms,) int64
        Lexicon numbers, each at most once in a bag.
    masses : (number of atoms,) float64
        Positive; they sum to 1 in every bag that is not empty.
    """

    starts: Integers
    atoms: Integers
    masses: Floats

    @property
    def sizes(self) -> Integers:
        """Number of atoms of each bag."""
        return np.diff(self.starts)

    def __len__(self) -> int:
        return len(self.starts) - 1

    def take(self, bags: Integers) -> Bags:
        """Return some of the bags, in the order asked for; one may be asked for twice."""
        sizes = self.sizes[bags]
        ends = np.cumsum(sizes)
        at = np.repeat(self.starts[bags] - ends + sizes, sizes) + np.arange(sizes.sum())
        return Bags(np.concatenate([[0], ends]), self.atoms[at], self.masses[at])


class _Pieces(dict[str, int]):
    """Numbers the pieces of captions and holds the words of each, one after the other.

    Parameters
    ----------
    numbers_of : callable
        From a new piece to the numbers of its words.
    """

    def __init__(self, numbers_of: Callable[[str], list[int]]) -> None:
        super().__init__({END: _END})
        self._numbers_of = numbers_of
        self._new: list[list[int]] = [[]]
        self._sizes: Integers = np.empty(0, dtype=np.int64)
        self._starts: Integers = np.empty(0, dtype=np.int64)
        self._words: Integers = np.empty(0, dtype=np.int64)

    def __missing__(self, piece: str) -> int:
        self._new.append(self._numbers_of(piece))
        self[piece] = number = len(self)
        return number

    def words_of_captions(self, captions: Iterable[str]) -> tuple[Integers, Integers]:
        """Return the numbers of the words of all captions, and how many each caption has."""
        read = np.fromiter(map(self.__getitem__, pieces(captions)), dtype=np.int64)
        if self._new:
            self._sizes = np.concatenate([self._sizes, [len(words) for words in self._new]])
            new = np.array(list(itertools.chain.from_iterable(self._new)), dtype=np.int64)
            self._words = np.concatenate([self._words, new])
            self._starts = np.cumsum(self._sizes) - self._sizes
            self._new = []
        sizes = self._sizes[read]
        ends = np.cumsum(sizes)
        at = np.repeat(self._starts[read] - ends + sizes, sizes) + np.arange(sizes.sum())
        return self._words[at], np.diff(ends[read == _END], prepend=0)


class Lexicon:
    """The words and object labels of a run: each has a number and a vector.

    Parameters
    ----------
    vectors : WordVectors
        Where vectors are looked up, once a word.
    normalize : bool
        Whether every vector is scaled to length 1.
    stop_words : collection of str
        Words of captions to leave out; never applied to labels.
    """

    def __init__(self, vectors: WordVectors, normalize: bool, stop_words: Collection[str]) -> None:
        self._vectors = vectors
        self._normalize = normalize
        self._stop_words = frozenset(stop_words)
        self._numbers: dict[str, int] = {}
        self._pieces = _Pieces(self._numbers_of_piece)
        self._words: list[str] = []
        self._room: Floats = np.empty((0, 1))
        self._squared_lengths: Floats = np.empty(0)
        self._looked_up = 0
        self._known: NDArray[np.bool_] = np.empty(0, dtype=bool)

    @property
    def matrix(self) -> Floats:
        """Vectors of the words looked up so far, (number of words, dimensions)."""
        return self._room[: self._looked_up]

    @property
    def squared_lengths(self) -> Floats:
        """``||x||^2`` of each row of `matrix`."""
        return self._squared_lengths

    def word(self, number: int) -> str:
        """Return the word or label with this number."""
        return self._words[number]

    def bags_of_captions(self, captions: Iterable[str]) -> tuple[Bags, Tally]:
        """Return the bag of content words of each caption; every occurrence counts."""
        return self._bags(*self._pieces.words_of_captions(captions))

    def bags_of_labels(
        self, images: Iterable[Counter[str]], counts: bool = True
    ) -> tuple[Bags, Tally]:
        """Return the bag of object labels of each image; without `counts` each label weighs 1."""
        numbers: list[int] = []
        sizes = []
        for labels in images:
            before = len(numbers)
            for label, count in labels.items():
                numbers += [self._number(label)] * (count if counts else 1)
            sizes.append(len(numbers) - before)
        return self._bags(np.array(numbers, dtype=np.int64), np.array(sizes, dtype=np.int64))

    def _numbers_of_piece(self, piece: str) -> list[int]:
        return [self._number(word) for word in piece_words(piece) if word not in self._stop_words]

    def _number(self, word: str) -> int:
        number = self._numbers.setdefault(word, len(self._words))
        if number == len(self._words):
            self._words.append(word)
        return number

    def _bags(self, atoms: Integers, sizes: Integers) -> tuple[Bags, Tally]:
        """Return bags from the numbers of all words and how many of them each bag has."""
        self._look_up_new()
        owners = np.repeat(np.arange(len(sizes)), sizes)
        known = self._known[atoms]
        unknown = Counter(self._words[number] for number in atoms[~known].tolist())
        tally = Tally(len(atoms), unknown)
        atoms, owners = atoms[known], owners[known]

        # One integer an occurrence: its bag, then the place of its word in the alphabet.
        distinct, places = np.unique(atoms, return_inverse=True)
        alphabetic = np.array(
            sorted(range(len(distinct)), key=[self._words[n] for n in distinct].__getitem__),
            dtype=np.int64,
        )
        rank = np.empty_like(alphabetic)
        rank[alphabetic] = np.arange(len(distinct))
        keys, occurrences = np.unique(
            owners * max(len(distinct), 1) + rank[places], return_counts=True
        )
        owners, places = np.divmod(keys, max(len(distinct), 1))
        totals = np.bincount(owners, weights=occurrences, minlength=len(sizes))
        bags = Bags(
            starts=np.concatenate(
                [[0], np.cumsum(np.bincount(owners, minlength=len(sizes)))]
            ).astype(np.int64),
            atoms=distinct[alphabetic[places]],
            masses=occurrences / totals[owners],
        )
        return bags, tally

    def _look_up_new(self) -> None:
        new = self._words[self._looked_up :]
        if not new:
            return
        rows = self._rows(new)
        if np.nanmax(np.abs(rows), initial=0) > _LONGEST:
            raise VectorsError(
                f"{self._vectors.signature()}: vectors with numbers above {_LONGEST:g} have no "
                "distances; scale them (normalize=True)."
            )
        size = len(self._words)
        if size > len(self._room):  # grows by doubling: batches add a few words each
            room = np.empty((2 * size, rows.shape[1]))
            room[: self._looked_up] = self._room[: self._looked_up]
            self._room = room
        self._room[self._looked_up : size] = rows
        self._squared_lengths = np.concatenate([self._squared_lengths, (rows * rows).sum(axis=1)])
        self._known = np.concatenate([self._known, ~np.isnan(rows).any(axis=1)])
        self._looked_up = size

    def _rows(self, words: Sequence[str]) -> Floats:
        """Return vectors of words and labels; a label of several words is one unit.

        It has the vector of its phrase (``hot_dog``) if the vocabulary lists it, else the mean
        of the vectors of its words.
        """
        rows = self._scaled(self._vectors.lookup(words))
        parts = [[w for piece in word.split() for w in piece_words(piece)] for word in words]
        units = [i for i, word in enumerate(words) if parts[i] and parts[i] != [word]]
        if units:
            phrases = ["_".join(words[i].split()) for i in units]
            rows[units] = self._scaled(self._vectors.lookup(phrases, listed_only=True))
            for i in units:
                if np.isnan(rows[i, 0]):
                    of_parts = self._scaled(self._vectors.lookup(parts[i]))
                    of_parts = of_parts[~np.isnan(of_parts[:, 0])]
                    if len(of_parts):
                        rows[i] = self._scaled(of_parts.mean(axis=0, keepdims=True))[0]
        return rows

    def _scaled(self, rows: Floats) -> Floats:
        """Return rows of length 1, or as they are; a zero row says nothing and becomes NaN."""
        rows = np.where(np.isfinite(rows).all(axis=1, keepdims=True), rows, np.nan)
        largest = np.abs(rows).max(axis=1, keepdims=True, initial=0)
        largest[largest == 0] = np.nan
        if not self._normalize:
            return np.where(np.isnan(largest), np.nan, rows)
        rows = rows / largest  # whose squares neither vanish nor overflow
        unit: Floats = rows / np.sqrt((rows * rows).sum(axis=1, keepdims=True))
        return unit
