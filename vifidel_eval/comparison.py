"""Which differences between systems hold: intervals, paired tests and ranks from `Scores`.

Everything is resampled over images. What is resampled is the corpus score itself where it follows
from counts of each image (BLEU), else the mean of the image scores. What a metric takes from all
images of a run stays as it is: CIDEr's document frequencies, the ranges of scaled combinations.

- Interval: the percentile bootstrap (Efron & Tibshirani, 1993, chapter 13).
- Paired bootstrap: the same images are drawn for both systems; under the null hypothesis the
  differences are centred at 0 (Riezler & Maxwell, 2005, "shift method"). Two-sided.
- Approximate randomisation: each image's two results are swapped or not (Noreen, 1989). Two-sided.
- A p-value is (c + 1) / (n + 1): c of n resamples had a difference at least as large as the one
  observed. Holm's correction (1979) covers the pairs of a metric.
- Rank: 1 + the number of systems that beat this one: with a higher score, and significantly so by
  the randomisation test after Holm's correction. Equal ranks are ties.

SciPy has all but Holm's correction, one pair and one metric at a time from real-valued samples;
here one product of matrices resamples all systems at once, from integers, so that the result does
not depend on the order in which a machine adds.
"""

from __future__ import annotations

import itertools
import math
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from .errors import ImageIdError, VifidelError, VifidelWarning
from .harness import Scores, rounded
from .image_ids import ImageId, in_order

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from .scorers import Evaluation

    _Floats = NDArray[np.float64]

# Random numbers in memory at a time (32 MB).
_CHUNK = 2**22
# Scores become integers of this many bits when added over all images: float64 adds them exactly.
_BITS = 51
# Differences that differ by less, relative to the scores, are the same but for rounding.
_ROUNDING = 1e-12


@dataclass(frozen=True)
class Standing:
    """How a system does under a metric.

    Attributes
    ----------
    score : float
        On the images compared.
    low, high : float
        Its bootstrap interval.
    rank : int
        1 + the number of systems that beat it significantly; equal ranks are ties.
    """

    score: float
    low: float
    high: float
    rank: int


@dataclass(frozen=True)
class Pair:
    """Two systems under a metric.

    Attributes
    ----------
    first, second : str
        Names of the systems.
    difference : float
        Score of the first less score of the second.
    low, high : float
        Bootstrap interval of the difference.
    bootstrap_p, randomisation_p : float
        Two-sided p-values of the two tests.
    bootstrap_holm, randomisation_holm : float
        The same after Holm's correction over the pairs of the metric.
    winner : str, optional
        The system that is significantly better (`randomisation_holm`); None for a tie.
    """

    first: str
    second: str
    difference: float
    low: float
    high: float
    bootstrap_p: float
    randomisation_p: float
    bootstrap_holm: float
    randomisation_holm: float
    winner: str | None


@dataclass(frozen=True)
class Comparison:
    """Systems under one metric.

    Attributes
    ----------
    metric : str
        Its name.
    systems : dict
        System name to `Standing`, in the order of the scores.
    pairs : tuple of Pair
        Every two systems; none if there is one system.
    images : int
        How many images were compared: those that every system has and the metric defines for all.
    own_score : bool
        Whether the metric's own corpus score was compared; if not, the mean of its image scores,
        because its corpus score cannot be had for part of the images (METEOR).
    """

    metric: str
    systems: dict[str, Standing]
    pairs: tuple[Pair, ...]
    images: int
    own_score: bool


@dataclass(frozen=True)
class Comparisons:
    """Systems under all metrics.

    Attributes
    ----------
    metrics : dict
        Metric name to `Comparison`.
    left_out : tuple of str
        Metrics of which no image has a score from every system.
    seed, resamples : int
        Of the bootstrap and of the randomisation.
    level : float
        Of the intervals; ranks and winners are at 1 - level.
    """

    metrics: dict[str, Comparison]
    left_out: tuple[str, ...]
    seed: int
    resamples: int
    level: float

    def to_json(self) -> dict[str, Any]:
        """Return what files hold: the attributes by name, numbers with ten significant digits.

        ``{"seed": 0, "resamples": 1000, "level": 0.95, "left_out": [], "metrics": {METRIC:
        {"images": 5000, "own_score": true, "systems": {NAME: {"score": ..., "low": ..., "high":
        ..., "rank": 1}}, "pairs": [{"first": NAME, "second": NAME, "difference": ..., ...}]}}}``
        """
        return {
            "seed": self.seed,
            "resamples": self.resamples,
            "level": self.level,
            "left_out": list(self.left_out),
            "metrics": {
                name: {
                    "images": comparison.images,
                    "own_score": comparison.own_score,
                    "systems": {
                        system: _rounded(asdict(standing))
                        for system, standing in comparison.systems.items()
                    },
                    "pairs": [_rounded(asdict(pair)) for pair in comparison.pairs],
                }
                for name, comparison in self.metrics.items()
            },
        }


def _rounded(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: rounded(value) if isinstance(value, float) else value
        for name, value in fields.items()
    }


