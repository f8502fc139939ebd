"""Transport plans, words and objects of captions in the numbers that the page draws them from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise, repeat
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...evaluation import Floats, Integers
from ...explain.explained import Explained
from ...image_ids import ImageId
from ...kernels.support import NOTHING, rows_of
from ...things.grounded import Verdict
from .marks import marks

#: Masses, costs and penalties are whole numbers of this unit in the data of the page.
UNIT = 1e-5

# Of all costs of a run, so many per cent lie on the colour scale; the others are at its end.
_COSTS_ON_SCALE = 95
# The penalty of an object that no plan has: a label without a vector, captions without words.
_NO_PENALTY = -1
# Larger numbers may not fit into 64 bits.
_LARGEST = 1e18

#: What the page has of a caption: words, matches, what is said, unmentioned objects and marks.
Plan = tuple[tuple[int, ...], ...]

_Column = NDArray[Any]


class ObjectsShown:
    """The objects of all images as the page lists them: what plans refer to by place.

    Parameters
    ----------
    objects : sequence of mappings
        Object label to count, image by image.

    Attributes
    ----------
    labels : dict
        The number of each label.
    """

    def __init__(self, objects: Sequence[Mapping[str, int]]) -> None:
        self.labels: dict[str, int] = {}
        self._numbers = [
            self.labels.setdefault(label, len(self.labels))
            for of_image in objects
            for label in of_image
        ]
        self._counts = [count for of_image in objects for count in of_image.values()]
        self._starts = np.concatenate([[0], np.cumsum(list(map(len, objects)), dtype=np.int64)])
        images = rows_of(self._starts)
        keys = images * len(self.labels) + np.array(self._numbers, dtype=np.int64)
        self._entries = np.argsort(keys)
        self._keys = keys[self._entries]
        self._penalties = np.full(len(keys), _NO_PENALTY, dtype=object)

    def places(self, images: Integers, labels: Integers) -> Integers:
        """Return the place of each label among the objects of an image, or `NOTHING`."""
        entries = self._found(images, labels)
        return np.where(entries == NOTHING, NOTHING, entries - self._starts[images])

    def weigh(self, images: Integers, labels: Integers, penalties: Floats) -> None:
        """Note the penalty of objects that are in a plan."""
        entries = self._found(images, labels)
        self._penalties[entries[entries != NOTHING]] = _units(penalties[entries != NOTHING])

    def numbers(self) -> list[list[int]]:
        """Return (label, count, penalty), ..., for each image."""
        numbers: list[Any] = [None] * (3 * len(self._numbers))
        numbers[::3] = self._numbers
        numbers[1::3] = self._counts
        numbers[2::3] = self._penalties.tolist()
        return [numbers[start:end] for start, end in pairwise((3 * self._starts).tolist())]

    def _found(self, images: Integers, labels: Integers) -> Integers:
        if not len(self._keys):
            return np.full(len(images), NOTHING)
        wanted = images * len(self.labels) + labels
        at = np.minimum(np.searchsorted(self._keys, wanted), len(self._keys) - 1)
        found = (self._keys[at] == wanted) & (labels != NOTHING)
        return np.where(found, self._entries[at], NOTHING)


class Plans:
    """The plans of all captions.

    Parameters
    ----------
    places : mapping
        Image id to its place in the page.
    objects : ObjectsShown
        The objects of these images.

    Attributes
    ----------
    words : dict
        The number of each word, in the order in which captions need them.
    """

    def __init__(self, places: Mapping[ImageId, int], objects: ObjectsShown) -> None:
        self.words: dict[str, int] = {}
        self._places = places
        self._objects = objects

    def of_system(self, parts: Sequence[Explained]) -> list[Plan | None]:
        """Return the plan of each image in the order of the page; None where there is none.

        All are numbers:

        - words: (word, penalty, whether it is not in the image), ..., in the order of the caption
        - matches: (object, word, mass, cost), ..., the places of the object in the image and of
          the word in the caption; objects whose words are early come first, so that few lines
          of the picture cross
        - said: (words, support, evidence, verdict, object), ..., the mentions in the order of the
          caption, then the words of which nothing is claimed; the object that is meant is a place
        - unmentioned: places of objects
        - marks: (start, end, which of those said), ..., in characters of the caption

        Supports are hundredths, and -1 where nothing is known; evidence is a word and an object a
        place, -1 for none; verdicts are those of `Verdict` plus 1, and 0 for no claim.

        Parameters
        ----------
        parts : sequence of Explained
            The captions of a system, in the order of the page.
        """
        plans: list[Plan | None] = [None] * len(self._places)
        for part in parts:
            images = np.array([self._places[image_id] for image_id in part.ids], dtype=np.int64)
            of_part = _Part(part, images, self._objects, self.words).plans()
            for image, plan in zip(images.tolist(), of_part, strict=True):
                plans[image] = plan
        return plans


class _Part:
    """The plans of some captions of a system.

    Parameters
    ----------
    part : Explained
        The captions.
    images : (captions,) int64
        The place of the image of each in the page.
    objects : ObjectsShown
        The objects of all images; those of plans get their penalties.
    numbers : dict
        The number of each word so far; new ones are added.
    """

    def __init__(
        self, part: Explained, images: Integers, objects: ObjectsShown, numbers: dict[str, int]
    ) -> None:
        self._part = part
        self._images = images
        self._objects = objects
        self._numbers = numbers
        self._labels = np.array([*map(objects.labels.get, part.texts, repeat(NOTHING)), NOTHING])
        # Where the words are in the caption: the order of the page.
        words = part.words
        rows = rows_of(words.starts)
        lowered = [caption.lower() for caption in part.captions]
        found = [
            lowered[row].find(part.texts[word])
            for row, word in zip(rows.tolist(), words.words.tolist(), strict=True)
        ]
        self._order = np.lexsort((found, rows))
        self._word_places = np.empty(len(rows), dtype=np.int64)
        self._word_places[self._order] = np.arange(len(rows)) - words.starts[rows]
        object_rows = rows_of(part.objects.starts)
        self._object_places = self._places(object_rows, part.objects.labels)
        matched = np.unique(part.matches.objects)
        objects.weigh(
            images[object_rows[matched]],
            self._labels[part.objects.labels[matched]],
            part.objects.penalties[matched],
        )

    def plans(self) -> list[Plan]:
        """Return the plan of each caption."""
        said = self._said()
        number_of = self._numbered(said)
        supports = np.rint(np.where(np.isnan(said.support), NOTHING, 100 * said.support))
        said_columns = [
            number_of[said.words],
            supports.astype(np.int64),
            number_of[said.by],
            said.verdicts,
            said.objects,
        ]
        silent = np.flatnonzero(self._part.objects.unmentioned)
        silent = silent[self._object_places[silent] != NOTHING]
        columns = zip(
            _cut(self._word_columns(number_of), self._part.words.starts),
            _cut(self._match_columns(), self._part.matches.starts),
            _cut(said_columns, said.starts),
            _cut([self._object_places[silent]], np.searchsorted(silent, self._part.objects.starts)),
            self._marks(said),
            strict=True,
        )
        return list(columns)

    def _said(self) -> _Judged:
        """Return the mentions of each caption, and then its other words."""
        words, mentions = self._part.words, self._part.mentions
        others = self._order[words.mentions[self._order] == NOTHING]
        mention_rows, other_rows = rows_of(mentions.starts), rows_of(words.starts)[others]
        order = np.argsort(np.concatenate([mention_rows, other_rows]), kind="stable")
        there = mentions.verdicts == Verdict.THERE
        meant = self._places(mention_rows, mentions.by)
        of_class = self._places(mention_rows, mentions.categories)
        meant = np.where(there, np.where(meant == NOTHING, of_class, meant), NOTHING)

        def both(of_mentions: _Column, of_words: _Column) -> Any:
            return np.concatenate([of_mentions, of_words])[order]

        return _Judged(
            mentions.starts + np.searchsorted(other_rows, np.arange(len(self._part) + 1)),
            both(mentions.words, words.words[others]),
            both(mentions.support, words.support[others]),
            both(mentions.by, words.by[others]),
            both(mentions.verdicts + 1, np.zeros_like(others)),
            both(meant, np.full_like(others, NOTHING)),
        )

    def _numbered(self, said: _Judged) -> Integers:
        """Return the page's number of each text that it needs; new ones in the order of use."""
        words = self._part.words.words[self._order]
        of_said = np.column_stack([said.words, said.by]).ravel()
        rows = [rows_of(self._part.words.starts), np.repeat(rows_of(said.starts), 2)]
        order = np.argsort(np.concatenate(rows), kind="stable")
        used = np.concatenate([words, of_said])[order]
        used = used[used != NOTHING]
        distinct, first = np.unique(used, return_index=True)
        number_of = np.full(len(self._part.texts) + 1, NOTHING)
        for text in distinct[np.argsort(first)].tolist():
            word = self._part.texts[text]
            number_of[text] = self._numbers.setdefault(word, len(self._numbers))
        return number_of

    def _word_columns(self, number_of: Integers) -> list[_Column]:
        words, mentions, matches = self._part.words, self._part.mentions, self._part.matches
        penalties = np.ones(len(words.words))
        matched = np.unique(matches.words)
        penalties[matched] = words.penalties[matched]
        absent = np.append(mentions.verdicts == Verdict.ABSENT, False)[words.mentions]
        columns = [number_of[words.words], _units(penalties), absent.astype(np.int64)]
        return [column[self._order] for column in columns]

    def _match_columns(self) -> list[_Column]:
        matches = self._part.matches
        objects, words = self._object_places[matches.objects], self._word_places[matches.words]
        # The mean place of the words of each object.
        size = len(self._object_places)
        sums = np.bincount(matches.objects, matches.masses * words, size)
        masses = np.bincount(matches.objects, matches.masses, size)
        matched = np.unique(matches.objects)
        means = np.zeros(size)
        means[matched] = [round(mean, 9) for mean in (sums[matched] / masses[matched]).tolist()]
        order = np.lexsort((words, objects, means[matches.objects], rows_of(matches.starts)))
        columns = [objects, words, _units(matches.masses), _units(matches.costs)]
        return [column[order] for column in columns]

    def _marks(self, said: _Judged) -> Iterator[tuple[int, ...]]:
        texts = [self._part.texts[text] for text in said.words.tolist()]
        starts = said.starts.tolist()
        mentions = np.diff(self._part.mentions.starts).tolist()
        for caption, (start, end), count in zip(
            self._part.captions, pairwise(starts), mentions, strict=True
        ):
            found = marks(caption, texts[start : start + count], texts[start + count : end])
            yield tuple(found)

    def _places(self, rows: Integers, texts: Integers) -> Integers:
        return self._objects.places(self._images[rows], self._labels[texts])


