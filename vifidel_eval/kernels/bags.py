"""Bags of words: captions and object labels as numbered words with masses.

Atoms within a bag are in the alphabetical order of their words, so that its sums do not depend on
where these came from. What candidates are held against, their `ImageSide`, is bags too.
"""

from __future__ import annotations

import weakref
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Any, Generic, TypeVar

import numpy as np

from ..captions.rows import Rows, make_once
from ..evaluation import Floats, Integers
from ..words.content_words import END, NOT_PLAIN, simplified
from ..words.word_vectors import Tally
from .lexicon import Lexicon, WordDistances

#: How many pairs of words are held in memory at once, at some 100 bytes each.
PAIRS_AT_ONCE = 1 << 16

#: How many captions and references, with the words of each, a run keeps of a lexicon: at 16 bytes
#: a word, 34 MB.
MOST_KEPT = 1 << 21


@dataclass(frozen=True, eq=False)
class Bags:
    """Bags of words, one after the other: bag i holds ``atoms[starts[i]:starts[i + 1]]``."""

    starts: Integers
    atoms: Integers  # lexicon numbers, each at most once in a bag
    masses: Floats  # positive; their sum is 1 in every bag that is not empty

    @cached_property
    def sizes(self) -> Integers:
        """The number of atoms of each bag."""
        sizes: Integers = self.starts[1:] - self.starts[:-1]
        return sizes

    @cached_property
    def owners(self) -> Integers:
        """The bag of each atom."""
        return np.arange(len(self)).repeat(self.sizes)

    def __len__(self) -> int:
        return len(self.starts) - 1

    def atoms_of(self, bag: int) -> list[int]:
        """Return the atoms of one bag."""
        atoms: list[int] = self.atoms[self.starts[bag] : self.starts[bag + 1]].tolist()
        return atoms

    def part(self, start: int, end: int) -> Bags:
        """Return the bags from `start` up to `end`."""
        if start == 0 and end == len(self):
            return self
        first, last = self.starts[start], self.starts[end]
        return Bags(
            self.starts[start : end + 1] - first, self.atoms[first:last], self.masses[first:last]
        )

    def take(self, bags: Integers) -> Bags:
        """Return some of the bags, in the order asked for; one may be asked for twice."""
        sizes = self.sizes[bags]
        at = positions(self.starts[bags], sizes)
        return Bags(starts_of(sizes), self.atoms[at], self.masses[at])


def starts_of(sizes: Integers) -> Integers:
    """Return where each of some bags starts and the last one ends, from their sizes."""
    starts = np.zeros(len(sizes) + 1, dtype=np.int64)
    sizes.cumsum(out=starts[1:])
    return starts


def distinct(values: Integers) -> tuple[Integers, Integers, Integers]:
    """Return the different values in order, the place of each value among them, and its first.

    `numpy.unique` sorts values that are nearly in order, as those of batches are, more slowly.
    """
    order = values.argsort(kind="stable")
    in_order = values[order]
    is_new = np.ones(len(values), dtype=bool)
    is_new[1:] = in_order[1:] != in_order[:-1]
    places = np.empty(len(values), dtype=np.int64)
    places[order] = is_new.cumsum() - 1
    return in_order[is_new], places, order[is_new]


def positions(starts: Integers, sizes: Integers) -> Integers:
    """Return all positions of ranges, one range after the other."""
    at: Integers = (starts - sizes.cumsum() + sizes).repeat(sizes)
    at += np.arange(len(at))
    return at


def meetings(
    left: Bags, right: Bags, start: int = 0, end: int | None = None
) -> tuple[Integers, Integers]:
    """Return the positions of pairs of atoms of bag i of both, the right one running faster.

    All meet, or those from atom `start` up to `end` of the left bags.
    """
    end = len(left.atoms) if end is None else end
    if len(left) == 1:
        other = len(right.atoms)
        left_at = np.arange(start, end).repeat(other)
        return left_at, np.arange(len(left_at)) - (left_at - start) * other
    owners = left.owners[start:end]
    # Each left position meets all right positions of its bag. These follow each other.
    meets = right.sizes[owners]
    return np.arange(start, end).repeat(meets), positions(right.starts[owners], meets)


def slices(pairs: Integers) -> Iterator[tuple[int, int]]:
    """Yield ranges of things that have at most `PAIRS_AT_ONCE` pairs together, or a thing alone."""
    together = pairs.cumsum()
    if len(pairs) and together[-1] <= PAIRS_AT_ONCE:
        yield 0, len(pairs)
        return
    start = 0
    while start < len(pairs):
        done = together[start - 1] if start else 0
        end = max(int(np.searchsorted(together, done + PAIRS_AT_ONCE, "right")), start + 1)
        yield start, end
        start = end


