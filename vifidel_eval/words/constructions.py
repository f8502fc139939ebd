"""Constructions of sentences in which a text denies a thing, or names it and claims nothing.

``constructions.txt`` has them as patterns of words, with their sources. Whatever is uncertain is a
claim, so that a thing cannot be hidden: patterns are complete phrases, what follows a denial must
end it (*no zebra could be happier*), no other negation may come before (*there is no scene without
a zebra*), and questions and sentences of what would be deny nothing.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterator, Mapping, Sequence
from enum import Enum
from functools import cache
from typing import NamedTuple

from .content_words import lines_of, rarity
from .english import word_class
from .grammar import QUOTES, quoted


class Standing(Enum):
    """How a text names a thing without asserting it."""

    DENIED = 1
    NOT_CLAIMED = 2


class Word(NamedTuple):
    """A word, mark or name of a text, as patterns see it."""

    text: str
    #: Of the name of a thing, what it is: ``"people"`` in the plural, an ``"animal"``, a ``"toy"``,
    #: or a ``"thing"``; None of other words.
    kind: str | None = None


# Patterns read a text in which each word has two characters before it: its class, and ``_``. The
# name of a thing begins with T, and with TP if it is one of people, TA if it is an animal, TY if it
# is a toy.
_CLASSES = {"JJ": "J", "VBN": "J", "VBG": "G", "NN": "N", "NNS": "N", "VB": "V", "VBZ": "V"}
_CLASSES |= {"VBP": "V", "VBD": "V", "JJR": "C", "RBR": "C", "JJS": "C", "CD": "D"}
_KINDS = {"people": "TP", "animal": "TA", "toy": "TY", "thing": "T_"}
_CUES_OF_DENIALS = frozenset(("no", "any", "not"))
_LEFT_OUT = QUOTES - {"'"} | frozenset("* ** « » # > [ ]".split())

_THING = "T.[^ ]+ "
_WORD = "..[^ ]+ "


def _any(words: str) -> str:
    return f"(?:..(?:{'|'.join(map(re.escape, words.split()))}) )"


def _up_to(most: int, pattern: str) -> str:
    return f"(?:{pattern}){{0,{most}}}"


_FURTHER = "other additional further more extra"
_PLAIN = "visible apparent obvious discernible noticeable identifiable single actual real"
_ARTICLE = _any("a an any")
_DETERMINER = _any("a an the one some his her its their two three several many this that")
_DESCRIBED = _up_to(3, rf"(?!{_any(f'{_FURTHER} longer')})J_[^ ]+ ")

# What is denied: *a dog, cats or any sign of a horse, and other objects*.
_SIGNS = rf"{_any('sign signs trace traces evidence presence indication hint')}..of {_ARTICLE}?"
_NOUN = rf"{_ARTICLE}?{_DESCRIBED}(?:{_SIGNS})?{_any(_FURTHER)}?{_DESCRIBED}{_THING}"
_NEXT = rf"{_ARTICLE}?{_DESCRIBED}{_THING}"
_COMMA = "(?:.., )"
_LISTS = (
    rf"{_up_to(9, _COMMA + _NEXT)}{_COMMA}?(?:..or |..nor (?:..the )?){_NOUN}",
    rf"{_up_to(9, _COMMA + _THING)}{_COMMA}?..and (?:..no )?{_THING}",
    rf"(?:{_COMMA}(?:..and |..or )?..no {_NEXT}){{1,9}}",
)
_NO_THING = (
    rf"{_any('or nor and')}{_up_to(3, '[JGC]_[^ ]+ |..other |..any ')}N_[^ ]+ "
    rf"(?:..of {_any('that this any the')}(?:..same )?{_any('kind sort type')})?"
)
_OF_IT = "..of (?:J_[^ ]+ )?N_[^ ]+ "  # signs of human activity
_DENIED = rf"(?P<x>{_NOUN}(?:{'|'.join(_LISTS)})?)(?:{_NO_THING}|{_OF_IT})?"
# What is depicted, compared or meant otherwise: *a dog; cats and dogs; a dog or a small cat*.
_NAMED = (
    rf"(?:..a {_any('group pair couple crowd flock herd family row slice piece')}..of )?(?P<x>"
    rf"{_any('most all every any')}?{_DETERMINER}?{_up_to(3, '[JNDG]_[^ ]+ ')}"
    rf"{_THING}{_up_to(9, _COMMA + _THING)}"
    rf"(?:{_COMMA}?(?:..and {_THING}|..or {_DETERMINER}?{_DESCRIBED}{_THING}))?)"
)

# What may follow something denied.
_IS_SEEN = (
    "visible present shown seen depicted pictured there here anywhere nearby around whatsoever "
    "either found detected observed included spotted featured captured evident noticeable"
)
_BE = _any("is are was were")
_BE_SEEN = (
    rf"(?:(?:{_BE}|..'s |{_any('can could may appear appears seem seems')})"
    rf"(?:..to )?(?:..be )?{_any(_IS_SEEN)}|{_any('exist exists appear appears')})"
)
_IN_PICTURE = (
    rf"{_any('in within')}..the {_any('picture image photo photograph scene frame background')}"
)
_STOP = (
    rf"(?:$|{_any(', ; : ( ) [ ] } and while although though because since')}"
    rf"|{_any('but yet')}{_any('with there it he she they is are has only some rather instead')})"
)
_END = (
    rf"(?=(?:{_BE_SEEN}|{_BE}(?={_IN_PICTURE}|..in ..(?:sight|view) )"
    rf"|..to ..be {_any(_IS_SEEN)})?"
    rf"(?:{_any(_IS_SEEN)}|..at ..all |..in ..(?:sight|view) |{_IN_PICTURE}){{0,2}}{_STOP})"
)
_WHERE = (
    r"(?:..in ..front ..of |"
    + _any(
        "of in on at near around within inside behind beside under along across among outside from"
    )
    + ")"
)
_SOMEWHERE = (
    rf"{_WHERE}(?:{_any('it him her them')}"
    rf"|{_any('the this that his her its their')}"
    rf"(?:(?!{_any('that which who is are was were')})..[^ ,;:()]+ ){{1,2}})"
)
# *No people sitting on the bench, no cars parked there*: others may be there.
_DOING = rf"(?!{_any(_IS_SEEN)})(?:G_|J_[^ ]+ed )"
_CLAUSE = r"[-,;:(){}/\u2013\u2014]|and|but|while|although|though|since|because|so"
_SEEMS = "look looks looking looked seem seems appear appears feel feels"
_MACROS = {
    "START": rf"(?:^|(?:^|(?<= ))..(?:{_CLAUSE}) )",
    "END": _END,
    "PLACE": rf"(?={_up_to(3, _SOMEWHERE)}{_END}|{_DOING})",
    "DOING": rf"(?={_DOING})",
    "ANY": rf"(?={_ARTICLE})",
    "SOME": rf"(?!{_any('the this that these those one two three many several')}"
    rf"|{_any('his her its their our my your')})",
    "SOME_OF": _up_to(3, r"[JD]_[^ ]+ |..\d+ |" + _any("several multiple many various")),
    "OTHERS": rf"(?:{_DESCRIBED}N_[^ ]+ {_COMMA}){{1,3}}"
    rf"(?=(?:{_DESCRIBED}[TN].[^ ]+ {_COMMA}?){{1,9}}..n?or )",
    "NO_LIST": "(?!..: )",
    "NO_MORE": "(?!(?:.., )?..there )",
    "GERUND": "G_[^ ]+ ",
    "USE": rf"(?!..be |..also |{_any('see not only')}){_WORD}",
    "BUT_A": rf"(?=(?:.., )?..but {_any('a an')})",
    "FAKED": "(?!(?:[JNDG]_[^ ]+ ){0,3}TY)",
    "ONE": rf"(?=(?:..a )?..(?:single|one) ){_any('a one')}?",
    "BARE": rf"(?!{_DETERMINER}|..[,;:] ){_WORD}",
    "ADJ": "[JNVCG]_[^ ]+ ",
    "VERB": rf"(?!{_any(_SEEMS)})[VJG]_[^ ]+ ",
    "CMP": rf"(?!{_any('more less fewer')})C_[^ ]+ ",
    "NOUN": _WORD,
    "LIST": rf"(?P<x>{_THING}{_up_to(9, _any(', and or') + '{1,2}' + _THING)})",
    "PEOPLE": rf"(?P<x>TP[^ ]+ (?:{_any('and or')}TP[^ ]+ )?)",
    "ANIMAL": "(?P<x>TA[^ ]+ )",
    "BEAST": f"(?!{_any('animal animals creature creatures pet pets')})TA[^ ]+ ",
}

_WHOLE_WORD = "(?<![^ ])"
_NEGATES = re.compile(
    _WHOLE_WORD
    + _any(
        "no not n't never nothing nobody none nor neither without hardly rarely barely scarcely "
        "seldom fail fails failing lack lacks lacking free false untrue wrong doubt deny denies "
        "impossible"
    )
)
# What is asked, or would be.
_UNREAL = re.compile(
    rf"{_WHOLE_WORD}{_any('if unless whether would might should must wish imagine suppose')}|..[?] "
)
_NEW_CLAUSE = re.compile(rf"{_COMMA}(?={_any('and but nor while although though')})")
_FULL_STOPS = re.compile(r"(?:..[.!;…]+ )+$")
_A_THING = re.compile(_THING)
# *No other dogs, no parked cars; their dog is not visible*: there may be some.
_QUALIFIED = re.compile(rf"{_WHOLE_WORD}(?:{_any(_FURTHER)}|(?!{_any(_PLAIN)})J_)")
_ITS_OWN = re.compile(rf"{_WHOLE_WORD}{_any('his her its their this that these those')}$")
_IS_DOING = re.compile(_DOING)
_SAYS_NO = re.compile(rf"{_any('no nope')}(?={_COMMA})")
# Questions whether there is something: *is there a cat near the dog; do you see any cats; a cat*.
_INDEFINITE = re.compile(rf"{_WHOLE_WORD}{_ARTICLE}{_DESCRIBED}$")
_NOT = _any("not n't")
_EXISTENCE = re.compile(
    rf"(?:^|(?<= )..[,:] )(?:{_BE}{_NOT}?(?:..there (?:..also )?"
    rf"|{_any('this that it')}(?={_ARTICLE}))"
    rf"|{_any('do does did can could')}{_NOT}?(?:{_any('you we i it this that')}"
    rf"|..the {_any('picture image photo photograph scene')})(?:..also )?"
    rf"{_any('see show depict display feature contain include have find spot')}"
    rf"|{_BE}{_NOT}?(?={_ARTICLE})|..how ..many )?{_any('maybe perhaps possibly')}?"
    rf"(?P<x>{_NOUN}(?:{'|'.join(_LISTS)})?)(?:{_BE}(?={_any(_IS_SEEN)}))?"
    rf"(?:{_any(_IS_SEEN)}|(?P<doing>G_[^ ]+ ))?(?:{_IN_PICTURE}|{_WHERE}"
    rf"(?:{_any('it him her them')}|{_DETERMINER}?{_DESCRIBED}[TN].[^ ]+ )){{0,2}}(?:.., )?$"
)


class _Construction(NamedTuple):
    needed: tuple[frozenset[str], ...]  # sets of words: a text that it matches has one of each
    expression: str
    standing: Standing

    @property
    def pattern(self) -> re.Pattern[str]:
        return _compiled(self.expression)


# Few constructions are met in a run, and compiling all takes a fifth of a second.
_compiled = cache(re.compile)


def standings(words: Sequence[Word]) -> Mapping[int, Standing]:
    """Return those words that are names of things and not asserted, by their place in the text."""
    cues, constructions = _cues(), _constructions()
    found: dict[int, Standing] = {}
    start = 0
    ends = [at for at, word in enumerate(words) if word.text[:1] in (*".!?;…",)]
    for end in (*ends, len(words) - 1):
        sentence = words[start : end + 1]
        if _answered(words, end):
            found |= {start + at: standing for at, standing in _asked(words[start:end])}
        present = {word.text.replace(" ", "_") for word in sentence}.union(
            f"<{word.kind}>" for word in sentence
        )
        numbers = {number for cue in cues.keys() & present for number in cues[cue]}
        wanted = [
            constructions[number]
            for number in sorted(numbers)
            if not any(map(present.isdisjoint, constructions[number].needed))
        ]
        if wanted:
            for at, standing in _in_sentence(sentence, wanted):
                found.setdefault(start + at, standing)
        written = quoted([word.text for word in sentence])
        found |= {start + at: Standing.NOT_CLAIMED for at in written if sentence[at].kind}
        start = end + 1
    return found


def _answered(words: Sequence[Word], end: int) -> bool:
    """Return whether a sentence is a question to which the next one says no, and no more.

    *No doubt*, *no one* and *none of them* are no answers to what was asked.
    """
    if words[end].text[:1] != "?":
        return False
    answer = [word.text for word in words[end + 1 : end + 9] if word.text not in _LEFT_OUT]
    answer = answer[answer[:1] == [";"] :]  # the end of a line
    if answer[:1] in (["answer"], ["a"]) and answer[1:2] == [":"]:
        answer = answer[2:]
    return answer[:1] in (["no"], ["nope"], ["none"]) and (
        len(answer) == 1 or answer[1] == "there" or answer[1][0] in ".,;:!…-\u2013\u2014()"
    )


def _asked(words: Sequence[Word]) -> Iterator[tuple[int, Standing]]:
    """Yield what a question asks for, if it is whether there is something, and its standing if not.

    *Is the cat asleep? No* mentions a cat.
    """
    text, at_place = _coded(words)
    if match := _EXISTENCE.search(text):
        start, phrase = _phrase(match)
        is_open = match["doing"] or _QUALIFIED.search(phrase)
        standing = Standing.NOT_CLAIMED if is_open else Standing.DENIED
        for thing in _A_THING.finditer(phrase):
            yield at_place[start + thing.start()], standing
        for thing in _A_THING.finditer(text, match.end("x")):
            if _INDEFINITE.search(text, match.start("x"), thing.start()):  # near a cat
                yield at_place[thing.start()], Standing.NOT_CLAIMED


def _in_sentence(
    words: Sequence[Word], wanted: Sequence[_Construction]
) -> Iterator[tuple[int, Standing]]:
    text, at_place = _coded(words)
    text = _FULL_STOPS.sub("", text)
    denials: list[re.Match[str]] = []
    for construction in wanted:
        matches = construction.pattern.finditer(text)
        if construction.standing is Standing.DENIED:
            denials += matches
            continue
        for match in matches:
            start, phrase = _phrase(match)
            for thing in _A_THING.finditer(phrase):
                yield at_place[start + thing.start()], Standing.NOT_CLAIMED
    if denials and not _UNREAL.search(text):
        for start, phrase in _denied(text, denials):
            is_open = (
                _QUALIFIED.search(phrase)
                or _ITS_OWN.search(text, max(start - 8, 0), start)
                or _IS_DOING.match(text, start + len(phrase))
            )
            standing = Standing.NOT_CLAIMED if is_open else Standing.DENIED
            for thing in _A_THING.finditer(phrase):
                yield at_place[start + thing.start()], standing


def _coded(words: Sequence[Word]) -> tuple[str, dict[int, int]]:
    """Return the text that patterns read, and the numbers of words by where they are in it."""
    at_place: dict[int, int] = {}
    coded, length = [], 0
    for number, word in enumerate(words):
        if word.text not in _LEFT_OUT:
            at_place[length] = number
            coded.append(f"{_code(word)}{word.text.replace(' ', '_')} ")
            length += len(coded[-1])
    return "".join(coded), at_place


def _denied(text: str, denials: Sequence[re.Match[str]]) -> Iterator[tuple[int, str]]:
    """Yield where a text really denies something, and what: no negation comes before."""
    clauses = [match.end() for match in _NEW_CLAUSE.finditer(text)]
    negations = [match.start() for match in _NEGATES.finditer(text)]
    answer = _SAYS_NO.match(text)
    # Where the answer or the last denial ends: its negation does not count for the next one.
    done = answer.end() if answer else 0
    for match in sorted(denials, key=lambda denial: (denial.start(), -denial.end())):
        start = match.start()
        clause = bisect_right(clauses, start)
        begin = max(done, clauses[clause - 1] if clause else 0)
        if start >= done and bisect_left(negations, begin) == bisect_left(negations, start):
            done = match.end()
            yield _phrase(match)


def _phrase(match: re.Match[str]) -> tuple[int, str]:
    """Return where the things of a construction begin in a text, and the words around them."""
    part = "x" if "x" in match.re.groupindex else 0
    return match.start(part), match[part]


def _code(word: Word) -> str:
    if word.kind is not None:
        return _KINDS[word.kind]
    return "O_" if word.text in _CUES_OF_DENIALS else f"{_CLASSES.get(word_class(word.text), 'O')}_"


@cache
def _constructions() -> list[_Construction]:
    lists: dict[str, str] = {}
    found: list[_Construction] = []
    section = ""
    for line in lines_of("constructions.txt"):
        if line in ("[lists]", "[denied]", "[no claim]"):
            section = line.strip("[]")
        elif section == "lists":
            name, _, words = line.partition(":")
            lists[name] = "|".join(words.split())
        else:
            standing = Standing.DENIED if section == "denied" else Standing.NOT_CLAIMED
            found.append(_construction(line.split(), lists, standing))
    return found


def _construction(
    elements: list[str], lists: Mapping[str, str], standing: Standing
) -> _Construction:
    pattern, needed = "", list[frozenset[str]]()
    for element in elements:
        is_thing = element.startswith("[") and element.endswith("]") and len(element) > 1
        is_optional = element.startswith("(") and element.endswith(")") and len(element) > 1
        words = element[1:-1] if is_optional or is_thing else element
        if words == "X":
            pattern += _DENIED if standing is Standing.DENIED else _NAMED
        elif words in _MACROS:
            pattern += f"(?:{_MACROS[words]})?" if is_optional else _MACROS[words]
            needed += [frozenset([f"<{words.lower()}>"])] if words in ("PEOPLE", "ANIMAL") else []
        else:
            words = lists[words.strip("{}")] if words.startswith("{") else words
            own = frozenset(words.split("|"))
            literal = _any(words.replace("|", " "))
            pattern += f"(?P<x>{literal})" if is_thing else literal + "?" * is_optional
            needed += [] if is_optional else [own]
    needed.sort(key=_rarity, reverse=True)
    return _Construction(tuple(needed), _WHOLE_WORD + pattern, standing)


def _rarity(words: frozenset[str]) -> float:
    return min(rarity(word) if word.isalnum() else 0.0 for word in words)


def may_hold(words: Collection[str]) -> bool:
    """Return whether some construction may hold in a text of these words, or an answer denies it.

    Otherwise the text asserts what it names.
    """
    cues, present = _cues(), set(words)
    numbers = {number for cue in cues.keys() & present for number in cues[cue]}
    return not QUOTES.isdisjoint(present) or (
        bool(numbers)
        and ("?" in present or any(not any(map(present.isdisjoint, _tokens(n))) for n in numbers))
    )


@cache
def _cues() -> Mapping[str, list[int]]:
    """Return the constructions that a word may be of, by their number."""
    by_word: dict[str, list[int]] = {}
    for number, construction in enumerate(_constructions()):
        for cue in construction.needed[0]:
            by_word.setdefault(cue, []).append(number)
    return by_word


@cache
def _tokens(number: int) -> Sequence[frozenset[str]]:
    """Return the sets of tokens of each of which a text has one in which a construction holds."""
    needed = _constructions()[number].needed
    return [
        frozenset(word.partition("_")[0] for word in words)
        for words in needed
        if not any(word.startswith("<") for word in words)
    ]
