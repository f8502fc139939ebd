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
from ..io.text_tables import Cell, Table
from ..kernels.known import Mention, Verdict
from .explanation import MARKS, Explanation, shortened
from .sentences import Invention, inventions_in

# What stands before answers in lines of a table, and how many characters of them it has at least.
_BEFORE_ANSWERS, _LEAST_WIDTH = len("Sample    0.0000   "), 20


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
            for thing in {(one.category, one.verdict) for one in of_answer}
        )
        for of_answer in of_answers:
            for one in of_answer:
                number = said_in[one.category, one.verdict]
                yield one._replace(said_in=number, answers=len(answers))


def answers_tables(
    answers: Sequence[Explanation], system: str, width: int | None = None
) -> list[Table]:
    """Return what the answers about an image mention, and the answers with their scores.

    Answers are cut to fit lines of `width` characters.
    """
    room = None if width is None else max(width - _BEFORE_ANSWERS, _LEAST_WIDTH)
    rows: list[list[Cell]] = [
        [
            MARKS[str(thing.verdict)],
            _called(thing),
            str(thing.verdict),
            thing.supported_by,
            None if math.isnan(thing.support) else f"{thing.support:.2f}",
            f"{thing.said_in} of {thing.answers}",
        ]
        for thing in said_things(answers)
    ]
    number, image = len(answers), answers[0].image_id
    said = Table(
        ["", "Mention", "Verdict", "Nearest evidence", "Support", "Said in"],
        rows,
        notes=_summary(answers),
        texts=4,
        title=f"{system}, image {image}: {number} answer{'s' * (number > 1)}",
    )
    texts: list[list[Cell]] = [
        [
            str(at),
            "-" if math.isnan(answer.score) else f"{answer.score:.4f}",
            shortened(answer.shown, room),
        ]
        for at, answer in enumerate(answers, 1)
    ]
    return [said, Table(["Sample", "Score", "Answer"], texts, texts=3)]


def said_table(of_systems: Mapping[str, Sequence[Explanation]]) -> Table:
    """Return what the answers of several systems mention, a row per system and thing."""
    headers = ["System", "Image", "Mention", "Class", "Verdict", "Nearest evidence", "Support"]
    rows: list[list[Cell]] = []
    for name, answers in of_systems.items():
        image = str(answers[0].image_id)
        for thing in said_things(answers):
            words = ", ".join(thing.words)
            rows.append([name, image, words, thing.category, str(thing.verdict)])
            rows[-1] += [thing.supported_by, thing.support, thing.said_in, thing.answers]
    return Table([*headers, "Said in", "Answers"], rows, texts=6)


def answers_json(answers: Sequence[Explanation]) -> dict[str, Any]:
    """Return what the answers about an image mention, and their explanations, for JSON."""
    return {
        "image_id": to_json_value(answers[0].image_id),
        "mentions": [thing.to_json() for thing in said_things(answers)],
        "answers": [answer.to_json() for answer in answers],
    }


def _called(thing: SaidThing) -> str:
    """Return a thing's words, with how many answers have each if there are several."""
    if len(thing.words) == 1:
        (words,) = thing.words
    else:
        words = ", ".join(f"{one} {number}" for one, number in thing.words.items())
    return words if words == thing.category else f"{words} ({thing.category})"


def _summary(answers: Sequence[Explanation]) -> list[str]:
    """Return what is known of the image, and which objects answers do not mention."""
    if not answers[0].known:
        return ["Nothing is known about the image: it has no usable object label and no reference."]
    unmentioned = Counter(label for answer in answers for label in answer.unmentioned)
    left_out = [f"{label} in {k} of {len(answers)}" for label, k in unmentioned.most_common()]
    notes = [f"Unmentioned objects: {', '.join(left_out) or 'none'}"]
    if answers[0].denied:
        notes.append(f"Looked for and not there: {', '.join(answers[0].denied)}")
    return notes
