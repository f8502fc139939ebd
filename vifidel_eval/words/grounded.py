"""Grounded mentions: things that captions mention, each with the verdict on it.

`vifidel_eval.kernels.grounding` has the rules.
"""

from __future__ import annotations

import math
from enum import IntEnum
from typing import Any, NamedTuple

#: Mentions of less support are not in the image, unless their class is known to be there.
SUPPORT = 0.4

#: What can deny a thing.
LABELS, ANSWER, REFERENCES = "labels", "answer", "references"


class Verdict(IntEnum):
    """What is said of a mention."""

    UNCONFIRMED = 0
    THERE = 1
    ABSENT = 2
    WRONG_DENIAL = 3

    def __str__(self) -> str:
        return ("unconfirmed", "there", "not in the image", "wrong denial")[self]

    @property
    def is_wrong(self) -> bool:
        """Whether the evidence contradicts it."""
        return self >= Verdict.ABSENT


class GroundedMention(NamedTuple):
    """A thing that a caption mentions, and whether it is there.

    `words` are the caption's own, in lower case (``"hot dogs"``); `category` is the class in the
    object vocabulary. `support` is the largest cosine to the labels of the image and to what the
    references say, in [0, 1]; NaN if the words have no vector or nothing is known of the image.
    `supported_by` is what has that cosine, or, if it is too far away for a verdict, evidence of the
    same class; None if nothing supports the mention. `judged_by` is what can deny such a thing in
    this image: its labels, an answer about it, or its references; None if nobody looked for it. If
    the caption denies what is there, the verdict is `WRONG_DENIAL`, and `supported_by` is what is.
    """

    words: str
    category: str
    support: float
    supported_by: str | None
    verdict: Verdict
    judged_by: str | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the mention as JSON can hold it, as VIFIDEL-H writes it into ``--output``."""
        return {
            "words": self.words,
            "category": self.category,
            "support": None if math.isnan(self.support) else self.support,
            "by": self.supported_by,
            "verdict": str(self.verdict),
            "judged_by": self.judged_by,
        }
