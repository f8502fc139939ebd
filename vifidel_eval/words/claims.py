"""Claims: the sentences of a text, and what each says of the things in a picture."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from ..io.caches import Remembered
from .english import sentence_ends
from .mentions import Unit

_LINE_END = re.compile(r"\n+")
_MAY_END = re.compile("[.!?…\n]")


class Sentence(NamedTuple):
    """A sentence of a text, without the blanks around it: its place, and the things it names."""

    start: int
    end: int
    things: tuple[Unit, ...]

    @property
    def claims(self) -> bool:
        """Whether it mentions a thing; denials mention none."""
        return any(unit.is_mention for unit in self.things)


def read_sentences(text: str, units: Callable[[str], Sequence[Unit]]) -> tuple[Sentence, ...]:
    """Return the sentences of a text; `units` finds its content words, as `Grounding.units` does.

    Examples
    --------
    >>> text = "A dog runs. The mood is calm."
    >>> [text[one.start : one.end] for one in read_sentences(text, lambda part: [])]
    ['A dog runs.', 'The mood is calm.']
    """
    return tuple(
        Sentence(start, end, tuple(unit for unit in units(text[start:end]) if unit.category))
        for start, end in sentence_places(text)
    )


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
