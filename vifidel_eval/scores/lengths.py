"""Lengths of captions: the Words column, and what remains of a difference at equal length.

A word of a length is what stands between blanks. Mean words per caption are a column like a
metric's, so that every output shows them, compares them and keeps them image by image; nobody is
better by it.

Of a difference, resamples also say what remains had the systems' captions been equally long. Over
the images, the difference of two systems' scores is regressed on the difference of their words by
least squares. The intercept is the difference to expect where both have as many words; its interval
is the percentile bootstrap over images, with the same draws as all intervals of a comparison. Where
no image has two captions of about one length, that is an extrapolation, and the interval is wide.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version

import numpy as np

from ..captions.rows import Rows
from ..evaluation import Column, Evaluation, Floats
from ..io.image_ids import ImageId
from ..scorers import Scorer
from ..scorers.base import Progress
from .scores import Scores
from .significance import Bootstrap, Sample, as_in_files, exact, places_of

#: The column of words per caption.
WORDS = "Words"

# From this factor between their means on, lengths differ: by half.
_DIFFER = 1.5
# A line through fewer images says nothing.
_FEWEST = 3


class WordsPerCaption(Scorer):
    """Words per caption: what stands between blanks. No caption is better by it."""

    columns = (Column(WORDS, ranked=False),)

    def method(self) -> str:
        return WORDS

    def signature(self, image_ids: Sequence[ImageId] | None = None) -> str:
        return f"{WORDS}|between:blanks|version:{version('vifidel-eval')}"

    def _evaluate(self, rows: Rows, on_progress: Progress) -> dict[str, Evaluation]:
        words = np.array(lengths(rows.captions), dtype=np.float64)
        on_progress(len(rows))
        return {WORDS: Evaluation(rows.ids, words)}


def lengths(texts: Iterable[str]) -> list[int]:
    """Return the number of words of each text."""
    return [len(text.split()) for text in texts]


def differ(one: float, other: float) -> bool:
    """Return whether two mean lengths differ by half: one is at least 1.5 times the other.

    >>> differ(10, 15), differ(15.0, 10.1)
    (True, False)
    """
    return max(one, other) >= _DIFFER * min(one, other) and one != other


@dataclass(frozen=True)
class EqualLength:
    """What remains of a difference at equal length: the intercept, and its bootstrap interval."""

    difference: float
    low: float
    high: float


def at_equal_length(
    scores: Scores, shared: Sequence[ImageId], bootstrap: Bootstrap
) -> dict[tuple[str, str, str], EqualLength]:
    """Return what remains of the differences of systems whose lengths differ by half.

    Metric, first and second system lead to it; `shared` are the images that every system has.
    Without the column `WORDS` there is nothing, nor in columns without a direction, nor of two
    systems that have the same difference in words on all images.
    """
    if WORDS not in scores.signatures:
        return {}
    ranked = [column.name for column in scores.columns() if column.ranked]
    of_systems = {
        name: {
            column: as_in_files(of_column[column].scores[places_of(of_column[column], shared)])
            for column in (WORDS, *ranked)
        }
        for name, of_column in scores.evaluations.items()
    }
    pairs = [
        (first, second)
        for first, second in itertools.combinations(of_systems, 2)
        if differ(*(float(of_systems[name][WORDS].mean()) for name in (first, second)))
    ]
    remains = {}
    for metric in ranked:  # one after the other: each has columns for every two systems
        lines, sizes = {}, {}
        for first, second in pairs:
            one, other = of_systems[first], of_systems[second]
            differences = one[metric] - other[metric]
            line = _line(differences, one[WORDS] - other[WORDS])
            if line is not None:
                lines[first, second] = line
                sizes[first, second] = float(np.nanmax(np.abs(differences)))
        for pair, (intercepts,) in bootstrap.scores(lines).items():
            ends = bootstrap.interval(intercepts, sizes[pair])
            remains[metric, pair[0], pair[1]] = EqualLength(lines[pair].scores[0], *ends)
    return remains


def _line(differences: Floats, words: Floats) -> Sample | None:
    """Return what the intercept of differences in score over those in words follows from."""
    defined = ~np.isnan(differences)
    images = int(defined.sum())
    if images < _FEWEST:
        return None
    d = np.where(defined, differences, 0.0)
    middle = math.fsum(words[defined].tolist()) / images  # far from 0 squares would lose digits
    w = np.where(defined, words - middle, 0.0)
    rows = np.column_stack([defined, w, d, w * w, w * d])
    intercept = partial(_intercept, middle=middle)
    score = float(intercept(rows.sum(axis=0)))
    if math.isnan(score):
        return None
    return Sample(exact(rows[np.newaxis]), intercept, [score], images)


def _intercept(sums: Floats, middle: float) -> Floats:
    """Return intercepts at no difference in words from sums of rows, (..., 5); NaN without one."""
    n, w, d, ww, wd = np.moveaxis(np.asarray(sums), -1, 0)
    spread = n * ww - w * w
    # Words are whole numbers: where two images differ, this is at least n - 1.
    slope = np.full(np.shape(spread), np.nan)
    np.divide(n * wd - w * d, spread, out=slope, where=spread > 0.5)
    return np.asarray((d - slope * (w + n * middle)) / n)
