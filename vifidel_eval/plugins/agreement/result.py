"""The result of every experiment: what was found, as tables for people, rows and JSON."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ...evaluation import Floats, Integers
from ...io.digits import for_json, rounded
from ...io.text_tables import Cell, Table
from ...scores.significance import Bootstrap
from . import trials as trials_of
from .judgements import Judged
from .trials import Trials

#: The columns of the tidy table: a metric; what the number is, such as ``accuracy`` or ``tau-c``;
#: the number and its 95 % interval over images and draws; how many pairs, judgements or captions it
#: is about; how many references the metric had; what people were asked, and whose answers count,
#: where they rated captions; which pairs, captions or words; the other metric of a test of two.
COLUMNS = tuple("metric statistic value low high n references rating judges subset against".split())


@dataclass(frozen=True)
class Agreement:
    """How well metrics agree with people on a data set."""

    #: The data set.
    data: str
    #: What was found, metric by metric, as JSON has it; NaN is undefined.
    findings: Mapping[str, list[dict[str, Any]]]
    #: A row of the tidy table for each number: those of `COLUMNS` that say something of it.
    rows: list[dict[str, Any]]
    #: The same for people, without notes.
    shown: list[Table]
    #: What must be said of the numbers, beside how the trials were made.
    conventions: list[str]
    #: The scores.
    trials: Trials
    #: What JSON has of the experiment beside.
    settings: Mapping[str, Any] = field(default_factory=dict)

    def tables(self) -> list[Table]:
        """Return tables for people, with the notes below the last."""
        *others, last = self.shown
        return [*others, replace(last, notes=[*last.notes, *self.notes()])]

    def notes(self) -> list[str]:
        """Return what must be said of the numbers: conventions, what is left out, signatures."""
        return [*self.conventions, *self.trials.notes()]

    def tidy(self) -> Table:
        """Return a row for each number, for programs; columns that nothing fills are left out."""
        used = [name for name in COLUMNS if any(row.get(name) is not None for row in self.rows)]
        return Table(used, [for_json([row.get(name) for name in used]) for row in self.rows])

    def to_json(self) -> dict[str, Any]:
        """Return everything as JSON can hold it; undefined numbers are None."""
        found = {name: for_json(of_kind) for name, of_kind in self.findings.items()}
        return {"data": self.data, **self.settings, **found} | self.trials.to_json()


class Resampled:
    """Judgements resampled by image, each time with one of the draws of references.

    An image brings all that was judged of it. The resamples are the same for every metric, so that
    metrics are compared on the same ones; an interval says how different an experiment with other
    images of the same kind and one other draw of references may come out.
    """

    def __init__(self, judged: Sequence[Judged], seed: int) -> None:
        self._images = [one.image_id for one in judged]
        self._bootstrap = Bootstrap(seed, trials_of.RESAMPLES, trials_of.LEVEL)
        self._places: dict[int, list[tuple[Integers, int]]] = {}

    def values(self, draws: int, statistic: Callable[[Integers, int], Any]) -> list[Any]:
        """Return a statistic of each resample, from the places of judgements and a draw."""
        if draws not in self._places:
            self._places[draws] = list(self._bootstrap.places(self._images, draws))
        return [statistic(places, draw) for places, draw in self._places[draws]]

    def interval(self, values: Sequence[float]) -> tuple[float, float]:
        """Return the percentile interval of resampled values; undefined ones are left out."""
        return self._bootstrap.interval(values)

    def of_mean(self, values: Floats) -> tuple[float, float]:
        """Return the interval of the mean of values, (draws, judgements)."""
        return self.interval(self.values(len(values), lambda at, draw: mean(values[draw, at])))


def mean(values: Floats) -> float:
    """Return the mean without NaN; NaN where nothing is left."""
    defined = values[~np.isnan(values)]
    return float(defined.sum()) / len(defined) if len(defined) else float("nan")


def table_of(
    title: str, findings: Sequence[dict[str, Any]], columns: Sequence[str], texts: int = 1
) -> Table:
    """Return a row for each finding, of what it has under the columns' names."""

    def cell(finding: dict[str, Any], column: str) -> Cell:
        if column == "Interval":
            return f"{finding['low']:.4f}-{finding['high']:.4f}"
        value: Cell = finding[column.lower().replace(" ", "_")]
        return rounded(value) if isinstance(value, float) else value

    rows = [[cell(finding, column) for column in columns] for finding in findings]
    return Table(columns, rows, texts=texts, title=title)
