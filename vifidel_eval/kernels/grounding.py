"""Grounding: which of the things that captions mention are in their images.

The evidence of an image is its object labels and what its references say. VIFIDEL-H counts the
verdicts; explanations, findings and the report present them. Rules and thresholds are in
docs/fidelity.md, what else was tried is in docs/fidelity-experiments.md.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..annotations import ObjectLabels
from ..annotations.categories import CLOSED_SETS, LookedFor
from ..captions.rows import LabelCounts
from ..evaluation import Floats, Integers
from ..io.caches import Remembered
from ..words.english import singular
from ..words.grounded import ANSWER, LABELS, REFERENCES, SUPPORT, GroundedMention, Verdict
from ..words.mentions import Unit, finder_of
from ..words.nouns import term_of
from ..words.synonyms import ClassList
from .bags import Bags, bags_of_labels
from .lexicon import Lexicon
from .support import NO_CLASS, NOTHING, nearest_evidence

# The share of references that mention what nobody can deny.
_HALF = 0.5

_CATEGORY = attrgetter("category")

# Classes of which one never supports the other, though their words are alike.
_APART = ("dog", "hot dog")
# A name that may also mean something of another class: a motorcycle is a bike too.
_ALSO = {"bike": "motorcycle", "car": "train"}


@dataclass(frozen=True, eq=False)
class GroundedMentions:
    """All mentions of some captions, caption after caption in the order of their words.

    Each has its row, its place among the units of its caption that name things, its words and
    class, and what `GroundedMention` has.
    """

    rows: Integers
    places: Integers
    units: tuple[Unit, ...]
    support: Floats
    by: tuple[str | None, ...]
    verdicts: Integers
    judged_by: tuple[str | None, ...]

    def __iter__(self) -> Iterator[GroundedMention]:
        support, verdicts = self.support.tolist(), self.verdicts.tolist()
        columns = zip(self.units, support, self.by, verdicts, self.judged_by, strict=True)
        for unit, support, by, verdict, judge in columns:
            named = unit.words, unit.category or ""
            yield GroundedMention(*named, support, by, Verdict(verdict), judge)


class Sought(NamedTuple):
    """What the object labels of an image looked for, as classes.

    `classes` can be absent, or all if it is None. Of them, the `denied` ones were asked for and not
    found: there the answer counts, whatever else is near. Stuff and scenes are mentions only if
    they are among the `stuff` that was looked for.
    """

    classes: frozenset[str] | None
    denied: frozenset[str] = frozenset()
    stuff: frozenset[str] = frozenset()

    def can_lack(self, category: str | None) -> bool:
        """Return whether something of a class can be absent."""
        return self.classes is None or category in self.classes

    @property
    def denies(self) -> bool:
        """Whether anything can be absent."""
        return self.classes != frozenset()


@dataclass(frozen=True, eq=False)
class Evidence:
    """What is known of the images of some rows.

    `units` has a bag per row, of its labels and of the units of its references that have a vector;
    `texts` all of them, with or without a vector, and the class of each that names one. Of labels
    there are the classes, of references the share of them that mentions each class, None where
    they say nothing. `sought` is what the objects looked for.
    """

    units: Bags
    texts: tuple[Mapping[str, str | None], ...]
    of_labels: tuple[frozenset[str], ...]
    of_references: tuple[Mapping[str | None, float] | None, ...]
    sought: tuple[Sought, ...]

    def names_class(self, row: int, category: str | None) -> bool:
        """Return whether the evidence of a row names something of a class."""
        said = self.of_references[row]
        return category in self.of_labels[row] or (said is not None and category in said)

    def contradicts(self, row: int, category: str | None) -> str | None:
        """Return what says that something of a class is there, as `contradicts` does."""
        return contradicts(self.of_labels[row], self.of_references[row] or {}, category)

    def judge(self, row: int, category: str | None) -> str | None:
        """Return what can deny something of a class: labels, an answer, or references; or None.

        Where the objects looked for something, only that can be absent.
        """
        sought = self.sought[row]
        if not sought.denies:
            return None if self.of_references[row] is None else REFERENCES
        if category in sought.denied:
            return ANSWER
        known = sought.can_lack(category) or category in self.of_labels[row]
        return LABELS if known else None

    def support(
        self,
        lexicon: Lexicon,
        atoms: Integers,
        rows: Integers,
        apart: Sequence[tuple[int, int]] = (),
        some: Integers | None = None,
    ) -> tuple[Floats, Integers]:
        """Return `nearest_evidence`, and NaN where nothing is known of the image."""
        support, by = nearest_evidence(lexicon, atoms, rows, self.units, apart, some)
        support[~self.is_there[rows]] = np.nan
        return support, by

    @cached_property
    def is_there(self) -> NDArray[np.bool_]:
        """Whether anything is known of each row's image, if only what is not there, (rows,)."""
        known = zip(self.texts, self.sought, strict=True)
        return np.array([bool(texts or sought.denied) for texts, sought in known], dtype=bool)

    @cached_property
    def by_references(self) -> NDArray[np.bool_]:
        """Whether references alone can deny things of each row's image, (rows,)."""
        return self._denied_by(False) & self._said

    @cached_property
    def denies(self) -> NDArray[np.bool_]:
        """Whether anything can be absent from each row's image, (rows,)."""
        return self._denied_by(True) | self._said

    @property
    def _said(self) -> NDArray[np.bool_]:
        return np.array([said is not None for said in self.of_references], dtype=bool)

    def _denied_by(self, objects: bool) -> NDArray[np.bool_]:
        return np.array([sought.denies is objects for sought in self.sought], dtype=bool)


