"""Sentences of captions, judged one by one, and their inventions: what is claimed and not there."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from ..io.digits import rounded
from ..io.files import json_line
from ..io.image_ids import ImageId, to_json_value
from ..io.text_tables import Table
from ..kernels.known import Mention
from ..words.english import sentence_places
from .explanation import Explanation


class JudgedSentence(NamedTuple):
    """A sentence of a caption, judged by what is known of the image."""

    start: int  #: where it begins in the caption, in characters
    end: int  #: where it ends
    claims: bool  #: whether it mentions a thing or has a word of the evidence
    #: VIFIDEL-P of the sentence alone; NaN if it claims nothing, or nothing is known of the image.
    p: float
    #: What it claims and the image does not show, and what it denies and is there, by VIFIDEL-H.
    inventions: tuple[Mention, ...]

    def to_json(self) -> dict[str, Any]:
        """Return the sentence as JSON can hold it, as VIFIDEL-PRF writes it into ``--output``."""
        return self._asdict() | {
            "p": None if math.isnan(self.p) else self.p,
            "inventions": [
                {
                    "words": mention.words,
                    "category": mention.category,
                    "start": mention.start,
                    "end": mention.end,
                    "verdict": str(mention.verdict),
                }
                for mention in self.inventions
            ],
        }


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
    #: With several captions per image: how many of them make up the same thing, by its class; None
    #: with one.
    said_in: int | None = None
    answers: int | None = None  #: how many captions of the image there are then; None with one

    def to_json(self) -> dict[str, Any]:
        """Return the invention as JSON can hold it, as ``explain --inventions`` writes it."""
        content = self._asdict() | {
            "image_id": to_json_value(self.image_id),
            "support": rounded(self.support),
        }
        if self.answers is None:
            del content["said_in"], content["answers"]
        return content


def inventions_in(system: str, explanations: Iterable[Explanation]) -> Iterator[Invention]:
    """Yield the inventions of a system's captions, in order."""
    for explanation in explanations:
        wrong = [mention for mention in explanation.mentions if mention.verdict.is_wrong]
        sentences = list(sentence_places(explanation.caption)) if wrong else []
        for mention in wrong:
            claim = mention.claim
            yield Invention(
                system,
                explanation.image_id,
                claim.sentence,
                explanation.caption[slice(*sentences[claim.sentence])],
                mention.words,
                mention.category,
                mention.support,
                mention.supported_by,
                mention.start,
                mention.end,
                str(mention.verdict),
                mention.judged_by,
            )


def rows_of(inventions: Sequence[Invention], suffix: str, of_samples: bool = False) -> str:
    """Return inventions as the text of a CSV file, or under another suffix of JSON Lines."""
    rows = [invention.to_json() for invention in inventions]
    if suffix.lower() != ".csv":
        return "".join(f"{json_line(row)}\n" for row in rows)
    fields = Invention._fields if of_samples else Invention._fields[:-2]
    return Table(fields, [list(row.values()) for row in rows]).render("csv") + "\n"
