"""Constructions of sentences in which a text denies a thing, or names it and claims nothing.

``constructions.txt`` has them as patterns of words, with their sources. Whatever is uncertain is a
claim, so that a thing cannot be hidden: patterns are complete phrases, what follows a denial must
end it (*no zebra could be happier*), no other negation may come before (*there is no scene without
a zebra*), and questions and sentences of what would be deny nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from enum import Enum
from functools import cache
from typing import NamedTuple

from .content_words import lines_of
from .synonyms import rarity
from .word_classes import word_class


class Standing(Enum):
    """What a text does with a thing that it names."""

    ASSERTED = 0
    DENIED = 1
    NOT_CLAIMED = 2


class Word(NamedTuple):
    """A word, mark or name of a text, as patterns see it."""

    text: str
    #: Of the name of a thing, what it is: ``"people"`` in the plural, an ``"animal"``, or a
    #: ``"thing"``; None of other words.
    kind: str | None = None


# Every word has a class before it, of two characters; a name begins with T.
_CLASSES = {"JJ": "J", "VBN": "J", "VBG": "G", "NN": "N", "NNS": "N", "VB": "V", "VBZ": "V"}
_CLASSES |= {"VBP": "V", "VBD": "V", "JJR": "C", "RBR": "C", "JJS": "C", "CD": "D"}
_LEFT_OUT = frozenset("\" '' ` `` * ** “ ” « » # > [ ]".split())

_THING = "T.[^ ]+ "


def _any(words: str) -> str:
    return f"(?:..(?:{'|'.join(map(re.escape, words.split()))}) )"


_FURTHER = "other additional further more extra"
_PLAIN = "visible apparent obvious discernible noticeable identifiable single actual real"
_ARTICLE = _any("a an any")
_DESCRIBED = r"(?:J_(?!(?:other|additional|further|extra|longer)\b)[^ ]+ ){0,3}"
_OF = rf"(?:{_any('sign signs trace traces evidence presence')}..of )"
_NOUN = rf"{_ARTICLE}?{_DESCRIBED}(?:{_OF}{_ARTICLE}?)?{_any(_FURTHER)}?{_DESCRIBED}{_THING}"
# What is no thing of the list: *no people or moving objects*.
_OTHERS = rf"{_any('or nor and')}(?:[JGC]_[^ ]+ |..other ){{0,3}}N_[^ ]+ "
_NEXT = rf"{_ARTICLE}?{_DESCRIBED}{_THING}"
_DENIED = (
    rf"(?P<x>{_NOUN}(?:(?:..[,] {_NEXT}){{0,9}}(?:.., )?{_any('or nor')}{_NOUN}"
    rf"|(?:.., {_THING}){{0,9}}(?:.., )?..and (?:..no )?{_THING}|(?:.., ..no {_NEXT}){{1,9}})?)(?:{_OTHERS})?"
)
_DETERMINER = _any("a an the one some his her its their two three several many this that")
_NAMED = (
    rf"(?P<x>{_DETERMINER}?(?:[JNDG]_[^ ]+ ){{0,3}}{_THING}"
    rf"(?:(?:.., ){_THING}){{0,9}}(?:(?:.., )?(?:..and {_THING}|..or {_DETERMINER}?{_DESCRIBED}{_THING}))?)"
)
_SEEN = "visible present shown seen depicted pictured there here anywhere nearby around whatsoever either"
_IN_PICTURE = rf"..in ..the {_any('picture image photo photograph scene frame background')}"
_IS = _any("is are was were 's")
_BE_SEEN = rf"(?:{_IS}|{_any('can appear appears seem seems')})(?:..to )?(?:..be )?(?:{_any(_SEEN)}|{_IN_PICTURE})"
_END = (
    rf"(?=$|{_any(', ; : ( ) [ ] } and while although though')}|{_any(_SEEN)}(?!..[^ ,;:]+ T)|{_BE_SEEN}"
    rf"|..to ..be {_any(_SEEN)}|..at ..all |..in ..(?:sight|view) "
    rf"|{_any('but yet')}{_any('with there it he she they is are has only some rather instead')})"
)
_PLACE = (
    rf"(?:(?:..in ..front ..of |{_any('of in on at near around within inside behind beside under along across among outside from')})"
    rf"(?:{_any('it him her them')}|{_any('the this that his her its their')}"
    r"(?:..(?!(?:that|which|who|is|are|was|were) )[^ ,;:()]+ ){1,2}))"
)
_START = (
    r"(?:^|(?<= )..(?:[-,;:(){}/\u2013\u2014]|and|but|while|although|though|since|because|so) )"
)
_MACROS = {
    "START": _START,
    "END": _END,
    "PLACE": rf"(?={_PLACE}{{0,3}}{_END})",
    "ANY": rf"(?={_ARTICLE})",
    "ONE": rf"(?=(?:..a )?..(?:single|one) ){_any('a one')}?",
    "BARE": rf"(?!{_DETERMINER}|..[,;:] )..[^ ]+ ",
    "ADJ": r"[JNVCG]_[^ ]+ ",
    "VERB": r"(?!..(?:look|looks|looking|looked|seem|seems|appear|appears|feel|feels) )[VJG]_[^ ]+ ",
    "CMP": r"C_(?!(?:more|less|fewer) )[^ ]+ ",
    "NOUN": r"..[^ ]+ ",
    "LIST": rf"(?P<x>{_THING}(?:{_any(', and or')}{{1,2}}{_THING}){{0,9}})",
    "PEOPLE": r"(?P<x>TP[^ ]+ )",
    "ANIMAL": r"(?P<x>TA[^ ]+ )",
}

_NEGATIVE = (
    "no not n't never nothing nobody none nor neither without hardly rarely barely scarcely seldom "
    "fail fails failing lack lacks lacking free false untrue wrong doubt deny denies impossible"
)
_NEGATES = re.compile(_any(_NEGATIVE))
# What is asked, or would be.
_UNREAL = re.compile(
    rf"{_any('if unless whether would might should must wish imagine suppose')}|..[?] "
)
_A_THING = re.compile(_THING)
# *No other dogs, no parked cars*: there may be some.
_QUALIFIED = re.compile(
    rf"..(?:{_FURTHER.replace(' ', '|')}) |J_(?!(?:{_PLAIN.replace(' ', '|')}) )"
)
_NEW_CLAUSE = re.compile(r".., (?=..(?:and|but|while|although|though) )")


class _Construction(NamedTuple):
    needed: tuple[frozenset[str], ...]  # of each of these, one word is in whatever it matches
    pattern: re.Pattern[str]
    standing: Standing


def standings(words: Sequence[Word]) -> Mapping[int, Standing]:
    """Return those words that are names of things and not asserted, by their place in the text."""
    cues, constructions = _cues(), _constructions()
    found: dict[int, Standing] = {}
    start = 0
    ends = [at for at, word in enumerate(words) if word.text[:1] in (*".!?;…",)]
    for end in (*ends, len(words) - 1):
        sentence = words[start : end + 1]
        if _answered(words, end):
            names = (at for at in range(start, end) if words[at].kind is not None)
            found |= dict.fromkeys(names, Standing.DENIED)
        present = {word.text for word in sentence}.union(f"<{word.kind}>" for word in sentence)
        numbers = {number for cue in cues.keys() & present for number in cues[cue]}
        wanted = [
            constructions[number]
            for number in sorted(numbers)
            if not any(map(present.isdisjoint, constructions[number].needed))
        ]
        if wanted:
            for at, standing in _in_sentence(sentence, wanted):
                found.setdefault(start + at, standing)
        start = end + 1
    return found


def _answered(words: Sequence[Word], end: int) -> bool:
    """Return whether a sentence is a question to which the next one says no."""
    return words[end].text[:1] == "?" and [one.text for one in words[end + 1 : end + 2]] == ["no"]


def _in_sentence(
    words: Sequence[Word], wanted: Sequence[_Construction]
) -> Iterator[tuple[int, Standing]]:
    places: list[int] = []  # where the words are in the text that patterns read
    coded: list[str] = []
    length = 0
    numbers: list[int] = []
    for number, word in enumerate(words):
        if word.text in _LEFT_OUT:
            continue
        code = f"{_code(word)}{word.text.replace(' ', '_')} "
        places.append(length)
        numbers.append(number)
        coded.append(code)
        length += len(code)
    text = re.sub(r"(?:..[.!;…]+ )+$", "", "".join(coded))
    is_unreal = _UNREAL.search(text) is not None
    at_place = dict(zip(places, numbers, strict=True))
    constructions = _constructions()
    denials: list[re.Match[str]] = []
    for _, pattern, standing in wanted:
        if standing is Standing.DENIED:
            denials += () if is_unreal else pattern.finditer(text)
            continue
        for match in pattern.finditer(text):
            start, phrase = _phrase(match)
            for thing in _A_THING.finditer(phrase):
                yield at_place[start + thing.start()], Standing.NOT_CLAIMED
    done = 0  # behind the last denial: its own negation is none of the next
    for match in sorted(denials, key=lambda one: (one.start(), -one.end())):
        begin = max(
            (m.end() for m in _NEW_CLAUSE.finditer(text, done, match.start())), default=done
        )
        if match.start() < done or _NEGATES.search(text, begin, match.start() + 1):
            continue
        done = match.end()
        start, phrase = _phrase(match)
        standing = Standing.NOT_CLAIMED if _QUALIFIED.search(phrase) else Standing.DENIED
        for thing in _A_THING.finditer(phrase):
            yield at_place[start + thing.start()], standing


def _phrase(match: re.Match[str]) -> tuple[int, str]:
    """Return where the things of a construction begin in a text, and the words around them."""
    part = "x" if "x" in match.re.groupindex else 0
    return match.start(part), match[part]


def _code(word: Word) -> str:
    if word.kind is not None:
        return {"people": "TP", "animal": "TA"}.get(word.kind, "T_")
    if word.text in ("no", "any", "not"):
        return "O_"
    return f"{_CLASSES.get(word_class(word.text), 'O')}_"


@cache
def _constructions() -> list[_Construction]:
    lists: dict[str, str] = {}
    found: list[_Construction] = []
    section = ""
    for line in lines_of("constructions.txt"):
        if line.startswith("["):
            section = line.strip("[]")
        elif section == "lists":
            name, _, words = line.partition(":")
            lists[name] = "|".join(words.split())
        else:
            standing = Standing.DENIED if section == "denied" else Standing.NOT_CLAIMED
            found.append(_compiled(line.split(), lists, standing))
    return found


def _compiled(elements: list[str], lists: Mapping[str, str], standing: Standing) -> _Construction:
    pattern, needed = "", list[frozenset[str]]()
    for element in elements:
        is_thing = element.startswith("[") and element.endswith("]") and len(element) > 1
        is_optional = element.startswith("(") and element.endswith(")") and len(element) > 1
        words = element[1:-1] if is_optional or is_thing else element
        if words == "X":
            pattern += _DENIED if standing is Standing.DENIED else _NAMED
        elif words in _MACROS:
            pattern += _MACROS[words]
            needed += [frozenset([f"<{words.lower()}>"])] if words in ("PEOPLE", "ANIMAL") else []
        else:
            words = lists[words.strip("{}")] if words.startswith("{") else words
            own = frozenset(words.split("|"))
            literal = _any(words.replace("|", " "))
            pattern += f"(?P<x>{literal})" if is_thing else literal + "?" * is_optional
            needed += [] if is_optional else [own]
    needed.sort(key=_rarity, reverse=True)
    return _Construction(tuple(needed), re.compile(rf"(?<![^ ]){pattern}"), standing)


def _rarity(words: frozenset[str]) -> float:
    return min(rarity(word) if word.isalnum() else 0.0 for word in words)


def is_cue_of_construction(word: str) -> bool:
    """Return whether a construction has a word: without any, a text asserts what it names."""
    return word in _cues()


@cache
def _cues() -> Mapping[str, list[int]]:
    """Return the constructions that a word may be of, by their number."""
    by_word: dict[str, list[int]] = {}
    for number, construction in enumerate(_constructions()):
        for cue in construction.needed[0]:
            by_word.setdefault(cue, []).append(number)
    return by_word
