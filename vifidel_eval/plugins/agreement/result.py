"""The result of every experiment: tables for people, rows, and JSON."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ...evaluation import Floats, Integers
from ...io.digits import for_json, rounded
from ...io.image_ids import ImageId
from ...io.text_tables import Cell, Table
from ...scores.significance import Bootstrap
from ...show.layout import fitted, folded, in_brief, printed
from .judgements import Judged
from .trials import Trials

#: The columns of the tidy table: a metric; what the number is, such as ``accuracy`` or ``tau-c``;
#: the number and its 95 % interval over images and draws; how many pairs, judgements or captions it
#: is about; how many references the metric had; what people were asked, and whose answers count,
#: where they rated captions; which pairs, captions or words; the other metric of a test of two.
COLUMNS = tuple("metric statistic value low high n references rating judges subset against".split())

_WHOLE = "with --full, and in --output"
_MORE = ("--full: other coefficients, intervals, tests of every two metrics, and systems.",)


@dataclass(frozen=True)
class Agreement:
    """How well metrics agree with people on a data set."""

    data: str  # the data set
    findings: Mapping[str, list[dict[str, Any]]]  # as JSON has them; NaN is undefined
    rows: list[dict[str, Any]]  # of the tidy table, each with those `COLUMNS` that apply
    shown: list[Table]  # the same for people, without notes
    conventions: list[str]  # notes on the numbers, beside those of the trials
    trials: Trials  # the scores
    settings: Mapping[str, Any] = field(default_factory=dict)  # more entries of the JSON
    kinds: Mapping[str, str] = field(default_factory=dict)  # of pairs, in words
    # What a terminal shows first, each in the widest shape that fits; if none, all that is shown.
    first: Sequence[Sequence[Table]] = ()

    def with_findings(
        self,
        name: str,
        findings: list[dict[str, Any]],
        rows: Sequence[dict[str, Any]],
        tables: Sequence[Table],
        conventions: Sequence[str],
    ) -> Agreement:
        """Return the result with what another comparison of the same scores found."""
        return replace(
            self,
            findings={**self.findings, name: findings},
            rows=[*self.rows, *rows],
            shown=[*self.shown, *tables],
            conventions=[*self.conventions, *conventions],
        )

    def screen(self, width: int, full: bool) -> str:
        """Return what a terminal shows, in lines that fit: everything, or what decides."""
        whole = full or not self.first
        shapes = [(table,) for table in self.shown] if whole else self.first
        tables: list[Table] = []
        for *wider, narrowest in shapes:
            tables += fitted(narrowest, "table", width, "" if whole else "Ratings", wider)
        signatures = self.trials.signatures.values()
        pinned = folded(signatures, width) if full else [in_brief(signatures, _WHOLE)]
        below = [note for note in self.trials.notes() if note not in signatures]
        notes = [*(self.conventions if whole else _MORE), *below, *pinned]
        tables[-1] = replace(tables[-1], notes=[*tables[-1].notes, *notes])
        return printed(tables, "table", width)

    def tables(self) -> list[Table]:
        """Return tables for people, with the notes below the last."""
        *first, last = self.shown
        return [*first, replace(last, notes=[*last.notes, *self.notes()])]

    def notes(self) -> list[str]:
        """Return what must be said of the numbers: conventions, what is left out, signatures."""
        return [*self.conventions, *self.trials.notes()]

    def tidy(self) -> Table:
        """Return a row for each number, for programs; columns that nothing fills are left out."""
        used = [name for name in COLUMNS if any(row.get(name) is not None for row in self.rows)]
        return Table(used, [for_json([row.get(name) for name in used]) for row in self.rows])

    def to_json(self) -> dict[str, Any]:
        """Return everything as JSON can hold it; undefined numbers are None."""
        findings = {name: for_json(of_kind) for name, of_kind in self.findings.items()}
        return {"data": self.data, **self.settings, **findings} | self.trials.to_json()


class Resampled:
    """Judgements resampled by image, the same for every metric, with one of the draws each time."""

    def __init__(self, judged: Sequence[Judged], bootstrap: Bootstrap) -> None:
        rows_of: dict[ImageId, list[int]] = {}
        for row, captions in enumerate(judged):
            rows_of.setdefault(captions.image_id, []).append(row)
        self._rows = [np.array(rows, dtype=np.int64) for rows in rows_of.values()]
        self._bootstrap = bootstrap
        #: From resampled values to their percentile interval; undefined ones are left out.
        self.interval = bootstrap.interval
        self._places: dict[int, list[tuple[Integers, int]]] = {}

    def values(self, draws: int, statistic: Callable[[Integers, int], Any]) -> list[Any]:
        """Return a statistic of each resample, from the places of judgements and a draw."""
        if draws not in self._places:
            random = np.random.default_rng(self._bootstrap.seed)
            self._places[draws] = []
            for _ in range(self._bootstrap.resamples):
                images = random.integers(len(self._rows), size=len(self._rows))
                places = np.concatenate([self._rows[image] for image in images])
                self._places[draws].append((places, int(random.integers(draws))))
        return [statistic(places, draw) for places, draw in self._places[draws]]

    def of_mean(self, values: Floats) -> tuple[float, float]:
        """Return the interval of the mean of values, (draws, judgements)."""
        return self.interval(self.values(len(values), lambda at, draw: mean(values[draw, at])))


def mean(values: Floats) -> float:
    """Return the mean without NaN; NaN where nothing is left."""
    defined = values[~np.isnan(values)]
    return float(defined.sum()) / len(defined) if len(defined) else float("nan")


def row_of(
    finding: Mapping[str, Any], statistic: str, key: str, n: str, **columns: Any
) -> dict[str, Any]:
    """Return the row of the tidy table for a number of a finding, and of how many it is."""
    of_finding = {name: finding.get(name) for name in COLUMNS}
    return {**of_finding, "statistic": statistic, "value": finding[key], "n": finding[n], **columns}


def interval(low: float, high: float) -> str | None:
    """Return an interval as tables show it; None without one."""
    between = "-" if low >= 0 else " to "
    return None if math.isnan(low) else f"{low:.4f}{between}{high:.4f}"


def table_of(
    title: str, findings: Sequence[dict[str, Any]], columns: Sequence[str], texts: int = 1
) -> Table:
    """Return a row for each finding, of what it has under the columns' names."""

    def cell(finding: dict[str, Any], column: str) -> Cell:
        if column == "Interval":
            return interval(finding["low"], finding["high"])
        value: Cell = finding[column.lower().replace(" ", "_")]
        return rounded(value) if isinstance(value, float) else value

    rows = [[cell(finding, column) for column in columns] for finding in findings]
    return Table(columns, rows, texts=texts, title=title)
