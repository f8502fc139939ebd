"""Forced choice: how often a metric prefers the caption that people prefer.

The experiment of Vedantam et al. (CVPR 2015), of VIFIDEL (section 4.2, Fig. 4) and, with
distracted captions, of Kilickaya et al. (EACL 2017, section 3.3).
"""

from __future__ import annotations

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
    kinds = np.array(choices.kinds)
    names = sorted(set(choices.kinds))
    masks = {kind: kinds == kind for kind in names if len(names) > 1}
    masks[ALL] = np.ones(len(kinds), dtype=bool)
    preferred = np.where(choices.preferred == 0, np.nan, choices.preferred)
    resampled = Resampled(choices.judged, trials.bootstrap)
    accuracies: list[dict[str, Any]] = []
    rows: list[dict[str, Any]] = []
    lines: list[list[Cell]] = []
    for metric, number, draws in trials.columns():
        agrees = np.sign(draws[:, 0] - draws[:, 1]) * preferred
        right = np.where(agrees == 0, TIES[ties], agrees > 0)
        right[:, np.isnan(agrees).any(axis=0)] = np.nan  # the same pairs in all draws
        for kind, mask in masks.items():
            of_kind = np.where(mask, right, np.nan)
            counts = ~np.isnan(of_kind)
            low, high = resampled.of_mean(of_kind)
            found = {
                "metric": metric,
                "references": number,
                "kind": kind,
                "accuracy": mean(of_kind),
                "low": low,
                "high": high,
                "pairs": int(counts[0].sum()),
                "tied": mean(np.where(counts, agrees == 0, np.nan)),
            }
            accuracies.append(found)
            rows.append(row_of(found, "accuracy", "accuracy", "pairs", subset=kind))
            rows.append(row_of(found, "tied", "tied", "pairs", subset=kind, low=None, high=None))
        total = accuracies[-1]  # of all kinds together
        shares = [rounded(of_kind["accuracy"]) for of_kind in accuracies[-len(masks) :]]
        interval = f"{total['low']:.4f}-{total['high']:.4f}" if total["pairs"] else None
        last = [interval, total["pairs"], rounded(total["tied"])]
        lines.append([metric, number, *shares, *last])
    of_all = [accuracy for accuracy in accuracies if accuracy["kind"] == ALL]
    most = max(total["pairs"] for total in of_all)
    fewer = [
        f"{total['metric']} with {total['references']} references: {most - total['pairs']} pairs "
        "fewer than others, because it cannot score their captions."
        for total in of_all
        if total["pairs"] < most
    ]
    headers = ["Metric", "References", *masks, f"Interval of {ALL}", "Pairs", "Tied"]
    divided = int((choices.preferred == 0).sum())
    left_out = f"; left out: {counted(divided, 'pair')} on which people were divided"
    return Agreement(
        choices.name,
        {"accuracies": accuracies},
        rows,
        [Table(headers, lines, title=f"{choices.name}: accuracy")],
        [f"Ties count as {ties}{left_out if divided else ''}.", *fewer],
        trials,
        {"ties": ties, "divided": divided},
        choices.kinds_in_words,
    )
