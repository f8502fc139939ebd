"""Comparisons of systems by their `Scores`: intervals, paired tests and ranks.

Everything is resampled over images. What is resampled is the corpus score itself where it follows
from counts of each image (BLEU), else the mean of the image scores. What a metric takes from all
images of a run stays as it is: CIDEr's document frequencies, the ranges of scaled combinations.
Scores of images count with the ten digits that files hold, so that a saved run compares as it did.

- Interval: the percentile bootstrap (Efron & Tibshirani, 1993, chapter 13); NaN of one image.
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
from dataclasses import dataclass, replace
from typing import Any

from ..errors import ImageIdError, VifidelError, VifidelWarning
from ..io.digits import for_json
from ..io.image_ids import in_order
from ..io.text_tables import Cell, Table, with_difference
from .scores import Scores, leading, plain_names, unknown
from .significance import (
    Bootstrap,
    at_equal_length,
    fewest,
    has_own_score,
    p_values,
    take_sample,
)
from .standings import Comparison, Pair, Standing, holm

__all__ = ["Comparison", "Comparisons", "Pair", "Standing", "against", "compare", "holm"]

_RESAMPLES = 1000  # resamples of intervals, and the fewest of tests
_MORE = 5  # how many times more resamples tests take than one significant difference needs


@dataclass(frozen=True, repr=False, kw_only=True)
class Comparisons:
    """Systems under all metrics, by name; at a prompt, a line per metric.

    Tests took `resamples` resamples, and intervals, at `level`, `interval_resamples`; ranks and
    winners are at 1 - level. With a `baseline`, it is the second system of every pair, and no other
    pairs were tested. Under the metrics `left_out`, no image has a score from every system.
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

    def too_few(self, metric: str | None = None) -> list[str]:
        """Return why no difference can be significant, and there are no ranks, in sentences.

        With a metric, they are about this one alone.
        """
        tested = [of for of in self.metrics.values() if of.pairs and metric in (None, of.metric)]
        pairs = max((len(of.pairs) for of in tested), default=0)
        resamples, images = fewest(pairs, self.alpha)
        if self.resamples < resamples:
            return [
                f"with {self.resamples} resamples no difference can be significant after Holm's "
                f"correction over {pairs} pairs of systems; take at least {resamples}."
            ]
        few: dict[int, list[str]] = {}
        for of in tested:
            if of.images < images:
                few.setdefault(of.images, []).append(of.metric)
        if not few:
            return []
        (number, under), *others = [(n, ", ".join(plain_names(few[n]))) for n in sorted(few)]
        return [
            f"{number} image{'s are' if number != 1 else ' is'} too few for a significant "
            f"difference under {'; '.join([under, *(f'{n} under {of}' for n, of in others)])} "
            f"(pairs of systems: {pairs}), and with so few the bootstrap's p-values mean nothing; "
            f"compare at least {images}."
        ]

    def headline(self, by_default: bool = True) -> Comparison | None:
        """Return the comparison under the metric that leads, or the first that was chosen.

        It is None with a baseline, of one system, and where nothing can be better.
        """
        names = leading(self.metrics) if by_default else self.metrics
        ranked = (self.metrics[name] for name in names if self.baseline is None)
        return next((of for of in ranked if of.ranked and of.pairs), None)

    def __repr__(self) -> str:
        headline = self.headline()
        matrix = [] if headline is None else [headline.matrix().render("table")]
        return "\n".join([*self._lines(), *matrix])

    def _repr_html_(self) -> str:
        headline, (title, *lines) = self.headline(), self._lines()
        if headline is not None:
            table = headline.matrix()
            return replace(table, notes=[*table.notes, *lines, title]).html()
        header = "Score [interval]" if self.baseline is None else "Score (difference [interval], p)"
        rows: list[list[Cell]] = [
            [name, system, comparison.images, text]
            for name, comparison in self.metrics.items()
            for system, text in self._texts(comparison).items()
        ]
        return Table(["Metric", "System", "Images", header], rows, [title], texts=2).html()

    def _lines(self) -> list[str]:
        baseline = "" if self.baseline is None else f"baseline={self.baseline!r}, "
        settings = f"seed={self.seed}, resamples={self.resamples}, level={self.level}"
        lines = [f"Comparisons({baseline}{settings})"]
        for name, comparison in self.metrics.items():
            images = f"{comparison.images} image{'s' * (comparison.images != 1)}"
            texts = [f"{system} {text}" for system, text in self._texts(comparison).items()]
            whole = texts if self.baseline is not None else ["; ".join(texts)]
            lines += [f"{name} ({images}): {text}" for text in whole]
        return lines

    def _texts(self, comparison: Comparison) -> dict[str, str]:
        """Return what is said of each system: its score and interval, or what it gains."""
        systems = comparison.systems
        if self.baseline is not None:
            return {
                pair.first: with_difference(
                    systems[pair.first].score,
                    *(pair.difference, pair.low, pair.high, pair.randomisation_holm),
                )
                for pair in comparison.pairs
            }
        return {
            system: f"{s.score:.4f}"
            + ("" if math.isnan(s.low) else f" [{s.low:.4f}, {s.high:.4f}]")
            + ("" if s.rank is None else f" #{s.rank}")
            for system, s in systems.items()
        }

    def to_json(self) -> dict[str, Any]:
        """Return what files hold: the attributes by name, numbers with ten significant digits."""
        content: dict[str, Any] = for_json(self)
        return content


def compare(
    scores: Scores,
    seed: int = 0,
    resamples: int | None = None,
    level: float = 0.95,
    tests: bool = True,
    lengths: bool = True,
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
    tests : bool
        Whether systems are tested; without that there are no pairs and ranks.
    lengths : bool
        Whether those tested whose lengths differ much are compared at equal length too.

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
    paired = tests and len(scores.evaluations) > 1
    p = p_values(samples, bootstrap.seed, tested, draws) if paired else {}
    at_equal = at_equal_length(scores, shared, bootstrap) if paired and lengths else {}
    metrics: dict[str, Comparison] = {}
    for column in scores.columns():
        metric = column.name
        if metric not in samples:
            continue
        sample, drawn, sizes = samples[metric], draws[metric], samples[metric].sizes.tolist()
        names, systems = list(scores.evaluations), range(len(scores.evaluations))
        # One image is drawn again and again: that is no interval.
        interval = bootstrap.interval if sample.images > 1 else _no_interval
        pairs = []
        for one, other in itertools.combinations(systems if paired else (), 2):
            of_bootstrap, of_randomisation = p[metric][:, one, other].tolist()
            size = max(sizes[one], sizes[other])
            low, high = interval(drawn[one] - drawn[other], size)
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
        enough = tested >= least_resamples and sample.images >= least_images
        has_ranks = tests and column.ranked and enough
        losers = [pair.loser for pair in comparison.pairs]
        standings = {
            names[at]: Standing(
                sample.scores[at],
                *interval(drawn[at], sizes[at]),
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


def _no_interval(*_: object) -> tuple[float, float]:
    return math.nan, math.nan


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
        pairs = [pair for pair in comparison.both_ways.values() if pair.second == baseline]
        metrics[name] = comparison.with_pairs(pairs, comparisons.alpha)
    return replace(comparisons, metrics=metrics, baseline=baseline)
