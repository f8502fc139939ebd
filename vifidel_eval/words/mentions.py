"""Mentions in captions of the things of a list of classes, by CHAIR's rules for words.

docs/chair.md has the rules. `MentionFinder.units`, which reads captions for everything but CHAIR,
has three more: what somebody does is no mention (*a dog watches*), nor is the camera that somebody
looks at, and some things are denied. With the published list the rules are those of the published
program to the letter: words are looked up and joined in their singular form alone.
"""

from __future__ import annotations

import re
from collections import ChainMap
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from itertools import chain, pairwise
from typing import Any, NamedTuple

from ..io.records import Remembered
from . import emoji
from .alternatives import alternatives
from .constructions import Standing, Word, is_cue_of_construction, standings
from .content_words import STOP_WORDS, piece_words, plain, runs_and_marks
from .english import singular, tokens
from .grammar import (
    DESCRIBING,
    REACH,
    VERBS,
    comes_between,
    describes,
    is_verb,
)
from .misspelled import Misspelled
from .nouns import (
    BEFORE,
    BEHIND,
    describes_noun,
    describes_word,
    is_plural,
    may_be_described,
    may_be_verb,
)
from .senses import MOST_BEFORE, is_one_of_a_maker, may_mean_no_thing, means_no_thing, proper_names
from .spelling import spelling
from .synonyms import ClassList
from .terms import ACTING, ANIMALS, TERMS, Term, Terms, spelled_by_users, spellings, tree, ways
from .word_classes import word_class

_SEAT = "seat"
_COMPOUND = 2  # words
_ORDER_OF_MORE = 1 << 20  # behind the terms of a list
_MOST_BETWEEN = 3  # adverbs between a subject and what it does
_NONE: frozenset[str] = frozenset()

# One word as it is written: 3.5, t.v., 's.
_ONE_WORD = re.compile(r"\d+(?:[.,:/]\d+)*|(?:[^\W\d_]\.)+[^\W\d_]?|n't|'\w*|[.!?]+")
_JOINERS = ("-", "_")
# A line that goes on: behind a word, and before one in lower case.
_WRAPPED = re.compile(r"(?<=[^\W\d_] )([^\W\d_]+)[^\S\n]*\n[^\S\n]*([a-z]+)\b(?![:=])")
_LINE_END = re.compile(r"\s*\n\s*")
_SENTENCE_ENDS = frozenset(". ! ? ; …".split())
_DASHES = frozenset("-\u2012\u2013\u2014\u2015")


class Unit(NamedTuple):
    """Words of a caption that mean one thing: a mention, a term, or a single word."""

    text: str  # which has a word vector: the caption's word, or the list's name of several
    words: str  # the caption's own, in lower case
    category: str | None  # the class of a thing
    denied: bool = False  # whether the caption says that there is none
    alternatives: tuple[str, ...] = ()  # classes that it may be instead: *a cat or a dog*


class Mentions(NamedTuple):
    """The mentions of one caption, in order, and its length in tokens after joining terms."""

    found: tuple[Unit, ...]
    tokens: int


class _Token(NamedTuple):
    """What a finder knows of a token, whatever stands beside it."""

    word: str
    form: str  # the singular one
    name: str | None  # what it is called; None if it neither is a name nor begins a term
    alone: bool  # whether it is called so wherever it stands; else the tokens beside it decide
    terms: tuple[Terms, ...]  # those that it begins
    describes: bool  # whether it may only describe the next word
    is_plural: bool
    is_head: bool  # whether a noun before it may describe it
    is_cue: bool  # whether a construction may have it
    is_other: bool  # whether its name may mean something else
    verb: str | None  # what somebody does, if it may be that
    open: tuple[Unit, ...]  # the units that it is where it is no name
    named: tuple[Unit, ...]  # those that it is where it is one