def compare(
    scores: Scores, seed: int = 0, resamples: int = 1000, level: float = 0.95
) -> Comparisons:
    """Return intervals, tests between every two systems, and ranks.

    The result depends on the scores and on the arguments only, not on the order of systems,
    metrics or images, nor on the machine.

    Parameters
    ----------
    scores : Scores
        One system or more; systems of different images are compared on those they share.
    seed : int
        Of the random numbers, 0 or more.
    resamples : int
        How many; no p-value is below 1 / (resamples + 1).
    level : float
        Of the intervals, in (0, 1).

    Raises
    ------
    ImageIdError
        If the systems share no image.
    VifidelError
        If an argument is out of its range.
    """
    if seed < 0 or resamples < 1 or not 0 < level < 1:
        raise VifidelError(
            "a comparison takes a seed of 0 or more, at least 1 resample and a level between 0 "
            f"and 1; given were {seed}, {resamples} and {level}."
        )
    number_of_pairs = math.comb(len(scores.evaluations), 2)
    needed = math.ceil(number_of_pairs / _alpha(level)) - 1
    if resamples < needed:
        warnings.warn(
            f"with {resamples} resamples no difference can be significant after Holm's correction "
            f"over {number_of_pairs} pairs of systems; take at least {needed}.",
            VifidelWarning,
            stacklevel=2,
        )
    shared = _shared_images(scores)
    metrics: dict[str, Comparison] = {}
    for metric in scores.signatures:
        of_systems = {name: e[metric] for name, e in scores.evaluations.items()}
        samples, images = _samples(of_systems, shared)
        if not images:
            continue
        resampled = _Resampled(samples, images, seed, resamples, level)
        pairs = resampled.pairs()
        metrics[metric] = Comparison(
            metric,
            resampled.standings(pairs),
            pairs,
            images,
            all(_has_own_score(evaluation) for evaluation in of_systems.values()),
        )
    left_out = tuple(metric for metric in scores.signatures if metric not in metrics)
    return Comparisons(metrics, left_out, seed, resamples, level)


def _alpha(level: float) -> float:
    return round(1 - level, 12)


def holm(p_values: Sequence[float]) -> list[float]:
    """Return p-values after the step-down correction of Holm (1979), in the order given.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    corrected = [1.0] * len(p_values)
    largest = 0.0
    for done, at in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        largest = max(largest, (len(p_values) - done) * p_values[at])
        corrected[at] = min(largest, 1.0)
    return corrected


def _shared_images(scores: Scores) -> list[ImageId]:
    """Return the images that every system has, in an order that no input file decides."""
    of_systems = [next(iter(of_metric.values())).ids for of_metric in scores.evaluations.values()]
    shared = set(of_systems[0]).intersection(*of_systems[1:])
    if not shared:
        raise ImageIdError(
            f"{', '.join(scores.evaluations)} have no image that all of them share, so there is "
            "nothing to compare; score them on the same images."
        )
    return sorted(shared, key=in_order)


@dataclass(frozen=True)
class _Sample:
    """What is resampled of one system.

    Attributes
    ----------
    score : float
        Of all images, as the system's `Evaluation` computes it.
    rows : (number of images, k) float64
        Whole numbers: any sum of them is exact.
    score_of : callable
        The score of sums of rows: (n, k) to (n,).
    """

    score: float
    rows: _Floats
    score_of: Callable[[_Floats], _Floats]


def _samples(
    evaluations: Mapping[str, Evaluation], shared: Sequence[ImageId]
) -> tuple[dict[str, _Sample], int]:
    """Return each system's sample of the images that are defined for all, and their number."""
    import numpy as np

    places: dict[str, NDArray[np.intp]] = {}
    for name, evaluation in evaluations.items():
        place = {image_id: at for at, image_id in enumerate(evaluation.ids)}
        places[name] = np.array([place[image_id] for image_id in shared], dtype=np.intp)
    defined = ~np.isnan([e.scores[places[name]] for name, e in evaluations.items()]).any(axis=0)
    images = int(defined.sum())
    scores = {name: e.scores[places[name][defined]] for name, e in evaluations.items()}
    if not images:
        return {}, 0
    _, exponent = math.frexp(images * max(float(np.abs(row).max()) for row in scores.values()))
    samples = {}
    for name, evaluation in evaluations.items():
        if evaluation.statistics is None:
            rows = np.rint(np.ldexp(scores[name], _BITS - exponent))[:, np.newaxis]
            score_of = partial(_mean, exponent=exponent - _BITS, images=images)
            score = math.fsum(scores[name].tolist()) / images
        else:
            rows = evaluation.statistics.of_images[places[name][defined]]
            score_of = evaluation.statistics.score
            score = float(score_of(rows.sum(axis=0)))
        samples[name] = _Sample(score, rows, score_of)
    return samples, images


def _mean(sums: _Floats, exponent: int, images: int) -> _Floats:
    import numpy as np

    return np.ldexp(sums[..., 0], exponent) / images


def _has_own_score(evaluation: Evaluation) -> bool:
    """Return whether what is resampled is the corpus score; ROUGE-L's and CIDEr's are means."""
    import numpy as np

    mean = np.nanmean(evaluation.scores)
    return evaluation.statistics is not None or math.isclose(evaluation.score, mean, rel_tol=1e-9)


