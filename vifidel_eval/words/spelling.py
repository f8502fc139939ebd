"""Misspelled names: what is no word of English and one edit away from a name is that name.

An edit inserts, deletes, replaces or swaps letters (Damerau, CACM 1964); that letters are doubled or
not counts as none: *girafe, zeebra, brocolli, umberella*.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from string import ascii_lowercase

from .word_classes import is_listed

_FEWEST_LETTERS, _MOST_LETTERS = 6, 20
_ENDINGS = ("s", "es", "ing", "ed", "er", "or", "ly", "y", "less", "ish", "able", "d")
_DOUBLED = re.compile(r"(.)\1")


class Spelling:
    """Finds the names of a list that misspelled words mean."""

    def __init__(self, names: Iterable[str]) -> None:
        self._names: dict[str, str] = {}
        for name in sorted(names):
            if name.isalpha() and name.isascii():
                self._names.setdefault(_DOUBLED.sub(r"\1", name), name)

    def name_of(self, word: str) -> str | None:
        """Return the name that a lower-case word means; None if it is a word, or none is near."""
        is_long_enough = _FEWEST_LETTERS <= len(word) <= _MOST_LETTERS
        if not (is_long_enough and word.isascii() and word.isalpha()) or _is_word(word):
            return None
        plain = _DOUBLED.sub(r"\1", word)
        # The first letter is seldom wrong (Yannakoudakis and Fawthrop, 1983).
        found = {self._names[one] for one in (plain, *_edited(plain)) if one in self._names}
        near = [name for name in found if name[0] == word[0]]
        return near[0] if len(near) == 1 else None


def _is_word(word: str) -> bool:
    """Return whether a word, or what it is made of, is in the lexicon, as a proper name too."""
    if is_listed(word) or is_listed(word.capitalize()):
        return True
    stems = (word.removesuffix(ending) for ending in _ENDINGS if word.endswith(ending))
    return any(
        is_listed(one) for stem in stems for one in (stem, f"{stem}e", stem[:-1], f"{stem[:-1]}y")
    )


def _edited(word: str) -> Iterable[str]:
    for at in range(len(word) + 1):
        before, behind = word[:at], word[at:]
        if behind:
            yield before + behind[1:]
        if behind[1:]:
            yield before + behind[1] + behind[0] + behind[2:]
        for letter in ascii_lowercase:
            yield before + letter + behind
            if behind:
                yield before + letter + behind[1:]