def joined(captions: Iterable[str]) -> str:
    """Return all captions as one text, lower-case, without contractions, `END` after each."""
    plain = [
        simplified(caption) if "'" in caption or NOT_PLAIN.search(caption) else caption
        for caption in captions
    ]
    text = f" {END} ".join([*plain, ""]).lower()
    if text.count(END) != len(plain):
        text = f" {END} ".join([*(caption.replace(END, " ") for caption in plain), ""]).lower()
    return text if text.isascii() else " ".join(text.split())


class _Readings(dict[tuple[str, ...], tuple[Bags, Tally]]):
    """The bags of texts that were read together, and how much room there is for more.

    With them, three metrics in one run take a fifth less (`benchmarks/run.py`, metrics together).
    """

    def __init__(self) -> None:
        self.room = MOST_KEPT


def _readings() -> weakref.WeakKeyDictionary[Lexicon, _Readings]:
    """Return what a run has read, by the lexicon that numbered the words: bags go with it."""
    return weakref.WeakKeyDictionary()


def bags_of_captions(lexicon: Lexicon, captions: Iterable[str]) -> tuple[Bags, Tally]:
    """Return the bag of content words of each caption; every occurrence counts."""
    readings = make_once(_readings)
    if readings is None:
        return _read(lexicon, captions)
    of_lexicon, texts = readings.setdefault(lexicon, _Readings()), tuple(captions)
    reading = of_lexicon.get(texts)
    if reading is None:
        reading = _read(lexicon, texts)
        size = len(texts) + len(reading[0].atoms)
        if size <= of_lexicon.room:
            of_lexicon.room -= size
            of_lexicon[texts] = reading
    return reading


def _read(lexicon: Lexicon, captions: Iterable[str]) -> tuple[Bags, Tally]:
    return _bags(lexicon, *lexicon.read(joined(captions)))


def bags_of_labels(
    lexicon: Lexicon,
    images: Iterable[Mapping[str, Any]],
    counts: bool = True,
    without_vectors: bool = False,
) -> tuple[Bags, Tally]:
    """Return the bag of object labels of each image; without `counts` each label weighs 1.

    Labels without a vector are left out, unless bags `without_vectors` are asked for.
    """
    images = list(images)
    numbers = lexicon.numbers(chain.from_iterable(images))
    amounts = [count if counts else 1 for labels in images for count in labels.values()]
    sizes = np.fromiter(map(len, images), np.int64, len(images))
    atoms = np.array(numbers, dtype=np.int64)
    return _bags(lexicon, atoms, sizes, np.array(amounts, dtype=np.float64), without_vectors)


def _bags(
    lexicon: Lexicon,
    atoms: Integers,
    sizes: Integers,
    amounts: Floats | None = None,
    without_vectors: bool = False,
) -> tuple[Bags, Tally]:
    """Return bags from numbers of words, each one occurrence or `amounts`, and the bags' sizes."""
    unknown: Counter[str] = Counter()
    if not len(atoms):
        nothing = Bags(np.zeros(len(sizes) + 1, np.int64), np.empty(0, np.int64), np.empty(0))
        return nothing, Tally(0, unknown)
    has_vector = lexicon.known[atoms]
    tally = Tally(len(atoms) if amounts is None else int(amounts.sum()), unknown)
    if not has_vector.all():
        for at in np.flatnonzero(~has_vector).tolist():
            unknown[lexicon.words[atoms[at]]] += 1 if amounts is None else int(amounts[at])
    if not (without_vectors or has_vector.all()):
        atoms, owners = atoms[has_vector], np.arange(len(sizes)).repeat(sizes)
        sizes = np.bincount(owners[has_vector], minlength=len(sizes))
        amounts = None if amounts is None else amounts[has_vector]

    # One integer per occurrence: its bag, then the place of its word in the alphabet.
    alphabet, keys = lexicon.alphabetically(atoms)
    if len(sizes) > 1:
        keys += np.arange(len(sizes)).repeat(sizes) * max(len(alphabet), 1)
    occurrences: Floats | Integers
    if amounts is None:
        keys, occurrences = numbers_with_counts(keys)
    else:
        order = keys.argsort()
        keys, occurrences = keys[order], amounts[order]
    if len(sizes) == 1 and len(keys):
        total = occurrences.cumsum()[-1]  # one after the other, as of many bags
        return Bags(np.array([0, len(keys)]), alphabet[keys], occurrences / total), tally
    owners, places = np.divmod(keys, max(len(alphabet), 1))
    totals = np.bincount(owners, weights=occurrences, minlength=len(sizes))
    bags = Bags(
        starts=starts_of(np.bincount(owners, minlength=len(sizes))),
        atoms=alphabet[places],
        masses=occurrences / totals[owners],
    )
    return bags, tally


