"""Scores of resampled images: bootstrap draws, and results swapped between two systems.

One product of matrices resamples all systems and metrics; BLEU's counts are added likewise. SciPy's
`permutation_test` has to gather the images again for every pair, which takes some 25 times as long.
`vifidel_eval.agreement.resampling` cannot be this one: correlations are not sums over images.

Of a difference, resamples also say what remains at equal length, had the systems' captions been
equally long. Over the images, the difference of two systems' scores is regressed on the difference
of their words by least squares. The intercept is the difference to expect where both have as many
words; its interval is the percentile bootstrap over images, with the same draws as all intervals of
a comparison. Where no image has two captions of about one length, that is an extrapolation, and the
interval is wide.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from ..digits import deciding
from ..evaluation import Evaluation, Floats
from ..image_ids import ImageId
from .doubts import WORDS, differ
from .harness import Scores

_Key = TypeVar("_Key", bound=Hashable)

# Resampled images at a time, each of which takes 8 bytes.
_CHUNK = 2**20
# Differences that differ by less, relative to the scores, are the same but for rounding.
_ROUNDING = 1e-12
# Ends of intervals have as many digits, counted from the first digit of the scores: what is beyond
# depends on the order in which a machine adds.
_DIGITS = 11
# A line through fewer images says nothing.
_FEWEST = 3


@dataclass(frozen=True)
class Sample:
    """What is resampled of one system: `rows`, (images, k), which are added over images.

    They are scores, or counts. `score_of` has the scores of their sums, (n, k) to (n,); `score` is
    that of all images, as the system's `Evaluation` computes it. `size` says how large what was
    added is: the score, had all rows the same sign.
    """

    score: float
    rows: Floats
    score_of: Callable[[Floats], Floats]
    size: float


def take_samples(
    evaluations: Mapping[str, Evaluation], shared: Sequence[ImageId]
) -> dict[str, Sample]:
    """Return each system's sample of the images that count for all.

    There is none where no image counts, or a system's score is undefined.
    """
    places = {name: _places(evaluation, shared) for name, evaluation in evaluations.items()}
    defined = ~np.any([e.missing[places[name]] for name, e in evaluations.items()], axis=0)
    images = int(defined.sum())
    if not images:
        return {}
    samples = {}
    score_of: Callable[[Floats], Floats]
    for name, evaluation in evaluations.items():
        counted = places[name][defined]
        if evaluation.statistics is None:
            rows = evaluation.scores[counted][:, np.newaxis]
            score_of = partial(_mean, images=images)
            score = math.fsum(rows[:, 0].tolist()) / images
        else:
            rows = evaluation.statistics.of_rows[counted]
            score_of = evaluation.statistics.score
            score = float(score_of(rows.sum(axis=0)))
        if math.isnan(score):
            return {}
        samples[name] = Sample(score, rows, score_of, float(score_of(abs(rows).sum(axis=0))))
    return samples


def _places(evaluation: Evaluation, images: Sequence[ImageId]) -> NDArray[np.intp]:
    """Return where the scores of images are."""
    place = {image_id: at for at, image_id in enumerate(evaluation.ids)}
    return np.array([place[image_id] for image_id in images], dtype=np.intp)


def _mean(sums: Floats, images: int) -> Floats:
    return sums[..., 0] / images


def has_own_score(evaluation: Evaluation) -> bool:
    """Return whether what is resampled is the corpus score; ROUGE-L's and CIDEr's are means."""
    if evaluation.statistics is not None:
        return True
    return math.isclose(evaluation.score, np.nanmean(evaluation.scores), rel_tol=1e-9)


@dataclass(frozen=True)
class Resampled:
    """A sample with its resamples: `resample` makes it.

    `drawn` has the score of each bootstrap draw, (resamples,); `swapped` the sums of those rows
    that are swapped, (resamples, k).
    """

    sample: Sample
    drawn: Floats
    swapped: Floats
    level: float

    def interval(self) -> tuple[float, float]:
        """Return the bootstrap interval of the score."""
        return self._interval(self.drawn, self.sample.size)

    def test(self, other: Resampled) -> tuple[float, float, float, float, float]:
        """Return the difference from a system on the same images, its interval, and two p-values.

        The first is by paired bootstrap, the second by approximate randomisation.
        """
        moved = other.swapped - self.swapped
        own, others = self.sample.rows.sum(axis=0), other.sample.rows.sum(axis=0)
        swapped = self.sample.score_of(own + moved) - other.sample.score_of(others - moved)
        # From the rows, as what it is compared with: equal differences stay equal.
        observed = float(self.sample.score_of(own) - other.sample.score_of(others))
        drawn = self.drawn - other.drawn
        size = max(self.sample.size, other.sample.size)
        return (
            self.sample.score - other.sample.score,
            *self._interval(drawn, size),
            _p_value(drawn - observed, observed, size),
            _p_value(swapped, observed, size),
        )

    def _interval(self, values: Floats, size: float) -> tuple[float, float]:
        places = _DIGITS - 1 - math.floor(math.log10(size)) if size else 0
        # A draw of captions that all mention nothing has no share of absent mentions.
        defined = values[~np.isnan(values)]
        if not len(defined):
            return math.nan, math.nan
        low, high = np.quantile(defined, [(1 - self.level) / 2, (1 + self.level) / 2]).tolist()
        return round(low, places) + 0.0, round(high, places) + 0.0  # no -0.0


def _p_value(null: Floats, observed: float, size: float) -> float:
    if not deciding(observed):
        return 1.0
    smaller = np.abs(null) < abs(observed) - _ROUNDING * size  # undefined ones are not
    return (int((~smaller).sum()) + 1) / (len(null) + 1)


def resample(
    samples: Mapping[_Key, Sample], seed: int, resamples: int, level: float
) -> dict[_Key, Resampled]:
    """Return samples with their resamples, which those of as many images share."""
    by_images: dict[int, dict[_Key, Sample]] = {}
    for key, sample in samples.items():
        by_images.setdefault(len(sample.rows), {})[key] = sample
    found = {}
    for images, alike in by_images.items():
        rows = [sample.rows for sample in alike.values()]
        drawn = _sums(rows, _draws(seed, resamples, images))
        swapped = _sums(rows, _swaps(seed, resamples, images))
        for (key, sample), of_draws, of_swaps in zip(alike.items(), drawn, swapped, strict=True):
            found[key] = Resampled(sample, sample.score_of(of_draws), of_swaps, level)
    return found


def _sums(rows: Sequence[Floats], weights: Iterable[Floats]) -> list[Floats]:
    """Return the weighted sums of each matrix of rows; equal ones, as BLEU's four, once."""
    distinct: list[Floats] = []
    place = []
    for matrix in rows:
        same = (at for at, other in enumerate(distinct) if np.array_equal(matrix, other))
        place.append(next(same, len(distinct)))
        if place[-1] == len(distinct):
            distinct.append(matrix)
    together = np.concatenate(distinct, axis=1)
    columns = np.cumsum([matrix.shape[1] for matrix in distinct])[:-1]
    sums = np.split(np.concatenate([part @ together for part in weights]), columns, axis=1)
    return [sums[at] for at in place]


