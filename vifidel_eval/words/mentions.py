"""Mentions in captions of the things of a list of classes, by CHAIR's rules for words.

docs/metrics.md has the rules. `MentionFinder.read`, which reads texts for everything but CHAIR, has
more: what somebody does is no mention (*a dog watches*), nor is the camera that somebody looks at,
and some things are denied.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain, pairwise
from typing import Any, NamedTuple

from . import english
from .constructions import Standing, Word, may_hold, standings
from .content_words import STOP_WORDS, plain
from .english import Place, sentence_places, word_places
from .grammar import REACH, alternatives, comes_between, describes, is_verb
from .nouns import (
    BEFORE,
    BEHIND,
    MOST_BEFORE,
    describes_noun,
    is_one_of_a_maker,
    may_be_verb,
    means_no_thing,
    proper_names,
)
from .synonyms import ClassList
from .terms import ACTING, ANIMALS, Term
from .vocabulary import Token, Vocabulary

_SEAT = "seat"
_COMPOUND = 2  # words
_MOST_ALTERNATIVES = 4  # classes
_MOST_BETWEEN = 3  # adverbs between a subject and what it does
# A line that goes on: behind a word, and before one in lower case.
_WRAPPED = re.compile(r"(?<=[^\W\d_] )([^\W\d_]+)[^\S\n]*\n[^\S\n]*([a-z]+)\b(?![:=])")
# A list of what is not there, an item on each line.
_ABSENT = re.compile(
    r"^(.{0,80}\b(?:no|not|absent|missing|without)\b.{0,80}?):?[*_ ]*\n"
    r"((?:[^\S\n]*[-*+\u2022] +[\w' -]{1,30}(?:\n|$))+)",
    re.IGNORECASE | re.MULTILINE,
)
_ITEM = re.compile(r"\w[\w' -]*")
_OTHER_LINE_ENDS = re.compile("\r\n?|[\v\f\x85\u2028\u2029]")
_LINE_END = re.compile(r"\s*\n\s*")
_SENTENCE_ENDS = frozenset(". ! ? ; …".split())


class Phrase(NamedTuple):
    """Words of a text that mean one thing, and where they are: a claim if they name a thing."""

    text: str  #: which has a word vector: the text's word, or the list's name of several
    words: str  #: the text's own, in lower case
    category: str | None  #: the class of a thing
    start: int = 0  #: where they begin in the text, in characters
    end: int = 0  #: where they end; words that the text spells otherwise are all of it
    sentence: int = 0  #: the number of their sentence, from 0
    denied: bool = False  #: whether the text says that there is none
    alternatives: tuple[str, ...] = ()  #: classes that it may be instead: *a cat or a dog*


class Reading(NamedTuple):
    """What a text says."""

    claims: tuple[Phrase, ...]  #: the phrases that name a thing, in order
    words: tuple[str, ...]  #: the texts of its other phrases
    sentences: tuple[tuple[int, int], ...]  #: where each sentence begins and ends, in characters


class Mentions(NamedTuple):
    """The mentions of one caption, in order, and its length in tokens after joining terms."""

    found: tuple[Phrase, ...]
    tokens: int


class MentionFinder:
    """Finds the mentions of a list's classes in captions."""

    def __init__(self, classes: ClassList, vocabulary: Vocabulary | None = None) -> None:
        self.classes = classes
        self._vocabulary = Vocabulary(classes) if vocabulary is None else vocabulary
        self.class_of = self._vocabulary.class_of
        self._acting = self._kinds_of(ACTING)
        self._makers = {n for n, kind in classes.class_of.items() if kind.startswith("make of ")}
        self._toys = self._kinds_of(["toy"])
        self._people, self._animals = self._kinds_of(["person"]), self._kinds_of(ANIMALS)

    def with_names(self, own: Mapping[str, str]) -> MentionFinder:
        """Return a finder of more names, each with its class; to make it takes little time."""
        finder = object.__new__(MentionFinder)
        vars(finder).update(vars(self))
        finder._vocabulary = self._vocabulary.with_names(own)
        finder.class_of = finder._vocabulary.class_of
        return finder

    def __reduce__(self) -> tuple[Any, ...]:
        return MentionFinder, (self.classes, self._vocabulary)

    def find(self, caption: str) -> Mentions:
        """Return the mentions of a caption, in order, and its number of tokens."""
        text = caption if self.classes.published else plain(caption)
        pieces = list(map(self._vocabulary.reader(), english.tokens(text)))
        tokens = list(chain.from_iterable(pieces))
        counts = [int(not at) for piece in pieces for at in range(len(piece))]
        names = list(self._names(tokens))
        joined = sum(max(sum(counts[at:end]) - 1, 0) for at, end, _ in names)
        places = word_places(caption, [token.word for token in tokens], [*sentence_places(caption)])
        found = (
            Phrase(name, _joined(tokens[at:end]), self.class_of[name], start, behind, sentence)
            for at, end, name in names
            if name in self.class_of
            for (start, _, sentence), (_, behind, _) in [(places[at], places[end - 1])]
        )
        return Mentions(tuple(found), len(pieces) - joined)

    def read(self, text: str, stop_words: Collection[str]) -> Reading:
        """Return what a text says: the things that it claims or denies, and its other words."""
        sentences = tuple(sentence_places(text))
        phrases = self._phrases(text, stop_words, sentences)
        claims = tuple(phrase for phrase in phrases if phrase.category is not None)
        words = tuple(phrase.text for phrase in phrases if phrase.category is None)
        return Reading(claims, words, sentences)

    def phrases(self, text: str, stop_words: Collection[str]) -> list[Phrase]:
        """Return the content words of a text in order, terms of several words as one phrase."""
        return self._phrases(text, stop_words, tuple(sentence_places(text)))

    def _phrases(
        self, text: str, stop_words: Collection[str], sentences: Sequence[tuple[int, int]]
    ) -> list[Phrase]:
        look_up = self._vocabulary.reader(frozenset(stop_words))
        shown = self._in_lines(self._vocabulary.plain(_OTHER_LINE_ENDS.sub("\n", text)))
        tokens = list(chain.from_iterable(map(look_up, english.tokens(shown))))
        words = [token.word for token in tokens]
        places = word_places(text, words, sentences)
        things = self._things(tokens, words, proper_names(shown))
        may_deny = things and may_hold(words) and not self.classes.published
        standing = self._standings(tokens, things) if may_deny else {}
        alternatives = self._alternatives(words, things, standing) if "or" in words else {}
        phrases: list[Phrase] = []
        done = 0  # tokens
        for number, (at, end, name) in enumerate(things):
            if standing.get(number) is Standing.NOT_CLAIMED:  # its words name no thing
                continue
            phrases += _other_words(tokens, places, done, at)
            (start, _, sentence), (_, behind, _) = places[at], places[end - 1]
            token = tokens[at]
            if end - at > 1:
                named = [(name, _joined(tokens[at:end]), self.class_of.get(name))]
            elif token.category is not None:
                named = [(text, token.word, token.category) for text in token.texts]
            else:
                named = [(text, text, None) for text in token.texts]
            is_denied, others = number in standing, alternatives.get(number, ())
            phrases += [
                Phrase(text, own, category, start, behind, sentence, is_denied, others)
                for text, own, category in named
            ]
            done = end
        return phrases + _other_words(tokens, places, done, len(tokens))

    def _in_lines(self, text: str) -> str:
        """Return a text whose lists and wrapped phrases are on one line, and lines end with ";"."""
        if "\n" not in text:
            return text
        text = _ABSENT.sub(
            lambda found: f"{found[1]}: {', '.join(_ITEM.findall(found[2]))}\n", text
        )
        return _LINE_END.sub(" ; ", _WRAPPED.sub(self._unwrapped, text))

    def _alternatives(
        self,
        words: Sequence[str],
        things: Sequence[tuple[int, int, str]],
        not_asserted: Mapping[int, Standing],
    ) -> dict[int, tuple[str, ...]]:
        """Return the classes that things may be instead of their own, by their number.

        Many are a list of guesses, which one that is there makes no better, and neither does it
        with ever new ones: *a man or a cat, and a man or a dog*.
        """
        with_class = [number for number, (_, _, name) in enumerate(things) if name in self.class_of]
        places = [things[number][:2] for number in with_class]
        asserted = {at for at, number in enumerate(with_class) if number not in not_asserted}
        instead: dict[int, tuple[str, ...]] = {}
        first_with: dict[str, set[str]] = {}  # from a class to the first group it was in
        for group in alternatives(words, places, asserted):
            classes = [self.class_of[things[with_class[at]][2]] for at in group]
            together = set(classes)
            if len(together) > _MOST_ALTERNATIVES or any(
                not together <= first_with.setdefault(category, together) for category in together
            ):
                continue
            others = {
                kind: tuple(category for category in dict.fromkeys(classes) if category != kind)
                for kind in set(classes)
            }
            instead |= {
                with_class[at]: others[kind] for at, kind in zip(group, classes, strict=True)
            }
        return instead

    def _unwrapped(self, wrapped: re.Match[str]) -> str:
        """Return the words around the end of a line as one line, if a phrase goes on there."""
        last, following = wrapped[1], wrapped[2]
        goes_on = last.lower() in STOP_WORDS or following in STOP_WORDS
        # A hard hat, and no list of things.
        goes_on = goes_on or self._vocabulary.begins_term(last.lower(), following)
        return f"{last} {following}" if goes_on else wrapped[0]

    def _things(
        self, tokens: Sequence[Token], words: Sequence[str], proper: frozenset[tuple[str, str]]
    ) -> list[tuple[int, int, str]]:
        """Return `_names` without what names no thing where it stands."""
        things: list[tuple[int, int, str]] = []
        acts_until: dict[int, bool] = {}  # by where a name ends: whether somebody acts
        for at, end, name in self._names(tokens):
            acts = tokens[at].verb and self._is_verb(tokens, at, acts_until)
            if end - at == 1 and (acts or self._means_no_thing(tokens[at], words, at, proper)):
                continue
            if name in self._makers and not is_one_of_a_maker(words[max(at - 3, 0) : at]):
                continue
            if name in self.class_of:
                acts_until[end] = self.class_of[name] in self._acting
            things.append((at, end, name))
        return things

    @staticmethod
    def _means_no_thing(
        token: Token, words: Sequence[str], at: int, proper: frozenset[tuple[str, str]]
    ) -> bool:
        """Return whether a name means something else where it stands."""
        if not (token.is_ambiguous or proper):
            return False
        before, behind = words[max(at - MOST_BEFORE, 0) : at], words[at + 1 : at + 2]
        if token.is_ambiguous and means_no_thing(before, token.word, token.name or "", behind):
            return True
        return not proper.isdisjoint(pairwise(words[max(at - 1, 0) : at + 2]))

    @staticmethod
    def _is_verb(tokens: Sequence[Token], at: int, acts_until: Mapping[int, bool]) -> bool:
        """Return whether a name is what somebody does."""
        token, until = tokens[at], at
        while until and at - until < _MOST_BETWEEN and comes_between(tokens[until - 1].word):
            until -= 1
        before = tokens[max(until - 4, 0) : until]
        after = tokens[at + 1].word if at + 1 < len(tokens) else "."
        subject_is_one = bool(before) and before[-1].word == before[-1].form
        return is_verb(
            [token.word for token in before],
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
            category
            for category in set(self.class_of.values())
            if not some.isdisjoint(upward(category))
        )

    def _standings(
        self, tokens: Sequence[Token], things: Sequence[tuple[int, int, str]]
    ) -> dict[int, Standing]:
        """Return the things that a text does not assert, by their number."""
        words: list[Word] = []
        numbers: dict[int, int] = {}
        done = 0
        for number, (at, end, name) in enumerate(things):
            category = self.class_of.get(name)
            if category is not None and (end - at > 1 or tokens[at].texts):
                words += (Word(token.word) for token in tokens[done:at])
                numbers[len(words)] = number
                last = tokens[end - 1]
                kind = "animal" if category in self._animals else "thing"
                kind = "toy" if category in self._toys else kind
                if category in self._people and last.is_plural:
                    kind = "people"
                words.append(Word(_joined(tokens[at:end]), kind))
                done = end
        if not numbers:
            return {}
        words += (Word(token.word) for token in tokens[done:])
        return {numbers[place]: standing for place, standing in standings(words).items()}

    def _names(self, tokens: Sequence[Token]) -> Iterator[tuple[int, int, str]]:
        """Yield where each name begins and ends, and what it is called."""
        no_name = _SEAT if any(token.form == "toilet" for token in tokens) else None
        # In a list of names, such as *dog cat person*, none describes another.
        is_list = len(tokens) > _COMPOUND and all(token.name for token in tokens)
        end = 0
        for at, token in enumerate(tokens):
            if token.name is None or at < end:
                continue
            end, name = (at + 1, token.name) if token.is_alone else self._name(tokens, at)
            if end - at > 1:
                end, name = self._extended(tokens, end, name)
            if name is None or name == no_name:
                continue
            until = self._alternative_end(tokens, end)
            is_head = (
                until < len(tokens) and tokens[until].is_head and not tokens[end - 1].is_plural
            )
            if is_list or not (is_head and self._describes(tokens, at, until, name)):
                yield at, end, name

    def _alternative_end(self, tokens: Sequence[Token], end: int) -> int:
        """Return where a name ends, or the one behind it and *or*: *a train or bus window*."""
        if end + 1 >= len(tokens) or tokens[end].word != "or":
            return end
        other = tokens[end + 1]
        return end if other.name not in self.class_of or other.is_plural else end + 2

    def _name(self, tokens: Sequence[Token], at: int) -> tuple[int, str | None]:
        """Return where what begins at a token ends, and its name; none if it describes the next."""
        token = tokens[at]
        term = self._term(tokens, at)
        if term is None and token.describes:
            near = tokens[at : at + REACH]
            if describes([t.word for t in near], [t.form for t in near], self.class_of):
                return at + 1, None
        return (at + 1, token.name) if term is None else (at + len(term.words), term.becomes)

    def _extended(
        self, tokens: Sequence[Token], end: int, name: str | None
    ) -> tuple[int, str | None]:
        """Return where a name of several words ends, with a longer one of its kind behind it."""
        # A stuffed teddy bear: stuffed teddy, teddy bear.
        category, longer = self.class_of.get(name or ""), self._term(tokens, end - 1)
        if category is None or longer is None:
            return end, name
        other = self.class_of.get(longer.becomes)
        if other is None or category not in self.classes.kinds.upward(other):
            return end, name
        return end - 1 + len(longer.words), longer.becomes

    def _describes(self, tokens: Sequence[Token], at: int, end: int, name: str) -> bool:
        """Return whether a name describes the noun behind it: *dog house*."""
        last = tokens[end - 1]
        if name not in self.class_of:
            return False
        before = [token.word for token in tokens[max(at - BEFORE, 0) : at]]
        for back, word in enumerate(reversed(before)):
            if word in _SENTENCE_ENDS:
                before = before[len(before) - back :]
                break
        behind = [token.word for token in tokens[end : end + BEHIND]]
        head = self.class_of.get(tokens[end].form)
        if self.class_of[name] in self._people and (
            head is None or head in self._people or may_be_verb(behind[0])
        ):
            return False  # a woman skier is a woman; a woman pets
        return describes_noun(before, last.word, behind)

    @staticmethod
    def _term(tokens: Sequence[Token], at: int) -> Term | None:
        """Return the longest term that begins at a token."""
        best: Term | None = None
        for first in tokens[at].terms if at + 1 < len(tokens) else ():
            for word in tokens[at + 1].forms:
                alike, end = [first[word]] if word in first else [], at + 2
                while alike:
                    whole = (
                        term
                        for terms in alike
                        for term in terms.whole
                        if term.as_written
                        or tuple(token.form for token in tokens[at:end]) == term.words
                    )
                    longer = min(whole, key=lambda term: term.order, default=None)
                    if longer and (best is None or len(longer.words) > len(best.words)):
                        best = longer
                    followers = tokens[end].forms if end < len(tokens) else ()
                    alike = [terms[w] for terms in alike for w in followers if w in terms]
                    end += 1
        return best


def _other_words(
    tokens: Sequence[Token], places: Sequence[Place], start: int, end: int
) -> list[Phrase]:
    """Return the content words of tokens that are part of no name."""
    return [
        Phrase(word, word, None, *places[at])
        for at in range(start, end)
        for word in tokens[at].content
    ]


def _joined(tokens: Sequence[Token]) -> str:
    return " ".join(token.word for token in tokens)


#: The finder of a list's mentions, which all who read captions by it share.
finder_of = lru_cache(maxsize=8)(MentionFinder)
