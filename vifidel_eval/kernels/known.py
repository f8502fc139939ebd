"""What is known of an image: names by which it is read, and how it judges what a caption mentions.

Names are those of a list of classes and those of the image's own labels that the list lacks: what
a user calls a thing is a name of it. Names of an image are names in that image alone, so that no
row of a table decides how another one is read.

Of a thing that was looked for, names and kinds alone decide whether it is there. Cosines weigh all
else (`vifidel_eval.kernels.support`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property, lru_cache, partial
from itertools import chain
from typing import Any, NamedTuple

from ..io.caches import Remembered
from ..words.content_words import content_words
from ..words.english import singular
from ..words.mentions import Phrase, Reading, finder_of
from ..words.synonyms import ClassList, Parent
from ..words.terms import end_of, unnumbered, words_in

#: How many images with names of their own keep what was read.
MOST_OWN = 1 << 11


class Names:
    """The names by which the captions and labels of an image are read; see `names_of_list`."""

    def __init__(
        self, things: ClassList, stop_words: frozenset[str], unlisted: tuple[str, ...]
    ) -> None:
        finder = finder_of(things)
        if unlisted:
            finder = finder.with_names(things.classes_of_names(unlisted))
        self._things, self._stop_words, self._unlisted = things, stop_words, unlisted
        new_names = things.unknown(unlisted)
        #: The names that users give and the list lacks.
        self.user_names = frozenset(new_names).union(things.added)
        self.class_of: Mapping[str, str] = finder.class_of
        #: The classes that the list lacks, in alphabetical order.
        self.unlisted_classes = tuple(sorted({finder.class_of[name] for name in new_names}))
        # Captions are read when they are given room in a lexicon, when they are grounded, and by a
        # report: its run takes a seventh longer if those of three systems of val2017 are not kept.
        reading_of: Remembered[str, Reading]
        reading_of = Remembered(lambda text: finder.read(text, stop_words), times=4)
        #: From a text to its reading: its words and claims.
        self.read: Callable[[str], Reading] = reading_of.__getitem__
        #: From a text to its phrases, which are its claims and all other content words.
        self.phrases: Callable[[str], list[Phrase]] = lambda text: finder.phrases(text, stop_words)
        words: Remembered[str, tuple[str, ...]]
        words = Remembered(lambda text: tuple(content_words(text, stop_words)))
        #: From a text, or a part of one, to its content words.
        self.content_words: Callable[[str], tuple[str, ...]] = words.__getitem__
        self._named = Remembered(self._term_and_classes)
        self._class_of_words: Remembered[str, str] = Remembered(
            lambda word: self.class_of.get(word) or self.class_of.get(singular(word), "")
        )
        upward = Remembered(self._with_all_above)
        #: From a class to itself and all that its things are for sure.
        self.upward: Callable[[str], frozenset[str]] = upward.__getitem__
        self._classes: Remembered[frozenset[str], frozenset[str]] = Remembered(
            lambda labels: frozenset(map(self.class_of_label, labels))
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return _unpickled, (self._things, self._stop_words, self._unlisted)

    def term_of_label(self, label: str) -> str:
        """Return what an object label names: the name that ends a phrase, else the label."""
        return self._named[label][0]

    def classes_of_label(self, label: str) -> tuple[str, ...]:
        """Return the class of an object label, and what it is a kind of: a *red bus* is a bus."""
        return self._named[label][1]

    def class_of_label(self, label: str) -> str:
        """Return the class of an object label; what it names where the list lacks it."""
        return self._named[label][1][0]

    def kind_of_label(self, label: str) -> str:
        """Return what an object label is a kind of, or its class."""
        return self._named[label][1][-1]

    def class_of_word(self, word: str) -> str:
        """Return the class that a word names alone; empty if it names none."""
        return self._class_of_words[word]

    def classes(self, labels: frozenset[str]) -> frozenset[str]:
        """Return the classes of labels, without what they are kinds of: a *red bus*, not a bus."""
        return self._classes[labels]

    def with_kinds(self, category: str | None) -> tuple[str | None, ...]:
        """Return a class, and what it is a kind of."""
        return self._named[category][1] if category in self.user_names else (category,)

    def above(self, category: str) -> tuple[tuple[Parent, ...], ...]:
        """Return what a class is a kind of or may be, as `Kinds.above` does."""
        if category not in self.user_names:
            return self._things.kinds.above(category)
        parents = tuple(Parent(kind or "", True) for kind in self.with_kinds(category)[1:])
        return (parents, *chain.from_iterable(self._things.kinds.above(p) for p, _ in parents))

    def decisive(self, category: str) -> frozenset[str]:
        """Return the classes that decide whether something is there: its own, and all above."""
        above = chain.from_iterable(self.above(category))
        return frozenset((category, *(parent for parent, _ in above)))

    def _with_all_above(self, category: str) -> frozenset[str]:
        if category not in self.user_names:
            return self._things.kinds.upward(category)
        kinds = (self._things.kinds.upward(kind or "") for kind in self.with_kinds(category))
        return frozenset().union(*kinds)

    def _term_and_classes(self, label: str) -> tuple[str, tuple[str, ...]]:
        things, label = self._things, unnumbered(label, self._is_name)
        name = label if label in self.class_of else things.name_of(label)
        if name is None:
            phrases = self.phrases(label)
            if len(phrases) == 1:
                return label, (phrases[0].category or label,)
            term = things.term_of(label)
            return term, (self.class_of.get(term, term),)
        category = self.class_of[name]
        if name not in self.user_names:
            spelled_alike = words_in(label)[:-1] == words_in(name)[:-1]
            return label if spelled_alike else name, (category,)
        kind = end_of(name, lambda end: end if end in self.class_of else things.term(end))
        classes = dict.fromkeys((category, self.class_of.get(kind or "", category)))
        return label if kind is None else kind, tuple(classes)

    def lacks(self, label: str) -> bool:
        """Return whether a label is a name that these names do not find in a caption."""
        label = unnumbered(label, self._is_name)
        phrases = self.phrases(label)
        return label not in self.class_of and not (len(phrases) == 1 and phrases[0].category)

    def _is_name(self, label: str) -> bool:
        return label in self.class_of or self._things.term(label) is not None


@lru_cache(maxsize=8)
def names_of_list(
    things: ClassList, stop_words: frozenset[str]
) -> Callable[[tuple[str, ...]], Names]:
    """Return a function from names that a list lacks to the `Names` of both, which it keeps."""
    listed = Names(things, stop_words, ())
    extended = lru_cache(maxsize=MOST_OWN)(partial(Names, things, stop_words))
    return lambda unlisted: extended(unlisted) if unlisted else listed


def _unpickled(things: ClassList, stop_words: frozenset[str], unlisted: tuple[str, ...]) -> Names:
    return names_of_list(things, stop_words)(unlisted)


#: What can deny a thing.
LABELS, ANSWER, REFERENCES = "labels", "answer", "references"
_HALF = 0.5  # the share of references that mention what nobody can deny


class Verdict(IntEnum):
    """The judgement of a mention."""

    UNCONFIRMED = 0
    THERE = 1
    ABSENT = 2
    WRONG_DENIAL = 3

    def __str__(self) -> str:
        return ("unconfirmed", "there", "made up", "wrong denial")[self]

    @property
    def is_wrong(self) -> bool:
        """Whether the evidence contradicts it."""
        return self >= Verdict.ABSENT


class Mention(NamedTuple):
    """A thing that a caption mentions or wrongly denies, and whether it is there."""

    claim: Phrase  #: what the caption says, and where
    #: The largest cosine to the labels of the image and to what the references say, in [0, 1]; NaN
    #: if the words have no vector or nothing is known of the image.
    support: float
    #: What has that cosine, or, if it is too far away for a verdict, evidence of the same class.
    supported_by: str | None
    verdict: Verdict
    judged_by: str | None = None  #: what can deny such a thing here; None if nobody looked for it
    decided_by: str | None = None  #: the label of the class that decided: its own or one above
    label: str | None = None  #: what the objects call its class; None if they have no name for it

    @property
    def words(self) -> str:
        """The caption's own words, in lower case: "hot dogs"."""
        return self.claim.words

    @property
    def category(self) -> str:
        """What the objects call the class of the thing; the name of the class if they do not."""
        return self.label or self.claim.category or ""

    @property
    def start(self) -> int:
        """Where the words begin in the caption, in characters."""
        return self.claim.start

    @property
    def end(self) -> int:
        """Where they end."""
        return self.claim.end

    @property
    def fits(self) -> str | None:
        """The class in the image that a thing is, or may be, a kind of: a horse, of a pony."""
        is_kind = self.verdict is Verdict.THERE and self.decided_by != self.category
        return self.decided_by if is_kind else None

    @property
    def shown(self) -> str:
        """The verdict, or ``fits: horse``."""
        return str(self.verdict) if self.fits is None else f"fits: {self.fits}"

    def to_json(self) -> dict[str, Any]:
        """Return the mention as JSON can hold it, as VIFIDEL-H writes it into ``--output``."""
        return {
            "words": self.words,
            "category": self.category,
            "support": None if math.isnan(self.support) else self.support,
            "by": self.supported_by,
            "verdict": self.shown,
            "judged_by": self.judged_by,
        }


