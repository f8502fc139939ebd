"""Answers of LLaVA-style evaluation (JSON Lines).

``llava/eval/model_vqa.py`` (https://github.com/haotian-liu/LLaVA) writes one object per question:
``question_id``, ``prompt``, ``text``, ``answer_id``, ``model_id``, ``metadata``. Its questions,
which it reads, have ``question_id``, ``image`` and ``text`` too: there, the text is the question.
"""

from __future__ import annotations

from collections.abc import Collection

from ..errors import CaptionError


def check_answers(names: Collection[str], caption_name: str, where: str) -> None:
    """Refuse the questions of an evaluation, whose ``text`` is no caption.

    Raises
    ------
    CaptionError
        If records with these fields are questions.
    """
    if caption_name == "text" and "question_id" in names and not {"prompt", "answer_id"} & {*names}:
        raise CaptionError(
            f"{where}: looks like the questions of a LLaVA-style evaluation, whose 'text' is the "
            "question; give the answers, which have 'prompt' and 'answer_id'."
        )
