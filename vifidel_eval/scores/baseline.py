"""Comparisons with one system, the baseline, taken from those of every two systems."""

from __future__ import annotations

from dataclasses import replace

from ..errors import VifidelError
from .comparison import Comparisons, Pair, corrected
from .names import unknown
from .significance import EqualLength


def against(comparisons: Comparisons, baseline: str) -> Comparisons:
    """Return how every other system differs from a baseline.

    The resamples are those of the comparison of every two systems. Holm's correction covers the
    pairs that remain, one per other system and metric, so that p-values are lower than among all.

    Parameters
    ----------
    comparisons : Comparisons
        Of every two systems, or already with this baseline.
    baseline : str
        Name of a system.

    Returns
    -------
    Comparisons
        With the pairs in which the baseline is the second system; a difference above 0 says that
        the other one has more. Ranks are those among all systems.

    Raises
    ------
    VifidelError
        If there is no such system or no other one, or the comparison has another baseline.
    """
    if not comparisons.metrics:  # no image has a score from every system
        return replace(comparisons, baseline=baseline)
    systems = list(next(iter(comparisons.metrics.values())).systems)
    if baseline not in systems:
        raise unknown("system", baseline, systems)
    if len(systems) == 1:
        raise VifidelError(
            f"{baseline!r} is the only system, and there is nothing to compare it with: score "
            "another one with it."
        )
    if comparisons.baseline not in (None, baseline):
        raise VifidelError(
            f"the comparison is with {comparisons.baseline!r} alone: compare again for the "
            f"baseline {baseline!r}."
        )
    metrics = {}
    for name, of_metric in comparisons.metrics.items():
        pairs = [
            pair if pair.second == baseline else _turned(pair)
            for pair in of_metric.pairs
            if baseline in (pair.first, pair.second)
        ]
        lower = of_metric.lower_is_better if of_metric.ranked else None
        metrics[name] = replace(of_metric, pairs=corrected(pairs, comparisons.level, lower))
    return replace(comparisons, metrics=metrics, baseline=baseline)


def _turned(pair: Pair) -> Pair:
    """Return a pair with its systems exchanged: two-sided tests say the same of both."""
    remains = None if pair.equal_length is None else EqualLength(*_negative(pair.equal_length))
    p_values = pair.bootstrap_p, pair.randomisation_p
    return Pair(pair.second, pair.first, *_negative(pair), *p_values, equal_length=remains)


def _negative(of: Pair | EqualLength) -> tuple[float, float, float]:
    """Return a difference and its interval, of the other sign and without -0.0."""
    return 0.0 - of.difference, 0.0 - of.high, 0.0 - of.low
