"""Differences at equal length: what remains of one when the systems' captions were equally long.

Over the images, the difference of two systems' scores is regressed on the difference of their words
by least squares. The intercept is the difference to expect where both have as many words; its
interval is the percentile bootstrap over images, with the same draws as all intervals of a
comparison. Where no image has two captions of about one length, that is an extrapolation, and the
interval is wide.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from ..evaluation import Evaluation, Floats
from ..image_ids import ImageId
from .doubts import WORDS, differ
from .harness import Scores
from .significance import Sample, resample

# A line through fewer images says nothing.
_FEWEST = 3


@dataclass(frozen=True)
class EqualLength:
    """What remains of a difference at equal length.

    Attributes
    ----------
    difference : float
        Score of the first system less score of the second: the intercept, of image scores.
    low, high : float
        Its bootstrap interval.
    """

    difference: float
    low: float
    high: float


def at_equal_length(
    scores: Scores, shared: Sequence[ImageId], seed: int, resamples: int, level: float
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
        name: {column: _on(of_column[column], shared) for column in [WORDS, *ranked]}
        for name, of_column in scores.evaluations.items()
    }
    lines: dict[tuple[str, str, str], Sample] = {}
    for first, second in itertools.combinations(of_systems, 2):
        one, other = of_systems[first], of_systems[second]
        if differ(float(one[WORDS].mean()), float(other[WORDS].mean())):
            for metric in ranked:
                line = _line(one[metric] - other[metric], one[WORDS] - other[WORDS])
                if line is not None:
                    lines[metric, first, second] = line
    resampled = resample({key: {"": line} for key, line in lines.items()}, seed, resamples, level)
    return {
        key: EqualLength(line.score, *resampled[key].interval("")) for key, line in lines.items()
    }


def _on(evaluation: Evaluation, images: Sequence[ImageId]) -> Floats:
    """Return the scores of images in their order."""
    place = {image_id: at for at, image_id in enumerate(evaluation.ids)}
    return evaluation.scores[[place[image_id] for image_id in images]]


def _line(differences: Floats, words: Floats) -> Sample | None:
    """Return what the intercept of differences in score over those in words follows from."""
    defined = ~np.isnan(differences)
    if defined.sum() < _FEWEST:
        return None
    d, w = differences[defined], words[defined]
    middle = math.fsum(w.tolist()) / len(w)  # far from 0 the sums of squares would lose digits
    centred = w - middle
    rows = np.column_stack([np.ones(len(w)), centred, d, centred * centred, centred * d])
    intercept = partial(_intercept, middle=middle)
    score = float(intercept(rows.sum(axis=0)))
    largest = float(np.abs(d).max())
    return None if math.isnan(score) else Sample(score, rows, intercept, largest)


def _intercept(sums: Floats, middle: float) -> Floats:
    """Return intercepts at no difference in words from sums of rows, (..., 5); NaN without one."""
    n, w, d, ww, wd = np.moveaxis(np.asarray(sums), -1, 0)
    spread = n * ww - w * w
    # Words are whole numbers: where two images differ, this is at least n - 1.
    slope = np.full(np.shape(spread), np.nan)
    np.divide(n * wd - w * d, spread, out=slope, where=spread > 0.5)
    return np.asarray((d - slope * (w + n * middle)) / n)
