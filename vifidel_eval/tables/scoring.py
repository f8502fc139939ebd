"""A file of rows scored: read batch by batch, written beside its place, and renamed.

A large file is scored in parts, each a file of its own, which are joined when all are done.
"""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet

from ..errors import VifidelError
from ..files import reason
from .cells import Cells
from .columns import Columns
from .digests import digest_rows
from .inputs import OpenTable, RowGroups, TableFile
from .keep import Condition
from .scorer import NO_SCORES, TableScorer
from .totals import Counted, Mean, Totals

# Rows and bytes of a row group.
_ROWS, _BYTES = 1 << 17, 1 << 26

#: The formats of output files, and the end of their names.
SUFFIXES = {"parquet": ".parquet", "arrow": ".arrow"}

#: The name of temporary files ends in this.
PART = ".part"


@dataclass(frozen=True)
class Work:
    """What is done with each file; it goes to every worker.

    Attributes
    ----------
    scorer : TableScorer
        Scores rows.
    keep : tuple of Condition
        All must hold for a row that is written.
    style : str
        A key of `SUFFIXES`.
    """

    scorer: TableScorer
    keep: tuple[Condition, ...] = ()
    style: str = "parquet"

    def pinned(self, table: Table) -> str | None:
        """Return the signature of a table's scores; None if it has no labels that say what it is.

        A file whose labels are all missing may have a column without a type.
        """
        labels = self.scorer.columns.labels
        if labels is not None and pa.types.is_null(table.schema.field(labels).type):
            return None
        return self.scorer.signature(table.schema)

    def check(self, file: TableFile) -> Table:
        """Check a file as far as that is possible before its rows are scored.

        Raises
        ------
        VifidelError
            If it cannot be read, or lacks a column, or one has another type.
        """
        table = Table.open(file, self.scorer.columns)
        try:
            self.scorer.check(table.schema)
            for condition in self.keep:
                condition.of_columns(self.scorer.type, table.schema)
        except VifidelError as problem:
            raise VifidelError(f"{file.path}: {problem}") from None
        return table

    def score(
        self,
        file: TableFile,
        part: RowGroups | None,
        output: Path,
        temporary: Path,
        on_rows: Callable[[int], object],
    ) -> Totals:
        """Score a file, or a part of it, and write those of its rows that are kept.

        Parameters
        ----------
        file : TableFile
            What is read.
        part : RowGroups, optional
            Its rows that are read; then Parquet is written, for `join`.
        output : Path
            What is written; there is nothing at this path, or all of it.
        temporary : Path
            The folder where it is written first, on the same file system.
        on_rows : callable
            Called with the number of rows that were just scored.

        Raises
        ------
        VifidelError
            If something cannot be read or written.
        """
        table = self.check(file)
        keep = [condition.of_columns(self.scorer.type, table.schema) for condition in self.keep]
        first_row = 0 if part is None else part.first_row
        totals = Totals()
        schema = table.schema
        added = [field.name for field in self.scorer.type]
        for field in self.scorer.type:
            schema = schema.append(field)
        style = self.style if part is None else "parquet"
        with _written(output, temporary, schema, style) as write:
            for batch in table.batches(part):
                try:
                    found = self.scorer.evaluate(batch, first_row + totals.rows)
                except VifidelError as problem:  # strict
                    raise VifidelError(f"{file.path}: {problem}") from None
                columns = dict(zip(added, found.fields.flatten(), strict=True))
                scored = pa.RecordBatch.from_arrays(
                    [*batch.columns, *columns.values()], schema=schema
                )
                kept = _kept(scored, keep)
                write(kept)
                totals += Totals(
                    len(batch),
                    len(kept),
                    found.statuses,
                    {
                        name: Mean.of(np.asarray(column.drop_null()))
                        for name, column in columns.items()
                        if name not in NO_SCORES
                    },
                    {metric: Counted.of(counts) for metric, counts in found.counts.items()},
                    found.tallies,
                    digest_rows([batch.column(name) for name in self.scorer.columns.given()]),
                )
                on_rows(len(batch))
        return totals

    def join(self, parts: Sequence[Path], output: Path, temporary: Path) -> None:
        """Write the rows of a file from its parts.

        Parameters
        ----------
        parts : sequence of Path
            What `score` wrote of each, in their order.
        output, temporary : Path
            As `score` takes them.

        Raises
        ------
        VifidelError
            If something cannot be read or written.
        """
        schema = pa.parquet.read_schema(parts[0])
        with _written(output, temporary, schema, self.style) as write:
            for path in parts:
                with pa.parquet.ParquetFile(path) as file:
                    for group in range(file.num_row_groups):
                        for batch in file.read_row_group(group, use_threads=False).to_batches():
                            write(batch)


