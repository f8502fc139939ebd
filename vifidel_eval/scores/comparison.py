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
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..errors import ImageIdError, VifidelError, warn
from ..evaluation import Floats
from ..io.digits import for_json
from ..io.image_ids import ImageId, in_order
from ..io.text_tables import Cell, Table, counted, p_value, with_difference
from .scores import PEOPLE, Scores, leading, plain_names, unknown
from .significance import (
    Bootstrap,
    EqualLength,
    Sample,
    at_equal_length,
    fewest,
    images_needed,
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

    def follow_from(
        self, seed: int, resamples: int | None, level: float, baseline: str | None
    ) -> bool:
        """Return whether `compare` gives these, or more pairs of them, for such arguments."""
        is_number = resamples is None or {self.resamples, self.interval_resamples} == {resamples}
        same = (self.seed, self.level) == (seed, level)
        return same and is_number and self.baseline in (None, baseline)

    def p_of(self, pair: Pair) -> str:
        """Return p after Holm's correction: ``= .031``, ``< .001``; ``≤ .003`` at its floor.

        No resample was as extreme there, so the true p is lower still.
        """
        p = p_value(pair.randomisation_holm)
        if p.startswith("<"):
            return f"< {p[1:]}"
        is_floor = pair.randomisation_p * (self.resamples + 1) < 1.5
        return f"{'≤' if is_floor else '='} {p}"

    @property
    def has_equal_length(self) -> bool:
        """Whether some systems' lengths differ so much that tables compare at equal length."""
        pairs = (pair for comparison in self.metrics.values() for pair in comparison.pairs)
        return any(pair.equal_length is not None for pair in pairs)

    def too_few(self, metric: str | None = None) -> list[str]:
        """Return why no difference can be significant, and there are no ranks, in sentences.

        With a metric, they are about this one alone.
        """
        tested = [
            comparison
            for comparison in self.metrics.values()
            if comparison.pairs and metric in (None, comparison.metric)
        ]
        pairs = max((len(comparison.pairs) for comparison in tested), default=0)
        resamples, images = fewest(pairs, self.alpha)
        if self.resamples < resamples:
            return [
                f"with {counted(self.resamples, 'resample')} no difference can be significant "
                f"after Holm's correction over {counted(pairs, 'pair')} of systems; take at least "
                f"{resamples}."
            ]
        metrics_of: dict[int, list[str]] = {}  # by number of images
        for comparison in tested:
            if comparison.images < images:
                metrics_of.setdefault(comparison.images, []).append(comparison.metric)
        if not metrics_of:
            return []
        names = {number: ", ".join(plain_names(metrics_of[number])) for number in metrics_of}
        number, *larger = sorted(names)
        under = [names[number], *(f"{images} under {names[images]}" for images in larger)]
        return [
            f"{number} image{'s are' if number != 1 else ' is'} too few for a significant "
            f"difference under {'; '.join(under)} "
            f"(pairs of systems: {pairs}), and with so few the bootstrap's p-values mean nothing; "
            f"compare at least {images}."
        ]

    def images_needed(self, metric: str, pair: Pair) -> int | None:
        """Return about how many images would settle a pair without a winner; None of others."""
        comparison = self.metrics[metric]
        if pair.winner is not None or not comparison.ranked or self.too_few(metric):
            return None
        ends = pair.low, pair.high
        number = len(comparison.pairs)
        return images_needed(pair.difference, ends, comparison.images, self.level, number)

    def headline(self, by_default: bool = True) -> Comparison | None:
        """Return the comparison under the metric that leads, or the first that was chosen.

        It is None with a baseline, of one system, and where nothing can be better.
        """
        names = leading(self.metrics) if by_default else self.metrics
        if self.baseline is not None:
            return None
        of_names = map(self.metrics.__getitem__, names)
        return next((of_name for of_name in of_names if of_name.ranked and of_name.pairs), None)

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
            images = counted(comparison.images, "image")
            texts = [f"{system} {text}" for system, text in self._texts(comparison).items()]
            if self.baseline is None:
                texts = ["; ".join(texts)]
            lines += [f"{name} ({images}): {text}" for text in texts]
        return lines

    def _texts(self, comparison: Comparison) -> dict[str, str]:
        """Return the systems' scores and intervals or, with a baseline, what they gain."""
        systems = comparison.systems
        if self.baseline is not None:
            return {
                pair.first: with_difference(
                    systems[pair.first].score, pair.difference, pair.low, pair.high, self.p_of(pair)
                )
                for pair in comparison.pairs
            }
        return {
            name: f"{standing.score:.4f}"
            + ("" if math.isnan(standing.low) else f" [{standing.low:.4f}, {standing.high:.4f}]")
            + ("" if standing.rank is None else f" #{standing.rank}")
            for name, standing in systems.items()
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
    by_bootstrap: bool = True,
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
    by_bootstrap : bool
        Whether the bootstrap tests them too; else its p-values are NaN. Nothing else follows from
        these, and they take most of the time.

    Raises an ImageIdError if the systems share no image, and a VifidelError if there is no system,
    or an argument has the wrong type or is out of range. Warns if resamples or images are too few
    for a significant difference: there are no ranks then.
    """
    bootstrap = Bootstrap(seed, _RESAMPLES if resamples is None else resamples, level)
    if not scores.evaluations:
        raise VifidelError("there is no system to compare; score one first.")
    systems, tested = list(scores.evaluations), bootstrap.resamples
    if resamples is None:
        of_pairs = _MORE * math.comb(len(systems), 2) / bootstrap.alpha
        tested = max(_RESAMPLES, round(of_pairs))
    images = _shared_images(scores)
    samples = _samples(scores, images)
    draws = bootstrap.scores(samples)
    paired = tests and len(systems) > 1
    p = p_values(samples, seed, tested, draws, by_bootstrap) if paired else {}
    equal_length = at_equal_length(scores, images, bootstrap) if paired and lengths else {}
    metrics = {}
    for column in scores.columns():
        metric = column.name
        if metric not in samples:
            continue
        sample, drawn = samples[metric], draws[metric]
        comparison = Comparison(
            metric=metric,
            images=sample.images,
            lower_is_better=column.lower_is_better,
            ranked=column.ranked,
            own_score=sample.own_score,
            systems=_standings(systems, sample, drawn, bootstrap),
            pairs=(),
        )
        if paired:
            pairs = _pairs(
                systems, sample, drawn, bootstrap, p[metric], equal_length.get(metric, {})
            )
            comparison = comparison.with_pairs(pairs, bootstrap.alpha)
        fewest_resamples, fewest_images = fewest(len(comparison.pairs), bootstrap.alpha)
        if tests and tested >= fewest_resamples and sample.images >= fewest_images:
            comparison = comparison.with_ranks(PEOPLE if scores.with_people else None)
        metrics[metric] = comparison
    comparisons = Comparisons(
        seed=int(seed),  # Python's own numbers, for JSON
        resamples=int(tested),
        interval_resamples=int(bootstrap.resamples),
        level=float(level),
        left_out=tuple(metric for metric in scores.signatures if metric not in metrics),
        metrics=metrics,
    )
    for reason in comparisons.too_few():
        warn(reason)
    return comparisons


def _shared_images(scores: Scores) -> list[ImageId]:
    """Return the images that every system has, in order; an ImageIdError if there are none."""
    images = [next(iter(of_metric.values())).ids for of_metric in scores.evaluations.values()]
    shared = sorted(set(images[0]).intersection(*images[1:]), key=in_order)
    if not shared:
        raise ImageIdError(
            f"{', '.join(scores.evaluations)} share no image, so there is nothing to compare; "
            "score them on the same images."
        )
    return shared


def _samples(scores: Scores, images: Sequence[ImageId]) -> dict[str, Sample]:
    """Return what is resampled, by metric; nothing of one without scores from every system."""
    samples = {}
    for metric in scores.signatures:
        evaluations = {name: of_metric[metric] for name, of_metric in scores.evaluations.items()}
        sample = take_sample(evaluations, images)
        if sample is not None:
            samples[metric] = sample
    return samples


def _interval(
    bootstrap: Bootstrap, sample: Sample, drawn: Floats, size: float
) -> tuple[float, float]:
    """Return the interval of what was drawn; one image, drawn again and again, has none."""
    return bootstrap.interval(drawn, size) if sample.images > 1 else (math.nan, math.nan)


def _standings(
    systems: Sequence[str], sample: Sample, drawn: Floats, bootstrap: Bootstrap
) -> dict[str, Standing]:
    """Return the systems' scores and intervals, without ranks; `drawn` is (systems, resamples)."""
    sizes = sample.sizes.tolist()
    standings = {}
    for i, system in enumerate(systems):
        low, high = _interval(bootstrap, sample, drawn[i], sizes[i])
        standings[system] = Standing(sample.scores[i], low, high, rank=None)
    return standings


def _pairs(
    systems: Sequence[str],
    sample: Sample,
    drawn: Floats,
    bootstrap: Bootstrap,
    p: Floats,
    equal_length: Mapping[tuple[str, str], EqualLength],
) -> list[Pair]:
    """Return every two systems, before Holm's correction; `p` is (tests, systems, systems)."""
    sizes = sample.sizes.tolist()
    pairs = []
    for i, j in itertools.combinations(range(len(systems)), 2):
        first, second = systems[i], systems[j]
        low, high = _interval(bootstrap, sample, drawn[i] - drawn[j], max(sizes[i], sizes[j]))
        bootstrap_p, randomisation_p = p[:, i, j].tolist()
        pairs.append(
            Pair(
                first=first,
                second=second,
                difference=sample.scores[i] - sample.scores[j],
                low=low,
                high=high,
                bootstrap_p=bootstrap_p,
                randomisation_p=randomisation_p,
                bootstrap_holm=bootstrap_p,
                randomisation_holm=randomisation_p,
                winner=None,
                equal_length=equal_length.get((first, second)),
            )
        )
    return pairs


def against(comparisons: Comparisons, baseline: str) -> Comparisons:
    """Return how every other system differs from a baseline, of every two systems' comparison.

    The pairs are those in which the baseline is the second system; a difference above 0 says that
    the other one has more. Resamples, and ranks among all systems, stay as they are. Holm's
    correction covers the pairs that remain, so that p-values are lower than among all.

    Raises a VifidelError if there is no such system or no other one, or the comparison has another
    baseline.
    """
    some_metric = next(iter(comparisons.metrics.values()), None)
    systems = [] if some_metric is None else list(some_metric.systems)
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
