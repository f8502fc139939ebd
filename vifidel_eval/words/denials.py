"""Denials: the things of which a text says that they are not there.

A denial is a cue and the noun phrases right behind it: *there are no cars or buses*, *without a
dog*, *neither a cat nor a dog*, *does not show any people*, *free of cars*. A phrase may have an
article and a word such as *visible* before its noun, and nothing else. Whatever is uncertain is no
denial, so that a thing cannot be hidden behind one: what follows must end the phrase (*no zebra
could be happier*), no other negation may come before (*there is no scene without a zebra*), and
questions and sentences of what would be deny nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

#: What stands for a thing's name in the words that `denials` reads.
THING = "\0"


def _any(words: str) -> str:
    return f"(?:{'|'.join(words.split())})"


_ARTICLE = _any("a an any")
_PLAIN = _any("visible apparent obvious discernible noticeable identifiable single actual real")
# There may be some, and these are not denied.
_FURTHER = _any("other additional further more extra")
_OF = rf"(?:{_any('sign signs trace traces evidence presence')} of )"
_NOUN = rf"(?:{_ARTICLE} )?(?:{_PLAIN} )?{_OF}?(?:{_ARTICLE} )?(?:{_FURTHER} )?{THING}"
_NEXT = rf"(?:{_ARTICLE} )?(?:{_PLAIN} )?{THING}"
_NOUNS = (
    rf"(?P<things>{_NOUN}"
    rf"(?:(?: , {_NEXT}){{0,9}}(?: ,)? (?:or|nor) {_NOUN}| and (?:no )?{THING})?)"
)

_SHOW = _any(
    "show shows showing display displays depict depicts feature features contain contains include "
    "includes have has had having see sees hold holds wear wears wearing carry carries"
)
_BE = _any("is are was were 's")
_NOT = _any("not n't")
# What a clause begins behind.
_CLAUSE = r"(?:^|(?<!\S)(?:[,;:()]|and|but|while|although|though|since|because|so) )"
# What may follow the nouns.
_SEEN = _any(
    "visible present shown seen depicted pictured there here anywhere nearby around whatsoever "
    "either"
)
_BE_SEEN = (
    rf"(?:{_BE}|can|appear|appears|seem|seems)(?: to)?(?: be)? "
    rf"(?:{_SEEN}|in the (?:picture|image|photo|photograph|scene|frame|background))"
)
_END = (
    rf"(?=$| (?:[,;:()]|and|while|although|though|{_SEEN}|{_BE_SEEN}|to be {_SEEN}|"
    "at all|in sight|in view)(?: |$))"
)
_PLACE = (
    "(?: (?:in front of|of|in|on|at|near|around|within|inside|behind|beside|under|along|across|"
    "among|outside) (?:it|him|her|them|(?:the|this|that|his|her|its|their)"
    "(?: (?!that|which|who|is|are|was|were)[^ ,;:()]+){1,2}))"
)
_END_OR_PLACE = rf"(?={_PLACE}{{0,3}}{_END})"

_DENIAL = re.compile(
    "|".join(
        (
            # No cars, as a clause: of *no zebra in the picture sleeps* nobody knows where it ends.
            rf"{_CLAUSE}(?:no|not a(?= single )) {_NOUNS.replace('things', 'of_clause')}{_END}",
            rf"(?<!\S)(?:{_CLAUSE}there {_BE}(?: also)? no|"
            rf"{_CLAUSE}there {_BE} {_NOT}(?= {_ARTICLE} )|"
            rf"{_any('do does did can ca could')} {_NOT} (?:show|display|depict|feature|contain|"
            rf"include|have|see|reveal)|(?:{_SHOW}|with) no|without|neither(?=[^,]{{0,200}} nor )|"
            rf"(?:free|devoid|empty|lack|absence) of|lacks?|lacking) {_NOUNS}{_END_OR_PLACE}",
        )
    )
)
_NEGATIVE = (
    "no not n't never nothing nobody none nor neither without hardly rarely barely scarcely seldom "
    "fail fails failing lack lacks lacking free false untrue wrong doubt deny denies impossible"
)
_CUES = frozenset("no not n't without neither free devoid empty lack lacks lacking absence".split())
_NEGATES = re.compile(rf"(?<!\S){_any(_NEGATIVE)}(?!\S)")
# What is asked, or would be.
_UNREAL = re.compile(
    rf"(?<!\S){_any('if unless whether would might should must wish imagine suppose')}(?!\S)|[?]"
)
_SENTENCE = re.compile(r"[^.!?;…]*[.!?;…]*")
_NEW_CLAUSE = re.compile(" , (?:and|but|while|although|though) ")


def may_deny(words: Iterable[str]) -> bool:
    """Return whether some words have one that a denial begins with."""
    return not _CUES.isdisjoint(words)


def denials(words: Iterable[str]) -> Iterator[tuple[int, bool]]:
    r"""Yield which things are denied, and whether all of them: *no other dogs* is not all.

    `words` are the tokens of a text in lower case, with `THING` for each name of a thing; things
    are numbered from 0.

    >>> list(denials("there is no \0 , only a \0 without \0 or a \0 .".split()))
    [(0, True), (2, True), (3, True)]
    >>> list(denials("without a doubt , a \0 has no other \0 .".split()))
    []
    """
    text = " ".join(words)
    things = at = 0
    for sentence in _SENTENCE.finditer(text):
        if not _UNREAL.search(sentence[0]):
            said = sentence[0].strip(" .!;…")
            yield from ((things + thing, whole) for thing, whole in _in_sentence(said))
        things += text.count(THING, at, sentence.end())
        at = sentence.end()


def _in_sentence(said: str) -> Iterator[tuple[int, bool]]:
    things = 0
    for clause in _NEW_CLAUSE.split(said):
        at = done = 0
        for found in _DENIAL.finditer(clause):
            if _NEGATES.search(clause, done, found.start() + 1):
                break  # a double negation, or what is denied is no thing
            group = "things" if found["things"] else "of_clause"
            nouns, start = found[group], found.start(group)
            first = things + clause.count(THING, at, start)
            whole = not re.search(rf"{_FURTHER} ", nouns)
            yield from ((first + thing, whole) for thing in range(nouns.count(THING)))
            things, at, done = first, start, found.end()
        things += clause.count(THING, at)
