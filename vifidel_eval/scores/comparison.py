"""Comparisons of systems by their `Scores`: intervals, paired tests and ranks.

Everything is resampled over images. What is resampled is the corpus score itself where it follows
from counts of each image (BLEU), else the mean of the image scores. What a metric takes from all
images of a run stays as it is: CIDEr's document frequencies, the ranges of scaled combinations.
Scores of images count with the ten digits that files hold, so that a saved run compares as it did.

- Interval: the percentile bootstrap (Efron & Tibshirani, 1993, chapter 13).
- Paired bootstrap: the same images are drawn for both systems; under the null hypothesis the
  differences are centred at 0 (Riezler & Maxwell, 2005, "shift method"). Two-sided.
- Approximate randomisation: each image's two results are swapped or not (Noreen, 1989). Two-sided.
- A p-value is (c + 1) / (n + 1): c of n resamples had a difference at least as large as the one
  observed; it is 1 where that difference is nothing but rounding
  (`vifidel_eval.io.digits.deciding`).
  Holm's correction (1979) covers the pairs of a metric. Tests take 100 resamples for each pair of
  systems, at least 1 000: after the correction p can be as low as .01. Intervals take 1 000.
- At equal length: `vifidel_eval.scores.significance`.
- Rank: 1 + the number of systems that beat this one: whose score is better (lower, where lower is
  better), significantly so by the randomisation test after Holm's correction. Equal ranks are ties.
  There are none where images, or resamples that were asked for, are too few for any significance.
"""

from __future__ import annotations

import itertools
import math
import warnings
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from ..errors import ImageIdError, VifidelError, VifidelWarning
from ..evaluation import Evaluation, Floats
from ..io.digits import for_json, from_json, rounded
from ..io.image_ids import ImageId, in_order
from ..io.text_tables import with_difference
from .harness import Scores
from .significance import (
    Bootstrap,
    EqualLength,
    at_equal_length,
    has_own_score,
    p_values,
    take_sample,
)

# Resamples of intervals, and the fewest of tests.
_RESAMPLES = 1000
# How many times more resamples tests take than one significant difference needs.
_MORE = 5


@dataclass(frozen=True)
class Standing:
    """How a system does under a metric.

    Attributes
    ----------
    score : float
        On the images compared.
    low, high : float
        Its bootstrap interval.
    rank : int, optional
        1 + the number of systems that beat it significantly; equal ranks are ties. None under a
        metric by which no system is better than another, and where no difference can be
        significant (`Comparisons.too_few`).
    """

    score: float
    low: float
    high: float
    rank: int | None


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
        The system that is significantly better (`randomisation_holm`); None for a tie, and under a
        metric by which no system is better than another.
    equal_length : EqualLength, optional
        What remains of the difference at equal length, where the systems' lengths differ by half.
    """

    first: str
    second: str
    difference: float
    low: float
    high: float
    bootstrap_p: float
    randomisation_p: float
    bootstrap_holm: float = math.nan
    randomisation_holm: float = math.nan
    winner: str | None = None
    equal_length: EqualLength | None = None

    @property
    def loser(self) -> str | None:
        """The other one than the winner, where there is one."""
        if self.winner is None:
            return None
        return self.second if self.winner == self.first else self.first

    def to_json(self) -> dict[str, Any]:
        """Return the attributes by name, numbers with ten significant digits."""
        fields: dict[str, Any] = for_json(asdict(self))
        if self.equal_length is None:
            del fields["equal_length"]
        return fields


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
    lower_is_better : bool
        The metric's direction.
    ranked : bool
        Whether it has one.
    own_score : bool
        Whether the metric's own corpus score was compared; if not, the mean of its image scores,
        because its corpus score cannot be computed for some of the images (METEOR).
    """

    metric: str
    systems: dict[str, Standing]
    pairs: tuple[Pair, ...]
    images: int
    own_score: bool
    lower_is_better: bool = False
    ranked: bool = True