def _draws(seed: int, resamples: int, images: int) -> Iterator[Floats]:
    """Yield how often each image is in each resample: (some resamples, number of images)."""
    for words in _words([seed, 0], resamples, images, images):
        # The upper half of a word, as a share of 2**32, says which image.
        drawn = (words >> np.uint64(32)) * np.uint64(images) >> np.uint64(32)
        drawn += np.arange(len(words), dtype=np.uint64)[:, np.newaxis] * np.uint64(images)
        times = np.bincount(drawn.view(np.int64).ravel(), minlength=words.size)
        yield times.reshape(words.shape).astype(np.float64)


def _swaps(seed: int, resamples: int, images: int) -> Iterator[Floats]:
    """Yield 1 where an image's two results are swapped: (some resamples, number of images)."""
    for words in _words([seed, 1], resamples, images, -(-images // 64)):
        bits = np.unpackbits(words.astype("<u8").view(np.uint8), axis=1)
        yield bits[:, :images].astype(np.float64)


def _words(
    seed: Sequence[int], resamples: int, images: int, each: int
) -> Iterator[NDArray[np.uint64]]:
    """Yield random words of 64 bits, so many for each of some resamples."""
    # Its stream is the same in all versions of NumPy; those of a Generator need not be.
    stream = np.random.PCG64(seed)
    at_once = max(_CHUNK // images, 1)
    for start in range(0, resamples, at_once):
        some = min(at_once, resamples - start)
        yield stream.random_raw(some * each).reshape(some, each)


@dataclass(frozen=True)
class EqualLength:
    """What remains of a difference at equal length: the intercept, and its bootstrap interval."""

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
        name: {c: of_column[c].scores[_places(of_column[c], shared)] for c in [WORDS, *ranked]}
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
    resampled = resample(lines, seed, resamples, level)
    return {key: EqualLength(of.sample.score, *of.interval()) for key, of in resampled.items()}


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
