"""Inventions: what captions claim to be in their images and is not there, one by one."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from ..io.files import json_line
from ..io.image_ids import ImageId, to_json_value
from ..io.text_tables import Table
from ..words.english import sentence_places
from ..words.mentions import Unit
from .explanation import Explanation
from .sentences import places_of


class Invention(NamedTuple):
    """What a caption says of the things in its image and is not so.

    It mentions a thing that is probably not there, or denies one that is.
    """

    system: str  #: whose caption it is in
    image_id: ImageId  #: the image
    #: The number of the sentence in its caption, from 0, as in ``Run.to_dataframe(words=True)``.
    sentence: int
    text: str  #: the sentence
    word: str  #: the caption's words for the thing, in lower case: ``"hot dogs"``
    category: str  #: the class of the thing
    #: The largest cosine to the labels of the image and to what its references say, in [0, 1]; NaN
    #: where the metric has none.
    support: float
    evidence: str | None  #: what has that cosine; None if nothing comes near
    start: int  #: where the words begin in the caption, in characters
    end: int  #: where they end
    verdict: str  #: ``"not in the image"``, or ``"wrong denial"`` of what is there
    #: What says so: the ``"labels"`` of the image, an ``"answer"`` about the thing, or the
    #: ``"references"``.
    judged_by: str | None

    def to_json(self) -> dict[str, Any]:
        """Return the invention as JSON can hold it, as ``explain --inventions`` writes it."""
        return self._asdict() | {
            "image_id": to_json_value(self.image_id),
            "support": None if math.isnan(self.support) else self.support,
        }


def inventions_in(
    system: str, explanations: Iterable[Explanation], units: Callable[[str], Sequence[Unit]]
) -> Iterator[Invention]:
    """Yield the inventions of a system's captions, which `Explainer.units` reads, in order."""
    for explanation in explanations:
        image_id, caption = explanation.image_id, explanation.caption
        wrong = [mention for mention in explanation.mentions if mention.verdict.is_wrong]
        sentences = list(sentence_places(caption)) if wrong else []
        ends = [end for _, end in sentences]
        for mention, start, end in places_of(wrong, caption, units):
            number = bisect_right(ends, start)
            yield Invention(
                system,
                image_id,
                number,
                caption[slice(*sentences[number])],
                mention.words,
                mention.category,
                mention.support,
                mention.supported_by,
                start,
                end,
                str(mention.verdict),
                mention.judged_by,
            )


def rows_of(inventions: Sequence[Invention], suffix: str) -> str:
    """Return inventions as the text of a CSV file, or under another suffix of JSON Lines."""
    rows = [invention.to_json() for invention in inventions]
    if suffix.lower() != ".csv":
        return "".join(f"{json_line(row)}\n" for row in rows)
    return Table(Invention._fields, [list(row.values()) for row in rows]).render("csv") + "\n"
