"""Vocabulary: what tokens of texts are called, by the names of a list and those of users.

A token is looked up once, whatever stands beside it. With the published list the rules are those of
the published program to the letter: words are looked up and joined in their singular form alone.

With other lists, misspelled names and emoji are names too. What is no word of English and one edit
away from a name is that name. An edit inserts, deletes, replaces or swaps letters (Damerau, CACM
1964); whether letters are doubled does not count: *girafe, zeebra, brocolli, umberella*. Emoji have
the names that Unicode gives them: 🐕 is DOG.
"""

from __future__ import annotations

import re
import unicodedata
from collections import ChainMap
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import cached_property, lru_cache, partial
from typing import Any, NamedTuple

from ..io.caches import Remembered
from .content_words import piece_words, plain, runs_and_marks
from .english import is_listed, singular, word_class
from .grammar import DESCRIBING, VERBS
from .nouns import describes_word, is_plural, may_be_described, may_mean_no_thing
from .synonyms import ClassList
from .terms import TERMS, Term, Terms, spelled_by_users, spelling, spellings, term_forms, term_tree

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
        with_doubled_letter = {name for name in near if _DOUBLED.sub(r"\1", name) == plain}
        names = sorted(with_doubled_letter or near)
        classes = {self._class_of.get(name, name) for name in names}
        return names[0] if len(classes) == 1 else None


def _without_one(word: str) -> Iterator[str]:
    yield word
    yield from (word[:at] + word[at + 1 :] for at in range(len(word)))


def _is_one_edit(word: str, other: str) -> bool:
    """Return whether two words are one edit apart, or none."""
    start = next(
        (n for n, pair in enumerate(zip(word, other, strict=False)) if pair[0] != pair[1]), None
    )
    if start is None:
        return abs(len(word) - len(other)) <= 1
    left, right = word[start:], other[start:]
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


def split_at_emoji(text: str) -> list[str]:
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
    return next((candidate for candidate in (name, words[-1]) if candidate in names), None)


_ORDER_OF_MORE = 1 << 20  # terms of users come after those of a list
_NO_STOP_WORDS: frozenset[str] = frozenset()

# One word as it is written: 3.5, t.v., 's.
_ONE_WORD = re.compile(r"\d+(?:[.,:/]\d+)*|(?:[^\W\d_]\.)+[^\W\d_]?|n't|'\w*|[.!?]+")
_JOINERS = ("-", "_")
_DASHES = frozenset("-\u2012\u2013\u2014\u2015")


class Token(NamedTuple):
    """What is known of a token, whatever stands beside it."""

    word: str
    form: str  # the singular one
    forms: tuple[str, ...]  # the words that it may be in a term
    content: tuple[str, ...]  # its content words, if it is no name
    is_head: bool  # whether a noun before it may describe it
    name: str | None = None  # the name it is or begins; None for other tokens
    category: str | None = None  # the class of this name
    texts: tuple[str, ...] = ()  # whose vectors a name has; stop words have none
    terms: tuple[Terms, ...] = ()  # those that it begins
    is_alone: bool = True  # whether it is called so beside any tokens
    describes: bool = False  # whether it may only describe the next word
    is_plural: bool = False
    is_ambiguous: bool = False  # whether its name may mean something else
    verb: str | None = None  # what somebody does, if it may be that


