"""Bootstrap over images, and tests of the differences between systems.

One product of matrices has the sums of all systems and metrics over each resample. What is added
are multiples of a power of two, so few that their sums are exact, whatever the order.

What remains of a difference at equal length is the intercept of the images' differences in score
over those in words, by least squares, with its percentile interval under the same draws.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from numbers import Real
from statistics import NormalDist
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..doors.arguments import check_whole
from ..errors import VifidelError
from ..evaluation import Evaluation, Floats
from ..io.digits import deciding, rounded
from ..io.image_ids import ImageId
from .scores import Scores
from .systems import WORDS, differ

_Key = TypeVar("_Key", bound=Hashable)

_MOST_RESAMPLES = 1_000_000  # that may be asked for
_CHUNK = 2**21  # numbers of resamples at a time, each of which takes 8 bytes
_SMALL_CHUNK = 2**18  # those that fit a processor's caches
# Differences that differ by less, relative to the scores, are the same but for rounding: scores
# have ten digits.
_ROUNDING = 1e-9
_BITS = 52  # sums of multiples of a power of two are exact as long as they have no more bits
_NORMAL = NormalDist()  # SciPy's quantiles take a sixth of a short run to import
_FEWEST = 3  # a line through fewer images says nothing
# Ends of intervals have as many digits, counted from the first digit of the scores: what is beyond
# is what rounding and the exponentials of different machines leave.
_DIGITS = 11


@dataclass(frozen=True)
class Sample:
    """What is resampled of systems under a metric."""

    rows: Floats  # (systems, images, k), added over images
    score_of: Callable[[Floats], Floats]  # the scores of their sums, (..., k) to (...)
    scores: Sequence[float] = ()  # of all images
    images: int = 0  # those that count
    own_score: bool = True  # whether they are the metric's corpus scores

    @property
    def sizes(self) -> Floats:
        """How large what was added is: the scores, had all rows the same sign; (systems,)."""
        return self.score_of(abs(self.rows).sum(axis=1))

    def resampled(self, sums: Floats) -> Floats:
        """Return the scores of sums, (k, systems, resamples) to (systems, resamples)."""
        return self.score_of(np.moveaxis(sums, 0, -1))


@dataclass(frozen=True)
class Bootstrap:
    """Percentile bootstrap over images (Efron & Tibshirani, 1993, chapter 13)."""

    seed: int = 0  # the same gives the same resamples, whatever is resampled
    resamples: int = 1000
    level: float = 0.95  # the share of them that lies in an interval

    def __post_init__(self) -> None:
        check_whole(0, seed=self.seed)
        check_whole(1, _MOST_RESAMPLES, resamples=self.resamples)
        if not (isinstance(self.level, Real) and self.level > 0 and self.alpha > 0):
            raise VifidelError(f"level must be a number between 0 and 1, not {self.level!r}.")

    @property
    def alpha(self) -> float:
        """The level of significance: the share of the resamples that lies outside an interval."""
        return round(1 - self.level, 12)

    def interval(self, values: ArrayLike, size: float | None = None) -> tuple[float, float]:
        """Return the percentile interval of values, with digits that mean something at a `size`."""
        numbers = np.asarray(values, dtype=np.float64)
        defined = numbers[~np.isnan(numbers)]
        if not len(defined):
            return math.nan, math.nan
        tails = [(1 - self.level) / 2, (1 + self.level) / 2]
        low, high = np.quantile(defined, tails).tolist()
        if size is None:
            return low, high
        places = _DIGITS - 1 - math.floor(math.log10(size)) if size else 0
        return round(low, places) + 0.0, round(high, places) + 0.0  # no -0.0

    def scores(self, samples: Mapping[_Key, Sample]) -> dict[_Key, Floats]:
        """Return the scores of samples whose images are drawn: (systems, resamples)."""
        drawn: dict[_Key, list[Floats]] = {key: [] for key in samples}
        weights = partial(_draws, self.seed, self.resamples)
        for key, sums in _summed(samples, weights, min(_SMALL_CHUNK, _CHUNK)):
            drawn[key].append(samples[key].resampled(sums))
        return {key: np.concatenate(parts, axis=1) for key, parts in drawn.items()}


def take_sample(evaluations: Mapping[str, Evaluation], shared: Sequence[ImageId]) -> Sample | None:
    """Return the sample of the images that count for all systems; None if a score is undefined."""
    systems = [(e, _places(e, shared)) for e in evaluations.values()]
    defined = ~np.any([e.missing[at] for e, at in systems], axis=0)
    images = int(defined.sum())
    if not images:
        return None
    score_of: Callable[[Floats], Floats] = ratio
    rows = np.where(defined, [as_in_files(e.scores[at]) for e, at in systems], 0.0)
    rows = np.stack(np.broadcast_arrays(rows, defined), axis=-1)
    statistics = [(e.statistics, at) for e, at in systems if e.statistics is not None]
    if len(statistics) == len(systems):
        score_of = statistics[0][0].score
        counts = [as_in_files(statistic.of_rows[at]) for statistic, at in statistics]
        rows = np.where(defined[:, np.newaxis], counts, 0.0)
    scores = [
        e.score if images == len(e.ids) - e.missing.sum() and has_own_score(e) else float(score)
        for (e, _), score in zip(systems, score_of(rows.sum(axis=1)), strict=True)
    ]
    if any(map(math.isnan, scores)):
        return None
    own_score = all(has_own_score(e) for e, _ in systems)
    return Sample(exact(rows), score_of, scores, images, own_score)


def _places(evaluation: Evaluation, images: Sequence[ImageId]) -> NDArray[np.intp]:
    place = {image_id: at for at, image_id in enumerate(evaluation.ids)}
    return np.array([place[image_id] for image_id in images], dtype=np.intp)


def as_in_files(numbers: Floats) -> Floats:
    """Return scores of images, or counts, with the digits that files hold."""
    if np.array_equal(numbers, np.rint(numbers), equal_nan=True):
        return numbers
    rounded_numbers = [*map(rounded, numbers.ravel().tolist())]  # where None is NaN
    return np.array(rounded_numbers, dtype=np.float64).reshape(numbers.shape)


def ratio(sums: Floats) -> Floats:
    """Return the first of sums over the second, (..., k) to (...); NaN where nothing counts."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(sums[..., 0] / sums[..., 1])


