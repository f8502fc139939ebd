"""Scores of systems as tables and as the JSON document, all from the same `Scores`."""

from __future__ import annotations

import json

from .harness import Scores, rounded
from .tables import Cell, Table


def render(scores: Scores, style: str) -> str:
    """Return scores as text.

    Parameters
    ----------
    scores : Scores
        One row a system.
    style : str
        One of `vifidel_eval.tables.FORMATS`; ``json`` is the document of `Scores.to_json`.
    """
    return to_json(scores) if style == "json" else table(scores).render(style)


def to_json(scores: Scores) -> str:
    """Return the document that ``--output`` writes."""
    return json.dumps(scores.to_json(), allow_nan=False, ensure_ascii=False, indent=1)


def table(scores: Scores) -> Table:
    """Return a row a system; the last column only where it says something.

    The counts cover all metrics: an image counts as scored if every metric has a score for it.
    """
    import numpy as np  # loads when there are scores, not for --help

    headers = ["System", *scores.signatures, "Scored", "Undefined", "No words", "Unknown words"]
    everything = [e for of_metric in scores.evaluations.values() for e in of_metric.values()]
    unweighted = any(evaluation.unweighted for evaluation in everything)
    rows: list[list[Cell]] = []
    for name, of_metric in scores.evaluations.items():
        evaluations = list(of_metric.values())
        missing = np.any([np.isnan(evaluation.scores) for evaluation in evaluations], axis=0)
        row: list[Cell] = [name]
        row += [rounded(evaluation.score) for evaluation in evaluations]
        row += [int((~missing).sum()), int(missing.sum())]
        row += [max(evaluation.wordless for evaluation in evaluations)]
        row += [max(evaluation.tally.unknown.total() for evaluation in evaluations)]
        row += [max(e.unweighted for e in evaluations)] if unweighted else []
        rows.append(row)
    notes = list(dict.fromkeys(scores.signatures.values()))
    notes += [f"{name} not available: {why}" for name, why in scores.unavailable.items()]
    return Table([*headers, *(["Unweighted"] if unweighted else [])], rows, notes)
