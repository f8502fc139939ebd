"""The rows of a table as they are scored: texts and labels, and what is wrong with each."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..evaluation import Integers
from ..rows import MOST_CHARACTERS, Rows
from .arrow import pyarrow
from .columns import Columns, lists, texts
from .labels import RowLabels, no_labels, read_row_labels
from .statuses import Status

Statuses = NDArray[np.uint8]


@dataclass(frozen=True, eq=False)
class TableRows:
    """Some rows of a table. What cannot be read is left out, and a status says so.

    Attributes
    ----------
    captions : pyarrow.Array
        The candidates; empty where there is none.
    references : pyarrow.Array
        The references of all rows, one after the other.
    row_of_reference : (number of references,) int64
        The row of each, not descending.
    labels : RowLabels
        The object labels.
    of_captions, of_references, of_labels : (rows,) uint8
        What is wrong with each: of `Status`, `Status.OK` where nothing is.
    """

    captions: Any
    references: Any
    row_of_reference: Integers
    labels: RowLabels
    of_captions: Statuses
    of_references: Statuses
    of_labels: Statuses

    def __len__(self) -> int:
        return len(self.captions)

    @property
    def size(self) -> int:
        """About how many bytes the texts and labels take."""
        return int(self.captions.nbytes + self.references.nbytes) + self.labels.labels.nbytes

    @property
    def referenced(self) -> NDArray[np.bool_]:
        """Whether each row has a reference."""
        return np.bincount(self.row_of_reference, minlength=len(self)) > 0

    def too_long(
        self,
        captions: NDArray[np.bool_],
        references: NDArray[np.bool_],
        labels: NDArray[np.bool_],
    ) -> TableRows:
        """Return the same without what is too long, given for each row."""
        left = ~references[self.row_of_reference]
        return replace(
            self,
            captions=_emptied(self.captions, captions),
            references=self.references.filter(pyarrow().array(left)),
            row_of_reference=self.row_of_reference[left],
            labels=self.labels.without(labels),
            of_captions=_worse(self.of_captions, captions, Status.TOO_LONG),
            of_references=_worse(self.of_references, references, Status.TOO_LONG),
            of_labels=_worse(self.of_labels, labels, Status.TOO_LONG),
        )

    def to_rows(self) -> Rows:
        """Return the rows for a metric that reads texts rather than bags of words."""
        ends = np.cumsum(np.bincount(self.row_of_reference, minlength=len(self))).tolist()
        listed = self.references.to_pylist()
        references = [listed[start:end] for start, end in zip([0, *ends], ends, strict=False)]
        return Rows(self.captions.to_pylist(), references, None, self.labels.mappings())


def read_rows(columns: Columns, threshold: float, max_labels: int) -> TableRows:
    """Read the columns of some rows.

    Parameters
    ----------
    columns : Columns
        Arrays, of types that were checked.
    threshold : float
        The lowest score of a label that counts.
    max_labels : int
        How many different labels a row may have.
    """
    rows = len(columns)
    captions, of_captions = _captions(columns.captions)
    references = pyarrow().array([], pyarrow().string())
    row_of_reference = np.zeros(0, dtype=np.int64)
    of_references = np.zeros(rows, dtype=np.uint8)
    if columns.references is not None:
        references, row_of_reference, of_references = _references(columns.references)
    labels = no_labels(rows)
    if columns.labels is not None:
        labels = read_row_labels(columns.labels, columns.label_scores, threshold)
    of_labels = np.where(labels.bad, np.uint8(Status.BAD_LABELS), np.uint8(Status.OK))
    long = labels.more_than(max_labels)
    if long.any():
        labels = labels.without(long)
        of_labels = _worse(of_labels, long, Status.TOO_LONG)
    return TableRows(
        captions, references, row_of_reference, labels, of_captions, of_references, of_labels
    )


def _captions(column: Any) -> tuple[Any, Statuses]:
    pa = pyarrow()
    found = texts(column)
    statuses = np.zeros(len(found), dtype=np.uint8)
    if found.null_count:
        statuses[found.is_null().to_numpy(zero_copy_only=False)] = Status.BAD_CAPTION
        found = pa.compute.fill_null(found, "")
    long = _long(found)
    if long.any():
        statuses[long] = Status.TOO_LONG
        found = _emptied(found, long)
    return found, statuses


def _references(column: Any) -> tuple[Any, Integers, Statuses]:
    """Return the references of all rows, the row of each, and what is wrong with each row."""
    pa = pyarrow()
    statuses = np.zeros(len(column), dtype=np.uint8)
    sizes, values = lists(column)
    found = texts(values)
    owners = np.repeat(np.arange(len(column)), sizes)
    long = _long(found)
    statuses[owners[long]] = Status.TOO_LONG
    if found.null_count:
        missing = found.is_null().to_numpy(zero_copy_only=False)
        statuses[owners[missing]] = Status.BAD_REFERENCES
    if statuses.any():
        left = statuses[owners] == Status.OK
        found, owners = found.filter(pa.array(left)), owners[left]
    return found, owners, statuses


def _long(column: Any) -> NDArray[np.bool_]:
    """Return which texts have more characters than are read."""
    lengths = pyarrow().compute.utf8_length(column).fill_null(0)
    long: NDArray[np.bool_] = lengths.to_numpy(zero_copy_only=False) > MOST_CHARACTERS
    return long


def _emptied(column: Any, rows: NDArray[np.bool_]) -> Any:
    """Return texts of which some are empty now."""
    pa = pyarrow()
    if not rows.any():
        return column
    return pa.compute.if_else(pa.array(rows), pa.scalar("", column.type), column)


def _worse(statuses: Statuses, rows: NDArray[np.bool_], status: Status) -> Statuses:
    return np.where(rows, np.maximum(statuses, np.uint8(status)), statuses)
