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
  (`vifidel_eval.io.digits.deciding`). Holm's correction (1979) covers the pairs of a metric. Tests
  take 100 resamples for each pair of systems, at least 1 000: after the correction p can be as low
  as .01. Intervals take 1 000.
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
from dataclasses import dataclass, field, replace
from typing import Any

from ..errors import ImageIdError, VifidelError, VifidelWarning
from ..io.digits import for_json
from ..io.image_ids import in_order
from ..io.text_tables import with_difference
from .scores import Scores, unknown
from .significance import (
    Bootstrap,
    EqualLength,
    at_equal_length,
    fewest,
    has_own_score,
    p_values,
    take_sample,
)

_RESAMPLES = 1000  # resamples of intervals, and the fewest of tests
_MORE = 5  # how many times more resamples tests take than one significant difference needs


@dataclass(frozen=True)
class Standing:
    """How a system does under a metric: its score on the images compared, and the interval of that.

    Its rank is 1 + the number of systems that beat it significantly; None where no system is better
    than another by the metric, or no difference can be significant (`Comparisons.too_few`).
    """

    score: float
    low: float
    high: float
    rank: int | None


@dataclass(frozen=True)
class Pair:
    """Two systems under a metric.

    The difference is the score of the first less that of the second, with its bootstrap interval;
    two-sided p-values are those of both tests, and the same after Holm's correction over the pairs
    of the metric. The winner, if there is one, is significantly better (`randomisation_holm`).
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
    equal_length: EqualLength | None = None

    @property
    def loser(self) -> str | None:
        """The other one than the winner, where there is one."""
        if self.winner is None:
            return None
        return self.second if self.winner == self.first else self.first

    def turned(self) -> Pair:
        """Return the pair with its systems exchanged: two-sided tests say the same of both."""
        remains = self.equal_length and EqualLength(*_negative(self.equal_length))
        names, exchanged = (self.second, self.first), _negative(self)
        p_values = (self.bootstrap_p, self.randomisation_p)
        return Pair(*names, *exchanged, *p_values, *p_values, self.winner, remains)


def _negative(of: Pair | EqualLength) -> tuple[float, float, float]:
    """Return a difference and its interval, of the other sign and without -0.0."""
    return 0.0 - of.difference, 0.0 - of.high, 0.0 - of.low


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """Systems under one metric.

    So many `images` were compared: those that every system has and the metric defines for all. If
    what was compared is not its `own_score`, it is the mean of its image scores, because its corpus
    score cannot be computed for some of the images (METEOR).
    """

    metric: str = field(metadata={"is_key": True})
    images: int
    lower_is_better: bool = False
    ranked: bool = True
    own_score: bool
    systems: dict[str, Standing]
    pairs: tuple[Pair, ...]

    def with_pairs(self, pairs: Sequence[Pair], alpha: float) -> Comparison:
        """Return this with other pairs, Holm's correction over them, and who is better at alpha."""
        bootstrap = holm([pair.bootstrap_p for pair in pairs])
        randomisation = holm([pair.randomisation_p for pair in pairs])
        corrected = []
        for pair, of_bootstrap, p in zip(pairs, bootstrap, randomisation, strict=True):
            first_is_better = (pair.difference > 0) != self.lower_is_better
            winner = pair.first if first_is_better else pair.second
            corrected.append(
                replace(
                    pair,
                    bootstrap_holm=of_bootstrap,
                    randomisation_holm=p,
                    winner=winner if self.ranked and p <= alpha else None,
                )
            )
        return replace(self, pairs=tuple(corrected))


