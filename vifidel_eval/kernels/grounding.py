"""Grounding: which of the things that captions mention are in their images.

The evidence of an image is its object labels and what its references say. VIFIDEL-H counts the
verdicts; explanations, findings and the report present them. Rules and thresholds are in
docs/fidelity.md, what else was tried is in docs/fidelity-experiments.md.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..annotations import ObjectLabels
from ..annotations.read import CLOSED_SETS, LookedFor
from ..evaluation import Floats, Integers
from ..remembered import Remembered
from ..rows import LabelCounts
from ..things.grounded import SUPPORT, GroundedMention, Verdict
from ..things.mentions import Unit, finder_of
from ..things.phrases import term_of
from ..things.synonyms import ClassList
from .bags import Bags, bags_of_labels
from .lexicon import Lexicon
from .support import NOTHING, nearest, some_of

# Classes of which one never supports the other, though their words are alike.
_APART = ("dog", "hot dog")
# Sets of labels that are remembered have so many characters, with sixteen more for each label.
_MOST_OF_SOUGHT = 1 << 25

# Labels of an image, what was looked for in it, whether its references say something.
_Asked = tuple[frozenset[str], frozenset[str] | None, bool]


@dataclass(frozen=True, eq=False)
class GroundedMentions:
    """All mentions of some captions, caption after caption in the order of their words.

    Attributes
    ----------
    rows : (number of mentions,) int64
        The row of each.
    units : tuple of Unit
        Their words and classes.
    support, by, verdicts
        As `GroundedMention` has them, of each.
    """

    rows: Integers
    units: tuple[Unit, ...]
    support: Floats
    by: tuple[str | None, ...]
    verdicts: Integers

    def __iter__(self) -> Iterator[GroundedMention]:
        for unit, support, by, verdict in zip(
            self.units, self.support.tolist(), self.by, self.verdicts.tolist(), strict=True
        ):
            yield GroundedMention(unit.words, unit.category or "", support, by, Verdict(verdict))


class Sought(NamedTuple):
    """What was looked for in an image, as classes.

    Attributes
    ----------
    classes : frozenset of str or None
        Those that can be absent; None for all.
    denied : frozenset of str
        Those of them that somebody was asked for and did not find: for them the answer counts,
        whatever else is near.
    spared : frozenset of str
        Where all can be absent: those that cannot.
    """

    classes: frozenset[str] | None
    denied: frozenset[str] = frozenset()
    spared: frozenset[str] = frozenset()

    def can_lack(self, category: str | None) -> bool:
        """Return whether something of a class can be absent."""
        return category not in self.spared if self.classes is None else category in self.classes

    @property
    def denies(self) -> bool:
        """Whether anything can be absent."""
        return self.classes != frozenset()


_EVERYTHING = Sought(None)
_NOTHING = Sought(frozenset())


@dataclass(frozen=True, eq=False)
class Evidence:
    """What is known of the images of some rows.

    Attributes
    ----------
    units : Bags
        One bag per row: its labels and the units of its references that have a vector.
    texts : tuple of mapping
        For each row, all of these, with or without a vector, and the class of each that names one.
    sought : tuple of Sought
        For each row, what can be absent from it.
    """

    units: Bags
    texts: tuple[Mapping[str, str | None], ...]
    sought: tuple[Sought, ...]

    def names_class(self, row: int, category: str | None) -> bool:
        """Return whether the evidence of a row names something of a class."""
        return category is not None and category in self.texts[row].values()

    def denied(self, units: Sequence[Unit], rows: Integers) -> list[int]:
        """Return the mentions that an answer about their own class denies, by their places."""
        if not any(sought.denied for sought in self.sought):
            return []
        return [
            at
            for at, (unit, row) in enumerate(zip(units, rows.tolist(), strict=True))
            if unit.category in self.sought[row].denied and not self.names_class(row, unit.category)
        ]

    @cached_property
    def is_there(self) -> NDArray[np.bool_]:
        """Whether anything is known of each row's image, if only what is not there, (rows,)."""
        known = zip(self.texts, self.sought, strict=True)
        return np.array([bool(texts or sought.denied) for texts, sought in known], dtype=bool)

    @cached_property
    def denies(self) -> NDArray[np.bool_]:
        """Whether anything can be absent from each row's image, (rows,)."""
        return np.array([sought.denies for sought in self.sought], dtype=bool)


