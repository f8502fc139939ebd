"""Answers of LLaVA-style evaluation (JSON Lines).

``llava/eval/model_vqa.py`` (https://github.com/haotian-liu/LLaVA) writes one object per question:
``question_id``, ``prompt``, ``text``, ``answer_id``, ``model_id``, ``metadata``. Its questions,
which it reads, have ``question_id``, ``image`` and ``text`` too: there, the text is the question.
"""

from __future__ import annotations

from ..errors import CaptionError
from .fields import Wanted, usual
from .layouts import ByImage, Layout, read_records
from .records import Records


def _read_answers(records: Records, where: str, wanted: Wanted) -> ByImage:
    """Return the answers about each image; questions, which only have ``text``, are refused."""
    ambiguous = not wanted.fields and usual(records.names, wanted.usual) == ["text"]
    if ambiguous and not {"prompt", "answer_id"} & {*records.names}:
        raise CaptionError(
            f"{where}: looks like the questions of a LLaVA-style evaluation, whose 'text' is the "
            "question; give the answers, which have 'prompt' and 'answer_id'."
        )
    return read_records(records, where, wanted)


LAYOUT = Layout(
    "LLaVA-style answers",
    "LLaVA-style answers (`question_id`, `prompt`, `text`, `answer_id`, ...)",
    "yes, if the question ids are image ids",
    "yes, likewise",
    None,
    ("question_id", "text"),
    _read_answers,
)
