"""What is known of the words of a lexicon beside their vectors: classes of things, and rarity."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from ..evaluation import Floats, Integers
from ..things.rarity import rarity
from ..things.synonyms import ClassList
from ..things.words import singular
from .lexicon import Lexicon

#: The number of no class.
NO_CLASS = -1
_NOT_ASKED = -2

Number = TypeVar("Number", np.int64, np.float64)


class KnownWords:
    """Looks each word or label of a lexicon up once; what it knows never changes.

    Parameters
    ----------
    lexicon : Lexicon
        Whose numbers are asked for.
    things : ClassList
        The names of things.
    class_of_label : callable
        From an object label to its class, as `Grounding.class_of_label`.
    """

    def __init__(
        self, lexicon: Lexicon, things: ClassList, class_of_label: Callable[[str], str]
    ) -> None:
        self.lexicon = weakref.ref(lexicon)  # which takes much memory, and may be full
        self._names = things.class_of
        self._class_of_label = class_of_label
        #: The number of each class, in alphabetical order.
        self.numbers = {name: n for n, name in enumerate(sorted({*self._names.values()}))}
        size = len(lexicon.known)
        self._classes = np.full(size, _NOT_ASKED, dtype=np.int64)
        self._of_labels = np.full(size, _NOT_ASKED, dtype=np.int64)
        self._rarities = np.full(size, float(_NOT_ASKED))

    def classes(self, words: Integers) -> Integers:
        """Return the number of the class that each word names alone, or `NO_CLASS`."""
        return self._looked_up(self._classes, words, self._class)

    def classes_of_labels(self, labels: Integers) -> Integers:
        """Return the number of the class of each object label, or `NO_CLASS`."""
        return self._looked_up(self._of_labels, labels, self._label_class)

    def rarities(self, words: Integers) -> Floats:
        """Return the rarity of each word."""
        return self._looked_up(self._rarities, words, rarity)

    def _looked_up(
        self, table: NDArray[Number], words: Integers, look_up: Callable[[str], float]
    ) -> NDArray[Number]:
        found: NDArray[Number] = table[words]
        is_new = found == _NOT_ASKED
        if is_new.any():
            new = np.unique(words[is_new])
            lexicon = self.lexicon()
            assert lexicon is not None  # who asks holds it
            table[new] = [look_up(lexicon.word(word)) for word in new.tolist()]
            found = table[words]
        return found

    def _class(self, word: str) -> int:
        name = word if word in self._names else singular(word)
        return self.numbers[self._names[name]] if name in self._names else NO_CLASS

    def _label_class(self, label: str) -> int:
        return self.numbers.get(self._class_of_label(label), NO_CLASS)
