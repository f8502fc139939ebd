"""Forced choice: how often a metric prefers the caption that people prefer.

The experiment of Vedantam et al. (CVPR 2015), of VIFIDEL (section 4.2, Fig. 4) and, with
distracted captions, of Kilickaya et al. (EACL 2017, section 3.3).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from ...evaluation import Floats, Integers
from ...io.digits import rounded
from ...io.text_tables import Cell, Table
from .draws import References
from .judgements import ALL, Choices
from .resampling import interval, resampled
from .result import Agreement, Estimate
from .trials import Trials

#: What a metric gets for a pair whose captions it scores alike, by convention.
TIES = {"half": 0.5, "wrong": 0.0, "right": 1.0}


@dataclass(frozen=True)
class Accuracy:
    """How often a metric agrees with people on pairs of a kind.

    Attributes
    ----------
    metric, kind : str
        Their names.
    references : int or str
        How many references the metric had, as `trials` says it.
    accuracy : float
        From 0 to 1, the mean over draws of references.
    low, high : float
        95 % interval over images and draws.
    pairs : int
        Pairs that count: people have a preference, and the metric scores both captions.
    tied : float
        Share of the pairs whose captions the metric scores alike.
    """

    metric: str
    references: References
    kind: str
    accuracy: float
    low: float
    high: float
    pairs: int
    tied: float

    def estimates(self) -> Iterator[Estimate]:
        """Yield the accuracy, and the share of ties."""
        of_kind: Any = {"n": self.pairs, "references": self.references, "subset": self.kind}
        yield Estimate(self.metric, "accuracy", self.accuracy, self.low, self.high, **of_kind)
        yield Estimate(self.metric, "tied", self.tied, **of_kind)


def forced_choice(choices: Choices, trials: Trials, ties: str = "half") -> Agreement:
    """Compare scores with people's preferences.

    Parameters
    ----------
    choices : Choices
        The pairs.
    trials : Trials
        Scores of their captions.
    ties : str
        What a pair counts whose captions a metric scores alike: one of `TIES`.
    """
    kinds = np.array(choices.kinds)
    names = sorted(set(choices.kinds))
    masks = {kind: kinds == kind for kind in names if len(names) > 1}
    masks[ALL] = np.ones(len(kinds), dtype=bool)

    @lru_cache(maxsize=2)  # the same resamples for every metric
    def resamples(draws: int) -> list[tuple[Integers, int]]:
        return list(resampled(choices.judged, draws, trials.seed))

    accuracies = []
    for metric in trials.signatures:
        for number in trials.numbers():
            draws = trials.scores(metric, number)
            if not draws:
                continue
            agrees = np.array([np.sign(first - second) for first, second in draws])
            agrees = agrees * np.where(choices.preferred == 0, np.nan, choices.preferred)
            right = np.where(agrees == 0, TIES[ties], agrees > 0)
            right[:, np.isnan(agrees).any(axis=0)] = np.nan  # the same pairs in all draws
            for kind, mask in masks.items():
                of_kind = np.where(mask, right, np.nan)
                low, high = interval(
                    [_mean(of_kind[draw, rows]) for rows, draw in resamples(len(draws))]
                )
                counts = ~np.isnan(of_kind)
                accuracies.append(
                    Accuracy(
                        metric,
                        number,
                        kind,
                        _mean(of_kind),
                        low,
                        high,
                        int(counts[0].sum()),
                        _mean(np.where(counts, agrees == 0, np.nan)),
                    )
                )
    divided = int((choices.preferred == 0).sum())
    left_out = f"; {divided} pairs on which people were divided are left out"
    convention = f"ties count as {ties}{left_out if divided else ''}"
    return Agreement(
        choices.name,
        {"accuracies": accuracies},
        [_table(choices.name, accuracies, [*masks])],
        [convention, *_fewer(accuracies)],
        trials,
        {"ties": ties, "divided": divided},
    )


def _table(name: str, accuracies: Sequence[Accuracy], kinds: Sequence[str]) -> Table:
    """Return a row for each metric and number of references, a column for each kind of pairs."""
    rows: list[list[Cell]] = []
    for at in range(0, len(accuracies), len(kinds)):
        of_row = accuracies[at : at + len(kinds)]
        total = of_row[-1]
        row: list[Cell] = [total.metric, total.references]
        row += [rounded(accuracy.accuracy) for accuracy in of_row]
        row += [f"{total.low:.4f}-{total.high:.4f}" if total.pairs else None]
        row += [total.pairs, rounded(total.tied)]
        rows.append(row)
    headers = ["Metric", "References", *kinds, f"Interval of {ALL}", "Pairs", "Tied"]
    return Table(headers, rows, title=f"{name}: accuracy")


def _fewer(accuracies: Sequence[Accuracy]) -> list[str]:
    """Return which metrics cannot score some captions."""
    of_all = [accuracy for accuracy in accuracies if accuracy.kind == ALL]
    most = max(accuracy.pairs for accuracy in of_all)
    return [
        f"{a.metric} with {a.references} references: {most - a.pairs} pairs fewer than others, "
        "whose captions it cannot score"
        for a in of_all
        if a.pairs < most
    ]


def _mean(values: Floats) -> float:
    """Return the mean without NaN; the values are halves, so that their sum is exact."""
    counts = ~np.isnan(values)
    number = int(counts.sum())
    return float(values[counts].sum()) / number if number else float("nan")