@dataclass(frozen=True, repr=False)
class Comparisons:
    """Systems under all metrics; at a prompt, a line per metric.

    Attributes
    ----------
    metrics : dict
        Metric name to `Comparison`.
    seed, resamples : int
        Of the tests, by bootstrap and by randomisation.
    level : float
        Of the intervals; ranks and winners are at 1 - level.
    left_out : tuple of str
        Metrics of which no image has a score from every system.
    baseline : str, optional
        The second system of all pairs, where only these were tested.
    interval_resamples : int
        Of the intervals.
    """

    metrics: dict[str, Comparison]
    seed: int
    resamples: int
    level: float
    left_out: tuple[str, ...] = ()
    baseline: str | None = None
    interval_resamples: int = _RESAMPLES

    @property
    def has_equal_length(self) -> bool:
        """Whether the lengths of any two systems differ so much that this is said of them."""
        pairs = (pair for comparison in self.metrics.values() for pair in comparison.pairs)
        return any(pair.equal_length is not None for pair in pairs)

    def too_few(self) -> list[str]:
        """Return why no difference can be significant, and there are no ranks, in sentences."""
        tested = [of for of in self.metrics.values() if of.pairs]
        pairs = max((len(of.pairs) for of in tested), default=0)
        needed = _fewest_resamples(pairs, self.level)
        if self.resamples < needed:
            return [
                f"with {self.resamples} resamples no difference can be significant after Holm's "
                f"correction over {pairs} pairs of systems; take at least {needed}."
            ]
        few = [of for of in tested if of.images < _fewest_images(pairs, self.level)]
        if not few:
            return []
        return [
            f"{min(of.images for of in few)} images are too few for a significant difference under "
            f"{', '.join(of.metric for of in few)} (pairs of systems: {pairs}), and with so few "
            "the bootstrap's p-values mean nothing; compare at least "
            f"{_fewest_images(pairs, self.level)}."
        ]

    def __repr__(self) -> str:
        settings = f"seed={self.seed}, resamples={self.resamples}, level={self.level}"
        if self.baseline is not None:
            settings = f"baseline={self.baseline!r}, {settings}"
        lines = [f"Comparisons({settings})"]
        for name, comparison in self.metrics.items():
            systems = comparison.systems
            metric = f"{name} ({comparison.images} images): "
            if self.baseline is not None:
                for pair in comparison.pairs:
                    numbers = (pair.difference, pair.low, pair.high, pair.randomisation_holm)
                    cell = with_difference(systems[pair.first].score, *numbers)
                    lines.append(f"{metric}{pair.first} {cell}")
                continue
            standings = (
                f"{system} {s.score:.4f} [{s.low:.4f}, {s.high:.4f}]"
                + ("" if s.rank is None else f" #{s.rank}")
                for system, s in systems.items()
            )
            lines.append(metric + "; ".join(standings))
        return "\n".join(lines)

    def to_json(self) -> dict[str, Any]:
        """Return what files hold: the attributes by name, numbers with ten significant digits.

        ``{"seed": 0, "resamples": 1000, "interval_resamples": 1000, "level": 0.95, "left_out": [],
        "metrics": {METRIC:
        {"images": 5000, "own_score": true, "systems": {NAME: {"score": ..., "low": ..., "high":
        ..., "rank": 1}}, "pairs": [{"first": NAME, "second": NAME, "difference": ..., ...}]}}}``
        """
        return {
            "seed": self.seed,
            "resamples": self.resamples,
            "interval_resamples": self.interval_resamples,
            "level": self.level,
            **({} if self.baseline is None else {"baseline": self.baseline}),
            "left_out": list(self.left_out),
            "metrics": {
                name: {
                    "images": comparison.images,
                    "lower_is_better": comparison.lower_is_better,
                    "ranked": comparison.ranked,
                    "own_score": comparison.own_score,
                    "systems": {
                        system: for_json(asdict(standing))
                        for system, standing in comparison.systems.items()
                    },
                    "pairs": [pair.to_json() for pair in comparison.pairs],
                }
                for name, comparison in self.metrics.items()
            },
        }


