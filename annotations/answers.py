"""Answers to *is it there?*: JSON Lines, one image and thing a line.

``{"image_id": 1, "thing": "nut", "answer": "no"}`` or ``{"image_id": 1, "thing": "nut", "score":
0.12}``, as any vision-language model can be made to write them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ..errors import AnnotationError
from ..image_ids import ImageId
from .carriers import places
from .coco import entries, image_id_of
from .objects import ObjectLabels, check_score, count
from .record import Format, ReadOptions, Way

# In the words of models: "Yes, there is one.", "No.", "I am not sure", "I cannot tell from here."
_YES_OR_NO = re.compile(r"(yes|no)\b(?! idea)")
_UNSURE = re.compile(
    r"(?:i(?:'m| am)? |it(?:'s| is) )?(?:unsure|uncertain|unclear|unknown|maybe|perhaps|no idea|"
    r"not (?:sure|certain|clear|possible)|can(?:'t|not| not) (?:tell|say|see|determine|be)|"
    r"(?:don't|do not) know|(?:hard|difficult|impossible) to)\b"
)


class Answers:
    """What was looked for in images, and what of it is there, answer by answer.

    Attributes
    ----------
    images : dict
        Image id to label to 1, for all images that were asked about.
    asked : dict
        Image id to the labels that were answered, there or not.
    unsure : int
        How many answers left it open.
    """

    def __init__(self) -> None:
        self.images: dict[ImageId, dict[str, int]] = {}
        self.asked: dict[ImageId, dict[str, str]] = {}
        self.unsure = 0

    def add(self, image_id: ImageId, thing: Any, there: bool | None, at: str) -> None:
        """Take an answer; None for one that leaves it open, which counts as not asked.

        Parameters
        ----------
        image_id, thing
            The image, and the name of what was looked for.
        there : bool or None
            The answer.
        at : str
            The file and the entry.

        Raises
        ------
        AnnotationError
            If the thing is no label, or another answer about it differs.
        """
        if not isinstance(thing, str) or not thing.strip():
            raise AnnotationError(
                f"{at} (image {image_id!r:.40}): the thing is {thing!r:.40}, not a name."
            )
        named: dict[str, int] = {}
        count(named, thing, at=at)
        found = self.images.setdefault(image_id, {})
        asked = self.asked.setdefault(image_id, {})
        self.unsure += there is None
        for label in named if there is not None else ():
            earlier = asked.setdefault(label, at)
            if earlier != at and (label in found) != there:
                raise AnnotationError(
                    f"{at} (image {image_id!r:.40}): {label!r:.40} is both there and not there "
                    f"(the other answer is {earlier.rpartition(': ')[2]}); keep one answer for "
                    "each thing."
                )
            if there:
                found[label] = 1

    def labels(
        self,
        kind: str,
        where: str,
        threshold: float | None = None,
        lists_every_image: bool = True,
    ) -> ObjectLabels:
        """Return all answers as object labels, which say what was looked for."""
        return ObjectLabels(
            self.images,
            kind,
            where,
            threshold,
            lists_every_image,
            asked=self.asked,
            unsure=self.unsure,
        )


def said(answer: Any) -> bool | None:
    """Return what an answer in words means: there, not there, or None where it leaves that open.

    Raises
    ------
    ValueError
        If it is something else.

    Examples
    --------
    >>> said("Yes, there is a dog."), said("No."), said("I'm not sure")
    (True, False, None)
    """
    if isinstance(answer, bool):
        return answer
    if not isinstance(answer, str):
        raise ValueError
    text = answer.strip(" \t\n\"'*.").replace("\u2019", "'").lower()
    if _UNSURE.match(text):
        return None
    found = _YES_OR_NO.match(text)
    if not found:
        raise ValueError
    return found[1] == "yes"


def answer_of(record: Mapping[str, Any], options: ReadOptions, at: str) -> bool | None:
    """Return what a record answers, in words or by its score.

    Raises
    ------
    AnnotationError
        If it is neither.
    """
    if record.get("answer") is None and record.get("score") is not None:
        return options.answer(check_score(record["score"], at))
    try:
        return said(record["answer"])
    except (KeyError, ValueError):
        about = f"about {record.get('thing')!r:.40} "
        found = f"is {record['answer']!r:.40}" if "answer" in record else "is missing"
        raise AnnotationError(
            f"{at}: the answer {about}{found}; write yes, no or unsure, or a 'score' from 0 to 1."
        ) from None


def read_answers(records: list[Any], options: ReadOptions) -> ObjectLabels:
    """Read one answer per record; *I cannot tell* is counted and says nothing.

    Raises
    ------
    AnnotationError
        If an answer is neither yes, no nor unsure, a score is not from 0 to 1, or two answers about
        one thing in one image differ.
    """
    where, found, scored = options.where, Answers(), False
    for record, at in zip(entries(records, "", where), places(records, where), strict=True):
        image_id = image_id_of(record, "image_id", at)
        if "thing" not in record:
            raise AnnotationError(f"{at} (image {image_id!r:.40}): 'thing' is missing.")
        at_image = f"{at} (image {image_id!r:.40})"
        there = answer_of(record, options, at_image)
        scored = scored or record.get("answer") is None
        found.add(image_id, record["thing"], there, at)
    # An image whose captions mention nothing has no question, and so no answer.
    return found.labels("answers", where, options.lowest_answer if scored else None, False)


FORMAT = Format(
    "answers",
    'answers `{"image_id": 1, "thing": "nut", "answer": "no"}` or `"score": 0.12`, JSON Lines',
    ".5, if there are scores",
    "only what was asked for can be absent; *yes*, *no* and *not sure* in the words of models; "
    "*not sure* is counted, and says nothing",
    (Way("list", ("[].thing", "[].answer [].score"), read_answers),),
)
