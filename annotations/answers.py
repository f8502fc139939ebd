"""Answers to *is it there?*: JSON Lines, one image and thing a line.

``{"image_id": 1, "thing": "nut", "answer": "no"}`` or ``{"image_id": 1, "thing": "nut", "score":
0.12}``, as any vision-language model can be made to write them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ..errors import AnnotationError
from .format import Format, Way, entries, image_id_of
from .instances import Instances
from .objects import ANSWER_THRESHOLD, ObjectLabels, check_score

# In the words of models: "Yes, there is one.", "No.", "I am not sure", "I cannot tell from here."
_YES_OR_NO = re.compile(r"(yes|no)\b(?! idea)")
_UNSURE = re.compile(
    r"(?:i(?:'m| am)? |it(?:'s| is) )?(?:unsure|uncertain|unclear|unknown|maybe|perhaps|no idea|"
    r"not (?:sure|certain|clear|possible)|can(?:'t|not| not) (?:tell|say|see|determine|be)|"
    r"(?:don't|do not) know|(?:hard|difficult|impossible) to)\b"
)


def said(answer: Any) -> bool | None:
    """Return what an answer in words means: there, not there, or None where it leaves that open.

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


def read_answers(records: list[Any], found: Instances) -> ObjectLabels:
    """Read one answer per record; *I cannot tell* is counted and says nothing."""
    found.counts_from(ANSWER_THRESHOLD)
    for at, record in entries(records, found.where):
        image_id = image_id_of(record, "image_id", at)
        of = f"{at} (image {image_id!r:.40})"
        if "thing" not in record:
            raise AnnotationError(f"{of}: 'thing' is missing.")
        found.answer(image_id, record["thing"], _answer(record, found, of), at)
    # An image whose captions mention nothing has no question, and so no answer.
    return found.object_labels("answers", lists_every_image=False, says_asked=True)


def _answer(record: Mapping[str, Any], found: Instances, of: str) -> bool | None:
    """Return what a record answers, in words or by its score."""
    if record.get("answer") is None and record.get("score") is not None:
        found.scored = True
        return found.there(check_score(record["score"], of))
    try:
        return said(record["answer"])
    except (KeyError, ValueError):
        about = f"about {record.get('thing')!r:.40} "
        given = f"is {record['answer']!r:.40}" if "answer" in record else "is missing"
        raise AnnotationError(
            f"{of}: the answer {about}{given}; write yes, no or unsure, or a 'score' from 0 to 1."
        ) from None


FORMAT = Format(
    "answers",
    'answers `{"image_id": 1, "thing": "nut", "answer": "no"}` or `"score": 0.12`, JSON Lines',
    ".5, if there are scores",
    "only what was asked for can be absent; *yes*, *no* and *not sure* in the words of models; "
    "*not sure* is counted, and says nothing",
    (Way("list", ("[].thing", "[].answer [].score"), read_answers),),
)