class Grounding:
    """Holds the mentions of captions against what is known of their images.

    Parameters
    ----------
    things : ClassList
        The names that are mentions.
    stop_words : collection of str
        Single words that are neither mentions nor evidence.
    objects : ObjectLabels, optional
        Where the labels come from, if all rows have one source.
    looked_for : LookedFor, optional
        What a user says was looked for in every image, beside what the objects say.
    """

    def __init__(
        self,
        things: ClassList,
        stop_words: Collection[str],
        objects: ObjectLabels | None = None,
        looked_for: LookedFor | None = None,
    ) -> None:
        self._things = things
        self._stop_words = frozenset(stop_words)
        self._objects = objects
        self._looked_for = looked_for
        self._terms = frozenset(things.class_of).union(things.no_class)
        self._sought_as = Remembered(self._sought_of, _size_of_labels, _MOST_OF_SOUGHT)
        self._named = Remembered(self._term_and_class)
        #: From a caption to its content words, terms of several words as one unit.
        self.units = _reader(things, self._stop_words)
        one, other = (things.class_of.get(name, name) for name in _APART)
        #: Classes of which one never supports the other, both ways.
        self.apart = {one: other, other: one} if one != other else {}

    def __reduce__(self) -> tuple[Any, ...]:
        return Grounding, (self._things, self._stop_words, self._objects, self._looked_for)

    def texts(self, captions: Iterable[str]) -> list[str]:
        """Return the words and terms of captions, which a lexicon gives vectors to."""
        return [unit.text for caption in captions for unit in self.units(caption)]

    def term_of_label(self, label: str) -> str:
        """Return what an object label names: the thing that ends a phrase, else the label."""
        if " " not in label or label in self._terms or len(self.units(label)) == 1:
            return label
        return term_of(label, self._terms)

    def class_of_label(self, label: str) -> str:
        """Return the class of an object label; what it names where the list lacks it."""
        known = self._things.class_of.get(label)
        if known is not None:
            return known
        units = self.units(label)
        if len(units) == 1:
            return units[0].category or label
        term = self.term_of_label(label)
        return self._things.class_of.get(term, term)

    def _term_and_class(self, label: str) -> tuple[str, str]:
        return self.term_of_label(label), self.class_of_label(label)

    def _class_of_asked(self, label: str) -> str:
        """Return the class that an answer about a label is of: *no red bus* does not deny a bus."""
        return self.class_of_label(label) if self.term_of_label(label) == label else label

    def _sought(self, labels: Collection[str], asked: frozenset[str] | None, said: bool) -> Sought:
        """Return what can be absent from an image.

        Parameters
        ----------
        labels : collection of str
            Its labels.
        asked : frozenset of str, optional
            What was looked for in it, there or not, if that is said of this image.
        said : bool
            Whether its references say something: then everything can be absent.
        """
        objects = self._objects
        if objects is not None and objects.says_what_was_asked and objects.categories:
            asked = objects.categories if asked is None else asked | objects.categories
        if asked is not None:
            return self._sought_as[frozenset(labels), asked, said]
        if said:
            return _EVERYTHING
        if objects is None:
            return self._sought_as[frozenset(labels), None, False]
        return self._sought_everywhere

    @cached_property
    def _sought_everywhere(self) -> Sought:
        """What can be absent from the images of which the one source says nothing special."""
        objects = self._objects
        if objects is None or objects.says_what_was_asked:
            return self._new_sought(frozenset(), None, False, declares=True)
        if objects.categories:
            return self._new_sought(objects.categories, None, False, declares=True)
        return self._new_sought(objects.vocabulary(), None, False)

    def _sought_of(self, known: _Asked) -> Sought:
        return self._new_sought(*known)

    def _new_sought(
        self,
        labels: frozenset[str],
        asked: frozenset[str] | None,
        said: bool,
        declares: bool = False,
    ) -> Sought:
        """Return what can be absent where these labels are known and those were asked for.

        Where nothing is said of the latter, `declares` tells that the labels are what was looked
        for. Otherwise they are taken for COCO's 80 or PASCAL VOC's 20 if all are among them, and
        for nothing else: whoever lists other labels may have looked for anything.
        """
        by_user = self._looked_for
        denied: frozenset[str] = frozenset()
        if asked is not None:
            classes = frozenset(map(self._class_of_asked, asked))
            denied = classes.difference(map(self.class_of_label, labels))
        elif declares:
            classes = frozenset(map(self.class_of_label, labels))
        else:
            closed = (closed for closed in CLOSED_SETS.values() if labels <= closed)
            known = next(closed, ()) if labels and by_user is None else ()
            classes = frozenset(map(self.class_of_label, known))
        if by_user is not None:
            if by_user.labels is None:
                return Sought(None, denied, frozenset() if said else self._things.stuff - denied)
            classes = classes.union(map(self.class_of_label, by_user.labels))
        return Sought(None if said else classes, denied)

    def sought(
        self,
        labels: Sequence[LabelCounts],
        asked: Sequence[frozenset[str] | None] | None = None,
    ) -> list[Sought]:
        """Return what the object labels of each row, without references, say can be absent.

        Parameters
        ----------
        labels : sequence of mappings
            The object labels of each row. Where there is none, and nothing was asked, nothing can
            be absent.
        asked : sequence, optional
            As `evidence` takes it.
        """
        asked = [None] * len(labels) if asked is None else asked
        return [
            self._sought(of_row.keys(), asked_of_row, False)
            if of_row or asked_of_row is not None
            else _NOTHING
            for of_row, asked_of_row in zip(labels, asked, strict=True)
        ]

    def evidence(
        self,
        lexicon: Lexicon,
        labels: Sequence[LabelCounts],
        references: Sequence[Sequence[str]],
        asked: Sequence[frozenset[str] | None] | None = None,
    ) -> Evidence:
        """Return what is known of the images of some rows.

        Parameters
        ----------
        lexicon : Lexicon
            Where words get their vectors.
        labels : sequence of mappings
            The object labels of each row.
        references : sequence of sequences of str
            The references of each row. Where they say something, everything can be absent.
        asked : sequence, optional
            What was looked for in each row's image, there or not; None for a row, or for all, where
            that is not said.

        Raises
        ------
        LexiconFull
            If there is no room for new words.
        """
        texts: list[dict[str, str | None]] = []
        sought: list[Sought] = []
        asked = [None] * len(labels) if asked is None else asked
        for of_row, of_image, asked_of_row in zip(labels, references, asked, strict=True):
            said: dict[str, str | None] = {}
            for unit in chain.from_iterable(map(self.units, of_image)):
                if unit.category is not None or unit.text not in said:
                    said[unit.text] = unit.category
            known = dict(self._named[label] for label, n in of_row.items() if n)
            texts.append({**said, **known})
            sought.append(self._sought(of_row.keys(), asked_of_row, bool(said)))
        units, _ = bags_of_labels(lexicon, texts, counts=False)
        return Evidence(units, tuple(texts), tuple(sought))

    def mentions(
        self,
        lexicon: Lexicon,
        captions: Sequence[str],
        evidence: Evidence,
        threshold: float = SUPPORT,
    ) -> GroundedMentions:
        """Return the mentions of captions with their verdicts.

        Parameters
        ----------
        lexicon : Lexicon
            That of the evidence.
        captions : sequence of str
            One per row.
        evidence : Evidence
            Of the same rows.
        threshold : float
            Below this support a mention is not in the image, unless the evidence names its class.

        Raises
        ------
        LexiconFull
            If there is no room for new words.
        """
        of_rows = [
            [unit for unit in self.units(caption) if unit.category is not None]
            for caption in captions
        ]
        units = tuple(chain.from_iterable(of_rows))
        rows = np.repeat(np.arange(len(of_rows)), list(map(len, of_rows)))
        atoms = np.array(lexicon.numbers(unit.text for unit in units), dtype=np.int64)
        apart, describing = self._no_evidence(units, rows, evidence)
        support, by = nearest_evidence(lexicon, atoms, rows, evidence, apart)
        grounded = support.copy()
        if describing:
            places = np.array(list(describing), dtype=np.int64)
            without = dict(enumerate(describing.values()))
            grounded[places] = nearest_evidence(
                lexicon, atoms[places], rows[places], evidence, without
            )[0]
        texts = words_of(lexicon, by)
        enough = grounded >= threshold
        for at in np.flatnonzero(~enough).tolist():
            unit, row = units[at], int(rows[at])
            known = evidence.texts[row]
            if unit.text in known and np.isnan(support[at]):
                support[at] = 1.0
                texts[at] = unit.text
                enough[at] = threshold <= 1
            if not enough[at] and evidence.names_class(row, unit.category):
                texts[at] = min(text for text, c in known.items() if c == unit.category)
                enough[at] = True
        can_be_absent = np.array(
            [
                evidence.sought[row].can_lack(unit.category)
                or evidence.names_class(row, unit.category)
                for unit, row in zip(units, rows.tolist(), strict=True)
            ],
            bool,
        )
        for at in evidence.denied(units, rows):
            support[at], texts[at], enough[at] = 0.0, None, False
        judged = evidence.is_there[rows] & can_be_absent
        for at in np.flatnonzero(~judged).tolist():
            if units[at].category in self._things.stuff:  # whoever lists things leaves it out
                support[at], texts[at] = np.nan, None
        verdicts = np.full(len(units), int(Verdict.NOT_JUDGED))
        verdicts[judged & ~np.isnan(support)] = Verdict.ABSENT
        verdicts[judged & enough] = Verdict.THERE
        return GroundedMentions(rows, units, support, tuple(texts), verdicts)

    def _no_evidence(
        self, units: Sequence[Unit], rows: Integers, evidence: Evidence
    ) -> tuple[dict[int, set[str]], dict[int, set[str]]]:
        """Return the evidence that does not count for mentions, by their places.

        A hot dog never supports a dog; and for a verdict, which the second mapping is for, a word
        that only describes a mention, as *traffic* does a traffic light, is no evidence for it.
        """
        apart: dict[int, set[str]] = {}
        describing: dict[int, set[str]] = {}
        for at, unit in enumerate(units):
            if " " not in unit.text and unit.category not in self.apart:
                continue
            row = int(rows[at])
            known = evidence.texts[row]
            other = self.apart.get(unit.category or "")
            if evidence.names_class(row, other):
                apart[at] = {text for text, category in known.items() if category == other}
            if found := set(unit.text.split()[:-1]) & known.keys():
                describing[at] = found | apart.get(at, set())
        return apart, describing