@dataclass(frozen=True, repr=False, kw_only=True)
class Comparisons:
    """Systems under all metrics, by name; at a prompt, a line per metric.

    Tests took so many resamples, intervals, whose level this is, `interval_resamples`; ranks and
    winners are at 1 - level. A baseline is the second system of all pairs, where only these were
    tested. Of the metrics `left_out`, no image has a score from every system.
    """

    seed: int
    resamples: int
    interval_resamples: int
    level: float
    baseline: str | None = None
    left_out: tuple[str, ...] = ()
    metrics: dict[str, Comparison]

    @property
    def alpha(self) -> float:
        """The level of significance."""
        return Bootstrap(level=self.level).alpha

    @property
    def has_equal_length(self) -> bool:
        """Whether the lengths of any two systems differ so much that this is said of them."""
        pairs = (pair for comparison in self.metrics.values() for pair in comparison.pairs)
        return any(pair.equal_length is not None for pair in pairs)

    def too_few(self) -> list[str]:
        """Return why no difference can be significant, and there are no ranks, in sentences."""
        tested = [of for of in self.metrics.values() if of.pairs]
        pairs = max((len(of.pairs) for of in tested), default=0)
        resamples, images = fewest(pairs, self.alpha)
        if self.resamples < resamples:
            return [
                f"with {self.resamples} resamples no difference can be significant after Holm's "
                f"correction over {pairs} pairs of systems; take at least {resamples}."
            ]
        few = [of for of in tested if of.images < images]
        if not few:
            return []
        return [
            f"{min(of.images for of in few)} images are too few for a significant difference under "
            f"{', '.join(of.metric for of in few)} (pairs of systems: {pairs}), and with so few "
            f"the bootstrap's p-values mean nothing; compare at least {images}."
        ]

    def __repr__(self) -> str:
        baseline = "" if self.baseline is None else f"baseline={self.baseline!r}, "
        settings = f"seed={self.seed}, resamples={self.resamples}, level={self.level}"
        lines = [f"Comparisons({baseline}{settings})"]
        for name, comparison in self.metrics.items():
            systems = comparison.systems
            texts = [
                f"{system} {s.score:.4f} [{s.low:.4f}, {s.high:.4f}]"
                + ("" if s.rank is None else f" #{s.rank}")
                for system, s in systems.items()
            ]
            whole = ["; ".join(texts)]
            if self.baseline is not None:
                whole = [
                    f"{pair.first} "
                    + with_difference(
                        systems[pair.first].score,
                        *(pair.difference, pair.low, pair.high, pair.randomisation_holm),
                    )
                    for pair in comparison.pairs
                ]
            lines += [f"{name} ({comparison.images} images): {text}" for text in whole]
        return "\n".join(lines)

    def to_json(self) -> dict[str, Any]:
        """Return what files hold: the attributes by name, numbers with ten significant digits."""
        content: dict[str, Any] = for_json(self)
        return content


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

    Raises an ImageIdError if the systems share no image, and a VifidelError if there is no system,
    or an argument has the wrong type or is out of range. Warns if resamples or images are too few
    for a significant difference: there are no ranks then.
    """
    bootstrap = Bootstrap(seed, _RESAMPLES if resamples is None else resamples, level)
    if not scores.evaluations:
        raise VifidelError("there is no system to compare; score one first.")
    alpha, tested = bootstrap.alpha, bootstrap.resamples
    if resamples is None:
        of_pairs = _MORE * math.comb(len(scores.evaluations), 2) / alpha
        tested = max(_RESAMPLES, round(of_pairs))
    of_systems = [next(iter(of_metric.values())).ids for of_metric in scores.evaluations.values()]
    shared = sorted(set(of_systems[0]).intersection(*of_systems[1:]), key=in_order)
    if not shared:
        raise ImageIdError(
            f"{', '.join(scores.evaluations)} share no image, so there is nothing to compare; "
            "score them on the same images."
        )
    evaluations = {
        column: {name: e[column] for name, e in scores.evaluations.items()}
        for column in scores.signatures
    }
    taken = {column: take_sample(of, shared) for column, of in evaluations.items()}
    samples = {column: sample for column, sample in taken.items() if sample is not None}
    draws = bootstrap.scores(samples)
    tests = p_values(samples, bootstrap.seed, tested)
    at_equal = at_equal_length(scores, shared, bootstrap)
    metrics: dict[str, Comparison] = {}
    for column in scores.columns():
        metric = column.name
        if metric not in samples:
            continue
        sample, drawn, sizes = samples[metric], draws[metric], samples[metric].sizes.tolist()
        names, systems = list(scores.evaluations), range(len(scores.evaluations))
        pairs = []
        for one, other in itertools.combinations(systems, 2):
            of_bootstrap, of_randomisation = tests[metric][:, one, other].tolist()
            size = max(sizes[one], sizes[other])
            low, high = bootstrap.interval(drawn[one] - drawn[other], size)
            pairs.append(
                Pair(
                    names[one],
                    names[other],
                    sample.scores[one] - sample.scores[other],
                    low,
                    high,
                    of_bootstrap,
                    of_randomisation,
                    of_bootstrap,  # corrected below
                    of_randomisation,
                    None,
                    at_equal.get((metric, names[one], names[other])),
                )
            )
        comparison = Comparison(
            metric=metric,
            images=sample.images,
            lower_is_better=column.lower_is_better,
            ranked=column.ranked,
            own_score=all(map(has_own_score, evaluations[metric].values())),
            systems={},
            pairs=(),
        ).with_pairs(pairs, alpha)
        least_resamples, least_images = fewest(len(pairs), alpha)
        has_ranks = column.ranked and tested >= least_resamples and sample.images >= least_images
        losers = [pair.loser for pair in comparison.pairs]
        standings = {
            names[at]: Standing(
                sample.scores[at],
                *bootstrap.interval(drawn[at], sizes[at]),
                1 + losers.count(names[at]) if has_ranks else None,
            )
            for at in systems
        }
        metrics[metric] = replace(comparison, systems=standings)
    comparisons = Comparisons(
        seed=int(seed),  # Python's own numbers, for JSON
        resamples=int(tested),
        interval_resamples=int(bootstrap.resamples),
        level=float(level),
        left_out=tuple(metric for metric in scores.signatures if metric not in metrics),
        metrics=metrics,
    )
    for reason in comparisons.too_few():
        warnings.warn(reason, VifidelWarning, stacklevel=2)
    return comparisons


def holm(p_values: Sequence[float]) -> list[float]:
    """Return p-values after the step-down correction of Holm (1979), in the order given."""
    corrected = [1.0] * len(p_values)
    largest = 0.0
    for done, at in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        largest = max(largest, (len(p_values) - done) * p_values[at])
        corrected[at] = min(largest, 1.0)
    return corrected


def against(comparisons: Comparisons, baseline: str) -> Comparisons:
    """Return how every other system differs from a baseline, of every two systems' comparison.

    The pairs are those in which the baseline is the second system; a difference above 0 says that
    the other one has more. Resamples, and ranks among all systems, stay as they are. Holm's
    correction covers the pairs that remain, so that p-values are lower than among all.

    Raises a VifidelError if there is no such system or no other one, or the comparison has another
    baseline.
    """
    systems = [*next((of.systems for of in comparisons.metrics.values()), [])]
    if systems and baseline not in systems:  # without any, no image has a score from every system
        raise unknown("system", baseline, systems)
    if len(systems) == 1:
        raise VifidelError(
            f"{baseline!r} is the only system, and there is nothing to compare it with: score "
            "another one with it."
        )
    if systems and comparisons.baseline not in (None, baseline):
        raise VifidelError(
            f"the comparison is with {comparisons.baseline!r} alone: compare again for the "
            f"baseline {baseline!r}."
        )
    metrics = {}
    for name, comparison in comparisons.metrics.items():
        pairs = [
            pair if pair.second == baseline else pair.turned()
            for pair in comparison.pairs
            if baseline in (pair.first, pair.second)
        ]
        metrics[name] = comparison.with_pairs(pairs, comparisons.alpha)
    return replace(comparisons, metrics=metrics, baseline=baseline)
