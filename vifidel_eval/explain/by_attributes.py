"""Explanations with what the attributes of images say of words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..annotations.objects import ImageAttributes
from ..captions.rows import LabelCounts
from ..kernels.attributes import judged_attributes
from ..kernels.names import Names
from .explanation import Explanation


def with_attributes(
    explanations: Sequence[Explanation],
    names: Sequence[Names],
    labels: Sequence[LabelCounts],
    attributes: Sequence[ImageAttributes] | None,
) -> list[Explanation]:
    """Return the explanations of rows with what is listed beside the objects, and judges words."""
    if attributes is None:
        return list(explanations)
    found = []
    rows = zip(explanations, names, labels, attributes, strict=True)
    for explanation, of_row, there, listed in rows:
        caption = explanation.caption
        judged = judged_attributes(caption, of_row.read(caption), of_row, there, listed)
        # Of a word that is so in one place and not in another, the contradiction is shown.
        by_word = {
            word: one
            for one in sorted(judged, key=lambda one: not one.is_so)
            for word in one.word.split()
        }
        found.append(
            replace(
                explanation,
                objects=tuple(one for one in explanation.objects if one.label in there),
                words=tuple(
                    word if word.of else word.judged_by(by_word.get(word.word))
                    for word in explanation.words
                ),
                attributes=tuple(listed.shown),
            )
        )
    return found
