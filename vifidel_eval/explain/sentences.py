"""Sentences of captions, judged one by one: what each claims, invents and only supposes."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from ..text_tables import Cell, Table
from ..things.claims import Sentence
from ..things.grounded import Verdict
from ..things.mentions import Unit
from .explanation import place_of, shortened

# Characters of a sentence that a table shows.
_WIDTH, _LEAST_WIDTH = 40, 16
# Those of its number, its P and the space between columns.
_BESIDE = 2 + 6 + 4 * 2


class PlacedMention(NamedTuple):
    """A thing that a text mentions, and where.

    Attributes
    ----------
    words : str
        The text's words for it, in lower case.
    category : str
        Its class.
    start, end : int
        Its place in the text, in characters.
    """

    words: str
    category: str
    start: int
    end: int

    def to_json(self) -> dict[str, Any]:
        """Return the mention as JSON can hold it."""
        return {
            "words": self.words,
            "category": self.category,
            "start": self.start,
            "end": self.end,
        }


class JudgedSentence(NamedTuple):
    """A sentence of a caption, judged by what is known of the image.

    Attributes
    ----------
    start, end : int
        Its place in the caption, in characters.
    claims : bool
        Whether it claims anything: mentions a thing outside of what is hedged.
    p : float
        VIFIDEL-P of the sentence alone; NaN if it claims nothing, or nothing is known of the image.
    inventions : tuple of PlacedMention
        What it claims and the image does not show, by VIFIDEL-H's verdict.
    hedged : tuple of (start, end)
        The places of its clauses that claim nothing, such as *suggesting that it is late*.
    hedged_mentions : tuple of PlacedMention
        What these mention and the image does not show: supposed, not invented.
    """

    start: int
    end: int
    claims: bool
    p: float
    inventions: tuple[PlacedMention, ...]
    hedged: tuple[tuple[int, int], ...]
    hedged_mentions: tuple[PlacedMention, ...]

    def to_json(self) -> dict[str, Any]:
        """Return the sentence as JSON can hold it, as VIFIDEL-PRF writes it into ``--output``."""
        return self._asdict() | {
            "p": None if math.isnan(self.p) else self.p,
            "inventions": [mention.to_json() for mention in self.inventions],
            "hedged": [list(place) for place in self.hedged],
            "hedged_mentions": [mention.to_json() for mention in self.hedged_mentions],
        }


def absent_in(
    sentence: Sentence, absent: Iterable[PlacedMention]
) -> tuple[tuple[PlacedMention, ...], tuple[PlacedMention, ...]]:
    """Return what a sentence claims that is not in the image, and what it only supposes.

    `absent` has the mentions of its whole text that are not in the image.
    """
    own = [mention for mention in absent if sentence.start <= mention.start < sentence.end]
    hedged = {m for m in own if any(a <= m.start < b for a, b in sentence.hedged)}
    return tuple(m for m in own if m not in hedged), tuple(m for m in own if m in hedged)


def absent_mentions(
    text: str, units: Sequence[Unit], verdicts: Iterable[int]
) -> tuple[PlacedMention, ...]:
    """Return the mentions of a text that are not in the image, with their places.

    `units` are its content words in order, and `verdicts` those on the mentions among them.
    """
    verdict_of = iter(verdicts)
    found = []
    for unit, (start, end) in zip(units, _places(text, units), strict=True):
        if unit.category is not None and next(verdict_of) == Verdict.ABSENT:
            found.append(PlacedMention(unit.words, unit.category, start, end))
    return tuple(found)


def _places(text: str, units: Iterable[Unit]) -> Iterator[tuple[int, int]]:
    """Yield the place of each unit; where its words are spelled otherwise, that of all the text."""
    at = 0
    for unit in units:
        here = place_of(unit.words, text, at)
        if here is None:
            start = len(text) - len(text.lstrip())
            yield start, start + len(text.strip())
        else:
            yield here
            at = here[1]


def sentence_table(
    caption: str, sentences: Sequence[JudgedSentence], width: int | None = None
) -> Table:
    """Return a row per sentence of a caption: its text, P, and what it invents or only supposes.

    Sentences and clauses are cut to fit lines of `width` characters.
    """
    invented = [", ".join(map(_placed, sentence.inventions)) for sentence in sentences]
    headers = ["", "Sentence", "Not in the image", "Hedged", "P"]
    most = _WIDTH
    if width is not None:
        taken = max(len(headers[2]) + 2, *map(len, invented)) + _BESIDE
        most = min(most, max((width - taken) // 2, _LEAST_WIDTH))
    rows: list[list[Cell]] = []
    for number, (sentence, said) in enumerate(zip(sentences, invented, strict=True), 1):
        supposed = "; ".join(caption[start:end] for start, end in sentence.hedged)
        rows.append(
            [
                str(number),
                shortened(caption[sentence.start : sentence.end], most),
                said or None,
                shortened(supposed, most) or None,
                sentence.p if sentence.claims and not math.isnan(sentence.p) else None,
            ]
        )
    return Table(
        headers,
        rows,
        [
            "Not in the image: with the place in the caption, in characters. Hedged: clauses that "
            "claim nothing; what they mention is no invention.",
            "P: VIFIDEL-P of the sentence; - if it claims nothing.",
        ],
        texts=4,
        title="Sentences",
    )


def _placed(mention: PlacedMention) -> str:
    return f"{mention.words} ({mention.start}-{mention.end})"
