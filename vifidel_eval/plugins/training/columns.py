"""Columns for training loops: those whose scores depend on their row alone."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from functools import lru_cache

from ...errors import VifidelError
from ...evaluation import Column
from ...io.arguments import named_if_wrong
from ...scorers import Scorer
from ...scorers.record import Metric, Settings
from ...scorers.registry import METRICS


@dataclass(frozen=True)
class ScoredColumn:
    """A column, and the scorer that computes it from rows.

    Attributes
    ----------
    metric : Metric
        The metric's record.
    column : Column
        Its column.
    scorer : Scorer
        Without objects of its own: they come with the rows.
    """

    metric: Metric
    column: Column
    scorer: Scorer


def row_columns() -> dict[str, Metric]:
    """Return the columns whose scores depend on their row alone, with the metric of each.

    CIDEr's document frequencies, for one, depend on all captions of a run, so that its scores of a
    batch are not those of the run.
    """
    return {
        column.name: metric
        for metric in METRICS.values()
        if metric.tables
        for column in metric.columns
        if column.ranked
    }


@named_if_wrong
@lru_cache(maxsize=32)
def column_scorer(name: str, references: bool) -> ScoredColumn:
    """Return what computes a column from rows; the same scorer for all who ask alike.

    Parameters
    ----------
    name : str
        The column, such as ``"VIFIDEL-F"``.
    references : bool
        Whether the rows come with references.

    Raises
    ------
    VifidelError
        If there is no such column, or it needs references and there are none.
    """
    metrics = row_columns()
    if name not in metrics:
        close = difflib.get_close_matches(str(name).upper(), metrics, n=1)
        meant = f" Did you mean {close[0]}?" if close else ""
        raise VifidelError(
            f"{name!r:.60} is no column that can be scored row by row.{meant} These can: "
            f"{', '.join(metrics)}."
        )
    metric = metrics[name]
    if metric.references and not references:
        raise VifidelError(f"{name} compares captions with references; give references too.")
    column = next(column for column in metric.columns if column.name == name)
    settings = Settings(references=references, weighted=references)
    return ScoredColumn(metric, column, metric.make(settings))
