"""Words that describe a thing in a text: adjectives before its name, or behind a form of *be*.

Whether one word contradicts another is known of families of words that exclude each other, such as
colours: a car that is red all over is not blue, and may well be old. Shades between two colours
(*teal*, *beige*) are in none.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import NamedTuple

from .english import word_class
from .mentions import Phrase

# Each line is a family of words. An equals sign joins words that mean the same, and the first of
# them stands for all.
_FAMILIES = """
red=crimson=scarlet blue=navy green black white brown yellow orange purple=violet pink grey=gray
wooden=wood metal=metallic=steel plastic brick stone concrete leather
big=large=huge=giant small=little=tiny
tall short
long short
old young new
open closed=shut
empty full
wet dry
clean dirty
wide narrow
thick thin
curly straight
standing sitting=seated lying=laying
male female
sunny overcast rainy=raining
day=daytime=daylight night=nighttime
indoor=indoors outdoor=outdoors
"""
_SCENE_FAMILIES = 3  # of the families, the last ones
_GROUPS = [[group.split("=") for group in line.split()] for line in _FAMILIES.split("\n") if line]
_CANONICAL = {word: group[0] for line in _GROUPS for group in line for word in group}
#: From a word to the words of its families, with it, each in the family's own spelling.
_RIVALS: dict[str, frozenset[str]] = {}
for _line in _GROUPS:
    _family = frozenset(group[0] for group in _line)
    _RIVALS |= {word: _family | _RIVALS.get(word, frozenset()) for word in _family}
_SCENIC = frozenset(group[0] for line in _GROUPS[-_SCENE_FAMILIES:] for group in line)

_TOKEN = re.compile(r"[^\W_]+?(?=n['\u2019]t\b)|n['\u2019]t\b|['\u2019](?:s|re)\b|[^\W_]+|[^\s\w]")
_DESCRIBING = ("JJ", "JJR", "JJS", "RB", "RBR", "VBN", "VBG")
_BE = frozenset("is are was were look looks looked appear appears seem seems 's 're".split())
_NOT = frozenset("not n't never non neither nor no".split())
_JOINS = frozenset("and or but , - & /".split())
_NEW_NOUN = frozenset(("and", ",", "&"))
_ONLY = frozenset("only just merely".split())
_RELATIVE = frozenset("that which who".split())
_PRONOUNS = {"it": False, "he": True, "she": True, "they": None}  # whether they are of a person
_NEARBY = frozenset("next front top left right side close a an the his her its their".split())
_MOST = 12  # words that describe one thing
_NEGATED = re.compile(r"(?:\b(?:not|no|never|without)|n['\u2019]t)\s(?:\w+\s){0,2}$", re.IGNORECASE)
_FARTHEST = 40  # characters before a word, in which a text denies it


class Modifier(NamedTuple):
    """A word that describes a thing."""

    word: str  #: in lower case
    start: int  #: where it begins in the text, in characters
    end: int
    claim: Phrase  #: what it describes
    denied: bool = False  #: whether the text says that it is not so: *not red*
    is_guess: bool = False  #: whether it may be another instead: *red or blue*


class _Token(NamedTuple):
    text: str
    start: int
    end: int

    @property
    def describes(self) -> bool:
        """Whether it may stand among the words that describe a thing."""
        known = self.text in _CANONICAL or self.text in _JOINS or self.text in _NOT
        return known or word_class(self.text) in _DESCRIBING


def canonical(word: str) -> str:
    """Return a word as its family spells it: *grey* for *gray*."""
    return _CANONICAL.get(word, word)


def rivals(word: str) -> frozenset[str]:
    """Return the words of the families of a word, which exclude each other; itself among them."""
    return _RIVALS.get(canonical(word), frozenset())


def scene_rivals(words: Collection[str]) -> frozenset[str]:
    """Return the rivals of those words that describe a whole image, such as *sunny*."""
    return _SCENIC & frozenset().union(*map(rivals, words))


def spellings(words: Collection[str]) -> set[str]:
    """Return words, and all words that mean the same as one of them."""
    own = set(map(canonical, words))
    return {*words, *(word for word, family_word in _CANONICAL.items() if family_word in own)}


def modifiers(
    text: str, claims: Sequence[Phrase], is_person: Callable[[str], bool]
) -> list[Modifier]:
    """Return the words of a text that describe one of its claims.

    *The red car*, *a car that is red* and, behind *a car*, *It is red* describe the car.
    """
    tokens = [_Token(t[0].lower().replace("\u2019", "'"), *t.span()) for t in _TOKEN.finditer(text)]
    starts, ends = [t.start for t in tokens], [t.end for t in tokens]
    places = [(bisect_left(starts, c.start), bisect_left(ends, c.end) + 1, c) for c in claims]
    ends_of_claims = {end for _, end, _ in places}
    begin_claims = {at for at, _, _ in places}
    found: list[Modifier] = []
    before = 0  # where the words before a name may begin
    subject: Phrase | None = None
    for at, end, claim in places:
        first = at
        while first > max(before, at - _MOST) and tokens[first - 1].describes:
            first -= 1
        if first > 1 and tokens[first - 1].text in _BE and first - 1 in ends_of_claims:
            # The car is red and blue trucks pass.
            joins = (n for n in range(at - 1, first, -1) if tokens[n].text in _NEW_NOUN)
            first = next(joins, first - 1) + 1
        found += _modifiers(tokens[first:at], claim)
        between = tokens[before:first]
        if not (subject and _is_beside(between)):
            subject = claim
        before = end
        relative = end < len(tokens) and tokens[end].text in _RELATIVE
        described = _predicate(tokens, end + relative, begin_claims)
        found += _modifiers(described, claim if relative else subject)
    found += _pronoun_modifiers(tokens, places, begin_claims, is_person)
    return sorted(set(found), key=lambda modifier: modifier.start)


def _is_beside(between: Sequence[_Token]) -> bool:
    """Return whether words between two names say where the first is: *a man next to the car*."""
    classes = {word_class(token.text) for token in between if token.text not in _NEARBY}
    return bool(classes) and classes <= {"IN", "TO"}


def _predicate(tokens: Sequence[_Token], at: int, begin_claims: Collection[int]) -> list[_Token]:
    """Return the tokens behind a name that may describe the subject: *is red*, *standing*."""
    if at >= len(tokens):
        return []
    if tokens[at].text not in _BE:
        word = tokens[at].text
        is_participle = word in _CANONICAL and word_class(word) in ("VBG", "VBN", "VBD")
        return [tokens[at]] if is_participle else []
    end = at + 1
    while end < min(at + _MOST, len(tokens)) and tokens[end].describes and end not in begin_claims:
        end += 1
    if end in begin_claims:  # what stands before the next name describes that
        end = next((n for n in range(end - 1, at, -1) if tokens[n].text in _NEW_NOUN), at)
    return list(tokens[at + 1 : end])


def _pronoun_modifiers(
    tokens: Sequence[_Token],
    places: Sequence[tuple[int, int, Phrase]],
    begin_claims: Collection[int],
    is_person: Callable[[str], bool],
) -> Iterator[Modifier]:
    """Yield what describes *it* or *they*: the first such thing of the last sentence with any."""
    firsts: dict[bool, Phrase] = {}
    rest = list(reversed(places))
    for at, token in enumerate(tokens):
        while rest and rest[-1][1] <= at:
            claim = rest.pop()[2]
            kind = is_person(claim.category or "")
            if not claim.denied and (kind not in firsts or firsts[kind].sentence < claim.sentence):
                firsts[kind] = claim
        if token.text in _PRONOUNS:
            kind_of = _PRONOUNS[token.text]
            fitting = [c for kind, c in firsts.items() if kind_of is None or kind is kind_of]
            if fitting:
                claim = max(fitting, key=lambda claim: claim.sentence)
                yield from _modifiers(_predicate(tokens, at + 1, begin_claims), claim)


def _modifiers(tokens: Sequence[_Token], claim: Phrase) -> Iterator[Modifier]:
    """Yield the words that describe a claim, among the tokens before it or behind *is*."""
    guesses, denied = any(token.text == "or" for token in tokens), False
    for at, (text, start, end) in enumerate(tokens):
        following = tokens[at + 1].text if at + 1 < len(tokens) else ""
        if text in _NOT:
            denied = following not in _ONLY
        elif text == "but":
            denied = False
        elif text not in _JOINS | _ONLY and not claim.denied:
            yield Modifier(text, start, end, claim, denied, guesses and not denied)


def scene_mentions(
    text: str, words: str, claims: Sequence[Phrase]
) -> Iterator[tuple[int, int, bool]]:
    """Yield where a text has words outside of its claims, and whether it denies them."""
    pattern = r"\W+".join(map(re.escape, words.split()))
    starts = [claim.start for claim in claims]
    for found in re.finditer(rf"\b{pattern}\b", text, re.IGNORECASE):
        start, end = found.span()
        before = bisect_left(starts, end)
        if not (before and claims[before - 1].end > start):
            yield start, end, bool(_NEGATED.search(text, max(start - _FARTHEST, 0), start))
