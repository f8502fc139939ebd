"""Answers that were given before: what need not be asked again."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from ..annotations import clean_label
from ..arguments import named_if_wrong
from ..entry.plan import PathLike
from ..errors import VifidelError
from ..files import parse_json_lines, read_text
from ..image_ids import ImageId, from_json_value, match
from ..things.synonyms import ClassList

_EXPECTED = (
    '{"image_id": 7, "thing": "lamp", "answer": "no"} (or a "score"), one per line, or what '
    "detect --ask wrote"
)


@named_if_wrong
def read_answered(
    answers: PathLike | Sequence[Mapping[str, Any]], classes: ClassList
) -> dict[ImageId, set[str]]:
    """Return what was answered about each image, by the names of the classes.

    Parameters
    ----------
    answers : path or list of dict
        Lines with ``image_id``, ``thing`` and ``answer`` or ``score``; or detections of a run that
        was asked (``asked``). A question without an answer is one that is still open.
    classes : ClassList
        The object vocabulary.

    Raises
    ------
    VifidelError
        If it cannot be read or holds something else.
    """
    if isinstance(answers, str | os.PathLike):
        where = str(answers)
        lines, numbers = parse_json_lines(read_text(answers, VifidelError), where, VifidelError)
    else:
        where, lines = "answers", list(answers)
        numbers = list(range(1, len(lines) + 1))
    answered: dict[ImageId, set[str]] = {}
    for number, line in zip(numbers, lines, strict=True):
        if isinstance(line, Mapping) and ("vifidel_eval" in line or "problem" in line):
            continue  # a header, or a picture that could not be read
        image_id = from_json_value(line.get("image_id")) if isinstance(line, Mapping) else None
        things = None if image_id is None else _things(line)
        if image_id is None or things is None:
            raise VifidelError(f"{where}: line {number} is no answer; expected {_EXPECTED}.")
        cleaned = map(clean_label, things)
        of_image = answered.setdefault(image_id, set())
        of_image.update(classes.class_of.get(name, name) for name in cleaned)
    return answered


def _things(line: Mapping[str, Any]) -> Iterable[str] | None:
    """Return the things that a line answers; None if it is no such line."""
    thing, asked = line.get("thing"), line.get("asked")
    if isinstance(thing, str):
        is_open = line.get("answer") in (None, "") and line.get("score") is None
        return [] if is_open else [thing]
    if isinstance(asked, list) and all(isinstance(name, str) for name in asked):
        return asked
    return None


def check_matched(
    answered: Mapping[ImageId, Collection[str]],
    asked: Mapping[ImageId, Collection[str]],
    where: str,
) -> None:
    """Raise if answers and questions have little in common: they belong to other captions.

    Some questions may be open, and some answers about what other systems mentioned.

    Raises
    ------
    VifidelError
        If less than half of the answers, and of the questions, have a counterpart.
    """
    answers, questions = (sum(map(len, side.values())) for side in (answered, asked))
    matched = sum(
        len(set(answered[theirs]).intersection(asked[mine]))
        for theirs, mine in match(answered, asked).items()
    )
    if 2 * matched < min(answers, questions):
        raise VifidelError(
            f"{where}: {matched} of {answers} answers belong to the {questions} questions about "
            "these captions; give the answers to these."
        )
