"""Lengths of captions: a column of their own, and warnings where they decide what scores say.

A word is what stands between blanks. Mean words per caption are a column like a metric's, so that
every output shows them, compares them and keeps them image by image; nobody is better by it.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import version

import numpy as np

from ..errors import VifidelWarning
from ..evaluation import Column, Evaluation
from ..image_ids import ImageId
from ..rows import Rows
from ..scorers import Bleu, Cider, RougeL, Scorer
from ..scorers.base import Progress
from .harness import Scores
from .pairing import System

#: The column of words per caption.
WORDS = "Words"

# From this factor between their means on, lengths differ: by half.
_DIFFER = 1.5

# What a score may follow more than what captions say: more words than these, and means that differ
# by more than this factor.
_LONG = 60
_FACTOR = 2

# What compares n-grams, or their order, with captions that are about as long.
_OF_SHORT_TEXTS = (Bleu, Cider, RougeL)
# Captions are out of its range if they are on average so many times as long as the references, and
# their score is below this. Of ten vision-language models on 112 images of val2017, five are as
# long, with CIDEr up to .25 and BLEU-4 up to .06; the others have at least .61 and .11.
_TIMES_AS_LONG = 3
_NEAR_ZERO = 0.05


class Words(Scorer):
    """Words per caption: what stands between blanks. No caption is better by it."""

    columns = (Column(WORDS, ranked=False),)

    def method(self) -> str:
        return WORDS

    def signature(self, image_ids: Sequence[ImageId] | None = None) -> str:
        return f"{WORDS}|between:blanks|version:{version('vifidel-eval')}"

    def _evaluate(self, rows: Rows, on_progress: Progress) -> dict[str, Evaluation]:
        words = [len(caption.split()) for caption in rows.captions]
        on_progress(len(rows))
        return {WORDS: Evaluation(rows.ids, np.array(words, dtype=np.float64))}


def mean_words(captions: Iterable[str]) -> float:
    """Return how many words captions have on average; NaN if there is none.

    >>> mean_words(["a dog on grass", "a dog"])
    3.0
    """
    captions = list(captions)
    return len(" ".join(captions).split()) / len(captions) if captions else math.nan


def differ(one: float, other: float) -> bool:
    """Return whether two mean lengths differ by half: one is at least 1.5 times the other.

    >>> differ(10, 15), differ(15.0, 10.1)
    (True, False)
    """
    return max(one, other) >= _DIFFER * min(one, other) and one != other


def lengths_matter(systems: Iterable[System]) -> bool:
    """Warn once if systems' captions differ much in length, or are long.

    Parameters
    ----------
    systems : iterable of System
        The systems of a run.

    Returns
    -------
    bool
        Whether scores are to be read beside the lengths: if the mean number of words differs by
        half between systems, or there is something to warn of.

    Warns
    -----
    VifidelWarning
        If the mean number of words differs by more than a factor of two between systems, or a
        caption has more than 60 words.
    """
    lengths = {
        system.name: [len(caption.split()) for caption in system.captions.values()]
        for system in systems
        if system.captions
    }
    means = {name: sum(of_system) / len(of_system) for name, of_system in lengths.items()}
    if not means:
        return False
    said = []
    shortest, longest = min(means, key=means.__getitem__), max(means, key=means.__getitem__)
    if means[longest] > _FACTOR * means[shortest]:
        said.append(
            f"captions of system {longest!r} have {means[longest]:.1f} words on average, those "
            f"of {shortest!r} {means[shortest]:.1f}"
        )
    long = {name: sum(n > _LONG for n in of_system) for name, of_system in lengths.items()}
    if any(long.values()):
        listed = ", ".join(
            f"{count} of {len(lengths[name])} captions of system {name!r}"
            for name, count in long.items()
            if count
        )
        said.append(f"{listed} have more than {_LONG} words")
    if said:
        warnings.warn(
            f"{'; '.join(said)}: longer captions say more that can be wrong or unmatched, so read "
            "the scores beside the lengths.",
            VifidelWarning,
            stacklevel=3,
        )
    return bool(said) or differ(means[longest], means[shortest])


def warn_out_of_range(
    scores: Scores,
    systems: Iterable[System],
    references: Mapping[ImageId, Sequence[str]] | None,
    scorers: Mapping[str, Scorer],
) -> set[str]:
    """Warn once if captions are so much longer than references that some metrics are near zero.

    Parameters
    ----------
    scores : Scores
        Of these systems by these scorers.
    systems : iterable of System
        What was scored.
    references : mapping, optional
        Image id to references.
    scorers : mapping
        Metric name to scorer.

    Returns
    -------
    set of str
        The columns that are near zero for that.

    Warns
    -----
    VifidelWarning
        If a system's captions are on average more than three times as long as the references, and
        CIDEr, BLEU or ROUGE-L is below .05.
    """
    short = mean_words(text for texts in (references or {}).values() for text in texts)
    names = {
        column.name
        for scorer in scorers.values()
        if isinstance(scorer, _OF_SHORT_TEXTS)
        for column in scorer.columns
    }
    near_zero: dict[str, list[str]] = {}
    for system in systems:
        if mean_words(system.captions.values()) > _TIMES_AS_LONG * short:
            for name in scores.signatures:
                if name in names and scores.evaluations[system.name][name].score < _NEAR_ZERO:
                    near_zero.setdefault(name, []).append(system.name)
    if near_zero:
        said = list(
            dict.fromkeys(system for of_column in near_zero.values() for system in of_column)
        )
        warnings.warn(
            f"{', '.join(near_zero)} near zero: captions of {', '.join(map(repr, said))} are more "
            f"than {_TIMES_AS_LONG} times as long as the references, which have {short:.1f} words "
            "on average. That is out of the range of these metrics, which compare texts of about "
            "one length: a difference there says nothing.",
            VifidelWarning,
            stacklevel=3,
        )
    return set(near_zero)
