"""The rows of a table as they are scored: texts and labels, and what is wrong with each."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import compress
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute
from numpy.typing import NDArray

from ..evaluation import Integers
from ..rows import MOST_CHARACTERS, Rows
from .columns import Columns, lists, texts
from .labels import RowLabels, no_labels, read_row_labels
from .statuses import RANKS, Statuses, worsen


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
        What is wrong with each: places in `STATUSES`, 0 where nothing is.
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
        return characters + self.labels.labels.nbytes

    @property
    def referenced(self) -> NDArray[np.bool_]:
        """Whether each row has a reference."""
        return np.bincount(self.row_of_reference, minlength=len(self)) > 0

    def without(
        self,
        captions: NDArray[np.bool_],
        references: NDArray[np.bool_],
        labels: NDArray[np.bool_],
    ) -> TableRows:
        """Return the same without what is too long, given for each row."""
        left = ~references[self.row_of_reference]
        for statuses, rows in (
            (self.of_captions, captions),
            (self.of_references, references),
            (self.of_labels, labels),
        ):
            worsen(statuses, rows, "too long")
        given = zip(self.captions, captions.tolist(), strict=True)
        return TableRows(
            ["" if long else text for text, long in given],
            list(compress(self.references, left.tolist())),
            self.row_of_reference[left],
            self.labels.without(labels),
            self.of_captions,
            self.of_references,
            self.of_labels,
        )

    def to_rows(self) -> Rows:
        """Return the rows for a metric that reads texts rather than bags of words."""
        ends = np.cumsum(np.bincount(self.row_of_reference, minlength=len(self))).tolist()
        of_rows = zip([0, *ends], ends, strict=False)
        references = [self.references[start:end] for start, end in of_rows]
        labels = self.labels
        return Rows(self.captions, references, None, labels.mappings(), asked=labels.asked())


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
    of_captions, of_references, of_labels = (np.zeros(rows, dtype=np.uint8) for _ in range(3))
    captions, bad, long = _read(columns.captions)
    worsen(of_captions, bad, "bad caption")
    worsen(of_captions, long, "too long")
    references: list[str] = []
    owners = np.zeros(0, dtype=np.int64)
    if columns.references is not None:
        sizes, values = lists(columns.references)
        references, bad, long = _read(values)
        owners = np.repeat(np.arange(rows), sizes)
        worsen(of_references, owners[bad], "bad references")
        worsen(of_references, owners[long], "too long")
        if of_references.any():
            left = of_references[owners] == RANKS["ok"]
            references, owners = list(compress(references, left.tolist())), owners[left]
    labels = no_labels(rows)
    if columns.labels is not None:
        labels = read_row_labels(columns.labels, columns.label_scores, threshold)
        worsen(of_labels, labels.bad, "bad labels")
        many = labels.more_than(max_labels)
        if many.any():
            labels = labels.without(many)
            worsen(of_labels, many, "too long")
    return TableRows(captions, references, owners, labels, of_captions, of_references, of_labels)


def _read(column: Any) -> tuple[list[str], NDArray[np.bool_], NDArray[np.bool_]]:
    """Return texts, and which are none and which too long: these are empty."""
    found = texts(column)
    lengths = pa.compute.utf8_length(found).fill_null(-1).to_numpy(zero_copy_only=False)
    bad, long = lengths < 0, lengths > MOST_CHARACTERS
    if bad.any() or long.any():
        found = pa.compute.if_else(pa.array(bad | long), pa.scalar("", found.type), found)
    return found.to_pylist(), bad, long
