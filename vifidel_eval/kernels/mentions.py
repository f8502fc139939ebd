"""Mentions: verdicts on the things of captions, by names and kinds, and by cosines for the rest."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from ..words.mentions import Unit
from .known import ANSWER, REFERENCES, Found, Known, Verdict


class Mention(NamedTuple):
    """A thing that a caption mentions or wrongly denies, and whether it is there."""

    words: str  # the caption's own, in lower case: "hot dogs"
    category: str  # its class in the object vocabulary
    # The largest cosine to the labels of the image and to what the references say, in [0, 1]; NaN
    # if the words have no vector or nothing is known of the image.
    support: float
    # What has that cosine, or, if it is too far away for a verdict, evidence of the same class.
    supported_by: str | None
    verdict: Verdict
    judged_by: str | None = None  # what can deny such a thing here; None if nobody looked for it
    place: int = 0  # its number among the things that the caption names
    decided_by: str | None = None  # its class, or what this is a kind of and names decided

    @property
    def fits(self) -> str | None:
        """The class in the image that a thing is, or may be, a kind of: a horse, of a pony."""
        is_kind = self.verdict is Verdict.THERE and self.decided_by != self.category
        return self.decided_by if is_kind else None

    @property
    def shown(self) -> str:
        """The verdict, or ``fits: horse``."""
        return str(self.verdict) if self.fits is None else f"fits: {self.fits}"

    def to_json(self) -> dict[str, Any]:
        """Return the mention as JSON can hold it, as VIFIDEL-H writes it into ``--output``."""
        return {
            "words": self.words,
            "category": self.category,
            "support": None if math.isnan(self.support) else self.support,
            "by": self.supported_by,
            "verdict": self.shown,
            "judged_by": self.judged_by,
        }


class Judgement(NamedTuple):
    """What is said of a thing, as `Mention` has it."""

    support: float
    supported_by: str | None
    verdict: Verdict
    judged_by: str | None
    decided_by: str


def judge(
    unit: Unit,
    image: Known,
    found: Found,
    near: tuple[float, str | None, bool],
    threshold: float,
) -> Judgement:
    """Return the verdict on a thing, by what was found and by what is near.

    `near` is the largest cosine to the evidence, what has it, and whether it is large enough.
    """
    category, (support, by, enough) = unit.category or "", near
    if unit.denied:
        by_whom = image.contradicts(category)
        return Judgement(0.0, image.name_of(category), Verdict.WRONG_DENIAL, by_whom, category)
    if not image.is_there:
        return Judgement(support, by, Verdict.UNCONFIRMED, None, category)
    by_whom = image.judge(found.category)
    if math.isnan(support) and unit.text in image.texts:
        support, by, enough = 1.0, unit.text, threshold <= 1
    if category in image.labels and category in image.read_by.own:  # a label says it itself
        support, by = 1.0, category
    if found.verdict is Verdict.THERE:
        if not support >= threshold:
            by = image.name_of(found.category)
        return Judgement(support, by, Verdict.THERE, by_whom, found.category)
    if found.verdict is Verdict.ABSENT:
        if by_whom == ANSWER:
            support, by = 0.0, None
        return Judgement(support, by, Verdict.ABSENT, by_whom, found.category)
    # What nobody looked for may be what references describe; without a vector, they say nothing.
    if enough and image.shares is not None:
        return Judgement(support, by, Verdict.THERE, by_whom, category)
    is_absent = by_whom == REFERENCES and not math.isnan(support)
    verdict = Verdict.ABSENT if is_absent else Verdict.UNCONFIRMED
    return Judgement(support, by, verdict, by_whom, category)


def only_alike(unit: Unit, image: Known) -> list[str]:
    """Return evidence that shares a word with a thing and is another: *traffic*, *a hot dog*."""
    words, named = {*unit.text.split()}, unit.category or ""
    describing = {*unit.text.split()[:-1]}
    return [
        text
        for text, of_class in image.texts.items()
        if (text in describing if of_class is None else not words.isdisjoint(text.split()))
        and text != unit.text
        and not (of_class and named in image.read_by.upward(of_class))
    ]