class Deniable(NamedTuple):
    """What can be absent from an image, as classes."""

    classes: frozenset[str] | None  # None for everything
    denied: frozenset[str] = frozenset()  # those of them that were asked for and not found
    stuff: frozenset[str] = frozenset()  # the stuff and scenes that were looked for
    is_said: bool = False  # whether somebody says what was looked for; else it is a closed set

    def has(self, category: str | None) -> bool:
        """Return whether something of a class can be absent."""
        return self.classes is None or category in self.classes

    def lists(self, category: str) -> bool:
        """Return whether the class itself was looked for, and not just everything."""
        return category in self.denied or (self.classes is not None and category in self.classes)

    @property
    def anything(self) -> bool:
        """Whether anything can be absent."""
        return self.classes is None or bool(self.classes)


@dataclass(frozen=True, eq=False)
class Things:
    """The classes of the things of an image, and those that can be absent from it."""

    names: Names
    labels: frozenset[str]  # what labels name
    referenced: frozenset[str]  # what references name
    deniable: Deniable

    @cached_property
    def in_labels(self) -> frozenset[str]:
        """What labels name, with all that these are kinds of: a dog is an animal."""
        return self._with_kinds(self.labels)

    @cached_property
    def in_references(self) -> frozenset[str]:
        """What references name, with all that these are kinds of."""
        return self._with_kinds(self.referenced)

    @cached_property
    def there(self) -> frozenset[str]:
        """What labels and references name, with all that these are kinds of."""
        return self.in_labels | self.in_references

    def _with_kinds(self, classes: Iterable[str]) -> frozenset[str]:
        return frozenset(chain.from_iterable(map(self.names.upward, classes)))

    def find(self, category: str) -> tuple[Verdict, str]:
        """Return the verdict on a class, and the class that decides it: itself or one above.

        It is there if it, or a kind of it, is named, and absent if it was looked for. Otherwise the
        nearest class decides that it is a kind of: a pony fits where a horse is named, and is
        absent where horses were looked for.
        """
        if category in self.there:
            return Verdict.THERE, category
        if self.deniable.lists(category):
            return Verdict.ABSENT, category
        for parents in self.names.above(category):
            for parent, is_sure in parents:
                is_named = parent in self.labels or parent in self.referenced
                if is_named or (not is_sure and parent in self.there):
                    return Verdict.THERE, parent
            for parent, is_sure in parents:
                if is_sure and self.deniable.lists(parent):
                    return Verdict.ABSENT, parent
        everything = self.deniable.classes is None
        return Verdict.ABSENT if everything else Verdict.UNCONFIRMED, category

    def is_claimed(self, claim: Phrase) -> bool:
        """Return whether a caption claims a thing: of *a cat or a dog*, not the one that is not."""
        if not claim.alternatives:
            return True
        is_there, *others = (
            self.find(category)[0] is Verdict.THERE
            for category in (claim.category or "", *claim.alternatives)
        )
        return is_there or not any(others)


