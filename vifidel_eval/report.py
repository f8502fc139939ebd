"""Tables of scores for terminals and papers, all from the same `Scores`."""

from __future__ import annotations

import csv
import io
import json

from tabulate import tabulate

from .harness import Scores, rounded

#: What ``--format`` accepts.
FORMATS = ("table", "markdown", "csv", "latex", "json")

_SMALLEST_READABLE = 1e-4
_TABULATE = {"table": "simple", "markdown": "github", "latex": "latex_booktabs"}


def render(scores: Scores, style: str) -> str:
    """Return scores as text.

    Parameters
    ----------
    scores : Scores
        One row a system.
    style : str
        One of `FORMATS`; ``json`` is the document of `Scores.to_json`.
    """
    if style == "json":
        return to_json(scores)
    headers, rows = _table(scores)
    if style == "csv":
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerows([headers, *(["" if x is None else x for x in row] for row in rows)])
        return text.getvalue().rstrip("\n")
    cells = [[_readable(x) for x in row] for row in rows]
    table = tabulate(
        cells, headers, _TABULATE[style], disable_numparse=True, colalign=_alignment(headers)
    )
    comment = "% " if style == "latex" else ""
    notes = [f"{comment}{s}" for s in dict.fromkeys(scores.signatures.values())]
    notes += [f"{comment}{name} not available: {why}" for name, why in scores.unavailable.items()]
    return "\n".join([table, "", *notes])


def to_json(scores: Scores) -> str:
    """Return the document that ``--output`` writes."""
    return json.dumps(scores.to_json(), allow_nan=False, ensure_ascii=False, indent=1)


def _table(scores: Scores) -> tuple[list[str], list[list[str | int | float | None]]]:
    """Return headers and a row a system; the last column only where it says something.

    The counts cover all metrics: an image counts as scored if every metric has a score for it.
    """
    import numpy as np  # loads when there are scores, not for --help

    headers = ["System", *scores.signatures, "Scored", "Undefined", "No words", "Unknown words"]
    everything = [e for of_metric in scores.evaluations.values() for e in of_metric.values()]
    unweighted = any(evaluation.unweighted for evaluation in everything)
    rows: list[list[str | int | float | None]] = []
    for name, of_metric in scores.evaluations.items():
        evaluations = list(of_metric.values())
        missing = np.any([np.isnan(evaluation.scores) for evaluation in evaluations], axis=0)
        row: list[str | int | float | None] = [name]
        row += [rounded(evaluation.score) for evaluation in evaluations]
        row += [int((~missing).sum()), int(missing.sum())]
        row += [max(evaluation.wordless for evaluation in evaluations)]
        row += [max(evaluation.tally.unknown.total() for evaluation in evaluations)]
        row += [max(e.unweighted for e in evaluations)] if unweighted else []
        rows.append(row)
    return [*headers, *(["Unweighted"] if unweighted else [])], rows


def _readable(cell: str | int | float | None) -> str:
    if isinstance(cell, float):
        return f"{cell:.4f}" if cell == 0 or cell >= _SMALLEST_READABLE else f"{cell:.1e}"
    return "-" if cell is None else str(cell)


def _alignment(headers: list[str]) -> list[str]:
    return ["left"] + ["right"] * (len(headers) - 1)
