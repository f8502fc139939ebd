"""What of a caption is in the image, and who was matched with what: results a person can read.

The transport plan alone cannot say that a word is not in the image: it must move all mass
somewhere. So that judgement rests on the support of the things that a caption mentions, by the
rules of VIFIDEL-H (`vifidel_eval.explain.judging`). Of all other words, such as *standing* or
*large*, word vectors cannot tell, and nothing is claimed.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING, Any, NamedTuple

from ..digits import rounded
from ..image_ids import ImageId, to_json_value
from . import printing

if TYPE_CHECKING:
    from .evidence import Mentioned

#: Mentions of less support are not in the image, unless their class is known to be there.
SUPPORT = 0.4

# What every caption has many of are tuples: cheap to make, and no work for the garbage collector.


class Verdict(IntEnum):
    """What is said of a mention."""

    NOT_JUDGED = 0
    THERE = 1
    ABSENT = 2

    def __str__(self) -> str:
        return ("not judged", "there", "not in the image")[self]


@dataclass(frozen=True)
class Thresholds:
    """The cosines that decide; the defaults fit the embedded vectors.

    Attributes
    ----------
    support : float
        A mention of less support is not in the image, unless its class is known to be there
        (docs/fidelity.md says how this was chosen).
    far : float
        An object is unmentioned if the caption mentions nothing of its class and all words stay
        below this cosine.
    """

    support: float = SUPPORT
    far: float = 0.2


class Match(NamedTuple):
    """Mass that moves from an object label to a caption word.

    Attributes
    ----------
    label, word : str
        The two ends.
    mass : float
        Share of the whole mass that moves between them, in (0, 1].
    cost : float
        Travel cost of a unit of mass (Eq. 1 or 5), not negative.
    label_penalty, word_penalty : float
        Reference penalties (Eq. 4) in [0, 1], small for what the references mention; 1 without
        references.
    """

    label: str
    word: str
    mass: float
    cost: float
    label_penalty: float
    word_penalty: float

    @property
    def contribution(self) -> float:
        """What the match adds to the distance: mass times cost."""
        return self.mass * self.cost


class ThingMentioned(NamedTuple):
    """A thing that a caption mentions.

    Attributes
    ----------
    words : str
        The caption's words for it, in lower case: ``"hot dogs"``.
    category : str
        Its class in the list of things.
    support : float
        The largest cosine to the labels of the image and to what the references say, in [0, 1];
        NaN if the words have no vector or nothing is known of the image.
    supported_by : str or None
        What has that cosine, or is of the same class; None if nothing supports the mention.
    verdict : Verdict
        Whether it is there, is not in the image, or was not judged.
    """

    words: str
    category: str
    support: float
    supported_by: str | None
    verdict: Verdict

    def to_json(self) -> dict[str, Any]:
        """Return the mention as JSON can hold it, as VIFIDEL-H writes it into ``--output``."""
        return {
            "words": self.words,
            "class": self.category,
            "support": _defined(self.support),
            "by": self.supported_by,
            "verdict": str(self.verdict),
        }


class CaptionWord(NamedTuple):
    """How a content word of a caption stands to the image.

    Attributes
    ----------
    word : str
        The word.
    cost : float
        What its matches add to the distance; NaN for an image without objects.
    support : float
        Of the mention that the word belongs to, else the word's own: its largest cosine to the
        labels and to what the references say, in [0, 1]. NaN if nothing is known of the image.
    supported_by : str or None
        What has that cosine, or, for a mention, is of the same class.
    mention : str or None
        The mention of a thing that the word belongs to; if several, one that is not in the image.
    category : str or None
        The class of that thing.
    judged : Verdict or None
        What is said of the mention; None for other words.
    """

    word: str
    cost: float
    support: float
    supported_by: str | None
    mention: str | None
    category: str | None
    judged: Verdict | None

    @property
    def hallucinated(self) -> bool:
        """Whether the word mentions something that is probably not in the image."""
        return self.judged is Verdict.ABSENT

    @property
    def verdict(self) -> str:
        """The judgement in words."""
        return "no claim" if self.judged is None else str(self.judged)

    def to_json(self) -> dict[str, Any]:
        """Return the word as JSON can hold it."""
        return {
            "word": self.word,
            "cost": _defined(self.cost),
            "support": _defined(self.support),
            "supported_by": self.supported_by,
            "mention": self.mention,
            "class": self.category,
            "verdict": self.verdict,
        }


@dataclass(frozen=True)
class Explanation:
    """Why a caption got its score; ``print(explanation)`` shows it as tables.

    Attributes
    ----------
    image_id : hashable
        The image.
    caption : str
        The caption as given.
    score : float
        exp(-distance); 0 for a caption without a usable word, NaN for an image without objects.
    distance : float
        The sum of the contributions of `matches`, exactly (``math.fsum``); NaN if either bag is
        empty.
    known : bool
        Whether anything is known of the image: an object or a reference.
    matches : tuple of Match
        The transport plan, the largest contribution first.
    words : tuple of CaptionWord
        Each usable word of the caption once, the costliest first.
    mentions : tuple of ThingMentioned
        Every mention of a thing, in the order of the caption.
    unmentioned : tuple of str
        Objects of the image that the caption does not speak of, in alphabetical order.
    unknown_words : tuple of str
        Words and labels left out because they have no vector.
    """

    image_id: ImageId
    caption: str
    score: float
    distance: float
    known: bool
    matches: tuple[Match, ...]
    words: tuple[CaptionWord, ...]
    mentions: tuple[ThingMentioned, ...]
    unmentioned: tuple[str, ...]
    unknown_words: tuple[str, ...]

    @property
    def hallucinated(self) -> tuple[str, ...]:
        """The mentions that are probably not in the image, each once, in the caption's order."""
        return tuple(dict.fromkeys(m.words for m in self.mentions if m.verdict is Verdict.ABSENT))

    def to_json(self) -> dict[str, Any]:
        """Return the explanation as JSON can hold it; what is undefined is None.

        Numbers are in full, so that the contributions add up; but the score has ten significant
        digits, as in all files: the last bits of exp differ by machine.
        """
        return {
            "image_id": to_json_value(self.image_id),
            "caption": self.caption,
            "score": rounded(self.score),
            "distance": _defined(self.distance),
            "hallucinated": list(self.hallucinated),
            "unmentioned": list(self.unmentioned),
            "unknown_words": list(self.unknown_words),
            "mentions": [mention.to_json() for mention in self.mentions],
            "words": [word.to_json() for word in self.words],
            "matches": [
                match._asdict() | {"contribution": match.contribution} for match in self.matches
            ],
        }

    def __str__(self) -> str:
        return "\n\n".join(table.render("table") for table in printing.tables(self))


def mentions_of(mentioned: Mentioned) -> Iterator[tuple[int, ThingMentioned]]:
    """Yield the row and the result of every mention of some captions."""
    for row, unit, support, by, verdict in mentioned.each():
        yield row, ThingMentioned(unit.words, unit.category or "", support, by, verdict)


def _defined(number: float) -> float | None:
    return None if math.isnan(number) else number
