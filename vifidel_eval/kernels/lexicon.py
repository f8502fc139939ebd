"""Words and object labels with numbers, vectors and distances, shared by all who read words alike.

A `Lexicon` needs no lock: it only grows, what belongs to a number is written before the number is
published by one dictionary entry, and a number never changes its meaning. Threads may waste numbers
and nothing else. Distances are summed by NumPy's pairwise sum and not by a matrix product: BLAS
libraries differ in their last bits with machine and thread count.
"""

from __future__ import annotations

import hashlib
import itertools
import weakref
from array import array
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import partial
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..errors import VectorsError
from ..evaluation import Floats, Integers
from ..words.content_words import END, PAPER_STOP_WORDS, piece_words
from ..words.word_vectors import WordVectors

#: How many words and labels a lexicon holds: 50 MB of vectors of 256 numbers, written as needed.
CAPACITY = 3 << 13
# Pieces of captions, such as "!!!", are bounded by the bytes of all texts and of their numbers.
_BYTES_PER_WORD = 64
_NUMBER_BYTES = 8
_END = -1  # in place of a word's number, after each caption
_WORDS_AT_ONCE = 512  # are looked up: 1 MB of vectors of 256 numbers, and as much for each step
_NOT_PLACED = -1
_SORTED_BEFORE_ALL = 2
_LONGEST = 1e100  # squares of larger numbers are not finite

_VECTORS_AT_ONCE = 256  # whose vectors fit in a core's cache
_FEW = 32  # pairs are computed in the time in which they are looked up
_SLOT_BITS = 20  # of a table of 17 MB, whose memory comes as it is written
_LOW_BITS = (1 << 32) - 1
_BESIDE = np.uint64(1)  # changes the number of a slot to that of another in the same cache line
# Odd: multiplied by it, every bit of a number counts.
_MIXER = np.uint64(0xD6E8FEB86659FD93)
_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)  # Fibonacci hashing: 2^64 over the golden ratio

Keys = NDArray[np.uint64]

T = TypeVar("T")


class LexiconFull(Exception):  # noqa: N818 - a signal, which never reaches a user
    """There is no room for more words; `WordSpace.with_room` starts another lexicon."""


