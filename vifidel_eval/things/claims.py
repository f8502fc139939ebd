"""Claims: the sentences of a text, and what of them says what is in a picture.

A clause claims nothing if it has one of the phrases of ``hedges.txt``: *suggesting that*, *likely*,
*adds to the atmosphere*. A sentence claims nothing if no mention of a thing is left in it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import NamedTuple

from ..remembered import Remembered
from .english import sentence_ends
from .mentions import Unit
from .nouns import lines_of

_CUT = re.compile("[,;:()\u2013\u2014]|\\s--\\s")
_LINE_END = re.compile(r"\n+")
_MAY_END = re.compile("[.!?…\n]")
_WORD = re.compile(r"[\w-]+")
# What ends a phrase and the rest of its sentence with it.
_REST = "..."


class Sentence(NamedTuple):
    """A sentence of a text, without the blanks around it.

    There are its place in the text, the places of those of its clauses that claim nothing, and what
    the others mention.
    """

    start: int
    end: int
    hedged: tuple[tuple[int, int], ...]
    mentions: tuple[Unit, ...]

    @property
    def claims(self) -> bool:
        """Whether it mentions a thing outside of what is hedged."""
        return bool(self.mentions)

    def claimed(self, text: str) -> str:
        """Return the sentence with as many blanks for its hedged clauses."""
        found, at = [], self.start
        for first, last in self.hedged:
            found += [text[at:first], " " * (last - first)]
            at = last
        return "".join([*found, text[at : self.end]])


def read_sentences(text: str, units: Callable[[str], Sequence[Unit]]) -> tuple[Sentence, ...]:
    """Return the sentences of a text; `units` finds its content words, as `Grounding.units` does.

    Examples
    --------
    >>> text = "A dog runs, as if it were late. The mood is calm."
    >>> for sentence in read_sentences(text, lambda part: []):
    ...     text[sentence.start : sentence.end], [text[a:b] for a, b in sentence.hedged]
    ('A dog runs, as if it were late.', ['as if it were late.'])
    ('The mood is calm.', ['The mood is calm.'])
    """
    may_hedge = any(map(_may_hedge.__getitem__, text.split()))
    lower = _lower(text) if may_hedge else ""
    found = []
    for start, end in sentence_places(text):
        hedged = tuple(_hedged(lower, start, end, _hedges())) if may_hedge else ()
        sentence = Sentence(start, end, hedged, ())
        of_sentence = units(sentence.claimed(text))
        mentions = tuple(unit for unit in of_sentence if unit.category is not None)
        found.append(sentence._replace(mentions=mentions))
    return tuple(found)


@Remembered
def _may_hedge(piece: str) -> bool:
    """Return whether what is between two blanks has the longest word of a phrase."""
    return not _hedges().words.isdisjoint(_WORD.findall(_lower(piece)))


@Remembered  # sentences of a run are asked for after its scores
def has_several(text: str) -> bool:
    """Return whether a text has more than one sentence.

    >>> has_several("A dog runs."), has_several("A dog runs. A cat sits")
    (False, True)
    """
    places = sentence_places(text)
    return next(places, None) is not None and next(places, None) is not None


def sentence_places(text: str) -> Iterator[tuple[int, int]]:
    """Yield where each sentence of a text starts and ends, without the blanks around it.

    Lines end sentences too.
    """
    if text[:1].strip() and text[-1:].strip() and not _MAY_END.search(text, 0, len(text) - 1):
        yield 0, len(text)  # as most captions
        return
    ends = {*sentence_ends(text), *(end.end() for end in _LINE_END.finditer(text)), len(text)}
    at = 0
    for end in sorted(ends):
        sentence = text[at:end]
        stripped = sentence.strip()
        if stripped:
            start = at + len(sentence) - len(sentence.lstrip())
            yield start, start + len(stripped)
        at = end


class _Hedges(NamedTuple):
    """The phrases of a clause that claims nothing, and of the rest of a sentence that does not.

    Texts without any of their longest words, `words`, are not searched for them.
    """

    of_clause: re.Pattern[str]
    of_rest: re.Pattern[str]
    words: frozenset[str]


@cache
def _hedges() -> _Hedges:
    phrases = list(lines_of("hedges.txt"))
    rest = [phrase for phrase in phrases if phrase.endswith(_REST)]
    return _Hedges(
        _pattern(phrase for phrase in phrases if not phrase.endswith(_REST)),
        _pattern(phrase.removesuffix(_REST).strip() for phrase in rest),
        frozenset(max(_WORD.findall(phrase), key=len) for phrase in phrases),
    )


def _pattern(phrases: Iterator[str]) -> re.Pattern[str]:
    longest_first = sorted(phrases, key=lambda phrase: (-len(phrase), phrase))
    listed = "|".join(re.escape(phrase).replace(r"\ ", r"\s+") for phrase in longest_first)
    return re.compile(rf"(?<![\w-])(?:{listed})(?![\w-])")


def _hedged(lower: str, start: int, end: int, hedges: _Hedges) -> Iterator[tuple[int, int]]:
    """Yield the clauses of a sentence that claim nothing; `lower` is the text in lower case."""
    rest = hedges.of_rest.search(lower, start, end)
    stop = rest.start() if rest else end
    at = start
    cuts = [
        cut.end()
        for cut in _CUT.finditer(lower, start, stop)
        if not (cut[0] in ",:" and lower[cut.end() : cut.end() + 1].isdigit())
    ]
    for cut in [*cuts, stop]:
        if hedges.of_clause.search(lower, at, cut):
            clause = lower[at:cut].strip()
            start = lower.index(clause, at)
            yield start, start + len(clause)
        at = cut
    if rest:
        yield stop, end


def _lower(text: str) -> str:
    """Return a text in lower case, character by character, so that places stay."""
    lower = text.lower()
    if len(lower) != len(text):
        lower = "".join(c.lower() if len(c.lower()) == 1 else c for c in text)
    return lower
