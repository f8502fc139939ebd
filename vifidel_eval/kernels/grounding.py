"""Grounding: which of the things that captions mention are in their images.

The evidence of an image is its object labels and what its references say. docs/fidelity.md has the
rules and thresholds, docs/fidelity-experiments.md what else was tried.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from enum import IntEnum
from functools import cached_property
from itertools import chain
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np

from ..annotations import ObjectLabels
from ..annotations.categories import CLOSED_SETS, LookedFor
from ..captions.rows import Asked, LabelCounts
from ..evaluation import Integers
from ..io.records import Remembered
from ..words.english import singular
from ..words.mentions import Unit
from ..words.settings import SUPPORT
from ..words.spelling import spellings_in_number
from ..words.synonyms import ClassList
from .bags import bags_of_labels
from .lexicon import Lexicon
from .names import Names, reader_of
from .support import ANSWER, NOTHING, REFERENCES, Deniable, Evidence, Known

_TWO_LETTERS = re.compile("[a-z]{2}")
_CATEGORY = attrgetter("category")

# Classes of which one never supports the other, though their words are alike.
_APART = ("dog", "hot dog")
# A name that may also mean something of another class: a motorcycle is a bike too.
_ALSO = {"bike": "motorcycle", "car": "train"}


class Verdict(IntEnum):
    """What is said of a mention."""

    UNCONFIRMED = 0
    THERE = 1
    ABSENT = 2
    WRONG_DENIAL = 3

    def __str__(self) -> str:
        return ("unconfirmed", "there", "not in the image", "wrong denial")[self]

    @property
    def is_wrong(self) -> bool:
        """Whether the evidence contradicts it."""
        return self >= Verdict.ABSENT


class Mention(NamedTuple):
    """A thing that a caption mentions or wrongly denies, and whether it is there."""

    words: str  # the caption's own, in lower case: "hot dogs"
    category: str  # its class in the object vocabulary
    # The largest cosine to the labels of the image and to what the references say, in [0, 1]; NaN
    # if the words have no vector or nothing is known of the image.
    support: float
    # What has that cosine, or, if it is too far away for a verdict, evidence of the same class.
    supported_by: str | None
    verdict: Verdict
    judged_by: str | None = None  # what can deny such a thing here; None if nobody looked for it
    place: int = 0  # its number among the things that the caption names

    def to_json(self) -> dict[str, Any]:
        """Return the mention as JSON can hold it, as VIFIDEL-H writes it into ``--output``."""
        return {
            "words": self.words,
            "category": self.category,
            "support": None if math.isnan(self.support) else self.support,
            "by": self.supported_by,
            "verdict": str(self.verdict),
            "judged_by": self.judged_by,
        }


# A row, the place of a thing in its caption, the thing, and what is known of the image.
_Read = tuple[int, int, Unit, Known]
# Support, what supports it, verdict, and who judges it, as `Mention` has them.
_Judgement = tuple[float, str | None, Verdict, str | None]


class JudgedMentions(NamedTuple):
    """The mentions of captions, one after the other; records of them are made where wanted."""

    read: Sequence[_Read]
    judgements: Sequence[_Judgement]

    def by_row(self, rows: int) -> list[list[Mention]]:
        """Return the mentions of each of so many rows, in order."""
        mentions: list[list[Mention]] = [[] for _ in range(rows)]
        for (row, place, unit, _), judged in zip(self.read, self.judgements, strict=True):
            mentions[row].append(Mention(unit.words, unit.category or "", *judged, place))
        return mentions


class Grounding:
    """Holds the mentions of captions against what is known of their images."""

    def __init__(
        self,
        things: ClassList,
        stop_words: Collection[str],
        source: ObjectLabels | None = None,
        declared: LookedFor | None = None,
    ) -> None:
        self._things = things
        self.stop_words = frozenset(stop_words)
        self._source = source  # of the labels, if all rows have one
        self._declared = declared  # what a user says was looked for in every image
        self._read_by = reader_of(things, self.stop_words)
        self._list = self._read_by(())
        labels = set() if source is None else set(source.categories)
        labels |= set() if declared is None else declared.labels or set()
        self._everywhere = self._lacking(labels)  # names in every image
        self._own: Remembered[frozenset[str], tuple[str, ...]] = Remembered(self._lacking)
        one, other = (things.class_of.get(name, name) for name in _APART)
        #: Classes of which one never supports the other, both ways.
        self.apart = {one: other, other: one} if one != other else {}

    def __reduce__(self) -> tuple[Any, ...]:
        return Grounding, (self._things, self.stop_words, self._source, self._declared)

    def _lacking(self, labels: Iterable[str]) -> tuple[str, ...]:
        """Return the labels that are no names of the list, in alphabetical order."""
        return tuple(sorted(filter(self._list.lacks, labels)))

    def texts(self, captions: Iterable[str], names: Iterable[Names]) -> list[str]:
        """Return the words and terms of captions, which a lexicon gives vectors to."""
        read = zip(captions, names, strict=True)
        return [unit.text for caption, of_image in read for unit in of_image.units(caption)]

    def names(self, labels: Iterable[str], asked: Asked = None) -> Names:
        """Return the names by which an image is read that has labels; some more were `asked`."""
        own = self._own[frozenset(labels).union(asked or ())]
        if not own:
            return self._read_by(self._everywhere)
        return self._read_by(tuple(dict.fromkeys((*self._everywhere, *own))))

    def all_names(
        self, labels: Sequence[LabelCounts], asked: Sequence[Asked] | None = None
    ) -> list[Names]:
        """Return the `names` of the image of each row."""
        return list(map(self.names, labels, asked or [None] * len(labels)))

    def unmentionable(self, labels: Iterable[str]) -> list[str]:
        """Return the labels that no caption mentions: codes, and words that are left out."""
        return sorted(
            label
            for label in set(labels)
            if (label.isascii() and not _TWO_LETTERS.search(label))
            or not any(unit.category for unit in self.names([label]).units(label))
        )

    def numbers(self, names: Iterable[Names]) -> Mapping[str, int]:
        """Return the number of each class of some rows: the list's, then others, both sorted."""
        own = set(chain.from_iterable(one.own for one in set(names)))
        if not own:
            return self._numbers
        first = len(self._numbers)
        return {**self._numbers, **{name: first + n for n, name in enumerate(sorted(own))}}

    @cached_property
    def _numbers(self) -> dict[str, int]:
        """The number of each class of the list, in alphabetical order."""
        return {name: n for n, name in enumerate(sorted({*self._things.class_of.values()}))}

    def other_class(self, unit: Unit) -> str | None:
        """Return the class that a thing may be of beside its own: a *bike* may be a motorcycle."""
        other = _ALSO.get(singular(unit.text))
        return None if other is None else self._things.class_of.get(other)

    def deniable(self, labels: Collection[str], asked: Asked, names: Names) -> Deniable:
        """Return what can be absent by labels, and by what was `asked` of the image, if it says."""
        source = self._source
        if source is not None and source.says_what_was_asked and source.categories:
            asked = source.categories if asked is None else asked | source.categories
        if asked is None and source is not None:
            return self._deniable_everywhere
        if asked is None:
            return self._deniable(self._classes_if_closed(frozenset(labels)))
        classes = names.classes(asked)
        there = chain.from_iterable(map(names.classes_of_label, labels))
        return self._deniable(classes, classes.difference(there), is_said=True)

    @cached_property
    def _deniable_everywhere(self) -> Deniable:
        """What can be absent from the images of which the one source says nothing special."""
        source = self._source
        assert source is not None
        if source.categories or source.says_what_was_asked:
            classes = self._read_by(self._everywhere).classes(source.categories)
            return self._deniable(classes, is_said=source.says_what_was_asked)
        return self._deniable(self._classes_if_closed(source.vocabulary()))

    def _classes_if_closed(self, labels: frozenset[str]) -> frozenset[str]:
        """Return COCO's 80 or PASCAL VOC's 20 classes if all labels are among them, else none."""
        # Whoever lists other labels may have looked for anything.
        known = labels and self._declared is None
        closed = self._closed[labels] if known else frozenset()
        return self._list.classes(closed)

    @cached_property
    def _closed(self) -> Remembered[frozenset[str], frozenset[str]]:
        spelled = [
            (frozenset(chain.from_iterable(map(spellings_in_number, names))), names)
            for names in CLOSED_SETS.values()
        ]
        return Remembered(
            lambda labels: next(
                (
                    names
                    for of_set, names in spelled
                    if not any(map(of_set.isdisjoint, map(spellings_in_number, labels)))
                ),
                frozenset(),
            )
        )

    def _deniable(
        self,
        classes: frozenset[str],
        denied: frozenset[str] = frozenset(),
        is_said: bool = False,
    ) -> Deniable:
        declared = self._declared
        if declared is not None and declared.labels is not None:
            classes |= self._read_by(self._everywhere).classes(declared.labels)
        everything = declared is not None and declared.labels is None
        stuff = classes & self._things.stuff
        is_said = is_said or declared is not None
        return Deniable(None if everything else classes, denied, stuff, is_said)

    def known(self, labels: LabelCounts, references: Sequence[str], asked: Asked = None) -> Known:
        """Return what is known of an image; what references deny is not among their words."""
        names = self.names(labels, asked)
        said: dict[str, str | None] = {}
        mentions: Counter[str | None] = Counter()
        for units in map(names.units, references):
            mentioned: set[str | None] = set()
            for unit in units:
                if unit.denied:
                    continue
                if unit.category is not None or unit.text not in said:
                    said[unit.text] = unit.category
                mentioned.update(names.with_kinds(unit.category))
            mentions.update(mentioned - {None})
        shares = {category: n / len(references) for category, n in mentions.items()}
        of_labels = list(map(names.classes_of_label, labels))
        classes = frozenset(chain.from_iterable(of_labels))
        named = zip(map(names.term_of_label, labels), of_labels, strict=True)
        texts = {**said, **{term: of_label[-1] for term, of_label in named}}
        deniable = self.deniable(labels.keys(), asked, names)
        return Known(names, texts, classes, shares if said else None, deniable)

    def evidence(
        self,
        lexicon: Lexicon,
        labels: Sequence[LabelCounts],
        references: Sequence[Sequence[str]],
        asked: Sequence[Asked] | None = None,
    ) -> Evidence:
        """Return what is known of the images of some rows."""
        asked = [None] * len(labels) if asked is None else asked
        images = tuple(map(self.known, labels, references, asked))
        return Evidence(bags_of_labels(lexicon, (i.texts for i in images), False)[0], images)

    def judged(
        self,
        lexicon: Lexicon,
        captions: Sequence[str],
        evidence: Evidence,
        threshold: float = SUPPORT,
    ) -> JudgedMentions:
        """Return the mentions of the caption of each row of the evidence, with their verdicts."""
        read: list[_Read] = []  # a denial where it is wrong, and stuff where it was looked for
        stuff = self._things.stuff
        for row, (caption, image) in enumerate(zip(captions, evidence.images, strict=True)):
            for place, unit in enumerate(filter(_CATEGORY, image.read_by.units(caption))):
                category = unit.category
                if category in stuff and category not in image.deniable.stuff:
                    continue
                if not unit.denied or image.contradicts(category) is not None:
                    read.append((row, place, unit, image))
        rows = np.array([row for row, *_ in read], dtype=np.int64)
        atoms = np.array(lexicon.numbers(unit.text for _, _, unit, _ in read), dtype=np.int64)
        # Evidence that never supports a mention: the mention's place, and its number.
        apart = [
            (at, number)
            for at, (_, _, unit, image) in enumerate(read)
            for other in [self.apart.get(unit.category or "")]
            if other is not None
            for number in lexicon.numbers(t for t, of in image.texts.items() if of == other)
        ]
        describing = [
            (at, number)
            for at, (_, _, unit, image) in enumerate(read)
            if " " in unit.text
            for number in lexicon.numbers(w for w in _describing(unit) if w in image.texts)
        ]
        support, by = evidence.support(lexicon, atoms, rows, apart)
        enough = support >= threshold
        if describing:
            some = np.unique([at for at, _ in describing])
            without, _ = evidence.support(lexicon, atoms, rows, [*apart, *describing], some)
            enough[some] = without[some] >= threshold
        columns = support.tolist(), words_of(lexicon, by), enough.tolist()
        return JudgedMentions(
            read,
            [
                self._judge(unit, image, near, text, is_near, threshold)
                for (_, _, unit, image), near, text, is_near in zip(read, *columns, strict=True)
            ],
        )

    def _judge(
        self,
        unit: Unit,
        image: Known,
        support: float,
        by: str | None,
        enough: bool,
        threshold: float,
    ) -> _Judgement:
        category, other = unit.category, self.other_class(unit)
        if unit.denied:
            judge = image.contradicts(category)
            return 0.0, image.name_of(category), Verdict.WRONG_DENIAL, judge
        if other is not None and image.names(other) and not image.names(category):
            category = other
        is_named, judge = image.names(category), image.judge(category)
        if not enough and unit.text in image.texts and math.isnan(support):
            support, by, enough = 1.0, unit.text, threshold <= 1
        if category in image.labels and category in image.read_by.own:  # a label says it itself
            support, by, enough = 1.0, category, True
        if not enough and is_named:
            by, enough = image.name_of(category), True
        if not is_named and judge == ANSWER:
            support, by, enough = 0.0, None, False
        if not image.is_there:
            return support, by, Verdict.UNCONFIRMED, None
        # What nobody looked for may be what references describe.
        if enough and (judge or is_named or image.shares is not None):
            return support, by, Verdict.THERE, judge
        # Without a vector, names decide; but references need not name what they are about.
        is_absent = judge is not None and not (judge == REFERENCES and math.isnan(support))
        return support, by, Verdict.ABSENT if is_absent else Verdict.UNCONFIRMED, judge


def _describing(unit: Unit) -> list[str]:
    """Return the words that only describe a thing, as *traffic* does a *traffic light*."""
    return unit.text.split()[:-1]


def words_of(lexicon: Lexicon, numbers: Integers) -> list[str | None]:
    """Return the word of each number; None for `NOTHING`."""
    return [None if number == NOTHING else lexicon.words[number] for number in numbers.tolist()]
