"""Names: the words by which things are found in captions and labels of an image.

These are the names of a list of classes and those of the image's own labels that the list lacks:
what a user calls a thing is a name of it. Names of an image are names in that image alone, so that
no row of a table decides how another one is read.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from itertools import chain
from typing import Any

from ..io.caches import Remembered
from ..words.content_words import content_words
from ..words.english import singular
from ..words.kinds import Parent
from ..words.mentions import Phrase, Reading, finder_of
from ..words.spelling import words_in
from ..words.synonyms import ClassList, end_of, unnumbered

#: How many images with names of their own keep what was read.
MOST_OWN = 1 << 11


class Names:
    """The names by which the captions and labels of an image are read; see `reader_of`."""

    def __init__(self, things: ClassList, stop_words: frozenset[str], own: tuple[str, ...]) -> None:
        finder = finder_of(things)
        if own:
            finder = finder.with_names(things.classes_of_names(own))
        self._things, self._stop_words, self._own = things, stop_words, own
        #: The names that the list lacks.
        self.of_users = frozenset(things.unknown(own)).union(things.added)
        self.class_of: Mapping[str, str] = finder.class_of
        #: The classes that the list lacks, in alphabetical order.
        self.own = tuple(sorted({finder.class_of[name] for name in things.unknown(own)}))
        # Captions are read when they are given room in a lexicon and again when they are grounded.
        read: Remembered[str, Reading] = Remembered(lambda text: finder.read(text, stop_words))
        #: From a text to its reading: its words and claims.
        self.read: Callable[[str], Reading] = read.__getitem__
        #: From a text to its phrases, which are its claims and all other content words.
        self.phrases: Callable[[str], list[Phrase]] = lambda text: finder.phrases(text, stop_words)
        words: Remembered[str, tuple[str, ...]]
        words = Remembered(lambda text: tuple(content_words(text, stop_words)))
        #: From a text, or a part of one, to its content words.
        self.content_words: Callable[[str], tuple[str, ...]] = words.__getitem__
        self._named = Remembered(self._term_and_classes)
        self._of_words: Remembered[str, str] = Remembered(
            lambda word: self.class_of.get(word) or self.class_of.get(singular(word), "")
        )
        self._upward = Remembered(self._with_all_above)
        self._decisive: Remembered[str, frozenset[str]] = Remembered(
            lambda name: frozenset(
                (name, *(p.category for level in self.above(name) for p in level))
            )
        )
        self._classes: Remembered[frozenset[str], frozenset[str]] = Remembered(
            lambda labels: frozenset(map(self.class_of_label, labels))
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return _again, (self._things, self._stop_words, self._own)

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
        return self._of_words[word]

    def classes(self, labels: frozenset[str]) -> frozenset[str]:
        """Return the classes of labels, and not what they are kinds of: no *red bus*, yet a bus."""
        return self._classes[labels]

    def with_kinds(self, category: str | None) -> tuple[str | None, ...]:
        """Return a class, and what it is a kind of."""
        return self._named[category][1] if category in self.of_users else (category,)

    def above(self, category: str) -> tuple[tuple[Parent, ...], ...]:
        """Return what a class is a kind of or may be, as `Kinds.above` does."""
        if category not in self.of_users:
            return self._things.kinds.above(category)
        parents = tuple(Parent(kind or "", True) for kind in self.with_kinds(category)[1:])
        return (parents, *chain.from_iterable(self._things.kinds.above(p) for p, _ in parents))

    def decisive(self, category: str) -> frozenset[str]:
        """Return the classes that decide whether something is there: its own, and all above."""
        return self._decisive[category]

    def upward(self, category: str) -> frozenset[str]:
        """Return a class, and all that its things are for sure."""
        return self._upward[category]

    def _with_all_above(self, category: str) -> frozenset[str]:
        if category not in self.of_users:
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
        if name not in self.of_users:
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
def reader_of(things: ClassList, stop_words: frozenset[str]) -> Callable[[tuple[str, ...]], Names]:
    """Return what makes `Names` of a list and of names that it lacks; equal arguments share it."""
    base = Names(things, stop_words, ())
    more = lru_cache(maxsize=MOST_OWN)(lambda own: Names(things, stop_words, own))
    return lambda own: more(own) if own else base


def _again(things: ClassList, stop_words: frozenset[str], own: tuple[str, ...]) -> Names:
    return reader_of(things, stop_words)(own)