def compare(
    scores: Scores, seed: int = 0, resamples: int | None = None, level: float = 0.95
) -> Comparisons:
    """Return intervals, tests between every two systems, and ranks.

    The result depends on the scores and on the arguments only: the order of systems, metrics and
    images, the machine and its threads do not matter.

    Parameters
    ----------
    scores : Scores
        One system or more; systems of different images are compared on those they share.
    seed : int
        Of the random numbers, 0 or more.
    resamples : int, optional
        How many, of tests and intervals; no p-value is below 1 / (resamples + 1). By default
        intervals take 1 000, and tests 5 / (1 - level) for each pair of systems (100 at .95), but
        at least 1 000: after Holm's correction, p can be a fifth of 1 - level.
    level : float
        Of the intervals, in (0, 1).

    Raises
    ------
    ImageIdError
        If the systems share no image.
    VifidelError
        If there is no system, or an argument has the wrong type or is out of range.

    Warns
    -----
    VifidelWarning
        If resamples or images are too few for a significant difference: there are no ranks then.
    """
    Bootstrap(seed, _RESAMPLES if resamples is None else resamples, level)  # checks them
    if not scores.evaluations:
        raise VifidelError("there is no system to compare; score one first.")
    seed, level = int(seed), float(level)  # not NumPy's, for JSON
    tested, drawn = _how_many(resamples, len(scores.evaluations), level)
    shared = _shared_images(scores)
    scores = _as_in_files(scores)
    evaluations = {
        column: {name: e[column.name] for name, e in scores.evaluations.items()}
        for column in scores.columns()
    }
    taken = {column.name: take_sample(of, shared) for column, of in evaluations.items()}
    samples = {metric: sample for metric, sample in taken.items() if sample is not None}
    bootstrap = Bootstrap(seed, drawn, level)
    draws = bootstrap.scores(samples)
    tests = p_values(samples, seed, tested)
    at_equal = at_equal_length(scores, shared, bootstrap)
    metrics: dict[str, Comparison] = {}
    names = list(scores.evaluations)
    for column, of_systems in evaluations.items():
        metric, lower, ranked = column.name, column.lower_is_better, column.ranked
        if metric not in samples:
            continue
        sample, of_draws, sizes = samples[metric], draws[metric], samples[metric].sizes.tolist()
        drawn_ps, swapped_ps = tests[metric]
        pairs = [
            Pair(
                names[one],
                names[other],
                sample.scores[one] - sample.scores[other],
                *bootstrap.interval(of_draws[one] - of_draws[other], max(sizes[one], sizes[other])),
                float(drawn_ps[one, other]),
                float(swapped_ps[one, other]),
                equal_length=at_equal.get((metric, names[one], names[other])),
            )
            for one, other in itertools.combinations(range(len(names)), 2)
        ]
        systems = {
            name: Standing(score, *bootstrap.interval(of_system, size), None)
            for name, score, of_system, size in zip(
                names, sample.scores, of_draws, sizes, strict=True
            )
        }
        own_score = all(has_own_score(evaluation) for evaluation in of_systems.values())
        metrics[metric] = Comparison(
            metric,
            systems,
            corrected(pairs, level, lower if ranked else None),
            sample.images,
            own_score,
            lower,
            ranked,
        )
    left_out = tuple(metric for metric in scores.signatures if metric not in metrics)
    compared = Comparisons(metrics, seed, tested, level, left_out, interval_resamples=drawn)
    for said in compared.too_few():
        warnings.warn(said, VifidelWarning, stacklevel=2)
    return with_ranks(compared)