@dataclass(frozen=True, eq=False)
class KnownImage(Things):
    """What is known of an image."""

    texts: Mapping[str, str | None]  # labels, and what references say, with the class each names
    #: The share of references that mention each class or a kind of it; None where they say nothing.
    shares: Mapping[str, float] | None
    labels_of: Mapping[str, str]  # what the objects call each class

    def name_of(self, category: str) -> str:
        """Return what names something of a class, or of a kind of it."""
        named = {text: of_class for text, of_class in self.texts.items() if of_class is not None}
        texts = [text for text, of_class in named.items() if of_class == category]
        upward = self.names.upward
        texts = texts or [text for text, of_class in named.items() if category in upward(of_class)]
        return min(texts, default=category)

    def contradicts(self, category: str) -> str | None:
        """Return what says that a class is there, labels or half of the references; else None."""
        if category in self.in_labels:
            return LABELS
        return REFERENCES if (self.shares or {}).get(category, 0.0) >= _HALF else None

    def judged_by(self, category: str) -> str | None:
        """Return what can deny something of a class; None if nobody looked for it."""
        if not self.deniable.anything:
            return None if self.shares is None else REFERENCES
        if category in self.deniable.denied:
            return ANSWER
        return LABELS if self.deniable.has(category) or category in self.in_labels else None

    @property
    def is_there(self) -> bool:
        """Whether anything is known, if only what is not there."""
        return bool(self.texts or (self.deniable.is_said and self.deniable.anything))

    @property
    def can_lack(self) -> bool:
        """Whether anything can be absent."""
        return self.deniable.anything or self.shares is not None