class MentionFinder:
    """Finds the mentions of a list's classes in captions."""

    def __init__(self, classes: ClassList) -> None:
        self.classes = classes
        self.class_of: Mapping[str, str] = classes.class_of
        own: dict[str, str | None] = dict.fromkeys(classes.added)
        if not classes.published:
            own |= {**dict.fromkeys(classes.no_class), **classes.class_of}
        stuff = {name for name, one in classes.class_of.items() if one in classes.stuff}
        qualities = {name for name in classes.class_of if word_class(name) == "JJ"}
        self._describing = frozenset() if classes.published else DESCRIBING | stuff | qualities
        self._acting = self._kinds_of(ACTING)
        self._makers = {n for n, one in classes.class_of.items() if one.startswith("make of ")}
        self._toys = self._kinds_of(["toy"])
        self._people, self._animals = self._kinds_of(["person"]), self._kinds_of(ANIMALS)
        # As the list spells them: its *cell-phone* is what *cell phone* becomes.
        as_listed = str if classes.published else lambda name: classes.name_of(name) or name
        terms = [
            Term(tuple(term.split()), as_listed(becomes), not classes.published, order)
            for order, (term, becomes) in enumerate(TERMS.items())
            if term not in own
        ]
        as_read = None if classes.published else plain
        users = frozenset(() if classes.published else classes.added)
        # Names that are spelled otherwise, by their spelling; to the published program none are.
        self._spelled: Mapping[str, str] = {}
        if not classes.published:
            self._spelled = {**spelled_by_users(users), **classes.spelled}
        self._as_written: Mapping[str, str]  # words that stand for a name as they are written
        self._as_written, more = spellings(own, users, len(terms), as_read)
        self._terms: tuple[Terms, ...] = (tree([*terms, *more]),)
        self._known = frozenset(self._terms[0]).union(self._as_written, classes.class_of)
        self._rest: MentionFinder | None = None  # what knows the words that are not known here
        self._near = None if classes.published else Misspelled(self._known, self.class_of).name_of
        self._begin()

    def _begin(self) -> None:
        # The same words come again and again, and all captions share their units.
        self._reader = lru_cache(maxsize=8)(
            lambda stop_words: Remembered(partial(self._read_token, stop_words)).__getitem__
        )

    def with_names(self, own: Mapping[str, str]) -> MentionFinder:
        """Return a finder of more names, each with its class; to make it takes little time."""
        finder = object.__new__(MentionFinder)  # a copy by `__reduce__` would read the list again
        vars(finder).update(vars(self))
        finder.class_of = ChainMap(dict(own), self.class_of)  # type: ignore[arg-type]
        spelled = spelled_by_users(own)
        finder._spelled = ChainMap(spelled, self._spelled)  # type: ignore[arg-type]
        as_read = None if self.classes.published else plain
        as_written, terms = spellings(own, own, _ORDER_OF_MORE, as_read)
        finder._as_written = ChainMap(as_written, self._as_written)  # type: ignore[arg-type]
        finder._terms = (tree(terms), *self._terms)
        finder._known = frozenset(finder._terms[0]).union(as_written, own, spelled)
        finder._rest = self
        finder._begin()
        return finder

    def __reduce__(self) -> tuple[Any, ...]:
        if self._rest is None:
            return MentionFinder, (self.classes,)
        return MentionFinder.with_names, (self._rest, self.class_of.maps[0])  # type: ignore[attr-defined]

    def find(self, caption: str) -> Mentions:
        """Return the mentions of a caption, in order, and its number of tokens."""
        pieces = list(map(self._reader(_NONE), tokens(self._plain(caption))))
        read = list(chain.from_iterable(pieces))
        counts = [int(not at) for piece in pieces for at in range(len(piece))]
        found: list[Unit] = []
        length = len(pieces)
        for at, end, name in self._names(read):
            length -= max(sum(counts[at:end]) - 1, 0)
            category = self.class_of.get(name)
            if category is not None:
                found.append(Unit(name, _joined(read[at:end]), category))
        return Mentions(tuple(found), length)

    def units(self, caption: str, stop_words: Collection[str], grammar: bool = True) -> list[Unit]:
        """Return the content words of a caption in order, terms of several words as one unit."""
        reader = self._reader(frozenset(stop_words))
        text = self._plain(caption) if caption.isascii() else self._plain_with_emoji(caption)
        if grammar and "\n" in text:
            text = _LINE_END.sub(" ; ", _WRAPPED.sub(self._unwrapped, text))
        read = list(chain.from_iterable(map(reader, tokens(text))))
        # Without `grammar` the mentions are those of `find`.
        things = self._things(read, proper_names(text)) if grammar else list(self._names(read))
        has_cue = grammar and any(token.is_cue for token in read)
        not_asserted = self._standings(read, things) if has_cue else {}
        has_or = grammar and any(token.word == "or" for token in read)
        instead = self._alternatives(read, things, not_asserted) if has_or else {}
        found: list[Unit] = []
        done = 0
        for number, (at, end, name) in enumerate(things):
            standing = not_asserted.get(number)
            if standing is Standing.NOT_CLAIMED:  # words that name no thing
                continue
            found += chain.from_iterable(token.open for token in read[done:at])
            done = end
            units = read[at].named
            if end - at > 1:
                units = (Unit(name, _joined(read[at:end]), self.class_of.get(name)),)
            if standing:
                units = tuple(unit._replace(denied=True) for unit in units)
            elif number in instead:
                units = tuple(unit._replace(alternatives=instead[number]) for unit in units)
            found += units
        found += chain.from_iterable(token.open for token in read[done:])
        return found

    def _alternatives(
        self,
        read: Sequence[_Token],
        things: Sequence[tuple[int, int, str]],
        not_asserted: Mapping[int, Standing],
    ) -> dict[int, tuple[str, ...]]:
        """Return the classes that things may be instead of their own, by their number."""
        words = [token.word for token in read]
        named = [number for number, (_, _, name) in enumerate(things) if name in self.class_of]
        places = [things[number][:2] for number in named]
        asserted = {at for at, number in enumerate(named) if number not in not_asserted}
        return {
            named[at]: tuple(
                self.class_of[things[named[other]][2]] for other in group if other != at
            )
            for group in alternatives(words, places, asserted)
            for at in group
        }

    def _unwrapped(self, wrapped: re.Match[str]) -> str:
        """Return the words around the end of a line as one line, if a phrase goes on there."""
        last, following = wrapped[1], wrapped[2]
        goes_on = last.lower() in STOP_WORDS or following in STOP_WORDS
        # A hard hat, and no list of things.
        words = [last.lower(), "-", following]
        return f"{last} {following}" if goes_on or self._begin_a_term(words) else wrapped[0]

    def _things(
        self, read: Sequence[_Token], proper: frozenset[tuple[str, str]] = frozenset()
    ) -> list[tuple[int, int, str]]:
        """Return `_names` without what names no thing where it stands."""
        found: list[tuple[int, int, str]] = []
        acts_until: dict[int, bool] = {}  # by where a name ends: whether somebody acts
        for at, end, name in self._names(read):
            acts = read[at].verb and self._is_verb(read, at, acts_until)
            if end - at == 1 and (acts or self._means_no_thing(read, at, name, proper)):
                continue
            if name in self._makers and not is_one_of_a_maker(
                [t.word for t in read[max(at - 3, 0) : at]]
            ):
                continue
            if name in self.class_of:
                acts_until[end] = self.class_of[name] in self._acting
            found.append((at, end, name))
        return found

    @staticmethod
    def _means_no_thing(
        read: Sequence[_Token], at: int, name: str, proper: frozenset[tuple[str, str]]
    ) -> bool:
        """Return whether a name means something else where it stands."""
        if not (read[at].is_other or proper):
            return False
        before = [token.word for token in read[max(at - MOST_BEFORE, 0) : at]]
        behind = [token.word for token in read[at + 1 : at + 2]]
        if read[at].is_other and means_no_thing(before, read[at].word, name, behind):
            return True
        around = pairwise((*before[-1:], read[at].word, *behind))
        return not proper.isdisjoint(around)

    @staticmethod
    def _is_verb(read: Sequence[_Token], at: int, acts_until: Mapping[int, bool]) -> bool:
        """Return whether a name is what somebody does."""
        token, until = read[at], at
        while until and at - until < _MOST_BETWEEN and comes_between(read[until - 1].word):
            until -= 1
        before = read[max(until - 4, 0) : until]
        after = read[at + 1].word if at + 1 < len(read) else "."
        subject_is_one = bool(before) and before[-1].word == before[-1].form
        return is_verb(
            [one.word for one in before],
            token.word,
            after,
            acts_until.get(until),
            (subject_is_one, token.word == token.verb),
        )

    def _kinds_of(self, names: Iterable[str]) -> frozenset[str]:
        """Return the classes of some names and all kinds of them."""
        some = {self.class_of.get(name) for name in names} - {None}
        upward = self.classes.kinds.upward
        return frozenset(
            one for one in set(self.class_of.values()) if not some.isdisjoint(upward(one))
        )

    def _standings(
        self, read: Sequence[_Token], things: Sequence[tuple[int, int, str]]
    ) -> dict[int, Standing]:
        """Return the things that a text does not assert, by their number."""
        words: list[Word] = []
        numbers: dict[int, int] = {}
        done = 0
        for number, (at, end, name) in enumerate(things):
            category = self.class_of.get(name)
            if category is not None and (end - at > 1 or read[at].named):
                words += (Word(token.word) for token in read[done:at])
                numbers[len(words)] = number
                last = read[end - 1]
                kind = "animal" if category in self._animals else "thing"
                kind = "toy" if category in self._toys else kind
                if category in self._people and last.is_plural:
                    kind = "people"
                words.append(Word(_joined(read[at:end]), kind))
                done = end
        if not numbers:
            return {}
        words += (Word(token.word) for token in read[done:])
        return {numbers[place]: standing for place, standing in standings(words).items()}

    def _plain_with_emoji(self, caption: str) -> str:
        """Return a caption as `_plain` does, with those emoji that show a thing."""
        *pieces, last = emoji.apart(caption)
        if self.classes.published or not pieces:
            return self._plain(caption)
        between = (
            f" {piece} " if emoji.name_of_emoji(piece, self.class_of) else self._plain(piece)
            for piece in pieces
        )
        return f"{''.join(between)}{self._plain(last)}"

    def _plain(self, caption: str) -> str:
        return caption if self.classes.published else plain(caption)

    def _read_token(self, stop_words: frozenset[str], token: str) -> tuple[_Token, ...]:
        parts = self._parts(token)
        if self._rest is not None and not any(map(self._is_own, parts)):
            return self._rest._reader(stop_words)(token)
        return tuple(self._look_up(stop_words, word) for word in parts)

    def _is_own(self, word: str) -> bool:
        """Return whether a word is among the names of this finder, and not of its `_rest`."""
        form = singular(word)
        return not self._known.isdisjoint((*ways(word, form), spelling(word), spelling(form)))

    def _knows(self, words: Iterable[str]) -> bool:
        rest = self._rest
        return not self._known.isdisjoint(words) or (rest is not None and rest._knows(words))

    def _parts(self, token: str) -> tuple[str, ...]:
        """Return the words of a token, and what stands between them and joins no name."""
        if (
            self.classes.published
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
        if "-" in parts and describes_word(parts[-1]) and not self._begin_a_term(parts):
            return (token,)  # dog-friendly, horse-drawn, and not *drive-in cinema*
        # Two names that are one thing together are a name: *fire-hydrant*, and not *dog-cat*.
        joins = (
            mark in _JOINERS
            and 0 < at < len(parts) - 1
            and not self._are_two(parts[at - 1], parts[at + 1])
            for at, mark in enumerate(parts)
        )
        return tuple(
            "," if part in _JOINERS else part
            for part, is_left_out in zip(parts, joins, strict=True)
            if not is_left_out
        )

    def _begin_a_term(self, parts: Sequence[str]) -> bool:
        """Return whether what stands before and behind a hyphen begins a term."""
        first, _, *rest = parts
        return any(rest[0] in terms[first] for terms in self._terms if rest and first in terms)

    def _are_two(self, word: str, other: str) -> bool:
        """Return whether two words are names of two things."""
        forms = [(word, singular(word)), (other, singular(other))]
        begun = [terms[one] for terms in self._terms for one in forms[0] if one in terms]
        if any(one in terms for terms in begun for one in forms[1]):
            return False
        return all(any(one in self.class_of for one in of_word) for of_word in forms)

    def _look_up(self, stop_words: frozenset[str], word: str) -> _Token:
        if self._rest is not None and not self._is_own(word):
            return self._rest._look_up(stop_words, word)
        form = singular(word)
        name = self._as_written.get(word, form)
        text = word
        if name not in self.class_of and self._spelled:
            otherwise = self._spelled.get(spelling(word)) or self._spelled.get(spelling(form))
            name, text = (name, word) if otherwise is None else (otherwise, otherwise)
        forms = ways(word, form)
        own = not self.classes.published
        is_open = _open_units(word, stop_words)
        is_head, is_cue = own and may_be_described(word), own and is_cue_of_construction(word)
        if text is word and self._near is not None and self._known.isdisjoint(forms):
            initials = word.replace(".", "")  # T.V.
            near = initials if initials in self._known else self._near(word) or self._near(form)
            near = near or emoji.name_of_emoji(word, self.class_of)
            if near is not None:
                form, name, text, forms = near, near, near, (near,)
        if text is word and self._known.isdisjoint(forms):
            flags = (False, False, is_head, is_cue, False)
            return _Token(word, form, None, True, (), *flags, None, is_open, ())
        category = self.class_of.get(name)
        named: tuple[Unit, ...] = ()
        if word not in stop_words:
            of_none = category is None
            named = _open_units(word, _NONE) if of_none else (Unit(text, word, category),)
        terms = tuple(of[w] for of in self._terms for w in forms if w in of)
        describes = word in self._describing
        alone = not terms and not describes
        verb = next((one for one in (name, form) if one in VERBS), None)
        is_other = may_mean_no_thing(word, name)
        flags = (describes, is_plural(word, form, name), is_head, is_cue, is_other)
        return _Token(word, form, name, alone, terms, *flags, verb, is_open, named)

    def _names(self, read: Sequence[_Token]) -> Iterator[tuple[int, int, str]]:
        """Yield where each name begins and ends, and what it is called."""
        no_name = _SEAT if "toilet" in [token.form for token in read] else None
        # In a list of names, such as *dog cat person*, none describes another.
        is_list = len(read) > _COMPOUND and all(token.name for token in read)
        end = 0
        for at, token in enumerate(read):
            if at < end or token.name is None:
                continue
            end, name = (at + 1, token.name) if token.alone else self._name(read, at)
            if end - at > 1:
                end, name = self._extended(read, end, name)
            if name is None or name == no_name:
                continue
            is_head = end < len(read) and read[end].is_head and not read[end - 1].is_plural
            if is_list or not (is_head and self._describes(read, at, end, name)):
                yield at, end, name

    def _name(self, read: Sequence[_Token], at: int) -> tuple[int, str | None]:
        """Return where what begins at a token ends, and its name; none if it describes the next."""
        token = read[at]
        term = self._term(read, at)
        if term is None and token.describes:
            near = read[at : at + REACH]
            if describes([t.word for t in near], [t.form for t in near], self.class_of):
                return at + 1, None
        return (at + 1, token.name) if term is None else (at + len(term.words), term.becomes)

    def _extended(
        self, read: Sequence[_Token], end: int, name: str | None
    ) -> tuple[int, str | None]:
        """Return where a name of several words ends, with a longer one of its kind behind it."""
        # A stuffed teddy bear: stuffed teddy, teddy bear.
        category, longer = self.class_of.get(name or ""), self._term(read, end - 1)
        if category is None or longer is None:
            return end, name
        other = self.class_of.get(longer.becomes)
        if other is None or category not in self.classes.kinds.upward(other):
            return end, name
        return end - 1 + len(longer.words), longer.becomes

    def _describes(self, read: Sequence[_Token], at: int, end: int, name: str) -> bool:
        """Return whether a name describes the noun behind it: *dog house*."""
        last = read[end - 1]
        if name not in self.class_of:
            return False
        before = [token.word for token in read[max(at - BEFORE, 0) : at]]
        for back, word in enumerate(reversed(before)):
            if word in _SENTENCE_ENDS:
                before = before[len(before) - back :]
                break
        behind = [token.word for token in read[end : end + BEHIND]]
        head = self.class_of.get(read[end].form)
        if self.class_of[name] in self._people and (
            head is None or head in self._people or may_be_verb(behind[0])
        ):
            return False  # a woman skier is a woman; a woman pets
        return describes_noun(before, last.word, behind)

    @staticmethod
    def _term(read: Sequence[_Token], at: int) -> Term | None:
        """Return the longest term that begins at a token."""
        best: Term | None = None
        for first in read[at].terms if at + 1 < len(read) else ():
            for word in ways(*read[at + 1][:2]):
                alike, end = [first[word]] if word in first else [], at + 2
                while alike:
                    whole = (
                        term
                        for terms in alike
                        for term in terms.whole
                        if term.as_written or tuple(one.form for one in read[at:end]) == term.words
                    )
                    longer = min(whole, key=lambda term: term.order, default=None)
                    if longer and (best is None or len(longer.words) > len(best.words)):
                        best = longer
                    followers = ways(*read[end][:2]) if end < len(read) else ()
                    alike = [terms[w] for terms in alike for w in followers if w in terms]
                    end += 1
        return best


def _joined(read: Sequence[_Token]) -> str:
    return " ".join(token.word for token in read)


def _open_units(token: str, stop_words: frozenset[str]) -> tuple[Unit, ...]:
    """Return the words in a token; none in what a contraction leaves behind (*'ll*, *n't*)."""
    if token.startswith("'") or token == "n't":
        return ()
    words = (word for word in piece_words(token) if word not in stop_words)
    return tuple(Unit(word, word, None) for word in words)


#: The finder of a list's mentions, which all who read captions by it share.
finder_of = lru_cache(maxsize=8)(MentionFinder)
