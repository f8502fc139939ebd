"""Support: how near words come to what is known of an image, and what that is.

The two relaxations of the Word Mover's Distance (Kusner et al., 2015), in similarities: every
caption word goes to its nearest piece of evidence, and every piece of evidence to its nearest
caption word. docs/metrics.md has the formulas.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
from numpy.typing import NDArray

from ..evaluation import Floats, Integers
from .bags import Bags, ImageSide, meetings, numbers_with_counts, slices, starts_of
from .known import KnownImage, Names
from .lexicon import Lexicon, WordDistances

#: The place of a word or of evidence that is not there, and the number of no class.
NOTHING = NO_CLASS = -1

Mask = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Evidence:
    """What is known of the images of some rows; `units` are its texts that have a vector."""

    units: Bags
    images: tuple[KnownImage, ...]

    def support(
        self,
        lexicon: Lexicon,
        atoms: Integers,
        rows: Integers,
        excluded: Sequence[tuple[int, int]] = (),
        places: Integers | None = None,
    ) -> tuple[Floats, Integers]:
        """Return `nearest_evidence`, and NaN where nothing is known of the image."""
        support, by = nearest_evidence(lexicon, atoms, rows, self.units, excluded, places)
        support[~self.is_there[rows]] = np.nan
        return support, by

    @cached_property
    def is_there(self) -> Mask:
        """Whether anything is known of each row's image, if only what is not there, (rows,)."""
        return np.array([image.is_there for image in self.images], dtype=bool)

    @cached_property
    def by_references(self) -> Mask:
        """Whether references alone can deny things of each row's image, (rows,)."""
        alone = [i.shares is not None and not i.deniable.anything for i in self.images]
        return np.array(alone, dtype=bool)

    @cached_property
    def denies(self) -> Mask:
        """Whether anything can be absent from each row's image, (rows,)."""
        return np.array([image.can_lack for image in self.images], dtype=bool)


def words_of_references(image_side: ImageSide) -> tuple[Bags, Floats]:
    """Return the distinct words of each row's references, and which share of these has each."""
    references = image_side.references
    distinct, rank = image_side.lexicon.alphabetically(references.atoms)
    owners = image_side.row_of_reference.repeat(references.sizes)
    keys, counts = numbers_with_counts(owners * max(len(distinct), 1) + rank)
    owners, ranks = np.divmod(keys, max(len(distinct), 1))
    sizes = np.bincount(owners, minlength=image_side.rows)
    bags = Bags(starts_of(sizes), distinct[ranks], 1 / sizes.repeat(sizes))
    return bags, counts / image_side.usable_references[owners]


def some_of(bags: Bags, atoms: Integers | Mask) -> Bags:
    """Return bags with some of their atoms, which are positions or a mask; masses stay."""
    stays = np.zeros(len(bags.atoms), dtype=bool)
    stays[atoms] = True
    return Bags(starts_of(stays)[bags.starts], bags.atoms[stays], bags.masses[stays])


@dataclass(frozen=True, eq=False)
class Nearest:
    """The nearest atom on the other side, for every atom of two sides that meet."""

    of_left: Floats  # the largest similarity of each, in [0, 1]; 0 where the other bag is empty
    of_right: Floats
    at_left: Integers  # the position of the nearest right atom, or `NOTHING`


def nearest(distances: WordDistances, left: Bags, right: Bags, floor: float = 0.0) -> Nearest:
    """Return the nearest atoms of bag i of both sides, for all i; cosines up to `floor` are 0."""
    of_left = np.zeros(len(left.atoms))
    of_right = np.zeros(len(right.atoms))
    at_left = np.full(len(left.atoms), NOTHING)
    if not (len(left.atoms) and len(right.atoms)):
        return Nearest(of_left, of_right, at_left)
    for start, end in slices(right.sizes[left.owners]):
        left_at, right_at = meetings(left, right, start, end)
        cosines = distances.cosines(left.atoms[left_at], right.atoms[right_at])
        # Above another floor than 0, the rest is stretched to [0, 1].
        similar = np.maximum(cosines - floor, 0) / (1 - floor)
        if len(left_at):
            is_first = np.ones(len(left_at), dtype=bool)
            np.not_equal(left_at[1:], left_at[:-1], out=is_first[1:])
            first = is_first.nonzero()[0]
            best = np.maximum.reduceat(similar, first)
            of_left[left_at[first]] = best
            where = (similar == best[is_first.cumsum() - 1]).nonzero()[0]
            at_left[left_at[where[::-1]]] = right_at[where[::-1]]  # of equals the first, set last
            np.maximum.at(of_right, right_at, similar)
    return Nearest(of_left, of_right, at_left)


def nearest_evidence(
    lexicon: Lexicon,
    atoms: Integers,
    rows: Integers,
    evidence: Bags,
    excluded: Sequence[tuple[int, int]] = (),
    places: Integers | None = None,
) -> tuple[Floats, Integers]:
    """Return the largest cosine of words to the evidence of their rows, and the number of that.

    The cosine is in [0, 1], NaN without a vector. Only words at some `places`, in ascending order,
    are looked at, or all. `excluded` pairs the place of a word with a number of evidence that does
    not count for it.
    """
    support, by = np.full(len(atoms), np.nan), np.full(len(atoms), NOTHING)
    at = np.arange(len(atoms)) if places is None else places
    at = at[lexicon.known[atoms[at]]]
    starts = rows[at].searchsorted(np.arange(len(evidence) + 1))
    if excluded:
        starts, evidence = np.arange(len(at) + 1), evidence.take(rows[at])
        size = len(lexicon.known)
        pairs = at[evidence.owners] * size + evidence.atoms
        counts = ~np.isin(pairs, [place * size + number for place, number in excluded])
        evidence = some_of(evidence, counts)
    words = Bags(starts, atoms[at], np.ones(len(at)))
    similar = nearest(lexicon.distances, words, evidence)
    support[at] = similar.of_left
    supported = similar.of_left > 0
    by[at[supported]] = evidence.atoms[similar.at_left[supported]]
    return support, by


def are_named(
    things: tuple[Integers, Integers], others: tuple[Integers, Integers], size: tuple[int, int]
) -> Mask:
    """Return which things have a class, (rows, numbers), that something else of their row has."""
    there = np.zeros((size[0], size[1] + 1), dtype=bool)  # the last one, at -1, is no class
    there[others] = True
    there[:, NO_CLASS] = False
    named: Mask = there[things]
    return named


def class_numbers(
    lexicon: Lexicon,
    texts: Bags,
    names: Sequence[Names],
    class_of: Callable[[Names, str], str],
    numbers: Mapping[str, int],
) -> Integers:
    """Return the number of the class of each text of rows, which have names of their own."""
    if len(set(names)) == 1:  # as most rows have none
        of_word = partial(class_of, names[0])
        return lexicon.map_words(
            texts.atoms, lambda word: numbers.get(of_word(word), NO_CLASS)
        ).astype(np.int64)
    words = [lexicon.words[atom] for atom in texts.atoms.tolist()]
    of_rows = zip(texts.owners.tolist(), words, strict=True)
    classes = (numbers.get(class_of(names[row], word), NO_CLASS) for row, word in of_rows)
    return np.fromiter(classes, np.int64, len(words))