def nearest_evidence(
    lexicon: Lexicon,
    atoms: Integers,
    rows: Integers,
    evidence: Evidence,
    without: Mapping[int, Collection[str]] | None = None,
) -> tuple[Floats, Integers]:
    """Return the support of words of some rows and the lexicon number of what supports each.

    The words are in the order of their rows. `without` has the evidence that does not count for a
    word, by its place.
    """
    support, by = np.full(len(atoms), np.nan), np.full(len(atoms), NOTHING)
    known = np.flatnonzero(lexicon.known[atoms])
    starts, units = rows[known].searchsorted(np.arange(len(evidence.units) + 1)), evidence.units
    if without:
        starts, units = np.arange(len(known) + 1), units.take(rows[known])
        counts = np.ones(len(units.atoms), dtype=bool)
        for bag, at in enumerate(known.tolist()):
            if at in without:
                of_word = slice(*units.starts[bag : bag + 2])
                counts[of_word] = ~np.isin(units.atoms[of_word], lexicon.numbers(without[at]))
        units = some_of(units, counts)
    each = Bags(starts, atoms[known], np.ones(len(known)))
    found = nearest(lexicon.distances, each, units, floor=0.0)
    support[known] = found.of_left
    supported = found.of_left > 0
    by[known[supported]] = units.atoms[found.at_left[supported]]
    support[~evidence.is_there[rows]] = np.nan
    return support, by


def _size_of_labels(known: _Asked) -> int:
    labels, asked, _ = known
    return sum(16 + len(label) for some in (labels, asked or ()) for label in some)


def words_of(lexicon: Lexicon, numbers: Integers) -> list[str | None]:
    """Return the word of each number; None for `NOTHING`."""
    return [None if number == NOTHING else lexicon.word(number) for number in numbers.tolist()]


@lru_cache(maxsize=8)
def _reader(things: ClassList, stop_words: frozenset[str]) -> Callable[[str], tuple[Unit, ...]]:
    """Return what finds the units of captions; who reads alike shares those it found last."""
    finder = finder_of(things)

    def read(caption: str) -> tuple[Unit, ...]:
        return tuple(finder.units(caption, stop_words))

    # Captions are read when they are given room in a lexicon and again when they are grounded.
    return Remembered(read).__getitem__