class Grounding:
    """Holds the mentions of captions against what is known of their images.

    `things` is the object vocabulary. Single words that are `stop_words` are neither mentions nor
    evidence. `objects` is where labels come from, if all rows have one source; `looked_for` what a
    user says was looked for in every image, beside what the objects say.
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
        self._classes_of_asked: Remembered[frozenset[str], frozenset[str]] = Remembered(
            lambda asked: frozenset(map(self._class_of_asked, asked))
        )
        self._classes_of_labels: Remembered[frozenset[str], frozenset[str]] = Remembered(
            lambda labels: frozenset(map(self.class_of_label, labels))
        )
        self._named = Remembered(self._term_and_class)
        self._number_of_word = Remembered(self._class_number_of_word)
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

    def _term_and_class(self, label: str) -> tuple[str, str]:
        units, class_of = self.units(label), self._things.class_of
        is_term = " " not in label or label in self._terms or len(units) == 1
        term = label if is_term else term_of(label, self._terms)
        if label not in class_of and len(units) == 1:
            return term, units[0].category or label
        return term, class_of.get(label) or class_of.get(term, term)

    def term_of_label(self, label: str) -> str:
        """Return what an object label names: the thing that ends a phrase, else the label."""
        return self._named[label][0]

    def class_of_label(self, label: str) -> str:
        """Return the class of an object label; what it names where the list lacks it."""
        return self._named[label][1]

    @cached_property
    def class_numbers(self) -> dict[str, int]:
        """The number of each class, in alphabetical order."""
        return {name: n for n, name in enumerate(sorted({*self._things.class_of.values()}))}

    def other_class(self, unit: Unit) -> str | None:
        """Return the class that a thing may be of beside its own: a *bike* may be a motorcycle."""
        other = _ALSO.get(singular(unit.text))
        return None if other is None else self._things.class_of.get(other)

    def class_numbers_of_words(self, lexicon: Lexicon, words: Integers) -> Integers:
        """Return the number of the class that each word names alone, or `NO_CLASS`."""
        return lexicon.of_each(words, self._number_of_word.__getitem__).astype(np.int64)

    def _class_number_of_word(self, word: str) -> int:
        class_of = self._things.class_of
        name = class_of.get(word) or class_of.get(singular(word), "")
        return self.class_numbers.get(name, NO_CLASS)

    def class_numbers_of_labels(self, lexicon: Lexicon, labels: Integers) -> Integers:
        """Return the number of the class of each object label, or `NO_CLASS`."""
        return lexicon.of_each(labels, self.class_number_of_label).astype(np.int64)

    def class_number_of_label(self, label: str) -> int:
        """Return the number of the class of an object label, or `NO_CLASS`."""
        return self.class_numbers.get(self.class_of_label(label), NO_CLASS)

    def _class_of_asked(self, label: str) -> str:
        """Return the class that an answer about a label is of: *no red bus* does not deny a bus."""
        term, category = self._named[label]
        return category if term == label else label

    def _sought(self, labels: Collection[str], asked: frozenset[str] | None) -> Sought:
        """Return what the objects looked for in an image with these labels.

        `asked` is what was looked for in it, there or not, if that is said of this image.
        """
        objects = self._objects
        if objects is not None and objects.says_what_was_asked and objects.categories:
            asked = objects.categories if asked is None else asked | objects.categories
        if asked is None and objects is not None:
            return self._sought_everywhere
        return self._new_sought(frozenset(labels), asked)

    @cached_property
    def _sought_everywhere(self) -> Sought:
        """What can be absent from the images of which the one source says nothing special."""
        objects = self._objects
        assert objects is not None
        if objects.categories or objects.says_what_was_asked:
            return self._new_sought(objects.categories, None, declares=True)
        return self._new_sought(objects.vocabulary(), None)

    def _new_sought(
        self, labels: frozenset[str], asked: frozenset[str] | None, declares: bool = False
    ) -> Sought:
        """Return `_sought` of labels that `declares` tells to be what was looked for.

        Where nothing tells that, they are taken for COCO's 80 or PASCAL VOC's 20 if all are among
        them, and for nothing else: whoever lists other labels may have looked for anything.
        """
        by_user = self._looked_for
        denied: frozenset[str] = frozenset()
        if asked is not None:
            classes = self._classes_of_asked[asked]
            denied = classes.difference(map(self.class_of_label, labels))
        elif declares:
            classes = self._classes_of_labels[labels]
        else:
            closed = (closed for closed in CLOSED_SETS.values() if labels <= closed)
            known = next(closed, frozenset()) if labels and by_user is None else frozenset()
            classes = self._classes_of_labels[known]
        if by_user is not None and by_user.labels is not None:
            classes |= self._classes_of_labels[by_user.labels]
        stuff = classes & self._things.stuff
        everything = by_user is not None and by_user.labels is None
        return Sought(None if everything else classes, denied, stuff)

    def sought(
        self,
        labels: Sequence[LabelCounts],
        asked: Sequence[frozenset[str] | None] | None = None,
    ) -> list[Sought]:
        """Return what the object labels of each row, without references, say can be absent.

        Where a row has no label, and nothing was asked, nothing can be absent.
        """
        nothing = Sought(frozenset())
        if asked is None and self._objects is not None:
            return [self._sought_everywhere if of_row else nothing for of_row in labels]
        asked = [None] * len(labels) if asked is None else asked
        return [
            self._sought(of_row.keys(), asked_of_row)
            if of_row or asked_of_row is not None
            else nothing
            for of_row, asked_of_row in zip(labels, asked, strict=True)
        ]

    def evidence(
        self,
        lexicon: Lexicon,
        labels: Sequence[LabelCounts],
        references: Sequence[Sequence[str]],
        asked: Sequence[frozenset[str] | None] | None = None,
    ) -> Evidence:
        """Return what the labels and the references of some rows say of their images.

        `asked` is what was looked for in each image, there or not, where that is said.
        """
        texts: list[dict[str, str | None]] = []
        of_labels: list[frozenset[str]] = []
        of_references: list[Mapping[str | None, float] | None] = []
        sought: list[Sought] = []
        asked = [None] * len(labels) if asked is None else asked
        for of_row, of_image, asked_of_row in zip(labels, references, asked, strict=True):
            said, shares = self.said(of_image)
            known = dict(self._named[label] for label, n in of_row.items() if n)
            texts.append({**said, **known})
            of_labels.append(frozenset(known.values()))
            of_references.append(shares if said else None)
            sought.append(self._sought(of_row.keys(), asked_of_row))
        units, _ = bags_of_labels(lexicon, texts, counts=False)
        known_of_rows = tuple(texts), tuple(of_labels), tuple(of_references)
        return Evidence(units, *known_of_rows, tuple(sought))

    def said(
        self, references: Sequence[str]
    ) -> tuple[dict[str, str | None], dict[str | None, float]]:
        """Return what the references of an image say.

        That is their words and terms, each with the class of what it names, and the share of
        references that mention each class. What they deny is not among them.
        """
        said: dict[str, str | None] = {}
        mentions: Counter[str | None] = Counter()
        for units in map(self.units, references):
            classes = set()
            for unit in units:
                if unit.denied:
                    continue
                if unit.category is not None or unit.text not in said:
                    said[unit.text] = unit.category
                classes.add(unit.category)
            mentions.update(classes - {None})
        return said, {category: n / len(references) for category, n in mentions.items()}

    def mentions(
        self,
        lexicon: Lexicon,
        captions: Sequence[str],
        evidence: Evidence,
        threshold: float = SUPPORT,
    ) -> GroundedMentions:
        """Return the mentions of captions, one per row of the evidence, with their verdicts.

        Below the threshold of support a mention is not in the image, unless the evidence names its
        class. The lexicon is that of the evidence.
        """
        units, rows, places = [], [], []
        for row, caption in enumerate(captions):
            for place, unit in enumerate(filter(_CATEGORY, self.units(caption))):
                if self._is_judged(unit, row, evidence):
                    units.append(unit)
                    rows.append(row)
                    places.append(place)
        of_rows = np.array(rows, dtype=np.int64)
        atoms = np.array(lexicon.numbers(unit.text for unit in units), dtype=np.int64)
        apart = self._apart_from(lexicon, units, of_rows, evidence)
        support, by = evidence.support(lexicon, atoms, of_rows, apart)
        grounded = support.copy()
        if describing := _describing(lexicon, units, of_rows, evidence):
            some = np.unique([at for at, _ in describing])
            without, _ = evidence.support(lexicon, atoms, of_rows, [*apart, *describing], some)
            grounded[some] = without[some]
        enough = (grounded >= threshold).tolist()
        found = [
            self._judge(*one, evidence, threshold)
            for one in zip(
                units, rows, support.tolist(), words_of(lexicon, by), enough, strict=True
            )
        ]
        supports, texts, verdicts, judged_by = list(zip(*found, strict=True)) or [()] * 4
        return GroundedMentions(
            of_rows,
            np.array(places, dtype=np.int64),
            tuple(units),
            np.array(supports, dtype=np.float64),
            tuple(texts),
            np.array(verdicts, dtype=np.int64),
            tuple(judged_by),
        )

    def _judge(
        self,
        unit: Unit,
        row: int,
        support: float,
        by: str | None,
        enough: bool,
        evidence: Evidence,
        threshold: float,
    ) -> tuple[float, str | None, Verdict, str | None]:
        """Return the support of a mention, what supports it, the verdict, and who judges it."""
        known, category, other = evidence.texts[row], unit.category, self.other_class(unit)
        if unit.denied:
            by, judge = _named_in(known, category), evidence.contradicts(row, category)
            return 0.0, by, Verdict.WRONG_DENIAL, judge
        if evidence.names_class(row, other) and not evidence.names_class(row, category):
            category = other
        named, judge = evidence.names_class(row, category), evidence.judge(row, category)
        if not enough and unit.text in known and math.isnan(support):
            support, by, enough = 1.0, unit.text, threshold <= 1
        if not enough and named:
            by, enough = _named_in(known, category), True
        if not named and judge == ANSWER:
            support, by, enough = 0.0, None, False
        if not evidence.is_there[row]:
            return support, by, Verdict.UNCONFIRMED, None
        # What nobody looked for may be what references describe.
        if enough and (judge or named or evidence.of_references[row] is not None):
            return support, by, Verdict.THERE, judge
        is_absent = judge is not None and not math.isnan(support)
        return support, by, Verdict.ABSENT if is_absent else Verdict.UNCONFIRMED, judge

    def _is_judged(self, unit: Unit, row: int, evidence: Evidence) -> bool:
        """Return whether a unit is a mention of a row, or wrongly denies what is there."""
        category = unit.category
        if category in self._things.stuff and category not in evidence.sought[row].stuff:
            return False
        return not unit.denied or evidence.contradicts(row, category) is not None

    def _apart_from(
        self, lexicon: Lexicon, units: Sequence[Unit], rows: Integers, evidence: Evidence
    ) -> list[tuple[int, int]]:
        """Return evidence that never supports a mention: its number, beside the mention's place."""
        pairs = []
        for at, unit in enumerate(units):
            other = self.apart.get(unit.category or "")
            if other is not None:
                known = evidence.texts[int(rows[at])]
                texts = [text for text, category in known.items() if category == other]
                pairs += [(at, number) for number in lexicon.numbers(texts)]
        return pairs


