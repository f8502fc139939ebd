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

from .vectors import WordVectors
from .words import END, piece_words, pieces

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]

_END = -1  # the number of END, no word's


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


@dataclass(frozen=True)
class Tally:
    """How many words were read, and which of them have no vector."""

    words: int
    unknown: Counter[str]

    def __add__(self, other: Tally) -> Tally:
        return Tally(self.words + other.words, self.unknown + other.unknown)


class _Memory(dict[str, tuple[int, ...]]):
    """Answers of a function, each computed once."""

    def __init__(self, function: Callable[[str], tuple[int, ...]]) -> None:
        super().__init__()
        self._function = function

    def __missing__(self, key: str) -> tuple[int, ...]:
        answer = self[key] = self._function(key)
        return answer


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
        self._piece_numbers = _Memory(self._numbers_of_piece)
        self._words: list[str] = []
        self._matrix: Floats = np.empty((0, 1))
        self._squared_lengths: Floats = np.empty(0)
        self._looked_up = 0
        self._known: NDArray[np.bool_] = np.empty(0, dtype=bool)

    @property
    def matrix(self) -> Floats:
        """Vectors of the words looked up so far, (number of words, dimensions)."""
        return self._matrix

    @property
    def squared_lengths(self) -> Floats:
        """``||x||^2`` of each row of `matrix`."""
        return self._squared_lengths

    def word(self, number: int) -> str:
        """Return the word or label with this number."""
        return self._words[number]

    def bags_of_captions(self, captions: Iterable[str]) -> tuple[Bags, Tally]:
        """Return the bag of content words of each caption; every occurrence counts."""
        of_pieces = map(self._piece_numbers.__getitem__, pieces(captions))
        numbers = np.fromiter(itertools.chain.from_iterable(of_pieces), dtype=np.int64)
        ends = np.flatnonzero(numbers == _END)
        sizes = np.diff(ends, prepend=-1) - 1
        return self._bags(np.delete(numbers, ends), sizes)

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

    def _numbers_of_piece(self, piece: str) -> tuple[int, ...]:
        if piece == END:
            return (_END,)
        return tuple(
            self._number(word) for word in piece_words(piece) if word not in self._stop_words
        )

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
        self._matrix = np.concatenate([self._matrix.reshape(-1, rows.shape[1]), rows])
        self._squared_lengths = np.concatenate([self._squared_lengths, (rows * rows).sum(axis=1)])
        self._known = np.concatenate([self._known, ~np.isnan(rows).any(axis=1)])
        self._looked_up = len(self._words)

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
        lengths = np.sqrt((rows * rows).sum(axis=1, keepdims=True))
        lengths[lengths == 0] = np.nan
        return rows / lengths if self._normalize else np.where(np.isnan(lengths), np.nan, rows)
