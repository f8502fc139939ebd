"""Forced choice: how often a metric prefers the caption that people prefer.

The experiment of Vedantam et al. (CVPR 2015), of VIFIDEL (section 4.2, Fig. 4) and, with
distracted captions, of Kilickaya et al. (EACL 2017, section 3.3).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ...io.digits import rounded
from ...io.text_tables import Cell, Table, counted
from .judgements import ALL, Choices
from .result import Agreement, Resampled, mean, row_of
from .trials import Trials

#: By convention, what a metric gets for a pair of captions with the same score.
TIES = {"half": 0.5, "wrong": 0.0, "right": 1.0}


def forced_choice(choices: Choices, trials: Trials, ties: str = "half") -> Agreement:
    """Compare scores with people's preferences; captions with the same score count by `ties`.

    Found are ``"accuracies"``: of each metric, number of ``references`` and ``kind`` of pairs the
    ``accuracy``, from 0 to 1, the mean over draws of references, with its interval; the ``pairs``
    that count, on which people have a preference and of which the metric scores both captions; and
    the share of them whose captions are ``tied``.
    """
    by_kind = list(accuracies(choices, trials, ties))
    of_all = [accuracy for accuracy in by_kind if accuracy["kind"] == ALL]
    most = max(total["pairs"] for total in of_all)
    fewer = [
        f"{total['metric']} with {total['references']} references: {most - total['pairs']} pairs "
        "fewer than others, because it cannot score their captions."
        for total in of_all
        if total["pairs"] < most
    ]
    divided = int((choices.preferred == 0).sum())
    left_out = f"; left out: {counted(divided, 'pair')} on which people were divided"
    return Agreement(
        choices.name,
        {"accuracies": by_kind},
        [row for accuracy in by_kind for row in _rows(accuracy)],
        [_table(f"{choices.name}: accuracy", by_kind, kinds_of(choices))],
        [f"Ties count as {ties}{left_out if divided else ''}.", *fewer],
        trials,
        {"ties": ties, "divided": divided},
        choices.kinds_in_words,
    )


def kinds_of(choices: Choices) -> list[str]:
    """Return the kinds of pairs, and last all together."""
    kinds = sorted(set(choices.kinds))
    return [*kinds, ALL] if len(kinds) > 1 else [ALL]


def accuracies(choices: Choices, trials: Trials, ties: str = "half") -> Iterator[dict[str, Any]]:
    """Yield what `forced_choice` finds, kind by kind for each metric and number of references."""
    kinds = np.array(choices.kinds)
    preferred = np.where(choices.preferred == 0, np.nan, choices.preferred)
    resampled = Resampled(choices.judged, trials.bootstrap)
    for metric, number, draws in trials.columns():
        agrees = np.sign(draws[:, 0] - draws[:, 1]) * preferred
        right = np.where(agrees == 0, TIES[ties], agrees > 0)
        right[:, np.isnan(agrees).any(axis=0)] = np.nan  # the same pairs in all draws
        for kind in kinds_of(choices):
            of_kind = np.where((kinds == kind) | (kind == ALL), right, np.nan)
            counts = ~np.isnan(of_kind)
            low, high = resampled.of_mean(of_kind)
            yield {
                "metric": metric,
                "references": number,
                "kind": kind,
                "accuracy": mean(of_kind),
                "low": low,
                "high": high,
                "pairs": int(counts[0].sum()),
                "tied": mean(np.where(counts, agrees == 0, np.nan)),
            }


def _rows(accuracy: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the rows of the tidy table for an accuracy."""
    yield row_of(accuracy, "accuracy", "accuracy", "pairs", subset=accuracy["kind"])
    yield row_of(accuracy, "tied", "tied", "pairs", subset=accuracy["kind"], low=None, high=None)


def _table(title: str, results: Sequence[Mapping[str, Any]], kinds: Sequence[str]) -> Table:
    """Return the accuracies in all kinds of pairs, a line for each metric."""
    lines: list[list[Cell]] = []
    for start in range(0, len(results), len(kinds)):
        of_kinds = results[start : start + len(kinds)]
        total = of_kinds[-1]
        shares = [rounded(of_kind["accuracy"]) for of_kind in of_kinds]
        interval = f"{total['low']:.4f}-{total['high']:.4f}" if total["pairs"] else None
        last = [interval, total["pairs"], rounded(total["tied"])]
        lines.append([total["metric"], total["references"], *shares, *last])
    headers = ["Metric", "References", *kinds, f"Interval of {ALL}", "Pairs", "Tied"]
    return Table(headers, lines, title=title)