def _describing(
    lexicon: Lexicon, units: Sequence[Unit], rows: Integers, evidence: Evidence
) -> list[tuple[int, int]]:
    """Return evidence that only describes a mention, as *traffic* does a traffic light.

    It does not count for a verdict. The pairs are those of `Grounding._apart_from`.
    """
    pairs = []
    for at, unit in enumerate(units):
        if " " in unit.text:
            found = set(unit.text.split()[:-1]) & evidence.texts[int(rows[at])].keys()
            pairs += [(at, number) for number in lexicon.numbers(found)]
    return pairs


def contradicts(
    labels: Collection[str | None], said: Mapping[str | None, float], category: str | None
) -> str | None:
    """Return what says that something of a class is there, so that nobody can deny it.

    `labels` are the classes of the image's labels, `said` the share of references that mention each
    class. It is *labels* if one names it, *references* if half of them or more do, else None.
    """
    if category in labels:
        return LABELS
    return REFERENCES if said.get(category, 0.0) >= _HALF else None


def _named_in(known: Mapping[str, str | None], category: str | None) -> str:
    """Return what of the evidence names a class."""
    return min(text for text, of_class in known.items() if of_class == category)


def words_of(lexicon: Lexicon, numbers: Integers) -> list[str | None]:
    """Return the word of each number; None for `NOTHING`."""
    return [None if number == NOTHING else lexicon.words[number] for number in numbers.tolist()]


@lru_cache(maxsize=8)
def _reader(things: ClassList, stop_words: frozenset[str]) -> Callable[[str], tuple[Unit, ...]]:
    """Return what finds the units of captions; who reads alike shares those it found last."""
    finder = finder_of(things)

    def read(caption: str) -> tuple[Unit, ...]:
        return tuple(finder.units(caption, stop_words))

    # Captions are read when they are given room in a lexicon and again when they are grounded.
    return Remembered(read).__getitem__
