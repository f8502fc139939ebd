"""Mentions in captions of the things of a list of classes, by CHAIR's rules for words.

docs/chair.md has the rules. `MentionFinder.units`, which reads captions for everything but CHAIR,
has three more: what somebody does is no mention (*a dog watches*), nor is the camera that somebody
looks at, and some things are denied. With the published list the rules are those of the published
program to the letter: words are looked up and joined in their singular form alone.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from itertools import chain, pairwise
from typing import NamedTuple

from ..io.records import Remembered
from .constructions import Standing, Word, is_cue_of_construction, standings
from .content_words import piece_words, plain, runs_and_marks
from .english import irregular_plural, singular, tokens
from .grammar import (
    DESCRIBING,
    REACH,
    VERBS,
    comes_between,
    describes,
    is_verb,
)
from .nouns import (
    BEFORE,
    BEHIND,
    describes_noun,
    describes_word,
    is_plural,
    is_quality,
    may_be_described,
    may_be_verb,
)
from .misspelled import Misspelled
from .synonyms import ClassList
from .word_classes import word_class

_YOUNG_OR_GROWN = ("baby", "adult")
_ANIMALS = "bird cat dog horse sheep cow elephant bear zebra giraffe animal cub".split()

_ACTING = ["person", "bicycle", "motorcycle", "car", "bus", "truck", "train", "boat", "airplane"]
_ACTING += _ANIMALS

# What two words become. Terms that are of no class keep their words from being looked up.
_TERMS = {
    **{
        term: term
        for term in (
            "motor bike", "motor cycle", "air plane", "traffic light", "street light",
            "traffic signal", "stop light", "fire hydrant", "stop sign", "parking meter",
            "suit case", "sports ball", "baseball bat", "baseball glove", "tennis racket",
            "wine glass", "hot dog", "cell phone", "mobile phone", "teddy bear", "hair drier",
            "potted plant", "laptop computer", "home plate", "train track",
        )
    },
    "wine glas": "wine glass",  # the singular form by the published rules
    "bow tie": "tie",
    "toilet seat": "toilet",
    "passenger jet": "jet",
    "passenger train": "train",
    **{f"{age} {animal}": animal for age in _YOUNG_OR_GROWN for animal in _ANIMALS},
}  # fmt: skip

_SEAT = "seat"
_COMPOUND = 2  # words
_MOST_BETWEEN = 3  # adverbs between a subject and what it does
# *Looks at the camera*: whoever takes the picture has one.
_TO_THE_CAMERA = frozenset("at for to toward towards into facing face faces".split())
_NONE: frozenset[str] = frozenset()

# One word as it is written: 3.5, t.v., 's.
_ONE_WORD = re.compile(r"\d+(?:[.,:/]\d+)*|(?:[^\W\d_]\.)+[^\W\d_]?|n't|'\w*|[.!?]+")
_JOINERS = ("-", "_")
_CAPITALS = re.compile(r"[A-Z][\w&'-]*(?: [A-Z][\w&'-]*)+")
_BEFORE_KINDS = frozenset("a an the this that one two his her their its my your some".split())
# Parts that have the name of a thing.
_PARTS = {"bowl": "toilet", "bed": "truck", "fork": "bicycle", "horn": "car"}
_OTHERWISE = frozenset(("sign", "camera", *_PARTS))
_LINE_END = re.compile(r"\s*\n\s*")
_SENTENCE_ENDS = frozenset(". ! ? ; …".split())
_DASHES = frozenset("-\u2012\u2013\u2014\u2015")


class Unit(NamedTuple):
    """Words of a caption that mean one thing: a mention, a term, or a single word."""

    text: str  # which has a word vector: the caption's word, or the list's name of several
    words: str  # the caption's own, in lower case
    category: str | None  # the class of a thing
    denied: bool = False  # whether the caption says that there is none


class Mentions(NamedTuple):
    """The mentions of one caption, in order, and its length in tokens after joining terms."""

    found: tuple[Unit, ...]
    tokens: int


class _Term(NamedTuple):
    words: tuple[str, ...]
    becomes: str
    as_written: bool  # whether a word may match as it is, not only in its singular form
    order: int  # of terms that are equally long, the first one is found


class _Terms(dict[str, "_Terms"]):
    """Terms that begin alike, by their next word, so that this is compared once; and whole ones."""

    whole: tuple[_Term, ...] = ()


class _Token(NamedTuple):
    """What a finder knows of a token, whatever stands beside it."""

    word: str
    form: str  # the singular one
    name: str | None  # what it is called; None if it neither is a name nor begins a term
    alone: bool  # whether it is called so wherever it stands; else the tokens beside it decide
    terms: tuple[_Terms, ...]  # those that it begins
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
        self._class_of = classes.class_of
        own = dict.fromkeys(classes.added)
        if not classes.published:
            own |= dict.fromkeys([*classes.class_of, *classes.no_class])
        stuff = {name for name, one in classes.class_of.items() if one in classes.stuff}
        qualities = {name for name in classes.class_of if word_class(name) == "JJ"}
        self._describing = frozenset() if classes.published else DESCRIBING | stuff | qualities
        self._acting = {self._class_of.get(name) for name in _ACTING} - {None}
        self._person = self._class_of.get("person")
        self._animals = {self._class_of.get(name) for name in _ANIMALS} - {None}
        terms = [
            _Term(tuple(term.split()), becomes, not classes.published, order)
            for order, (term, becomes) in enumerate(_TERMS.items())
            if term not in own
        ]
        self._as_written: dict[str, str] = {}  # words that stand for a name as they are written
        spelled: dict[str, str] = {}
        for name in own:
            before, blank, last = name.rpartition(" ")
            plural = irregular_plural(last)
            if plural is not None:
                spelled[f"{before}{blank}{plural}"] = name
        for written, name in {**spelled, **{name: name for name in own}}.items():
            words = tuple(tokens(f"{written} .")[:-1])  # before other text "t.v." is one token
            if len(words) == 1:
                self._as_written[words[0]] = name
            else:
                terms.append(_Term(words, name, True, len(_TERMS) + len(terms)))
        self._terms = _Terms()
        for term in terms:
            alike = self._terms
            for word in term.words:
                alike = alike.setdefault(word, _Terms())
            alike.whole = (*alike.whole, term)
        self._known = frozenset(self._terms).union(self._as_written, classes.class_of)
        self._spelling = None if classes.published else Misspelled(self._known).name_of
        # The same words come again and again, and all captions share their units.
        self._reader = lru_cache(maxsize=8)(
            lambda stop_words: Remembered(partial(self._read_token, stop_words)).__getitem__
        )

    def __reduce__(self) -> tuple[type[MentionFinder], tuple[ClassList]]:
        return MentionFinder, (self.classes,)

    def find(self, caption: str) -> Mentions:
        """Return the mentions of a caption, in order, and its number of tokens."""
        pieces = list(map(self._reader(_NONE), tokens(self._plain(caption))))
        read = list(chain.from_iterable(pieces))
        counts = [int(not at) for piece in pieces for at in range(len(piece))]
        found: list[Unit] = []
        length = len(pieces)
        for at, end, name in self._names(read):
            length -= max(sum(counts[at:end]) - 1, 0)
            category = self._class_of.get(name)
            if category is not None:
                found.append(Unit(name, _joined(read[at:end]), category))
        return Mentions(tuple(found), length)

    def units(self, caption: str, stop_words: Collection[str], grammar: bool = True) -> list[Unit]:
        """Return the content words of a caption in order, terms of several words as one unit."""
        reader = self._reader(frozenset(stop_words))
        text = self._plain(caption)
        if grammar and "\n" in text:
            text = _LINE_END.sub(" ; ", text)
        read = list(chain.from_iterable(map(reader, tokens(text))))
        # Without `grammar` the mentions are those of `find`.
        things = self._things(read, _proper(text)) if grammar else list(self._names(read))
        has_cue = grammar and any(token.is_cue for token in read)
        not_asserted = self._standings(read, things) if has_cue else {}
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
                units = (Unit(name, _joined(read[at:end]), self._class_of.get(name)),)
            found += (u._replace(denied=True) for u in units) if standing else units
        found += chain.from_iterable(token.open for token in read[done:])
        return found

    def _things(
        self, read: Sequence[_Token], proper: Collection[tuple[str, str]] = ()
    ) -> list[tuple[int, int, str]]:
        """Return `_names` without what names no thing where it stands."""
        found: list[tuple[int, int, str]] = []
        acts_until: dict[int, bool] = {}  # by where a name ends: whether somebody acts
        for at, end, name in self._names(read):
            acts = read[at].verb and self._is_verb(read, at, acts_until)
            is_single = end - at == 1
            if is_single and (acts or (read[at].is_other and _means_no_thing(read, at, name))):
                continue
            if is_single and proper and _is_proper(read, at, proper):
                continue
            if name in self._class_of:
                acts_until[end] = self._class_of[name] in self._acting
            found.append((at, end, name))
        return found

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

    def _standings(
        self, read: Sequence[_Token], things: Sequence[tuple[int, int, str]]
    ) -> dict[int, Standing]:
        """Return the things that a text does not assert, by their number."""
        words: list[Word] = []
        numbers: dict[int, int] = {}
        done = 0
        for number, (at, end, name) in enumerate(things):
            category = self._class_of.get(name)
            if category is not None and (end - at > 1 or read[at].named):
                words += (Word(token.word) for token in read[done:at])
                numbers[len(words)] = number
                last = read[end - 1]
                kind = "animal" if category in self._animals else "thing"
                if category == self._person and last.is_plural:
                    kind = "people"
                words.append(Word(_joined(read[at:end]), kind))
                done = end
        if not numbers:
            return {}
        words += (Word(token.word) for token in read[done:])
        return {numbers[place]: standing for place, standing in standings(words).items()}

    def _plain(self, caption: str) -> str:
        return caption if self.classes.published else plain(caption)

    def _read_token(self, stop_words: frozenset[str], token: str) -> tuple[_Token, ...]:
        return tuple(self._look_up(stop_words, word) for word in self._parts(token))

    def _parts(self, token: str) -> tuple[str, ...]:
        """Return the words of a token, and what stands between them and joins no name."""
        if (
            self.classes.published
            or token.isalnum()
            or not self._known.isdisjoint((token, singular(token)))
            or _ONE_WORD.fullmatch(token)
        ):
            return (token,)
        if _DASHES.issuperset(token):
            return (",",)
        parts = runs_and_marks(token)
        if parts[1:] == ["-", "free"]:  # cat-free
            return parts[0], "-free"
        if "-" in parts and describes_word(parts[-1]):
            return (token,)  # dog-friendly, horse-drawn
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

    def _are_two(self, word: str, other: str) -> bool:
        """Return whether two words are names of two things."""
        ways = [(word, singular(word)), (other, singular(other))]
        begun = [self._terms[one] for one in ways[0] if one in self._terms]
        if any(one in terms for terms in begun for one in ways[1]):
            return False
        return all(any(one in self._class_of for one in of_word) for of_word in ways)

    def _look_up(self, stop_words: frozenset[str], word: str) -> _Token:
        form = singular(word)
        if self._spelling is not None and not {form, word} & self._known:
            without_stops = word.replace(".", "")  # T.V.
            near = self._spelling(word) or self._spelling(form)
            form = without_stops if without_stops in self._known else near or form
        own = not self.classes.published
        is_open = _open_units(word, stop_words)
        is_head, is_cue = own and may_be_described(word), own and is_cue_of_construction(word)
        if form not in self._known and word not in self._known:
            flags = (False, False, is_head, is_cue, False)
            return _Token(word, form, None, True, (), *flags, None, is_open, ())
        name = self._as_written.get(word, form)
        category = self._class_of.get(name)
        named: tuple[Unit, ...] = ()
        if word not in stop_words:
            of_none = category is None
            named = _open_units(word, _NONE) if of_none else (Unit(word, word, category),)
        terms = tuple(self._terms[w] for w in dict.fromkeys((form, word)) if w in self._terms)
        describes = word in self._describing
        alone = not terms and not describes
        verb = next((one for one in (name, form) if one in VERBS), None)
        is_other = name in _OTHERWISE or word_class(word) == "JJ"
        flags = (describes, is_plural(word, form), is_head, is_cue, is_other)
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
            if describes([t.word for t in near], [t.form for t in near], self._class_of):
                return at + 1, None
        return (at + 1, token.name) if term is None else (at + len(term.words), term.becomes)

    def _describes(self, read: Sequence[_Token], at: int, end: int, name: str) -> bool:
        """Return whether a name describes the noun behind it: *dog house*."""
        last = read[end - 1]
        if name not in self._class_of:
            return False
        before = [token.word for token in read[max(at - BEFORE, 0) : at]]
        for back, word in enumerate(reversed(before)):
            if word in _SENTENCE_ENDS:
                before = before[len(before) - back :]
                break
        behind = [token.word for token in read[end : end + BEHIND]]
        head = self._class_of.get(read[end].form)
        if self._class_of[name] == self._person and (
            head in (None, self._person) or may_be_verb(behind[0])
        ):
            return False  # a woman skier is a woman; a woman pets
        return describes_noun(before, last.word, behind)

    @staticmethod
    def _term(read: Sequence[_Token], at: int) -> _Term | None:
        """Return the longest term that begins at a token."""
        best: _Term | None = None
        for first in read[at].terms if at + 1 < len(read) else ():
            for word in _ways(read[at + 1]):
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
                    followers = _ways(read[end]) if end < len(read) else ()
                    alike = [terms[w] for terms in alike for w in followers if w in terms]
                    end += 1
        return best


def _ways(token: _Token) -> tuple[str, ...]:
    """Return the words that a token may be in a term."""
    return (token.form,) if token.form == token.word else (token.form, token.word)


def _is_idiom(read: Sequence[_Token], at: int, name: str) -> bool:
    """Return whether a name is none of a thing: *looks at the camera*, *no sign of a dog*."""
    before = [token.word for token in read[max(at - 2, 0) : at]]
    if name == "sign":
        return before[-1:] == ["no"] and [token.word for token in read[at + 1 : at + 2]] == ["of"]
    if before[-1:] == ["the"]:
        before.pop()
    return name == "camera" and not _TO_THE_CAMERA.isdisjoint(before[-1:])


def _is_part(read: Sequence[_Token], at: int, name: str) -> bool:
    """Return whether a name is a part of what the text names before: *the bowl* of a toilet."""
    whole = _PARTS.get(name)
    return (
        whole is not None
        and at > 0
        and read[at - 1].word in ("the", "its", whole)
        and any(token.form == whole for token in read[:at])
    )


def _proper(text: str) -> frozenset[tuple[str, str]]:
    """Return the words that follow each other in names of brands and places: *Toyota Trucks*."""
    if text[1:].islower():
        return frozenset()
    found: set[tuple[str, str]] = set()
    runs = list(_CAPITALS.finditer(text))
    words = [run[0].lower().split() for run in runs]
    if 2 * sum(map(len, words)) > text.count(" ") + 1:  # a title
        return frozenset()
    for run, named in zip(runs, words, strict=True):
        before = text[max(run.start() - 24, 0) : run.start()].rstrip(' "\u201c*_')
        if not before or before[-1] in ".!?:;\n":  # it begins a sentence
            named.pop(0)
        if before.lower().rpartition(" ")[2] not in _BEFORE_KINDS:  # a Golden Retriever
            found.update(pairwise(named))
    return frozenset(found)


def _is_proper(read: Sequence[_Token], at: int, proper: Collection[tuple[str, str]]) -> bool:
    around = [token.word for token in read[max(at - 1, 0) : at + 2]]
    return any(pair in proper for pair in pairwise(around))


def _is_quality(read: Sequence[_Token], at: int) -> bool:
    """Return whether a name only says what something is like: *the bus is orange*."""
    if word_class(read[at].word) != "JJ":
        return False
    before = [token.word for token in read[max(at - BEFORE, 0) : at]]
    return is_quality(before, read[at].word, [token.word for token in read[at + 1 : at + 2]])


def _means_no_thing(read: Sequence[_Token], at: int, name: str) -> bool:
    return _is_idiom(read, at, name) or _is_quality(read, at) or _is_part(read, at, name)


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
