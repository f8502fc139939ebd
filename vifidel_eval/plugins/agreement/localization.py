"""Localization: the word that a metric supports least, and whether people marked it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np

from ...captions.rows import Rows
from ...evaluation import Floats, Integers
from ...scorers import Scorer
from ...scorers.word_supports import WordSupport
from .draws import References, drawn, plan
from .judgements import Hallucinations


@runtime_checkable
class SupportsWords(Protocol):
    """A scorer that knows the support of each word."""

    def word_supports(self, rows: Rows) -> list[list[WordSupport]]:
        """Return the words that the metric judges, row by row, in the order of the caption."""
        ...


class RankedWords(NamedTuple):
    """How often the least supported word of each caption is marked.

    Attributes
    ----------
    metric : str
        Its name.
    words : str
        A key of `WORD_SETS`.
    places : (number of captions,) int64
        The judgements with a marked word.
    right : (draws, number of captions) float64
        In [0, 1]: of equally supported words the share that is marked; 0 where the metric judges
        no word.
    """

    metric: str
    words: str
    places: Integers
    right: Floats


#: Which words are ranked: all that the metric judges, or those that name things.
WORD_SETS = {"all": False, "things": True}


def find_words(
    data: Hallucinations,
    scorers: Mapping[str, Scorer],
    number: References,
    draws: int,
    seed: int,
) -> list[RankedWords]:
    """Look for the made-up words with every metric that tells the support of words.

    Parameters
    ----------
    data : Hallucinations
        The captions; of those judged together the last one is looked at.
    scorers : mapping
        Metric name to scorer; those that are no `SupportsWords` are passed over.
    number, draws, seed
        References, as `run_trials` draws them.
    """
    places = [at for at, marked in enumerate(data.marked) if marked and data.made_up[-1, at]]
    found = []
    for name, scorer in scorers.items():
        if not isinstance(scorer, SupportsWords):
            continue
        supports = []
        for _, draw in plan(data.judged, [number], draws):
            gts = drawn(data.judged, number, seed, draw)
            rows = Rows(
                [data.judged[at].captions[-1] for at in places],
                [gts[at] for at in places],
                [data.judged[at].image_id for at in places],
            )
            supports.append(scorer.word_supports(rows))
        for words, things_only in WORD_SETS.items():
            right = [
                [
                    _right(of_caption, data.marked[at], things_only)
                    for at, of_caption in zip(places, of_draw, strict=True)
                ]
                for of_draw in supports
            ]
            shape = len(right), len(places)
            found.append(RankedWords(name, words, np.array(places), np.reshape(right, shape)))
    return found


def _right(words: Sequence[WordSupport], marked: frozenset[int], things_only: bool) -> float:
    ranked = [word for word in words if word.is_thing or not things_only]
    if not ranked:
        return 0.0
    lowest = min(word.support for word in ranked)
    hits = [not marked.isdisjoint(word.place) for word in ranked if word.support == lowest]
    return sum(hits) / len(hits)
