"""Sentences and answers, judged: what is claimed and not there, and how many answers mention it.

Answers are the captions that a system gave of the same image. A thing is counted by its class, once
per answer, so that *a dog* and *two puppies* are one thing.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, NamedTuple

from ..io.digits import rounded
from ..io.files import json_line
from ..io.image_ids import ImageId, to_json_value
from ..io.text_tables import Table
from ..kernels.known import Mention, Verdict
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
    verdict: str  #: ``"made up"``, or ``"wrong denial"`` of what is there
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


class MentionedThing(NamedTuple):
    """A thing that answers about one image mention, all with the same verdict."""

    category: str  #: its class
    words: Mapping[str, int]  #: what it is called, each in how many answers, most frequent first
    verdict: Verdict
    said_in: int  #: how many answers mention it
    answers: int  #: how many answers there are
    support: float  #: the largest of its mentions; NaN if unknown
    supported_by: str | None  #: what has that cosine, as `Mention.supported_by`

    def to_json(self) -> dict[str, Any]:
        """Return the thing as JSON can hold it."""
        return self._asdict() | {
            "words": dict(self.words),
            "verdict": str(self.verdict),
            "support": None if math.isnan(self.support) else self.support,
        }


def by_image(explanations: Iterable[Explanation]) -> Iterator[tuple[ImageId, list[Explanation]]]:
    """Yield each image with its answers, which follow each other."""
    for image_id, answers in groupby(explanations, key=lambda explanation: explanation.image_id):
        yield image_id, list(answers)


def mentioned_things(answers: Sequence[Explanation]) -> list[MentionedThing]:
    """Return what the answers about an image mention, the most frequent first."""
    by_thing: dict[tuple[str, Verdict], list[tuple[int, Mention]]] = {}
    for number, answer in enumerate(answers):
        for mention in answer.mentions:
            by_thing.setdefault((mention.category, mention.verdict), []).append((number, mention))
    things = []
    for (category, verdict), mentions in by_thing.items():
        best = max((m for _, m in mentions), key=lambda m: (not math.isnan(m.support), m.support))
        # An answer counts once for each of its names of the thing.
        words = Counter(words for _, words in dict.fromkeys((n, m.words) for n, m in mentions))
        things.append(
            MentionedThing(
                category,
                dict(words.most_common()),
                verdict,
                len({number for number, _ in mentions}),
                len(answers),
                best.support,
                best.supported_by,
            )
        )
    return sorted(things, key=lambda thing: -thing.said_in)


def inventions_in_answers(system: str, explanations: Iterable[Explanation]) -> Iterator[Invention]:
    """Yield what `inventions_in` does, and say how many answers about the image have each thing.

    The answers about an image follow each other; `system` has one sample for each of them.
    """
    for _, answers in by_image(explanations):
        of_answers = [
            list(inventions_in(f"{system}, sample {number}", [answer]))
            for number, answer in enumerate(answers, 1)
        ]
        said_in = Counter(
            thing
            for of_answer in of_answers
            for thing in {(invention.category, invention.verdict) for invention in of_answer}
        )
        for of_answer in of_answers:
            for invention in of_answer:
                number = said_in[invention.category, invention.verdict]
                yield invention._replace(said_in=number, answers=len(answers))


def answers_json(answers: Sequence[Explanation]) -> dict[str, Any]:
    """Return what the answers about an image mention, and their explanations, for JSON."""
    return {
        "image_id": to_json_value(answers[0].image_id),
        "mentions": [thing.to_json() for thing in mentioned_things(answers)],
        "answers": [answer.to_json() for answer in answers],
    }
