"""Answers of LLaVA-style evaluation (JSON Lines).

``llava/eval/model_vqa.py`` (https://github.com/haotian-liu/LLaVA) writes one object per question:
``question_id``, ``prompt``, ``text``, ``answer_id``, ``model_id``, ``metadata``. Its questions,
which it reads, have ``question_id``, ``image`` and ``text`` too: there, the text is the question.
"""

from __future__ import annotations

from typing import Any

from ..errors import CaptionError
from ..image_ids import ImageId
from .columns import Wanted, usual
from .layout import Layout
from .listed import read_records
from .records import Records


def read_answers(records: Records, where: str, wanted: Wanted) -> dict[ImageId, list[str]]:
    """Return the answers about each image; questions are refused.

    Raises
    ------
    CaptionError
        If the records are questions, or `read_records` raises it.
    """
    if not {"prompt", "answer_id"} & {*records.names}:
        raise CaptionError(
            f"{where}: looks like the questions of a LLaVA-style evaluation, whose 'text' is the "
            "question; give the answers, which have 'prompt' and 'answer_id'."
        )
    return read_records(records, where, wanted)


def _recognised(content: Any, wanted: Wanted) -> bool:
    """Tell records whose only caption is ``text``, unless the user says where captions are."""
    if not isinstance(content, Records) or wanted.caption_fields:
        return False
    return "question_id" in content.names and usual(content.names, wanted.usual) == ["text"]


LAYOUT = Layout(
    "LLaVA-style answers",
    "LLaVA-style answers (`question_id`, `prompt`, `text`, `answer_id`, ...)",
    "yes, if the question ids are image ids",
    "yes, likewise",
    _recognised,
    read_answers,
)