class Lexicon:
    """Words and labels with numbers and vectors; stop words are left out of captions only."""

    def __init__(
        self,
        vectors: WordVectors,
        normalize: bool,
        stop_words: Collection[str],
        capacity: int = CAPACITY,
    ) -> None:
        dimensions = vectors.lookup(()).shape[1]
        self._vectors = vectors
        self._normalize = normalize
        self._stop_words = frozenset(stop_words)
        self._capacity = capacity
        self._free = itertools.count()
        self._numbers: dict[str, int] = {}
        # The numbers of a piece's words, "fire-hydrant" two: bytes are joined faster than lists.
        self._pieces: dict[str, bytes] = {END: array("q", [_END]).tobytes()}
        self._bytes = 0  # of all texts that are kept: a guess, as threads may lose additions
        self.words: list[str] = [""] * capacity  #: the word or label of each number
        # Numbers in alphabetical order, and the place of each if it has one. Replaced as a whole.
        # Without it, single rows take a sixth longer (`benchmarks/reward.py`).
        self._alphabet = np.empty(0, dtype=np.int64), np.full(capacity, _NOT_PLACED)
        self._sorted_one_by_one = 0
        #: The vector of each number, the same of length 1, and ``||x||^2`` of the first.
        self.matrix: Floats = np.zeros((capacity, dimensions))
        self.units = self.matrix if normalize else np.zeros((capacity, dimensions))
        self.squared_lengths: Floats = np.zeros(capacity)
        #: Whether each number's word has a vector; rows of the others are NaN.
        self.known = np.zeros(capacity, dtype=bool)
        self.distances = WordDistances(self.matrix, self.units, self.squared_lengths)

    def numbers(self, words: Iterable[str]) -> list[int]:
        """Return the number of each word or label; `LexiconFull` is raised if there is no room."""
        words = list(words)
        numbers = list(map(self._numbers.get, words))
        if None in numbers:
            new = (word for word, n in zip(words, numbers, strict=True) if n is None)
            self._add(list(dict.fromkeys(new)))
            numbers = list(map(self._numbers.__getitem__, words))
        return numbers  # type: ignore[return-value]

    def map_words(self, numbers: Integers, function: Callable[[str], float]) -> Floats:
        """Return the value of a function of each number's word, called once for each word."""
        distinct = self._distinct(numbers)
        words = map(self.words.__getitem__, distinct.tolist())
        values = np.empty(self._capacity)
        values[distinct] = np.fromiter(map(function, words), np.float64, len(distinct))
        return values[numbers]

    def _distinct(self, numbers: Integers) -> Integers:
        """Return numbers in increasing order, each once."""
        held = np.zeros(self._capacity, dtype=bool)
        held[numbers] = True
        return held.nonzero()[0]

    def alphabetically(self, atoms: Integers) -> tuple[Integers, Integers]:
        """Return numbers in the alphabetical order of their words, and each atom's place there."""
        ordered, places = self._alphabet
        if (places[atoms] != _NOT_PLACED).all():
            return ordered, places[atoms]
        distinct = self._distinct(atoms)
        self._sorted_one_by_one += len(distinct)  # a guess: threads may lose additions
        # All are sorted as soon as that takes no more time than was spent on parts of them.
        sorts_all = self._sorted_one_by_one >= _SORTED_BEFORE_ALL * len(self._numbers)
        # Those with a place are in order first, which leaves little to sort.
        numbers = np.array([*self._numbers.values()]) if sorts_all else distinct
        numbers = numbers[np.argsort(self._alphabet[1][numbers])]
        words = list(map(self.words.__getitem__, numbers.tolist()))
        ordered = numbers[sorted(range(len(words)), key=words.__getitem__)]
        places = np.full(self._capacity, _NOT_PLACED)
        places[ordered] = np.arange(len(ordered))
        if sorts_all:
            self._sorted_one_by_one = 0
            self._alphabet = ordered, places
        return ordered, places[atoms]

    def read(self, text: str) -> tuple[Integers, Integers]:
        """Return the numbers of the content words of `joined` captions, and how many each has."""
        pieces = text.split()
        try:
            packed = b"".join(map(self._pieces.__getitem__, pieces))
        except KeyError:
            self._add_pieces(
                [piece for piece in dict.fromkeys(pieces) if piece not in self._pieces]
            )
            packed = b"".join(map(self._pieces.__getitem__, pieces))
        numbers = np.frombuffer(packed, dtype=np.int64)
        is_end = numbers == _END
        ends = is_end.nonzero()[0]
        if len(ends) == 1:
            return numbers[:-1], ends
        sizes = ends.copy()
        sizes[1:] -= ends[:-1] + 1
        return numbers[~is_end], sizes

    def _add_pieces(self, new: list[str]) -> None:
        """Find the content words of new pieces."""
        words = [[w for w in piece_words(p) if w not in self._stop_words] for p in new]
        numbers = self.numbers(itertools.chain.from_iterable(words))
        self._make_room(new, len(new) + len(numbers))
        left = iter(numbers)
        self._pieces.update(
            (piece, array("q", itertools.islice(left, len(of_piece))).tobytes())
            for piece, of_piece in zip(new, words, strict=True)
        )

    def _make_room(self, texts: Iterable[str], numbers: int = 0) -> None:
        """Count the bytes of what is to be kept; raise if they are too many."""
        self._bytes += sum(map(len, texts)) + _NUMBER_BYTES * numbers
        if self._bytes > _BYTES_PER_WORD * self._capacity:
            raise LexiconFull

    def _add(self, new: list[str]) -> None:
        """Give new words numbers and vectors."""
        self._make_room(new)
        # Numbers that follow each other and that nobody else gets.
        numbers = list(itertools.islice(self._free, len(new)))
        if new and (numbers[-1] >= self._capacity or numbers[-1] - numbers[0] >= len(new)):
            raise LexiconFull
        for start in range(0, len(new), _WORDS_AT_ONCE):
            rows = self._rows(new[start : start + _WORDS_AT_ONCE])
            some = slice(numbers[start], numbers[start] + len(rows))
            self.matrix[some] = rows
            if not self._normalize:
                self.units[some] = _scaled(rows, normalize=True)
            self.squared_lengths[some] = (rows * rows).sum(axis=1)
            self.known[some] = ~np.isnan(self.squared_lengths[some])
        if numbers:
            self.words[numbers[0] : numbers[0] + len(new)] = new
        for word, number in zip(new, numbers, strict=True):  # last: now they can be found
            self._numbers.setdefault(word, number)

    def _rows(self, words: Sequence[str]) -> Floats:
        """Return vectors; a label of several words has its phrase's (``hot_dog``) or their mean."""
        normalize = self._normalize
        rows = _scaled(self._vectors.lookup(words), normalize)
        parts = {
            i: [w for piece in word.split() for w in piece_words(piece)]
            for i, word in enumerate(words)
            if not (word.isascii() and word.isalnum())  # those are one word
        }
        units = [i for i, of_word in parts.items() if of_word and of_word != [words[i]]]
        if units:
            phrases = ["_".join(words[i].split()) for i in units]
            rows[units] = _scaled(self._vectors.lookup(phrases, listed_only=True), normalize)
            for i in units:
                if np.isnan(rows[i, 0]):
                    of_parts = _scaled(self._vectors.lookup(parts[i]), normalize)
                    of_parts = of_parts[~np.isnan(of_parts[:, 0])]
                    if len(of_parts):
                        rows[i] = _scaled(of_parts.mean(axis=0, keepdims=True), normalize)[0]
        if not normalize and np.nanmax(np.abs(rows), initial=0) > _LONGEST:
            raise VectorsError(
                f"{self._vectors.signature()}: vectors with numbers above {_LONGEST:g} have no "
                "distances; scale them (normalize=True)."
            )
        return rows