def check_draws(seed: int, resamples: int) -> None:
    """Raise a VifidelError for a seed or a number of resamples that is out of range."""
    Bootstrap(seed, resamples)


def _how_many(resamples: int | None, systems: int, level: float) -> tuple[int, int]:
    """Return how many resamples tests and intervals take, where so many were asked for or none."""
    if resamples is not None:
        return int(resamples), int(resamples)
    return max(_RESAMPLES, round(_MORE * math.comb(systems, 2) / _alpha(level))), _RESAMPLES


def _as_in_files(scores: Scores) -> Scores:
    """Return scores of images, and counts, with the digits that files hold."""

    def in_file(e: Evaluation) -> Evaluation:
        counts = e.statistics
        if counts is not None:
            counts = replace(counts, of_rows=_rounded(counts.of_rows))
        # Corpus scores keep all digits, there too.
        return replace(e, scores=_rounded(e.scores), corpus_score=e.score, statistics=counts)

    evaluations = {
        name: {column: in_file(e) for column, e in of_column.items()}
        for name, of_column in scores.evaluations.items()
    }
    return replace(scores, evaluations=evaluations)


def _rounded(numbers: Floats) -> Floats:
    if np.array_equal(numbers, np.rint(numbers), equal_nan=True):
        return numbers
    few = map(from_json, map(rounded, numbers.ravel().tolist()))
    return np.array([*few]).reshape(numbers.shape)


def with_ranks(comparisons: Comparisons) -> Comparisons:
    """Return comparisons of every two systems with ranks, where a difference can be significant."""
    metrics = {}
    for metric, of in comparisons.metrics.items():
        pairs, level = len(of.pairs), comparisons.level
        reachable = comparisons.resamples >= _fewest_resamples(pairs, level) and (
            not pairs or of.images >= _fewest_images(pairs, level)
        )
        losers = [pair.loser for pair in of.pairs]
        systems = {
            name: replace(s, rank=1 + losers.count(name) if reachable and of.ranked else None)
            for name, s in of.systems.items()
        }
        metrics[metric] = replace(of, systems=systems)
    return replace(comparisons, metrics=metrics)


def _fewest_resamples(pairs: int, level: float) -> int:
    """Return with how many resamples the smallest p-value, times the pairs, is at 1 - level."""
    return math.ceil(round(pairs / _alpha(level), 9)) - 1


def _fewest_images(pairs: int, level: float) -> int:
    """Return with how many images a system that is better on all is significantly better.

    Of the 2**images ways to swap results two are then as extreme: none swapped, and all.
    """
    return 1 + math.ceil(math.log2(pairs / _alpha(level)))


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
    """Return the images that every system has, in an order that depends on no input file."""
    of_systems = [next(iter(of_metric.values())).ids for of_metric in scores.evaluations.values()]
    shared = set(of_systems[0]).intersection(*of_systems[1:])
    if not shared:
        raise ImageIdError(
            f"{', '.join(scores.evaluations)} share no image, so there is nothing to compare; "
            "score them on the same images."
        )
    return sorted(shared, key=in_order)


def corrected(
    pairs: Sequence[Pair], level: float, lower_is_better: bool | None
) -> tuple[Pair, ...]:
    """Return the pairs of a metric with Holm's correction over them, and who is better.

    A system is better at 1 - level; no one is where the metric has no direction, None.
    """
    bootstrap = holm([pair.bootstrap_p for pair in pairs])
    randomisation = holm([pair.randomisation_p for pair in pairs])
    found = []
    for pair, of_bootstrap, p in zip(pairs, bootstrap, randomisation, strict=True):
        winner = None
        if lower_is_better is not None and p <= _alpha(level):
            first_is_better = (pair.difference > 0) != lower_is_better
            winner = pair.first if first_is_better else pair.second
        found.append(
            replace(pair, bootstrap_holm=of_bootstrap, randomisation_holm=p, winner=winner)
        )
    return tuple(found)
