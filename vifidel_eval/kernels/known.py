"""What is known of an image: what labels and references name, and what was looked for.

Of a thing that was looked for, names and kinds alone decide whether it is there. Cosines weigh all
else (`vifidel_eval.kernels.support`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property
from itertools import chain
from typing import NamedTuple

from ..words.mentions import Unit
from .names import Names

#: What can deny a thing.
LABELS, ANSWER, REFERENCES = "labels", "answer", "references"
_HALF = 0.5  # the share of references that mention what nobody can deny


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


class Found(NamedTuple):
    """What names and kinds say of a class, and the class that decides it."""

    verdict: Verdict  # unconfirmed if they say nothing
    category: str  # the class itself, or one that it is a kind of


@dataclass(frozen=True, eq=False)
class Things:
    """The classes of the things of an image, and those that can be absent from it."""

    read_by: Names
    labels: frozenset[str]  # what labels name
    said: frozenset[str]  # what references name
    deniable: Deniable

    @cached_property
    def labelled(self) -> frozenset[str]:
        """What labels name, with all that these are kinds of: a dog is an animal."""
        return self._with_kinds(self.labels)

    @cached_property
    def there(self) -> frozenset[str]:
        """What labels and references name, with all that these are kinds of."""
        return self.labelled | self._with_kinds(self.said)

    def _with_kinds(self, classes: Iterable[str]) -> frozenset[str]:
        return frozenset(chain.from_iterable(map(self.read_by.upward, classes)))

    def find(self, category: str) -> Found:
        """Return what labels, references and what was looked for say of a class.

        It is there if it, or a kind of it, is named, and absent if it was looked for. Otherwise the
        nearest class decides that it is a kind of: a pony fits where a horse is named, and is
        absent where horses were looked for.
        """
        if category in self.there:
            return Found(Verdict.THERE, category)
        if self.deniable.lists(category):
            return Found(Verdict.ABSENT, category)
        for parents in self.read_by.above(category):
            for parent, is_sure in parents:
                is_named = parent in self.labels or parent in self.said
                if is_named or (not is_sure and parent in self.there):
                    return Found(Verdict.THERE, parent)
            for parent, is_sure in parents:
                if is_sure and self.deniable.lists(parent):
                    return Found(Verdict.ABSENT, parent)
        everything = self.deniable.classes is None
        return Found(Verdict.ABSENT if everything else Verdict.UNCONFIRMED, category)

    def is_claimed(self, thing: Unit) -> bool:
        """Return whether a thing is a claim: of *a cat or a dog* none is that only is not there."""
        if not thing.alternatives:
            return True
        is_there = self.find(thing.category or "").verdict is Verdict.THERE
        others = map(self.find, thing.alternatives)
        return is_there or not any(other.verdict is Verdict.THERE for other in others)


@dataclass(frozen=True, eq=False)
class Known(Things):
    """What is known of an image."""

    texts: Mapping[str, str | None]  # labels, and what references say, with the class each names
    #: The share of references that mention each class or a kind of it; None where they say nothing.
    shares: Mapping[str, float] | None

    def name_of(self, category: str) -> str:
        """Return what names something of a class, or of a kind of it."""
        named = {text: of_class for text, of_class in self.texts.items() if of_class is not None}
        texts = [text for text, of_class in named.items() if of_class == category]
        upward = self.read_by.upward
        texts = texts or [text for text, one in named.items() if category in upward(one)]
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
