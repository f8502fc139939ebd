"""Several answers about an image: what they mention, and how many of them say it.

Answers are the captions that a system gave of the same image. A thing is counted by its class, once
per answer, so that *a dog* and *two puppies* are one thing.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, NamedTuple

from ..io.image_ids import ImageId, to_json_value
from ..kernels.known import Mention, Verdict
from .explanation import Explanation
from .sentences import Invention, inventions_in


class SaidThing(NamedTuple):
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


def said_things(answers: Sequence[Explanation]) -> list[SaidThing]:
    """Return what the answers about an image mention, the most frequent first."""
    mentions: dict[tuple[str, Verdict], list[tuple[int, Mention]]] = {}
    for number, answer in enumerate(answers):
        for mention in answer.mentions:
            of_thing = mentions.setdefault((mention.category, mention.verdict), [])
            of_thing.append((number, mention))
    things = []
    for (category, verdict), of_thing in mentions.items():
        best = max((m for _, m in of_thing), key=lambda m: (not math.isnan(m.support), m.support))
        words = Counter(
            words for _, words in {(number, m.words): m.words for number, m in of_thing}
        )
        things.append(
            SaidThing(
                category,
                dict(words.most_common()),
                verdict,
                len({number for number, _ in of_thing}),
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
        "mentions": [thing.to_json() for thing in said_things(answers)],
        "answers": [answer.to_json() for answer in answers],
    }