def judge(
    claim: Phrase,
    image: KnownImage,
    by_names: tuple[Verdict, str],
    near: tuple[float, str | None, bool],
    threshold: float,
) -> Mention:
    """Return a mention with its verdict.

    `by_names` is what names say, as `Things.find` returns it. `near` is the largest cosine to the
    evidence, the evidence that has it, and whether the cosine is large enough.
    """
    category, (support, by, enough) = claim.category or "", near
    label = image.labels_of.get(category, category)
    if claim.denied:
        by, judged_by = image.name_of(category), image.contradicts(category)
        return Mention(claim, 0.0, by, Verdict.WRONG_DENIAL, judged_by, label, label)
    if not image.is_there:
        return Mention(claim, support, by, Verdict.UNCONFIRMED, None, label, label)
    found_verdict, decisive = by_names
    judged_by, decided_by = image.judged_by(decisive), image.labels_of.get(decisive, decisive)
    if math.isnan(support) and claim.text in image.texts:
        support, by, enough = 1.0, claim.text, threshold <= 1
    # A label of the image itself names it.
    if category in image.labels and category in image.names.unlisted_classes:
        support, by = 1.0, category
    if found_verdict is Verdict.THERE:
        if not support >= threshold:
            by = image.name_of(decisive)
        return Mention(claim, support, by, Verdict.THERE, judged_by, decided_by, label)
    if found_verdict is Verdict.ABSENT:
        if judged_by == ANSWER:
            support, by = 0.0, None
        return Mention(claim, support, by, Verdict.ABSENT, judged_by, decided_by, label)
    # What nobody looked for may be what references describe; without a vector, they say nothing.
    if enough and image.shares is not None:
        return Mention(claim, support, by, Verdict.THERE, judged_by, label, label)
    is_absent = judged_by == REFERENCES and not math.isnan(support)
    verdict = Verdict.ABSENT if is_absent else Verdict.UNCONFIRMED
    return Mention(claim, support, by, verdict, judged_by, label, label)


def only_alike(claim: Phrase, image: KnownImage) -> list[str]:
    """Return evidence of other things that shares a word with a thing: *hot dog* with *dog*."""
    words, category = {*claim.text.split()}, claim.category or ""
    describing = {*claim.text.split()[:-1]}
    return [
        text
        for text, of_class in image.texts.items()
        if (text in describing if of_class is None else not words.isdisjoint(text.split()))
        and text != claim.text
        and not (of_class and category in image.names.upward(of_class))
    ]
