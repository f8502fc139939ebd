"""The rows of a table as they are scored: texts and labels, and what is wrong with each."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..evaluation import Integers
from ..rows import MOST_CHARACTERS, Rows
from .columns import Columns, lists, texts
from .labels import RowLabels, no_labels, read_row_labels
from .statuses import Status

Statuses = NDArray[np.uint8]


@dataclass(frozen=True, eq=False)
class TableRows:
    """Some rows of a table. What cannot be read is left out, and a status says so.

    Attributes
    ----------
    captions : list of str
        The candidates; empty where there is none.
    references : list of str
        The references of all rows, one after the other.
    row_of_reference : (number of references,) int64
        The row of each, not descending.
    labels : RowLabels
        The object labels.
    of_captions, of_references, of_labels : (rows,) uint8
        What is wrong with each: of `Status`, `Status.OK` where nothing is.
    """

    captions: list[str]
    references: list[str]
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
        characters = sum(map(len, self.captions)) + sum(map(len, self.references))
        return characters + 8 * len(self.labels.labels)

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
            captions=[
                "" if long else text
                for text, long in zip(self.captions, captions.tolist(), strict=True)
            ],
            references=[
                text for text, kept in zip(self.references, left.tolist(), strict=True) if kept
            ],
            row_of_reference=self.row_of_reference[left],
            labels=self.labels.without(labels),
            of_captions=_worse(self.of_captions, captions, Status.TOO_LONG),
            of_references=_worse(self.of_references, references, Status.TOO_LONG),
            of_labels=_worse(self.of_labels, labels, Status.TOO_LONG),
        )

    def to_rows(self) -> Rows:
        """Return the rows for a metric that reads texts rather than bags of words."""
        ends = np.cumsum(np.bincount(self.row_of_reference, minlength=len(self))).tolist()
        references = [
            self.references[start:end] for start, end in zip([0, *ends], ends, strict=False)
        ]
        return Rows(self.captions, references, None, self.labels.mappings())


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
    references: list[str] = []
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


def _captions(column: Any) -> tuple[list[str], Statuses]:
    statuses = np.zeros(len(column), dtype=np.uint8)
    found = texts(column).to_pylist()
    if column.null_count:
        for row, caption in enumerate(found):
            if caption is None:
                found[row], statuses[row] = "", Status.BAD_CAPTION
    if max(map(len, found), default=0) > MOST_CHARACTERS:
        for row, caption in enumerate(found):
            if len(caption) > MOST_CHARACTERS:
                found[row], statuses[row] = "", Status.TOO_LONG
    return found, statuses


def _references(column: Any) -> tuple[list[str], Integers, Statuses]:
    """Return the references of all rows, the row of each, and what is wrong with each row."""
    statuses = np.zeros(len(column), dtype=np.uint8)
    sizes, values = lists(column)
    found = texts(values).to_pylist()
    owners = np.repeat(np.arange(len(column)), sizes)
    if values.null_count:
        bad = np.array([text is None for text in found])
        statuses[owners[bad]] = Status.BAD_REFERENCES
    if max(map(len, filter(None, found)), default=0) > MOST_CHARACTERS:
        long = np.array([text is not None and len(text) > MOST_CHARACTERS for text in found])
        statuses[owners[long]] = np.maximum(statuses[owners[long]], np.uint8(Status.TOO_LONG))
    if statuses.any():
        left = statuses[owners] == Status.OK
        found = [text for text, kept in zip(found, left.tolist(), strict=True) if kept]
        owners = owners[left]
    return found, owners, statuses


def _worse(statuses: Statuses, rows: NDArray[np.bool_], status: Status) -> Statuses:
    return np.where(rows, np.maximum(statuses, np.uint8(status)), statuses)