def exact(rows: Floats) -> Floats:
    """Return rows, (systems, images, k), rounded so that sums over as many images are exact."""
    _, exponents = np.frexp(abs(rows).max(axis=1, keepdims=True))
    step = exponents + (rows.shape[1].bit_length() - _BITS)
    return np.asarray(np.ldexp(np.rint(np.ldexp(rows, -step)), step))


def has_own_score(evaluation: Evaluation) -> bool:
    """Return whether what is resampled is the corpus score; ROUGE-L's and CIDEr's are means."""
    if evaluation.statistics is not None:
        return True
    size = np.nanmean(abs(evaluation.scores))  # rounding is relative to it, not to a mean near 0
    return bool(abs(evaluation.score - np.nanmean(evaluation.scores)) <= _ROUNDING * size)


def p_values(
    samples: Mapping[_Key, Sample],
    seed: int,
    resamples: int,
    draws: Mapping[_Key, Floats],
    by_bootstrap: bool = True,
) -> dict[_Key, Floats]:
    """Return p-values of pairs, by bootstrap and by randomisation: (2, first system, second).

    `draws` are scores of the seed's first resamples, which are used if they are as many. Those by
    bootstrap, which take the longer, are NaN where they are not wanted.
    """
    sums_of = {
        key: np.moveaxis(sample.rows.sum(axis=1), -1, 0)[..., np.newaxis]
        for key, sample in samples.items()
    }
    observed, limits, smaller = {}, {}, {}
    for key, sample in samples.items():
        # From the rows, as what it is compared with: equal differences stay equal.
        scores, sizes = sample.resampled(sums_of[key])[:, 0], sample.sizes
        observed[key] = scores[:, np.newaxis] - scores
        rounding = _ROUNDING * np.maximum(sizes[:, np.newaxis], sizes)
        limits[key] = abs(observed[key]) - rounding
        smaller[key] = np.zeros((2, len(scores), len(scores)), dtype=np.int64)

    def count(key: _Key, test: int, i: int, null: Floats) -> None:
        below = np.abs(null) < limits[key][i, i + 1 :, np.newaxis]  # never what is undefined
        smaller[key][test, i, i + 1 :] += np.count_nonzero(below, axis=1)

    def swaps(images: int, at_once: int) -> Iterator[NDArray[Any]]:
        """Yield 1 where an image's two results are swapped: (some resamples, number of images)."""
        for words in _words([seed, 1], resamples, at_once, -(-images // 64)):
            yield np.unpackbits(words.astype("<u8").view(np.uint8), axis=1)[:, :images]

    scores_drawn = iter(draws.items() if by_bootstrap else ())
    if by_bootstrap and any(drawn.shape[1] != resamples for drawn in draws.values()):
        parts = _summed(samples, partial(_draws, seed, resamples))
        scores_drawn = ((key, samples[key].resampled(sums)) for key, sums in parts)
    for key, drawn in scores_drawn:
        for i in range(len(drawn) - 1):
            differences = drawn[i] - drawn[i + 1 :]
            count(key, 0, i, differences - observed[key][i, i + 1 :, np.newaxis])
    for key, sums in _summed(samples, swaps):
        own, scores_of = sums_of[key], samples[key].resampled
        for i in range(sums.shape[1] - 1):
            moved = sums[:, i + 1 :] - sums[:, i : i + 1]  # what is swapped
            first = scores_of(own[:, i : i + 1] + moved)
            count(key, 1, i, first - scores_of(own[:, i + 1 :] - moved))
    factors = np.array([1.0 if by_bootstrap else np.nan, 1.0])[:, np.newaxis, np.newaxis]
    return {
        key: factors
        * np.where(
            np.vectorize(deciding, otypes=[float])(observed[key]) == 0,
            1.0,
            (resamples - smaller[key] + 1) / (resamples + 1),
        )
        for key in samples
    }


def _summed(
    samples: Mapping[_Key, Sample],
    weights: Callable[[int, int], Iterator[NDArray[Any]]],
    chunk: int = 0,
) -> Iterator[tuple[_Key, Floats]]:
    """Yield weighted sums of all rows of each sample, (k, systems, some resamples) at a time."""
    # Equal columns of samples, as all have of the images that count, are added once.
    index: dict[bytes, int] = {}
    indices = {
        key: np.array(
            [[index.setdefault(c.tobytes(), len(index)) for c in rows.T] for rows in sample.rows]
        ).T
        for key, sample in samples.items()
    }
    if not index:
        return
    columns = np.stack([np.frombuffer(column) for column in index])
    images = columns.shape[1]
    # Single precision is twice as fast, and adds small whole numbers without rounding.
    counts = (columns == np.rint(columns)).all(axis=1)
    counts &= abs(columns).max(axis=1) < 2**24 / images
    kinds = [
        (rows, columns[rows].astype(kind))
        for rows, kind in ((counts, np.float32), (~counts, np.float64))
        if rows.any()
    ]
    for times in weights(images, max((chunk or _CHUNK) // max(columns.shape), 1)):
        sums = np.empty((len(columns), len(times)))
        for rows, of_kind in kinds:
            sums[rows] = of_kind @ times.astype(of_kind.dtype).T
        for key, of_sample in indices.items():
            yield key, sums[of_sample]


def _draws(seed: int, resamples: int, images: int, at_once: int) -> Iterator[NDArray[Any]]:
    """Yield how often each image is in each resample: (some resamples, number of images)."""
    for words in _words([seed, 0], resamples, at_once, images):
        # The upper half of a word, as a share of 2**32, says which image.
        drawn = (words >> np.uint64(32)) * np.uint64(images) >> np.uint64(32)
        drawn += np.arange(len(words), dtype=np.uint64)[:, np.newaxis] * np.uint64(images)
        times = np.bincount(drawn.view(np.int64).ravel(), minlength=words.size)
        yield times.reshape(words.shape)


def _words(
    seed: Sequence[int], resamples: int, at_once: int, size: int
) -> Iterator[NDArray[np.uint64]]:
    """Yield random words of 64 bits for some resamples at a time: (some resamples, size)."""
    # Its stream is the same in all versions of NumPy; those of a Generator need not be.
    stream = np.random.PCG64(seed)
    for start in range(0, resamples, at_once):
        some = min(at_once, resamples - start)
        yield stream.random_raw(some * size).reshape(some, size)


def fewest(pairs: int, alpha: float) -> tuple[int, int]:
    """Return from how many resamples and images on a difference can be significant."""
    # Of 2**images ways to swap, two are as extreme for a system that is better on all images.
    if not pairs:
        return 0, 0
    return math.ceil(round(pairs / alpha, 9)) - 1, 1 + math.ceil(math.log2(pairs / alpha))


def images_needed(
    difference: float,
    interval: tuple[float, float],
    images: int,
    level: float = 0.95,
    pairs: int = 1,
    power: float = 0.8,
) -> int | None:
    """Return how many images would settle a difference: about, rounded up to two digits.

    With so many, a two-sided paired test finds the difference with the given `power`, after
    correction over the `pairs` tested, if it and the spread of the images' differences are what
    was measured on so many `images`: that spread follows from the bootstrap `interval` at `level`
    (normal approximation; Cohen, Statistical Power Analysis, 1988, section 2.4). None if nothing
    can be said: of one image, or of systems that do not differ.
    """
    low, high = interval
    if images < 2 or not high - low > 0 or not abs(difference) > _ROUNDING * (high - low):
        return None
    alpha = 1 - level
    error = (high - low) / (-2 * _NORMAL.inv_cdf(alpha / 2))  # the standard error of the difference
    variance = error**2 * images**2 / (images - 1)  # of one image's difference
    reach = _NORMAL.inv_cdf(power) - _NORMAL.inv_cdf(alpha / (2 * pairs))  # in standard errors
    needed = variance * (reach / difference) ** 2
    step = 10 ** max(math.floor(math.log10(needed)) - 1, 0) if needed > 1 else 1
    return max(2, math.ceil(needed / step) * step)


@dataclass(frozen=True)
class EqualLength:
    """What remains of a difference at equal length: the intercept, and its bootstrap interval."""

    difference: float
    low: float
    high: float


def at_equal_length(
    scores: Scores, images: Sequence[ImageId], bootstrap: Bootstrap
) -> dict[str, dict[tuple[str, str], EqualLength]]:
    """Return what remains of differences, by metric and systems whose lengths differ."""
    if WORDS not in scores.signatures:
        return {}
    ranked = [column.name for column in scores.columns() if column.ranked]
    numbers = {
        system: {
            name: as_in_files(of_column[name].scores[_places(of_column[name], images)])
            for name in (WORDS, *ranked)
        }
        for system, of_column in scores.evaluations.items()
    }
    lengths = {system: float(of_column[WORDS].mean()) for system, of_column in numbers.items()}
    pairs = [
        (first, second)
        for first, second in itertools.combinations(numbers, 2)
        if differ(lengths[first], lengths[second])
    ]
    remains: dict[str, dict[tuple[str, str], EqualLength]] = {}
    for metric in ranked:  # one after the other: each has columns for every two systems
        lines, sizes = {}, {}
        for first, second in pairs:
            differences = numbers[first][metric] - numbers[second][metric]
            line = _line(differences, numbers[first][WORDS] - numbers[second][WORDS])
            if line is not None:
                lines[first, second] = line
                sizes[first, second] = float(np.nanmax(np.abs(differences)))
        remains[metric] = {}
        for pair, (intercepts,) in bootstrap.scores(lines).items():
            low, high = bootstrap.interval(intercepts, sizes[pair])
            remains[metric][pair] = EqualLength(lines[pair].scores[0], low, high)
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