def _scaled(rows: Floats, normalize: bool) -> Floats:
    """Return rows of length 1, or as they are; what is 0 or not finite says nothing: it is NaN."""
    largest = np.abs(rows).max(axis=1, keepdims=True, initial=0)
    largest[~np.isfinite(largest) | (largest == 0)] = np.nan
    if not normalize:
        return np.where(np.isnan(largest), np.nan, rows)
    unit: Floats = rows / largest  # whose squares neither vanish nor overflow
    unit /= np.sqrt((unit * unit).sum(axis=1, keepdims=True))
    return unit


class WordDistances:
    """Squared distances and cosines between words of a lexicon; recent ones are kept."""

    def __init__(self, matrix: Floats, units: Floats, squared_lengths: Floats) -> None:
        self.squared_lengths = squared_lengths
        # Raw vectors have lengths that squares cannot hold, and those of length 1 only nearly 1.
        lengths = squared_lengths if units is matrix else np.ones(len(units))
        # Without them, a run takes a sixth longer (`benchmarks/run.py`, default run).
        # Neither knows this object: without a cycle, memory is free as soon as nobody needs it.
        self._of_squared = _PairCache(partial(_squared_distances, matrix))
        self._of_cosines = _PairCache(partial(_cosines, units, lengths))

    def squared(self, left: Integers, right: Integers) -> Floats:
        """Return ``||x_i - x_j||^2`` for pairs of words."""
        return self._of_squared.values(left, right)

    def cosines(self, left: Integers, right: Integers) -> Floats:
        """Return the cosine of pairs of words in [-1, 1]; exactly 1 for a word and itself."""
        return self._of_cosines.values(left, right)


class _PairCache:
    """Values of pairs, the same in both orders; those seen last are kept in a table.

    Threads share it without a lock: beside a value its key is written, combined with all its bits,
    so that a value that was torn apart is taken for no pair's and is computed again.
    """

    def __init__(self, compute: Callable[[Integers, Integers], Floats]) -> None:
        self._compute = compute
        # Of each pair: its seal, and the bits of its value.
        self._table = np.zeros((1 << _SLOT_BITS, 2), dtype=np.uint64)

    def values(self, left: Integers, right: Integers) -> Floats:
        """Return the value of each pair, computed or as it was kept."""
        if len(left) <= _FEW:
            return self._compute(left, right)
        numbers = np.minimum(left, right)
        numbers <<= 32
        numbers += np.maximum(left, right)
        numbers += 1  # no key is 0, the empty slot's
        keys = numbers.view(np.uint64)
        table = self._table
        slots = _slots_of(keys, len(table))
        values, missing = _found(table, slots, keys)
        if len(missing):  # a pair that found its slot taken may be beside it
            values[missing], still = _found(table, slots[missing] ^ _BESIDE, keys[missing])
            missing = missing[still]
        if len(missing):
            new, at = np.unique(numbers[missing], return_inverse=True)
            pairs = new - 1
            computed = self._compute(pairs >> 32, pairs & _LOW_BITS)
            values[missing] = computed[at]
            _put(table, new.view(np.uint64), computed.view(np.uint64))
        return values


