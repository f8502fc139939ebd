"""What is known of an image, and how it judges the things that a caption mentions.

Of a thing that was looked for, names and kinds alone decide whether it is there. Cosines weigh all
else (`vifidel_eval.kernels.support`).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property
from itertools import chain
from typing import Any, NamedTuple

from ..words.mentions import Phrase
from .names import Names

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

    read_by: Names
    labels: frozenset[str]  # what labels name
    referenced: frozenset[str]  # what references name
    deniable: Deniable

    @cached_property
    def labelled(self) -> frozenset[str]:
        """What labels name, with all that these are kinds of: a dog is an animal."""
        return self._with_kinds(self.labels)

    @cached_property
    def told(self) -> frozenset[str]:
        """What references name, with all that these are kinds of."""
        return self._with_kinds(self.referenced)

    @cached_property
    def there(self) -> frozenset[str]:
        """What labels and references name, with all that these are kinds of."""
        return self.labelled | self.told

    def _with_kinds(self, classes: Iterable[str]) -> frozenset[str]:
        return frozenset(chain.from_iterable(map(self.read_by.upward, classes)))

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
        for parents in self.read_by.above(category):
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
class Known(Things):
    """What is known of an image."""

    texts: Mapping[str, str | None]  # labels, and what references say, with the class each names
    #: The share of references that mention each class or a kind of it; None where they say nothing.
    shares: Mapping[str, float] | None
    labels_of: Mapping[str, str]  # what the objects call each class

    def name_of(self, category: str) -> str:
        """Return what names something of a class, or of a kind of it."""
        named = {text: of_class for text, of_class in self.texts.items() if of_class is not None}
        texts = [text for text, of_class in named.items() if of_class == category]
        upward = self.read_by.upward
        texts = texts or [text for text, of_class in named.items() if category in upward(of_class)]
        return min(texts, default=category)

    def contradicts(self, category: str) -> str | None:
        """Return what says that something of a class is there: labels, half of the references."""
        if category in self.labelled:
            return LABELS
        return REFERENCES if (self.shares or {}).get(category, 0.0) >= _HALF else None

    def judge(self, category: str) -> str | None:
        """Return what can deny something of a class; None if nobody looked for it."""
        if not self.deniable.anything:
            return None if self.shares is None else REFERENCES
        if category in self.deniable.denied:
            return ANSWER
        return LABELS if self.deniable.has(category) or category in self.labelled else None

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
    image: Known,
    found: tuple[Verdict, str],
    near: tuple[float, str | None, bool],
    threshold: float,
) -> Mention:
    """Return a thing with its verdict, by what was found and by what is near.

    `near` is the largest cosine to the evidence, what has it, and whether it is large enough.
    """
    category, (support, by, enough) = claim.category or "", near
    label = image.labels_of.get(category, category)
    if claim.denied:
        by_whom, by = image.contradicts(category), image.name_of(category)
        return Mention(claim, 0.0, by, Verdict.WRONG_DENIAL, by_whom, label, label)
    if not image.is_there:
        return Mention(claim, support, by, Verdict.UNCONFIRMED, None, label, label)
    found_verdict, decisive = found
    by_whom, decided_by = image.judge(decisive), image.labels_of.get(decisive, decisive)
    if math.isnan(support) and claim.text in image.texts:
        support, by, enough = 1.0, claim.text, threshold <= 1
    if category in image.labels and category in image.read_by.own:  # a label says it itself
        support, by = 1.0, category
    if found_verdict is Verdict.THERE:
        if not support >= threshold:
            by = image.name_of(decisive)
        return Mention(claim, support, by, Verdict.THERE, by_whom, decided_by, label)
    if found_verdict is Verdict.ABSENT:
        if by_whom == ANSWER:
            support, by = 0.0, None
        return Mention(claim, support, by, Verdict.ABSENT, by_whom, decided_by, label)
    # What nobody looked for may be what references describe; without a vector, they say nothing.
    if enough and image.shares is not None:
        return Mention(claim, support, by, Verdict.THERE, by_whom, label, label)
    is_absent = by_whom == REFERENCES and not math.isnan(support)
    verdict = Verdict.ABSENT if is_absent else Verdict.UNCONFIRMED
    return Mention(claim, support, by, verdict, by_whom, label, label)


def only_alike(claim: Phrase, image: Known) -> list[str]:
    """Return evidence that shares a word with a thing and is another: *traffic*, *a hot dog*."""
    words, named = {*claim.text.split()}, claim.category or ""
    describing = {*claim.text.split()[:-1]}
    return [
        text
        for text, of_class in image.texts.items()
        if (text in describing if of_class is None else not words.isdisjoint(text.split()))
        and text != claim.text
        and not (of_class and named in image.read_by.upward(of_class))
    ]
