"""Tables of scores for terminals and papers, all from the same `Scores`."""

from __future__ import annotations

import csv
import io
import json
import math

from tabulate import tabulate

from .harness import Scores

#: What ``--format`` accepts.
FORMATS = ("table", "markdown", "csv", "latex", "json")

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
        writer.writerows([headers, *([_or_empty(x, "") for x in row] for row in rows)])
        return text.getvalue().rstrip("\n")
    cells = [[_or_empty(x, "-", "{:.4f}") for x in row] for row in rows]
    table = tabulate(
        cells, headers, _TABULATE[style], disable_numparse=True, colalign=_alignment(headers)
    )
    comment = "% " if style == "latex" else ""
    notes = [f"{comment}{signature}" for signature in scores.signatures.values()]
    return "\n".join([table, "", *notes])


def to_json(scores: Scores) -> str:
    """Return the document that ``--output`` writes."""
    return json.dumps(scores.to_json(), allow_nan=False, ensure_ascii=False, indent=1)


def _table(scores: Scores) -> tuple[list[str], list[list[str | int | float]]]:
    headers = ["System", *scores.signatures, "Scored", "Undefined", "No words", "Unknown words"]
    rows: list[list[str | int | float]] = []
    for name, of_metric in scores.evaluations.items():
        first = next(iter(of_metric.values()))
        unknown = first.tally.unknown.total()
        share = f" ({unknown / first.tally.words:.1%})" if unknown else ""
        rows.append(
            [
                name,
                *(evaluation.score for evaluation in of_metric.values()),
                len(first.ids) - first.undefined,
                first.undefined,
                first.wordless,
                f"{unknown}{share}",
            ]
        )
    return headers, rows


def _or_empty(cell: str | int | float, empty: str, number: str = "{}") -> str:
    if isinstance(cell, float):
        return empty if math.isnan(cell) else number.format(cell)
    return str(cell)


def _alignment(headers: list[str]) -> list[str]:
    return ["left"] + ["right"] * (len(headers) - 1)