class _Judged(NamedTuple):
    """What is said of words: text, support, evidence (a text), verdict and object (a place)."""

    starts: Integers
    words: Integers
    support: Floats
    by: Integers
    verdicts: Integers
    objects: Integers


def scale(of_systems: Iterable[Sequence[Explained]]) -> int:
    """Return the cost at the end of the colour scale, with two digits, in units."""
    costs = [part.matches.costs for parts in of_systems for part in parts]
    if not sum(map(len, costs)):
        return _unit(1)
    return max(_unit(float(f"{np.percentile(np.concatenate(costs), _COSTS_ON_SCALE):.2g}")), 1)


def _cut(columns: Sequence[_Column], starts: Integers) -> list[tuple[int, ...]]:
    """Return the rows of columns, one after the other, as a tuple for each caption.

    The garbage collector leaves tuples of numbers alone.
    """
    numbers = np.column_stack(columns).ravel().tolist()
    return [tuple(numbers[start:end]) for start, end in pairwise((starts * len(columns)).tolist())]


def _unit(value: float) -> int:
    return round(value / UNIT)


def _units(values: Floats) -> _Column:
    whole = np.rint(values / UNIT)
    if not len(whole) or whole.max() < _LARGEST:
        return whole.astype(np.int64)
    return np.array([int(value) for value in whole.tolist()], dtype=object)
