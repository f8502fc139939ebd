"""Names that no list has: misspelled ones, and emoji.

What is no word of English and one edit away from a name is that name. An edit inserts, deletes,
replaces or swaps letters (Damerau, CACM 1964); whether letters are doubled does not count:
*girafe, zeebra, brocolli, umberella*. Emoji have the names that Unicode gives them: 🐕 is DOG.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cached_property

from .english import is_listed

_FEWEST_LETTERS, _MOST_LETTERS = 6, 20
_ENDINGS = ("s", "es", "ing", "ed", "er", "or", "ly", "y", "less", "ish", "able", "d")
_DOUBLED = re.compile(r"(.)\1")

_EMOJI = re.compile("[\u2600-\u27bf\u2b00-\u2bff\U0001f300-\U0001faff]")
# Emoji that decorate texts: a camera before a caption, a light bulb before an idea.
_DECORATIONS = frozenset("📷📸📹🎥🎬💡📌📍📎📝🔑🔒💬💭🗨🗯⭐🌟🏷🖼🏆🎯📖📚📢🔔🔍🔎👑💎🎉🎊🎈🔥🌍🌎🌏☀")
_OF_SEVERAL = frozenset("with and in of over behind without".split())
_SIGNS = frozenset("sign symbol button mark arrow heart square circle".split())


class Misspelled:
    """Finds the names of a list that misspelled words mean."""

    def __init__(self, names: Iterable[str], class_of: Mapping[str, str]) -> None:
        self._listed, self._class_of = names, class_of

    @cached_property
    def _near(self) -> Mapping[str, set[str]]:
        """Names by what is left of them without one letter, or none (Garbe, SymSpell)."""
        near: dict[str, set[str]] = {}
        for name in self._listed:
            if name.isalpha() and name.isascii():
                for rest in _without_one(_DOUBLED.sub(r"\1", name)):
                    near.setdefault(rest, set()).add(name)
        return near

    def name_of(self, word: str) -> str | None:
        """Return the name that a lower-case word means; None if it is a word, or none is near."""
        is_long_enough = _FEWEST_LETTERS <= len(word) <= _MOST_LETTERS
        if not (is_long_enough and word.isascii() and word.isalpha()) or _is_word(word):
            return None
        plain = _DOUBLED.sub(r"\1", word)
        # The first letter is seldom wrong (Yannakoudakis and Fawthrop, 1983).
        near = {
            name
            for rest in _without_one(plain)
            for name in self._near.get(rest, ())
            if name[0] == word[0] and _is_one_edit(plain, _DOUBLED.sub(r"\1", name))
        }
        same = {name for name in near if _DOUBLED.sub(r"\1", name) == plain}
        found = sorted(same or near)
        classes = {self._class_of.get(name, name) for name in found}
        return found[0] if len(classes) == 1 else None


def _without_one(word: str) -> Iterator[str]:
    yield word
    yield from (word[:at] + word[at + 1 :] for at in range(len(word)))


def _is_one_edit(word: str, other: str) -> bool:
    """Return whether two words are one edit apart, or none."""
    same = next(
        (n for n, pair in enumerate(zip(word, other, strict=False)) if pair[0] != pair[1]), None
    )
    if same is None:
        return abs(len(word) - len(other)) <= 1
    left, right = word[same:], other[same:]
    return (
        left[1:] in (right, right[1:])
        or left == right[1:]
        or left[:2] + left[2:] == right[1:2] + right[:1] + right[2:]
    )


def _is_word(word: str) -> bool:
    """Return whether a word, or what it is made of, is in the lexicon, as a proper name too."""
    if is_listed(word) or is_listed(word.capitalize()):
        return True
    stems = (word.removesuffix(ending) for ending in _ENDINGS if word.endswith(ending))
    return any(
        is_listed(form) for stem in stems for form in (stem, f"{stem}e", stem[:-1], f"{stem[:-1]}y")
    )


def emoji_apart(text: str) -> list[str]:
    """Return a text in pieces: what is between its emoji, and these, one after the other."""
    pieces, done = [], 0
    for found in _EMOJI.finditer(text):
        pieces += [text[done : found.start()], found[0]]
        done = found.end()
    return [*pieces, text[done:]]


def name_of_emoji(emoji: str, names: Collection[str]) -> str | None:
    """Return which of some names an emoji has; None if it shows none of these, or decorates."""
    if emoji in _DECORATIONS or not _EMOJI.fullmatch(emoji):
        return None
    name = unicodedata.name(emoji, "").lower().removeprefix("slice of ").removesuffix(" face")
    words = name.split()
    if not words or words[-1] in _SIGNS or not _OF_SEVERAL.isdisjoint(words):
        return None
    return next((known for known in (name, words[-1]) if known in names), None)
