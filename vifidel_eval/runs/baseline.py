"""Comparisons with one system, the baseline, taken from those of every two systems."""

from __future__ import annotations

from dataclasses import replace

from ..errors import VifidelError
from .comparison import Comparison, Comparisons, Pair, corrected
from .equal_length import EqualLength
from .names import unknown
from .significance import Tested


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
    metrics = {
        name: replace(of_metric, pairs=_pairs(of_metric, baseline, comparisons.level))
        for name, of_metric in comparisons.metrics.items()
    }
    return replace(comparisons, metrics=metrics, baseline=baseline)


def _pairs(comparison: Comparison, baseline: str, level: float) -> tuple[Pair, ...]:
    others = [pair for pair in comparison.pairs if baseline in (pair.first, pair.second)]
    turned = [pair if pair.second == baseline else _turned(pair) for pair in others]
    return corrected(
        {
            (p.first, p.second): Tested(
                p.difference, p.low, p.high, p.bootstrap_p, p.randomisation_p
            )
            for p in turned
        },
        {(p.first, p.second): p.equal_length for p in turned},
        level,
        comparison.lower_is_better if comparison.ranked else None,
    )


def _turned(pair: Pair) -> Pair:
    """Return a pair with its systems exchanged: two-sided tests say the same of both."""
    of_equal = pair.equal_length
    return replace(
        pair,
        first=pair.second,
        second=pair.first,
        difference=_less(pair.difference),
        low=_less(pair.high),
        high=_less(pair.low),
        equal_length=None
        if of_equal is None
        else EqualLength(_less(of_equal.difference), _less(of_equal.high), _less(of_equal.low)),
    )


def _less(number: float) -> float:
    return 0.0 - number  # no -0.0