def _cosines(matrix: Floats, squared_lengths: Floats, left: Integers, right: Integers) -> Floats:
    x, y = squared_lengths[left], squared_lengths[right]
    # 2 x.y = ||x||^2 + ||y||^2 - ||x - y||^2
    cosines: Floats = (x + y - _squared_distances(matrix, left, right)) / (2 * np.sqrt(x * y))
    without = np.isnan(cosines)  # a vector: a word is like itself alone
    cosines[without] = (left == right)[without]
    return cosines.clip(-1, 1, out=cosines)


def _squared_distances(matrix: Floats, left: Integers, right: Integers) -> Floats:
    distances = np.empty(len(left))
    for start in range(0, len(left), _VECTORS_AT_ONCE):
        some = slice(start, start + _VECTORS_AT_ONCE)
        apart = matrix.take(left[some], axis=0)
        apart -= matrix.take(right[some], axis=0)
        apart *= apart
        np.add.reduce(apart, axis=1, out=distances[some])
    return distances


def _found(table: Keys, slots: Keys, keys: Keys) -> tuple[Floats, NDArray[np.intp]]:
    """Return the values in slots, and the places where they are not those of the key."""
    seals, bits = table.take(slots.view(np.int64), axis=0).T
    return bits.copy().view(np.float64), (_sealed(keys, bits) != seals).nonzero()[0]


def _sealed(keys: Keys, bits: Keys) -> Keys:
    """Return the seals of pairs, from their keys and the bits of their values."""
    seals: Keys = bits * _MIXER
    seals ^= keys
    return seals


def _slots_of(keys: Keys, slots: int) -> Keys:
    """Return the slot of each key, of a power of two of them."""
    places: Keys = keys * _MULTIPLIER
    places >>= np.uint64(65 - slots.bit_length())
    return places


def _put(table: Keys, keys: Keys, bits: Keys) -> None:
    """Write pairs into their slots; where one is taken, beside it, over whatever is there."""
    slots = _slots_of(keys, len(table))
    slots[table[slots, 0] != 0] ^= _BESIDE
    table[slots, 0] = _sealed(keys, bits)
    table[slots, 1] = bits


class WordSpace:
    """How words become vectors, and the lexicon of all who read them alike, which no pickle has."""

    def __init__(self, vectors: WordVectors, normalize: bool, stop_words: frozenset[str]) -> None:
        self.vectors = vectors
        self.normalize = normalize
        self.stop_words = stop_words
        self._lexicon: Lexicon | None = None

    def signature(self, papers_exponent: bool = False) -> list[str]:
        """Return what signatures say of the settings, and whether they are the papers'."""
        is_paper = papers_exponent and not self.normalize and self.stop_words == PAPER_STOP_WORDS
        # A file of stop words can spell a lone surrogate, UTF-8 cannot.
        listed = "\n".join(sorted(self.stop_words)).encode(errors="replace")
        return [
            f"norm:{'yes' if self.normalize else 'no'}",
            f"vectors:{self.vectors.signature()}",
            f"stop:{len(self.stop_words)}#{hashlib.sha256(listed).hexdigest()[:8]}",
            *["setting:paper"] * is_paper,
        ]

    def with_room(self, compute: Callable[[Lexicon], T], lexicon: Lexicon | None = None) -> T:
        """Return `compute` of a lexicon with room: the given one, the shared one, or a new one."""
        for candidate in (lexicon, self._lexicon):
            try:
                if candidate is not None:
                    return compute(candidate)
            except LexiconFull:
                continue
        # Full: its memory is free before the next one takes as much.
        self._lexicon = lexicon = candidate = None
        capacity = CAPACITY
        while True:
            fresh = Lexicon(self.vectors, self.normalize, self.stop_words, capacity)
            try:
                result = compute(fresh)
            except LexiconFull:  # this batch alone needs a larger one, which nobody else gets
                capacity *= 2
            else:
                if capacity == CAPACITY:
                    self._lexicon = fresh
                return result

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_lexicon": None}


_SPACES: weakref.WeakValueDictionary[tuple[int, bool, frozenset[str]], WordSpace] = (
    weakref.WeakValueDictionary()
)


def word_space(vectors: WordVectors, normalize: bool, stop_words: frozenset[str]) -> WordSpace:
    """Return the word space of these settings, which all who ask for them share."""
    key = id(vectors), normalize, stop_words
    space = _SPACES.get(key)
    if space is None:
        _SPACES[key] = space = WordSpace(vectors, normalize, stop_words)
    return space