@dataclass(frozen=True)
class Table:
    """A file with its lists read from text where they are text.

    Attributes
    ----------
    schema : Schema
        Of its batches.
    """

    schema: pa.Schema
    _open: OpenTable
    _cells: Cells

    @classmethod
    def open(cls, file: TableFile, columns: Columns) -> Table:
        """Open a file.

        Raises
        ------
        VifidelError
            If it cannot be read, or the text in a column holds no lists.
        """
        opened = file.open(columns.given())
        cells = Cells({}, None)
        if any(_is_text(opened.schema, name) for name in columns.given()[1:]):
            first = next(opened.batches(), None)
            if first is not None:
                try:
                    cells = Cells.of(
                        first, columns.labels, columns.label_scores, columns.references
                    )
                except VifidelError as problem:
                    raise VifidelError(f"{file.path}: {problem}") from None
        return cls(cells.schema(opened.schema), opened, cells)

    def count_rows(self) -> int:
        """Return how many rows there are: of text an estimate."""
        return self._open.count_rows()

    def parts(self) -> list[RowGroups]:
        """Return the parts that are scored apart from each other; none of most files."""
        return self._open.parts()

    def batches(self, part: RowGroups | None = None) -> Iterator[pa.RecordBatch]:
        """Yield the rows, or those of a part, in their order."""
        return map(self._cells.read, self._open.batches(part))


def _is_text(schema: pa.Schema, name: str) -> bool:
    at = schema.get_field_index(name)
    return at >= 0 and not pa.types.is_nested(schema.field(at).type)


def _kept(batch: pa.RecordBatch, keep: list[Condition]) -> pa.RecordBatch:
    masks = [condition.mask(batch.column(condition.column)) for condition in keep]
    for mask in masks[1:]:
        masks[0] = pc.and_(masks[0], mask)
    return batch.filter(masks[0]) if masks else batch


@contextlib.contextmanager
def _written(
    output: Path, folder: Path, schema: pa.Schema, style: str
) -> Iterator[Callable[[pa.RecordBatch], None]]:
    """Return what takes rows of a file, which appears at its place when all are written."""
    temporary = folder / f"{secrets.token_hex(8)}{PART}"
    waiting: list[pa.RecordBatch] = []

    def flush() -> None:
        rows = pa.Table.from_batches(waiting, schema).combine_chunks()
        waiting.clear()
        if len(rows):
            writer.write_table(rows, _ROWS)

    def write(batch: pa.RecordBatch) -> None:
        waiting.append(batch)
        rows, size = (sum(of) for of in zip(*((len(b), b.nbytes) for b in waiting), strict=True))
        if rows >= _ROWS or size >= _BYTES:
            flush()

    try:
        with _writer(temporary, schema, style) as writer:
            yield write
            flush()
        output.parent.mkdir(parents=True, exist_ok=True)
        os.replace(temporary, output)
    except (OSError, pa.ArrowException) as problem:
        why = reason(problem) if isinstance(problem, OSError | ValueError) else str(problem)
        raise VifidelError(f"{output}: cannot be written: {why}.") from None
    finally:
        temporary.unlink(missing_ok=True)


def _writer(path: Path, schema: pa.Schema, style: str) -> Any:
    if style == "parquet":
        return pa.parquet.ParquetWriter(path, schema)
    return pa.ipc.new_file(os.fspath(path), schema)
