"""POPE's questions and their answers (Li et al., EMNLP 2023), JSON Lines.

``{"question_id": 1, "image": "COCO_val2014_000000000042.jpg", "text": "Is there a snowboard in the
image?", "label": "yes"}``, as https://github.com/AoiDragon/POPE writes them.
"""

from __future__ import annotations

import re
from typing import Any

from ..errors import AnnotationError
from .answers import said
from .format import Format, Way, entries, image_id_of
from .instances import Instances
from .objects import ObjectLabels

_QUESTION = re.compile(
    r"\s*(?:is|are) there (?:(?:an?|any|the|some) )?(.+?) "
    r"in (?:the|this) (?:image|picture|photo)\W*",
    re.IGNORECASE,
)


def read_pope(records: list[Any], found: Instances) -> ObjectLabels:
    """Read POPE's questions; what each asks about is there or not, as its ``label`` says."""
    for at, record in entries(records, found.where):
        image_id = image_id_of(record, "image", at)
        question = _QUESTION.fullmatch(str(record.get("text")))
        if not question:
            raise AnnotationError(
                f"{at} (image {image_id!r:.60}): {record.get('text')!r:.60} is not a question of "
                "POPE's form, such as 'Is there a dog in the image?'."
            )
        try:
            there = said(record.get("label"))
        except ValueError:
            raise AnnotationError(
                f"{at} (image {image_id!r:.60}): the label is {record.get('label')!r:.40}; POPE's "
                "are yes and no."
            ) from None
        found.answer(image_id, question[1], there, at)
    return found.object_labels("pope", says_asked=True)


FORMAT = Format(
    "POPE",
    "POPE's questions with their answers, JSON Lines",
    "",
    "the answers of the benchmark itself; a model's go to *answers*",
    (Way("list", ("[].image=", "[].text", "[].label"), read_pope),),
)
