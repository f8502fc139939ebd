"""The result of every experiment: what was found, as tables for people, rows and JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any

from ...io.digits import for_json
from ...io.text_tables import Table
from .draws import References
from .trials import Trials


@dataclass(frozen=True)
class Estimate:
    """One number about one metric: a row of the tidy table, whose columns are the fields.

    Attributes
    ----------
    metric : str
        Its name.
    statistic : str
        What the number is, such as ``accuracy`` or ``tau-c``.
    value : float
        The number; NaN if it is undefined.
    low, high : float, optional
        Its 95 % interval over images and draws of references.
    n : int, optional
        How many pairs, judgements or captions it is about.
    references : int or str, optional
        How many references the metric had, as `trials` says it.
    rating, judges : str, optional
        What people were asked, and whose answers count, where they rated captions.
    subset : str, optional
        Which pairs, captions or words.
    against : str, optional
        The other metric of a test of two.
    """

    metric: str
    statistic: str
    value: float
    low: float | None = None
    high: float | None = None
    n: int | None = None
    references: References | None = None
    rating: str | None = None
    judges: str | None = None
    subset: str | None = None
    against: str | None = None


@dataclass(frozen=True)
class Agreement:
    """How well metrics agree with people on a data set.

    Attributes
    ----------
    data : str
        The data set.
    findings : mapping
        Name in JSON to what was found, metric by metric: dataclasses whose `estimates` yield their
        numbers.
    shown : list of Table
        The same for people, without notes.
    conventions : list of str
        What must be said of the numbers, beside how the trials were made.
    trials : Trials
        The scores.
    settings : mapping
        What JSON has of the experiment beside.
    """

    data: str
    findings: Mapping[str, Sequence[Any]]
    shown: list[Table]
    conventions: list[str]
    trials: Trials
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
        found = [one for of_kind in self.findings.values() for one in of_kind]
        rows: list[Estimate] = [row for one in found for row in one.estimates()]
        names = [of_field.name for of_field in fields(Estimate)]
        used = [name for name in names if any(getattr(row, name) is not None for row in rows)]
        return Table(used, [for_json([getattr(row, name) for name in used]) for row in rows])

    def to_json(self) -> dict[str, Any]:
        """Return everything as JSON can hold it; undefined numbers are None."""
        found = {
            name: [for_json(asdict(one)) for one in of_kind]
            for name, of_kind in self.findings.items()
        }
        return {"data": self.data, **self.settings, **found} | self.trials.to_json()
