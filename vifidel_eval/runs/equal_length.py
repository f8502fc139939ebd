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
from typing import TYPE_CHECKING

from ..image_ids import ImageId
from .doubts import WORDS, differ
from .harness import Scores
from .significance import Sample, resample

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ..evaluation import Evaluation

    _Floats = NDArray[np.float64]

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


@dataclass(frozen=True)
class _Line(Sample):
    """Sums from which an intercept follows, and how large what is regressed is."""

    largest: float

    @property
    def size(self) -> float:
        return self.largest


def at_equal_length(
    scores: Scores, shared: Sequence[ImageId], seed: int, resamples: int, level: float
) -> dict[tuple[str, str, str], EqualLength]:
    """Return what remains of the differences of systems whose lengths differ by half.

    Parameters
    ----------
    scores : Scores
        With the column `vifidel_eval.runs.doubts.WORDS`; without it nothing is returned.
    shared : sequence
        The images that every system has.
    seed, resamples, level
        As for `vifidel_eval.runs.comparison.compare`.

    Returns
    -------
    dict
        Metric, first and second system to what remains. Columns without a direction have none, nor
        has a difference where all images have the same difference in words.
    """
    if WORDS not in scores.signatures:
        return {}
    ranked = [column.name for column in scores.columns() if column.ranked]
    of_systems = {
        name: {column: _on(of_column[column], shared) for column in [WORDS, *ranked]}
        for name, of_column in scores.evaluations.items()
    }
    lines: dict[tuple[str, str, str], _Line] = {}
    for first, second in itertools.combinations(of_systems, 2):
        one, other = of_systems[first], of_systems[second]
        if differ(float(one[WORDS].mean()), float(other[WORDS].mean())):
            for metric in ranked:
                line = _line(one[metric] - other[metric], one[WORDS] - other[WORDS])
                if line is not None:
                    lines[metric, first, second] = line
    resampled = resample(
        {str(at): {"": line} for at, line in enumerate(lines.values())}, seed, resamples, level
    )
    return {
        key: EqualLength(line.score, *resampled[str(at)].interval(""))
        for at, (key, line) in enumerate(lines.items())
    }


def _on(evaluation: Evaluation, images: Sequence[ImageId]) -> _Floats:
    """Return the scores of images in their order."""
    place = {image_id: at for at, image_id in enumerate(evaluation.ids)}
    return evaluation.scores[[place[image_id] for image_id in images]]


def _line(differences: _Floats, words: _Floats) -> _Line | None:
    """Return what the intercept of differences in score over those in words follows from."""
    import numpy as np

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
    return None if math.isnan(score) else _Line(score, rows, intercept, largest)


def _intercept(sums: _Floats, middle: float) -> _Floats:
    """Return intercepts at no difference in words from sums of rows, (..., 5); NaN without one."""
    import numpy as np

    n, w, d, ww, wd = np.moveaxis(np.asarray(sums), -1, 0)
    spread = n * ww - w * w
    # Words are whole numbers: where two images differ, this is at least n - 1.
    slope = np.full(np.shape(spread), np.nan)
    np.divide(n * wd - w * d, spread, out=slope, where=spread > 0.5)
    return np.asarray((d - slope * (w + n * middle)) / n)