class Vocabulary:
    """Looks up tokens among the names of a list of classes."""

    def __init__(self, classes: ClassList) -> None:
        self._classes = classes
        self.class_of: Mapping[str, str] = classes.class_of
        names: dict[str, str | None] = dict.fromkeys(classes.added)
        if not classes.published:
            names |= {**dict.fromkeys(classes.no_class), **classes.class_of}
        stuff = {name for name, category in classes.class_of.items() if category in classes.stuff}
        qualities = {name for name in classes.class_of if word_class(name) == "JJ"}
        self._describing = frozenset() if classes.published else DESCRIBING | stuff | qualities
        # As the list spells them: its *cell-phone* is what *cell phone* becomes.
        as_listed = str if classes.published else lambda name: classes.name_of(name) or name
        terms = [
            Term(tuple(term.split()), as_listed(becomes), not classes.published, order)
            for order, (term, becomes) in enumerate(TERMS.items())
            if term not in names
        ]
        simplify = None if classes.published else plain
        users = frozenset(() if classes.published else classes.added)
        # Names by their other spellings, which the published program does not know.
        self._spelled: Mapping[str, str] = {}
        if not classes.published:
            self._spelled = {**spelled_by_users(users), **classes.spelled}
        self._as_written: Mapping[str, str]  # words that stand for a name as they are written
        self._as_written, further = spellings(names, users, len(terms), simplify)
        self._terms: tuple[Terms, ...] = (term_tree([*terms, *further]),)
        self._known = frozenset(self._terms[0]).union(self._as_written, classes.class_of)
        self._base: Vocabulary | None = None  # which knows the words that are not known here
        self._misspelled: Misspelled | None = None
        if not classes.published:
            self._misspelled = Misspelled(self._known, self.class_of)
        self._forget_tokens()

    def _forget_tokens(self) -> None:
        """Begin with no token known; those looked up are kept, as they come again and again."""
        self._readers = lru_cache(maxsize=8)(
            lambda stop_words: Remembered(partial(self._read, stop_words)).__getitem__
        )

    def with_names(self, own: Mapping[str, str]) -> Vocabulary:
        """Return a vocabulary of more names, each with its class; to make it takes little time."""
        extended = object.__new__(Vocabulary)  # a copy by `__reduce__` would read the list again
        vars(extended).update(vars(self))
        extended.class_of = ChainMap(dict(own), self.class_of)  # type: ignore[arg-type]
        spelled = spelled_by_users(own)
        extended._spelled = ChainMap(spelled, self._spelled)  # type: ignore[arg-type]
        simplify = None if self._classes.published else plain
        as_written, terms = spellings(own, own, _ORDER_OF_MORE, simplify)
        extended._as_written = ChainMap(as_written, self._as_written)  # type: ignore[arg-type]
        extended._terms = (term_tree(terms), *self._terms)
        extended._known = frozenset(extended._terms[0]).union(as_written, own, spelled)
        extended._base = self
        extended._forget_tokens()
        return extended

    def __reduce__(self) -> tuple[Any, ...]:
        if self._base is None:
            return Vocabulary, (self._classes,)
        return Vocabulary.with_names, (self._base, self.class_of.maps[0])  # type: ignore[attr-defined]

    def reader(
        self, stop_words: frozenset[str] = _NO_STOP_WORDS
    ) -> Callable[[str], tuple[Token, ...]]:
        """Return what looks up a token of a text, which may have several words: *dog-cat*."""
        return self._readers(stop_words)

    def plain(self, text: str) -> str:
        """Return a text as it is read: without markup, with those emoji that show a thing."""
        if self._classes.published:
            return text
        if text.isascii():
            return plain(text)
        *pieces, last = split_at_emoji(text)
        between = (
            f" {piece} " if name_of_emoji(piece, self.class_of) else plain(piece)
            for piece in pieces
        )
        return f"{''.join(between)}{plain(last)}"

    def _read(self, stop_words: frozenset[str], token: str) -> tuple[Token, ...]:
        parts = self._parts(token)
        if self._base is not None and not any(map(self._is_own, parts)):
            return self._base.reader(stop_words)(token)
        return tuple(self._look_up(stop_words, word) for word in parts)

    def _is_own(self, word: str) -> bool:
        """Return whether a word is among these names, and not those of the `_base`."""
        form = singular(word)
        return not self._known.isdisjoint((*term_forms(word, form), spelling(word), spelling(form)))

    def _knows(self, words: Iterable[str]) -> bool:
        base = self._base
        return not self._known.isdisjoint(words) or (base is not None and base._knows(words))

    def _parts(self, token: str) -> tuple[str, ...]:
        """Return the words of a token, and what stands between them and joins no name."""
        if (
            self._classes.published
            or token.isalnum()
            or self._knows((token, singular(token)))
            or _ONE_WORD.fullmatch(token)
        ):
            return (token,)
        if _DASHES.issuperset(token):
            return (",",)
        parts = runs_and_marks(token)
        if parts[1:] == ["-", "free"]:  # cat-free
            return parts[0], "-free"
        is_term = len(parts) > 1 and self.begins_term(parts[0], *parts[2:3])
        if "-" in parts and describes_word(parts[-1]) and not is_term:
            return (token,)  # dog-friendly, horse-drawn, and not *drive-in cinema*
        # Two names that are one thing together are a name: *fire-hydrant*, and not *dog-cat*.
        joins = (
            mark in _JOINERS
            and 0 < at < len(parts) - 1
            and not self._name_two_things(parts[at - 1], parts[at + 1])
            for at, mark in enumerate(parts)
        )
        return tuple(
            "," if part in _JOINERS else part
            for part, is_left_out in zip(parts, joins, strict=True)
            if not is_left_out
        )

    def begins_term(self, word: str, following: str = "") -> bool:
        """Return whether a name of several words begins with two words."""
        return any(following in terms[word] for terms in self._terms if word in terms)

    def _name_two_things(self, word: str, other: str) -> bool:
        """Return whether two words are names of two things."""
        forms = [(word, singular(word)), (other, singular(other))]
        begun = [terms[form] for terms in self._terms for form in forms[0] if form in terms]
        if any(form in terms for terms in begun for form in forms[1]):
            return False
        return all(any(form in self.class_of for form in of_word) for of_word in forms)

    def _look_up(self, stop_words: frozenset[str], word: str) -> Token:
        if self._base is not None and not self._is_own(word):
            return self._base._look_up(stop_words, word)
        form = singular(word)
        name = self._as_written.get(word, form)
        text = word
        if name not in self.class_of and self._spelled:
            otherwise = self._spelled.get(spelling(word)) or self._spelled.get(spelling(form))
            name, text = (name, word) if otherwise is None else (otherwise, otherwise)
        forms = term_forms(word, form)
        if text is word and self._misspelled is not None and self._known.isdisjoint(forms):
            initials = word.replace(".", "")  # T.V.
            near = initials if initials in self._known else None
            near = near or self._misspelled.name_of(word) or self._misspelled.name_of(form)
            near = near or (None if word.isascii() else name_of_emoji(word, self.class_of))
            if near is not None:
                form, name, text, forms = near, near, near, (near,)
        content = _content_words(word, stop_words)
        is_noun = may_be_described(word, name in self._classes.class_of)
        is_head = is_noun and not self._classes.published
        if text is word and self._known.isdisjoint(forms):
            return Token(word, form, forms, content, is_head)
        category = self.class_of.get(name)
        texts = (text,) if category is not None else _content_words(word, _NO_STOP_WORDS)
        terms = tuple(begun[w] for begun in self._terms for w in forms if w in begun)
        describes = word in self._describing
        return Token(
            word,
            form,
            term_forms(word, form),
            content,
            is_head,
            name,
            category,
            texts=() if word in stop_words else texts,
            terms=terms,
            is_alone=not terms and not describes,
            describes=describes,
            is_plural=is_plural(word, form, name),
            is_ambiguous=may_mean_no_thing(word, name),
            verb=next((word for word in (name, form) if word in VERBS), None),
        )


def _content_words(token: str, stop_words: frozenset[str]) -> tuple[str, ...]:
    """Return the words in a token; none in what a contraction leaves behind (*'ll*, *n't*)."""
    if token.startswith("'") or token == "n't":
        return ()
    return tuple(word for word in piece_words(token) if word not in stop_words)