def numbers_with_counts(numbers: Integers) -> tuple[Integers, Integers]:
    """Return what `numpy.unique` does, with counts: its checks take longer than a few numbers."""
    numbers = numbers.copy()
    numbers.sort()
    first = np.empty(len(numbers), dtype=bool)
    first[:1] = True
    np.not_equal(numbers[1:], numbers[:-1], out=first[1:])
    at = first.nonzero()[0]
    counts = np.empty_like(at)
    np.subtract(at[1:], at[:-1], out=counts[:-1])
    counts[-1:] = len(numbers) - at[-1:]
    return numbers[at], counts


@dataclass(frozen=True, eq=False)
class ImageSide:
    """What the candidates of some rows are held against; all systems share it."""

    lexicon: Lexicon  # where the numbers of all bags come from
    rows: int
    objects: Bags  # one bag of labels per row, empty for metrics that see no objects
    references: Bags  # one bag per reference, the references of a row one after the other
    row_of_reference: Integers  # (number of references,)
    tallies: Mapping[str, Tally]  # what was read, by what it is

    def penalties(self, bags: Bags) -> Floats:
        """Return what the references make of each entry of a bag per row (Eq. 4)."""
        return penalties(self.lexicon.distances, bags, self.references, self.row_of_reference)

    @property
    def label_penalties(self) -> Floats:
        """What the references make of each object label."""
        return self.penalties(self.objects)

    @property
    def usable_references(self) -> Integers:
        """How many references of each row have a usable word, (rows,)."""
        usable = self.row_of_reference[self.references.sizes > 0]
        return np.bincount(usable, minlength=self.rows)


ImageSideT = TypeVar("ImageSideT", bound=ImageSide)


@dataclass(frozen=True, eq=False)
class Batch(Generic[ImageSideT]):
    """Some rows, read: their image side, and a bag of content words per candidate."""

    rows: Rows
    image_side: ImageSideT
    words: Bags
    word_tally: Tally


def penalties(
    distances: WordDistances, bags: Bags, references: Bags, row_of_reference: Integers
) -> Floats:
    """Return the penalty rho of every atom: Eq. 4 of Madhyastha et al. (2019).

    That is the mean over the bag's usable references r of (1 - max over words t of r of
    cos(x_k, x_t)) / 2; without any it is 1, which leaves Eq. 5 equal to Eq. 1.
    """
    if not (len(references.atoms) and len(bags.atoms)):
        return np.ones(len(bags.atoms))
    if len(bags) == 1 and len(bags.atoms) * len(references.atoms) <= PAIRS_AT_ONCE:
        return _penalties_of_image(distances, bags.atoms, references)
    usable = (references.sizes > 0).nonzero()[0]
    images, starts, sizes = row_of_reference[usable], references.starts, references.sizes[usable]
    sums, atoms_of = np.zeros(len(bags.atoms)), bags.sizes[images]
    counts = np.bincount(images, minlength=len(bags)).astype(np.float64)[bags.owners]
    for first, last in slices(atoms_of):
        some, meets = slice(first, last), atoms_of[first:last]
        # A segment is an atom and a reference: the words of one reference follow each other.
        of_segment = positions(bags.starts[images[some]], meets)
        segment_sizes = sizes[some].repeat(meets)
        first_words = starts[usable[some]].repeat(meets)
        for start, end in slices(segment_sizes):
            at, lengths = of_segment[start:end], segment_sizes[start:end]
            words = references.atoms[positions(first_words[start:end], lengths)]
            cosines = distances.cosines(bags.atoms[at].repeat(lengths), words)
            best = np.maximum.reduceat(cosines, lengths.cumsum() - lengths)
            np.add.at(sums, at, (1 - best) / 2)  # one by one: the same wherever a slice ends
    return np.divide(sums, counts, out=np.ones(len(bags.atoms)), where=counts > 0)


def _penalties_of_image(distances: WordDistances, atoms: Integers, references: Bags) -> Floats:
    """Return `penalties` of the atoms of one image, whose references these are."""
    words, starts = references.atoms, references.starts[:-1][references.sizes > 0]
    cosines = distances.cosines(atoms.repeat(len(words)), np.concatenate([words] * len(atoms)))
    best = np.maximum.reduceat(cosines.reshape(len(atoms), -1), starts, axis=1)
    sums = np.add.accumulate((1 - best) / 2, axis=1)  # one by one, as of many images
    means: Floats = sums[:, -1] / len(starts)
    return means
