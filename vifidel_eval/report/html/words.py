"""A caption as the first page has it: its words with their verdicts and what supports them.

marks.js does the same for all other captions; a browser test compares the two.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from ...things.grounded import Verdict
from .formats import NONE, fixed, grouped

#: What the page calls the verdicts in its data.
VERDICTS = ["no claim", *map(str, Verdict)]
#: How words of each verdict are marked: a class of the style sheet.
MARKS = ["open", "open", "there", "absent"]
#: The verdict of mentions that are not in the image.
ABSENT = Verdict.ABSENT + 1


class MarkedWord(NamedTuple):
    """A mention or a word, the judgement, its support and what supports it, as text."""

    words: str
    verdict: str
    support: str
    by: str


class Piece(NamedTuple):
    """A part of a caption: how it is marked, and which of those said it is; None for neither."""

    text: str
    mark: str | None = None
    said: int | None = None


@dataclass(frozen=True)
class MarkedCaption:
    """What is said of a caption.

    Attributes
    ----------
    pieces : list of Piece
        The caption in parts.
    said : list of Said
        Mentions, then the other words.
    absent, unmentioned : list of str
        Mentions that are not in the image, each once, and objects that are not mentioned.
    """

    pieces: list[Piece]
    said: list[MarkedWord]
    absent: list[str]
    unmentioned: list[str]


def words_of(
    data: dict[str, Any], plans: dict[str, Any], system: int, image: int
) -> MarkedCaption | None:
    """Return what is said of a caption, None where nothing is.

    Parameters
    ----------
    data, plans : dict
        As `Images` has them.
    system, image : int
        Places of the two.
    """
    if not plans["plans"] or plans["plans"][system][image] is None:
        return None
    _, _, numbers, unmentioned, marks = plans["plans"][system][image]
    texts = plans["words"]
    said = list(grouped(numbers, 5))
    caption = data["captions"][system][image]
    pieces, end = [], 0
    for start, stop, at in grouped(marks, 3):
        pieces += [Piece(caption[end:start]), Piece(caption[start:stop], MARKS[said[at][3]], at)]
        end = stop
    absent = (texts[text] for text, _, _, verdict, _ in said if verdict == ABSENT)
    return MarkedCaption(
        pieces=[piece for piece in (*pieces, Piece(caption[end:])) if piece.text],
        said=[
            MarkedWord(
                texts[text],
                VERDICTS[verdict],
                NONE if support < 0 else fixed(support / 100, 2),
                NONE if by < 0 else texts[by],
            )
            for text, support, by, verdict, _ in said
        ],
        absent=list(dict.fromkeys(absent)),
        unmentioned=[data["labels"][data["objects"][image][3 * place]] for place in unmentioned],
    )


def times(count: int) -> str:
    """Return how many times an object is there, if more than once."""
    return f" \N{MULTIPLICATION SIGN}{count}" if count > 1 else ""
