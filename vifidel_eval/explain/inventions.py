"""Inventions: what captions claim to be in their images and is not there, one by one."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..files import json_line
from ..image_ids import ImageId, to_json_value
from ..kernels.support import NOTHING
from ..text_tables import Table
from ..things.claims import read_sentences
from ..things.grounded import Verdict
from ..things.mentions import Unit
from .explained import Explained
from .sentences import absent_mentions

#: From a caption to its content words in order, terms of several words as one unit.
Units = Callable[[str], Sequence[Unit]]


class Invention(NamedTuple):
    """A mention of a thing that is probably not in the image, made by a claim.

    What only a clause such as *as if a train were coming* mentions is supposed, and no invention.

    Attributes
    ----------
    system : str
        Whose caption it is in.
    image_id : hashable
        The image.
    sentence : int
        The number of the sentence in its caption, from 0, as in
        ``Run.to_dataframe(words=True)``.
    text : str
        The sentence.
    word : str
        The caption's words for the thing, in lower case: ``"hot dogs"``.
    category : str
        The class of the thing.
    support : float
        The largest cosine to the labels of the image and to what its references say, in [0, 1]; NaN
        where the metric has none.
    evidence : str or None
        What has that cosine; None if nothing comes near.
    start, end : int
        The place of the words in the caption, in characters.
    """

    system: str
    image_id: ImageId
    sentence: int
    text: str
    word: str
    category: str
    support: float
    evidence: str | None
    start: int
    end: int

    def to_json(self) -> dict[str, Any]:
        """Return the invention as JSON can hold it, as ``explain --inventions`` writes it."""
        return self._asdict() | {
            "image_id": to_json_value(self.image_id),
            "support": None if math.isnan(self.support) else self.support,
        }


def inventions_in(system: str, part: Explained, units: Units) -> Iterator[Invention]:
    """Yield the inventions of a system's captions, in their order.

    `units` is what reads captions, such as `Explainer.units`.
    """
    mentions = part.mentions
    absent = mentions.verdicts == Verdict.ABSENT
    claimed = np.flatnonzero(absent & ~mentions.hedged)
    rows = np.searchsorted(mentions.starts, claimed, side="right") - 1
    for row in dict.fromkeys(rows.tolist()):
        caption, of_row = part.captions[row], slice(*mentions.starts[row : row + 2])
        placed = absent_mentions(caption, units(caption), mentions.verdicts[of_row].tolist())
        places = of_row.start + np.flatnonzero(absent[of_row])
        sentences = read_sentences(caption, _no_units)
        for at, mention in zip(places.tolist(), placed, strict=True):
            if mentions.hedged[at]:
                continue
            ends = (n for n, sentence in enumerate(sentences) if mention.start < sentence.end)
            number = next(ends)
            by = int(mentions.by[at])
            yield Invention(
                system,
                part.ids[row],
                number,
                caption[sentences[number].start : sentences[number].end],
                mention.words,
                mention.category,
                float(mentions.support[at]),
                None if by == NOTHING else part.texts[by],
                mention.start,
                mention.end,
            )


def are_hedged(caption: str, units: Units, verdicts: Sequence[int]) -> list[bool]:
    """Return which mentions are not in the image and stand in a clause that claims nothing.

    `units` reads the caption, and `verdicts` has the `Verdict` on each of its mentions.
    """
    hedged = [place for one in read_sentences(caption, _no_units) for place in one.hedged]
    if not hedged:
        return [False] * len(verdicts)
    absent = iter(absent_mentions(caption, units(caption), verdicts))
    starts = [next(absent).start if v == Verdict.ABSENT else NOTHING for v in verdicts]
    return [any(first <= start < last for first, last in hedged) for start in starts]


def rows_of(inventions: Sequence[Invention], suffix: str) -> str:
    """Return inventions as the text of a file, a row each.

    The file's suffix says how: ``.csv`` is CSV with a header, any other is JSON Lines.
    """
    rows = [invention.to_json() for invention in inventions]
    if suffix.lower() != ".csv":
        return "".join(f"{json_line(row)}\n" for row in rows)
    return Table(Invention._fields, [list(row.values()) for row in rows]).render("csv") + "\n"


def _no_units(_: str) -> tuple[Unit, ...]:
    """Return no words: where sentences and hedged clauses are does not depend on them."""
    return ()
