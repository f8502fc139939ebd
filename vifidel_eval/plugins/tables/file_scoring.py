"""A file of rows scored: read batch by batch, and written where it is renamed from."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet

from ...errors import VifidelError
from ...io.files import open_file, reason, sha256_of
from ...scores.conditions import Condition, number_of
from .columns import field_of, in_precision_of, is_text, texts
from .files import OpenTable, TableFile
from .scorer import NO_SCORES, TableScorer
from .totals import Sums, Totals, counts_of

# Rows and bytes of a row group.
_ROWS, _BYTES = 1 << 17, 1 << 26

#: The formats of output files, and the end of their names.
OUTPUT_SUFFIXES = {"parquet": ".parquet", "arrow": ".arrow"}


#: What is recorded of a file that is finished: ``input``, ``input_sha256``, ``output``,
#: ``output_sha256``, `Totals.to_json`, and last its own ``sha256``, `seal`.
Record = dict[str, Any]


@dataclass(frozen=True)
class Task:
    """A file to score.

    It is written to `temporary`, which is renamed to `output` when it is recorded. `signature` is
    that of the run. Records in `done` stand as they are if the digest of the file is their key.
    """

    file: TableFile
    output: str
    temporary: Path
    signature: str
    done: Mapping[str, Record]


@dataclass(frozen=True)
class Work:
    """What is done with each file; it goes to every worker.

    Rows are written, in a format of `OUTPUT_SUFFIXES`, for which all conditions of `keep` hold.
    """

    scorer: TableScorer
    keep: tuple[Condition, ...] = ()
    style: str = "parquet"

    def check(self, file: TableFile, whole: bool = False) -> tuple[OpenTable, str | None]:
        """Check a file as far as that is possible before its rows are scored.

        Return it, and the signature of its scores: None if all its labels are missing, so that
        their column has no type. `whole` says whether its rows will be read.
        """
        table = file.open(self.scorer.columns, whole)
        try:
            self.scorer.check(table.schema)
            self._conditions(table)
            if self.style == "parquet":
                _check_parquet(table.schema)
        except UnicodeDecodeError:
            raise VifidelError(
                f"{file.path}: the name of a column is not UTF-8 text; rename it."
            ) from None
        except VifidelError as problem:
            raise VifidelError(f"{file.path}: {problem}") from None
        labels = self.scorer.columns.labels
        if labels is not None and pa.types.is_null(field_of(table.schema, labels).type):
            return table, None
        return table, self.scorer.signature(table.schema)

    def _conditions(self, table: OpenTable) -> list[Condition]:
        kind, as_text = self.scorer.type, table.numbers_in_text
        return [named_in(condition, kind, table.schema, as_text) for condition in self.keep]

    def record(self, task: Task, on_rows: Callable[[int], object]) -> Record:
        """Score a file unless that was done, write the rows that are kept, and say what was done.

        It raises if something cannot be read or written, or the file was changed meanwhile.
        """
        digest = task.file.digest()
        if digest in task.done:
            on_rows(task.done[digest]["rows"])
            return task.done[digest]
        table, signature = self.check(task.file, whole=True)
        if signature not in (None, task.signature):
            raise VifidelError(
                f"{task.file.path}: labels have scores in some files or rows only; score those "
                "into different folders."
            )
        totals = self._score(task, table, on_rows)
        if task.file.digest() != digest:
            raise VifidelError(
                f"{task.file.path}: was changed while it was read; run the same command again."
            )
        with open_file(task.temporary, VifidelError) as written:
            output_digest = sha256_of(written)
        record = {
            "input": task.file.name,
            "input_sha256": digest,
            "output": task.output,
            "output_sha256": output_digest,
            **totals.to_json(),
        }
        return {**record, "sha256": seal(record)}

    def _score(self, task: Task, table: OpenTable, on_rows: Callable[[int], object]) -> Totals:
        keep, totals = self._conditions(table), Totals()
        added = [field.name for field in self.scorer.type]
        schema = pa.schema([*table.schema, *self.scorer.type], table.schema.metadata)
        with _written(task, schema, self.style) as write:
            for batch in table.batches():
                try:
                    found = self.scorer.evaluate(batch, totals.rows)
                except VifidelError as problem:  # strict
                    raise VifidelError(f"{task.file.path}: {problem}") from None
                columns = dict(zip(added, found.fields.flatten(), strict=True))
                scored = [*batch.columns, *columns.values()]
                kept = _kept(pa.RecordBatch.from_arrays(scored, schema=schema), keep)
                write(kept)
                sums = {
                    name: Sums.over(np.asarray(column.drop_null())[:, None])
                    for name, column in columns.items()
                    if name not in NO_SCORES
                }
                sums |= {counts_of(name): Sums.over(of) for name, of in found.counts.items()}
                counted = {key: int(numbers.sum()) for key, numbers in found.counted.items()}
                totals += Totals(
                    len(batch), len(kept), found.statuses, sums, found.tallies, counted
                )
                on_rows(len(batch))
        return totals


def seal(record: Mapping[str, Any]) -> str:
    """Return the SHA-256 of what a record says of a file, by which damage to it is known."""
    content = {of: value for of, value in record.items() if of != "sha256"}
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def named_in(
    condition: Condition, scores: Any, schema: Any, numbers_in_text: bool = False
) -> Condition:
    """Return the condition with the name that its column has in the table that is written.

    `scores` are the columns of scores, for which hyphens may be written for their underscores, and
    `schema` those of the input; text there may spell numbers, as in CSV. It raises a VifidelError
    if there is no such column, or it has no numbers.
    """
    types = pa.types
    added = {field.name: field.type for field in scores}
    name = condition.column.replace("-", "_")
    if name not in added:
        name = condition.column
    kinds = [schema.field(at).type for at in schema.get_all_field_indices(name)]
    if name in added:
        kinds = [added[name]]
    if not kinds:
        raise VifidelError(
            f"--keep '{condition}': there is no column {condition.column!r}; the scores are "
            f"{', '.join(added)}, the columns of the input {', '.join(schema.names)}."
        )
    numeric = (types.is_integer, types.is_floating, types.is_decimal)
    spelt = numbers_in_text and name not in added and is_text(kinds[0])
    if not spelt and not any(check(kinds[0]) for check in numeric):
        raise VifidelError(
            f"--keep '{condition}': the column {condition.column!r} holds {kinds[0]}, not "
            "numbers; name another column."
        )
    return replace(condition, column=name)


def passing(condition: Condition, column: Any) -> Any:
    """Return which values pass, a pyarrow.BooleanArray without nulls.

    Values compare as in Python, without rounding, but that a column of less than double
    precision is compared in its own: single precision .3 is not below .3.
    """
    bound = in_precision_of(column.type, condition.number)
    values = texts(column).to_pylist() if is_text(column.type) else column.to_pylist()
    numbers = (number_of(value) if isinstance(value, str) else value for value in values)
    return pa.array([condition.holds(value, bound) for value in numbers], pa.bool_())


def _kept(batch: pa.RecordBatch, keep: list[Condition]) -> pa.RecordBatch:
    masks = [passing(condition, batch.column(condition.column)) for condition in keep]
    for mask in masks[1:]:
        masks[0] = pc.and_(masks[0], mask)
    if not masks:
        return batch
    try:
        return batch.filter(masks[0])
    except NotImplementedError:  # views and run-end encoded columns, which can be cut and joined
        ends = np.flatnonzero(np.diff(np.asarray(masks[0]), prepend=False, append=False))
        runs = [batch.slice(start, end - start) for start, end in ends.reshape(-1, 2).tolist()]
        table = pa.Table.from_batches(runs, batch.schema)
        return next(iter(table.combine_chunks().to_batches()), batch.slice(0, 0))


def _check_parquet(schema: pa.Schema) -> None:
    """Check that a file of Parquet gives back the types of all columns."""
    for field in schema:
        file = pa.BufferOutputStream()
        try:
            pa.parquet.write_table(pa.Table.from_batches([], pa.schema([field])), file)
            kept = pa.parquet.read_schema(pa.BufferReader(file.getvalue())).field(0).type
        except (pa.ArrowException, OSError):
            kept = None
        if kept != field.type:
            instead = "does not hold" if kept is None else f"makes {kept} of"
            raise VifidelError(
                f"the column {field.name!r} is of type {field.type}, which Parquet {instead}; "
                "choose --format arrow, or leave the column out."
            )


@contextlib.contextmanager
def _written(
    task: Task, schema: pa.Schema, style: str
) -> Iterator[Callable[[pa.RecordBatch], None]]:
    """Return what takes rows of a file; after an error nothing of it is left."""
    waiting: list[pa.RecordBatch] = []
    before = pa.Table.from_batches([], schema)

    def flush() -> None:
        nonlocal before
        rows = pa.Table.from_batches(waiting, schema).combine_chunks()
        waiting.clear()
        if not len(rows):
            return
        if style == "arrow":  # a file has one dictionary of each column, which may only grow
            with contextlib.suppress(NotImplementedError):  # of structs, which stay the same
                rows = pa.concat_tables([before, rows]).unify_dictionaries().combine_chunks()
            before = rows.slice(0, 0)
        writer.write_table(rows, _ROWS)

    def write(batch: pa.RecordBatch) -> None:
        waiting.append(batch)
        sizes = map(pa.ipc.get_record_batch_size, waiting)  # `nbytes` crashes on unions
        if sum(map(len, waiting)) >= _ROWS or sum(sizes) >= _BYTES:
            flush()

    try:
        with _writer(task.temporary, schema, style) as writer:
            yield write
            flush()
    except BaseException as problem:
        task.temporary.unlink(missing_ok=True)
        if isinstance(problem, OSError | pa.ArrowException):
            why = reason(problem) if isinstance(problem, OSError | ValueError) else str(problem)
            raise VifidelError(f"{task.output}: cannot be written: {why}.") from None
        raise


def _writer(path: Path, schema: pa.Schema, style: str) -> Any:
    if style == "parquet":
        return pa.parquet.ParquetWriter(path, schema)
    options = pa.ipc.IpcWriteOptions(emit_dictionary_deltas=True)
    return pa.ipc.new_file(os.fspath(path), schema, options=options)
