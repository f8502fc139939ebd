"""Lengths of captions in words: the column Words, and when lengths differ."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from importlib.metadata import version

import numpy as np

from ..captions.rows import Rows
from ..evaluation import Column, Evaluation
from ..io.image_ids import ImageId
from ..scorers import Scorer
from ..scorers.base import Progress

WORDS = "Words"  #: the column of words per caption

_DIFFER = 1.5  # from this factor between their means on, lengths differ: by half


class WordsPerCaption(Scorer):
    """Words per caption, as separated by blanks; more are neither better nor worse."""

    columns = (Column(WORDS, ranked=False),)

    def method(self) -> str:
        return WORDS

    def signature(self, image_ids: Sequence[ImageId] | None = None) -> str:
        return f"{WORDS}|between:blanks|version:{version('vifidel-eval')}"

    def _evaluate(self, rows: Rows, on_progress: Progress) -> dict[str, Evaluation]:
        words = np.array(lengths(rows.captions), dtype=np.float64)
        words[rows.claims_nothing] = np.nan
        on_progress(len(rows))
        return {WORDS: Evaluation(rows.ids, words)}


def lengths(texts: Iterable[str]) -> list[int]:
    """Return the number of words of each text."""
    return [len(text.split()) for text in texts]


def differ(one: float, other: float) -> bool:
    """Return whether two mean lengths differ by 50 % or more of the shorter one."""
    return max(one, other) >= _DIFFER * min(one, other) and one != other