class _Resampled:
    """The systems of one metric, resampled."""

    def __init__(
        self, samples: Mapping[str, _Sample], images: int, seed: int, resamples: int, level: float
    ) -> None:
        import numpy as np

        self._samples = samples
        self._resamples = resamples
        self._level = level
        rows = np.concatenate([sample.rows for sample in samples.values()], axis=1)
        ends = np.cumsum([sample.rows.shape[1] for sample in samples.values()])[:-1]

        def of_systems(weights: Iterator[_Floats]) -> dict[str, _Floats]:
            sums = np.concatenate([part @ rows for part in weights])
            return dict(zip(samples, np.split(sums, ends, axis=1), strict=True))

        drawn = of_systems(_draws(seed, resamples, images))
        self._drawn = {name: samples[name].score_of(sums) for name, sums in drawn.items()}
        self._swapped = of_systems(_swaps(seed, resamples, images))

    def pairs(self) -> tuple[Pair, ...]:
        """Return every two systems, tested and corrected."""
        pairs = [self._pair(*names) for names in itertools.combinations(self._samples, 2)]
        bootstrap = holm([pair.bootstrap_p for pair in pairs])
        randomisation = holm([pair.randomisation_p for pair in pairs])
        return tuple(
            replace(
                pair,
                bootstrap_holm=of_bootstrap,
                randomisation_holm=of_randomisation,
                winner=pair.winner if of_randomisation <= _alpha(self._level) else None,
            )
            for pair, of_bootstrap, of_randomisation in zip(
                pairs, bootstrap, randomisation, strict=True
            )
        )

    def standings(self, pairs: Sequence[Pair]) -> dict[str, Standing]:
        """Return each system's score, interval and rank."""
        return {
            name: Standing(
                sample.score,
                *self._interval(self._drawn[name]),
                rank=1
                + sum(name in (p.first, p.second) and p.winner not in (name, None) for p in pairs),
            )
            for name, sample in self._samples.items()
        }

    def _pair(self, first: str, second: str) -> Pair:
        """Return two systems, tested and not yet corrected; the winner is the better one."""
        one, other = self._samples[first], self._samples[second]
        difference = one.score - other.score
        drawn = self._drawn[first] - self._drawn[second]
        moved = self._swapped[second] - self._swapped[first]
        swapped = one.score_of(one.rows.sum(axis=0) + moved)
        swapped = swapped - other.score_of(other.rows.sum(axis=0) - moved)
        size = max(abs(one.score), abs(other.score))
        bootstrap_p = self._p_value(drawn - difference, difference, size)
        randomisation_p = self._p_value(swapped, difference, size)
        return Pair(
            first,
            second,
            difference,
            *self._interval(drawn),
            bootstrap_p,
            randomisation_p,
            bootstrap_holm=bootstrap_p,
            randomisation_holm=randomisation_p,
            winner=first if difference > 0 else second,
        )

    def _interval(self, values: _Floats) -> tuple[float, float]:
        import numpy as np

        low, high = np.quantile(values, [(1 - self._level) / 2, (1 + self._level) / 2])
        return float(low), float(high)

    def _p_value(self, null: _Floats, difference: float, size: float) -> float:
        import numpy as np

        as_large = np.abs(null) >= abs(difference) - _ROUNDING * size
        return (int(as_large.sum()) + 1) / (self._resamples + 1)


# The streams of PCG64 are the same in all versions of NumPy; those of its Generator need not be.


def _draws(seed: int, resamples: int, images: int) -> Iterator[_Floats]:
    """Yield how often each image is in each resample: (some resamples, number of images)."""
    import numpy as np

    for size, raw in _random_words([seed, 0], resamples, images):
        # The upper half of a word, as a share of 2**32, says which image.
        drawn = (raw >> np.uint64(32)) * np.uint64(images) >> np.uint64(32)
        offsets = np.arange(size, dtype=np.uint64)[:, np.newaxis] * np.uint64(images)
        counted = np.bincount((drawn + offsets).astype(np.intp).ravel(), minlength=size * images)
        yield counted.reshape(size, images).astype(np.float64)


def _swaps(seed: int, resamples: int, images: int) -> Iterator[_Floats]:
    """Yield 1 where an image's two results are swapped: (some resamples, number of images)."""
    import numpy as np

    for _, raw in _random_words([seed, 1], resamples, -(-images // 64)):
        bits = np.unpackbits(raw.astype("<u8").view(np.uint8), axis=1)
        yield bits[:, :images].astype(np.float64)


def _random_words(
    seed: Sequence[int], resamples: int, words: int
) -> Iterator[tuple[int, NDArray[np.uint64]]]:
    """Yield 64-bit words for every resample, some resamples at a time."""
    import numpy as np

    stream = np.random.PCG64(seed)
    at_once = max(_CHUNK // words, 1)
    for start in range(0, resamples, at_once):
        size = min(at_once, resamples - start)
        yield size, stream.random_raw(size * words).reshape(size, words)
