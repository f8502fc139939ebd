"""Inventions: what captions claim to be in their images and is not there, one by one."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..io.files import json_line
from ..io.image_ids import ImageId, to_json_value
from ..io.text_tables import Table
from ..words.claims import read_sentences
from ..words.grounded import Verdict
from ..words.mentions import Unit
from .explained import Explained
from .sentences import wrong_mentions

#: From a caption to its content words in order, terms of several words as one unit.
Units = Callable[[str], Sequence[Unit]]


class Invention(NamedTuple):
    """What a caption says of the things in its image and is not so.

    It mentions a thing that is probably not there, or denies one that is.

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
    verdict : str
        ``"not in the image"``, or ``"wrong denial"`` of what is there.
    judged_by : str or None
        What says so: the ``"labels"`` of the image, an ``"answer"`` about the thing, or the
        ``"references"``.
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
    verdict: str
    judged_by: str | None

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
    mentions, texts = part.mentions, [*part.texts, None]  # NOTHING is the last one
    wrong = mentions.verdicts >= Verdict.ABSENT
    rows = np.searchsorted(mentions.starts, np.flatnonzero(wrong), side="right") - 1
    for row in dict.fromkeys(rows.tolist()):
        caption = part.captions[row]
        of_row = np.arange(*mentions.starts[row : row + 2])
        columns = mentions.places[of_row].tolist(), mentions.verdicts[of_row].tolist()
        placed = wrong_mentions(caption, units(caption), *columns)
        sentences = read_sentences(caption, _no_units)
        said = [caption[sentence.start : sentence.end] for sentence in sentences]
        ends = [sentence.end for sentence in sentences]
        for at, mention in zip(of_row[wrong[of_row]].tolist(), placed, strict=True):
            number = bisect_right(ends, mention.start)
            yield Invention(
                system,
                part.ids[row],
                number,
                said[number],
                mention.words,
                mention.category,
                float(mentions.support[at]),
                texts[int(mentions.by[at])],
                mention.start,
                mention.end,
                str(mention.verdict),
                texts[int(mentions.judged_by[at])],
            )


def rows_of(inventions: Sequence[Invention], suffix: str) -> str:
    """Return inventions as the text of a file, a row each.

    The file's suffix says how: ``.csv`` is CSV with a header, any other is JSON Lines.
    """
    rows = [invention.to_json() for invention in inventions]
    if suffix.lower() != ".csv":
        return "".join(f"{json_line(row)}\n" for row in rows)
    return Table(Invention._fields, [list(row.values()) for row in rows]).render("csv") + "\n"


def _no_units(_: str) -> tuple[Unit, ...]:
    """Return no words: where sentences are does not depend on them."""
    return ()
