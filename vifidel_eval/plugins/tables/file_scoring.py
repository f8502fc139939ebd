"""A file of rows scored: read by batches, written, and counted; counts add up in any order."""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import chain, zip_longest
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.parquet

from ...commands.paths import Condition
from ...errors import VifidelError
from ...evaluation import Floats
from ...io.digits import number_of
from ...io.files import open_file, reason, sha256_of
from ...scorers.registry import METRICS
from ...words.word_vectors import Tally, add_tallies
from .columns import column_of, field_of, in_precision_of, is_text, texts
from .files import OpenTable, TableFile
from .rows import COUNTED_OF_ROWS, NO_SCORES, STATUSES, TableScores
from .scorer import TableScorer

# Rows and bytes of a row group.
_ROWS, _BYTES = 1 << 17, 1 << 26

_LOOKED_AT = 1000  # captions of a file whose language is looked at
_LISTED = 20  # words without a vector, of a file

#: What is recorded of a file that is finished: ``input``, ``input_sha256``, ``output``,
#: ``output_sha256``, what `add_up` returns of its rows, and last its own ``sha256``, `seal`.
Record = dict[str, Any]
#: The conditions on rows to write, and what is called with the number of rows just scored.
Conditions: TypeAlias = list[Condition]
OnRows: TypeAlias = Callable[[int], object]


def exact_sum(values: Iterable[float]) -> list[float]:
    """Return the sum of finite numbers without rounding: doubles, the nearest one first.

    >>> exact_sum([1e16, 0.5, -1e16, 0.5]), exact_sum([1e16, 0.5])
    ([1.0], [1e+16, 0.5])
    """
    left, doubles = list(values), list[float]()
    while nearest := math.fsum(left):
        doubles.append(nearest)
        left.append(-nearest)
    return doubles


def sums_of(values: Floats) -> list[Any]:
    """Return the number of rows of (rows, k) numbers without NaN, and their k exact sums."""
    defined = values[~np.isnan(values).any(axis=1)]
    return [len(defined), list(map(exact_sum, defined.T.tolist()))]


def add_up(parts: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Return what was counted of rows of several parts together, without the zeros of `COUNTS`."""
    numbers: Counter[str] = Counter()
    statuses = dict.fromkeys(STATUSES, 0)
    sums: dict[str, list[Any]] = {}
    words: dict[str, Tally] = {}
    for part in parts:
        numbers.update({key: part.get(key, 0) for key in ("rows", "kept", *COUNTED_OF_ROWS)})
        for status, number in part["statuses"].items():
            statuses[status] += number
        for name, (rows, part_sums) in part["sums"].items():
            before = sums.get(name, [0, []])
            pairs = zip_longest(before[1], part_sums, fillvalue=())
            sums[name] = [before[0] + rows, [exact_sum([*old, *new]) for old, new in pairs]]
        words = add_tallies([words, part["words"]])
    return {
        "rows": numbers["rows"],
        "kept": numbers["kept"],
        "statuses": statuses,
        **{key: numbers[key] for key in COUNTED_OF_ROWS if numbers[key]},
        "sums": sums,
        "words": words,
    }


def totals_of(record: Record) -> Record:
    """Return a record as `add_up` takes it, but for words that are not listed."""
    tallies = {}
    for kind, tally in record["words"].items():
        unknown = Counter(tally["such_as"])
        tallies[kind] = Tally(tally["words"], unknown, tally["without_vector"] - unknown.total())
    return {**record, "words": tallies}


def corpus_scores(metrics: Iterable[str], totals: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the corpus score of each column, as `Evaluation.score` has it, and its rows."""
    scores: dict[str, dict[str, Any]] = {}
    for metric in metrics:
        for column in METRICS[metric].columns:
            name = column.name.replace("-", "_")
            rows, sums = totals["sums"].get(name, (0, []))
            score = float(sum(map(Fraction, sums[0])) / rows) if rows else None
            counted, of_run = totals["sums"].get(f"counts of {metric}", (0, []))
            if column.of_sums is not None and counted:
                share = float(
                    column.of_sums(np.array([sum(doubles) for doubles in of_run], dtype=float))
                )
                rows, score = counted, None if math.isnan(share) else share
            scores[name] = {"score": score, "rows": rows}
    return scores


@dataclass(frozen=True)
class Task:
    """A file to score to `temporary`, later `output`, unless its record is `done` for its bytes."""

    file: TableFile
    output: str
    temporary: Path
    signature: str
    done: Record


@dataclass(frozen=True)
class Work:
    """What every worker does with each file; rows are written for which all of `keep` hold."""

    scorer: TableScorer
    keep: tuple[Condition, ...] = ()
    style: str = "parquet"  # or "arrow", as files end

    def check(
        self, file: TableFile, whole: bool = False
    ) -> tuple[OpenTable, str | None, Conditions]:
        """Return a file, checked, its scores' signature, and the conditions on its columns."""
        table = OpenTable(file, self.scorer.columns, whole)
        try:
            self.scorer.check(table.schema)
            added, as_text = self.scorer.type, table.numbers_in_text
            keep = [named_in(condition, added, table.schema, as_text) for condition in self.keep]
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
            return table, None, keep  # all labels are missing: they may have scores elsewhere
        return table, self.scorer.signature(table.schema), keep

    def first_captions(self, file: TableFile) -> list[str]:
        """Return the captions of the first rows of a file."""
        for batch in OpenTable(file, self.scorer.columns, whole=False).batches():
            column = column_of(batch.slice(0, _LOOKED_AT), self.scorer.columns.captions)
            return [text for text in texts(column).to_pylist() if text is not None]
        return []

    def record(self, task: Task, on_rows: OnRows = lambda _: None) -> Record:
        """Score a file unless that was done, write the rows to keep, and return its record."""
        digest = task.file.digest()
        if digest == task.done.get("input_sha256"):
            on_rows(task.done["rows"])
            return task.done
        table, signature, keep = self.check(task.file, whole=True)
        if signature not in (None, task.signature):
            raise VifidelError(
                f"{task.file.path}: labels have scores in some files or rows only; score those "
                "into different folders."
            )
        totals = self._score(task, table, keep, on_rows)
        if task.file.digest() != digest:
            raise VifidelError(
                f"{task.file.path}: changed while it was read; run the same command again."
            )
        totals["words"] = {
            kind: {
                "words": tally.words,
                "without_vector": tally.without_vector,
                "such_as": dict(tally.unknown.most_common(_LISTED)),
            }
            for kind, tally in totals["words"].items()
        }
        record = {"input": task.file.name, "input_sha256": digest, "output": task.output}
        with open_file(task.temporary, VifidelError) as written:
            record |= {"output_sha256": sha256_of(written), **totals}
        return {**record, "sha256": seal(record)}

    def _score(self, task: Task, table: OpenTable, keep: Conditions, on_rows: OnRows) -> Record:
        totals = add_up([])
        schema = pa.schema([*table.schema, *self.scorer.type], table.schema.metadata)

        def rows() -> Iterator[pa.RecordBatch]:
            nonlocal totals
            for batch in table.batches():
                try:
                    scores = self.scorer.evaluate(batch, totals["rows"])
                except VifidelError as problem:  # strict
                    raise VifidelError(f"{task.file.path}: {problem}") from None
                arrays = [*batch.columns, *scores.fields.flatten()]
                rows_kept = _filtered(pa.RecordBatch.from_arrays(arrays, schema=schema), keep)
                yield rows_kept
                totals = add_up([totals, _counted(scores, len(rows_kept))])
                on_rows(len(batch))

        try:
            _write(task.temporary, self.style, schema, rows())
        except BaseException as problem:
            task.temporary.unlink(missing_ok=True)
            if isinstance(problem, OSError | pa.ArrowException):
                why = reason(problem) if isinstance(problem, OSError | ValueError) else str(problem)
                raise VifidelError(f"{task.output}: cannot be written: {why}.") from None
            raise
        return totals


def _counted(scores: TableScores, kept: int) -> dict[str, Any]:
    """Return what `add_up` takes of some rows."""
    columns = zip(scores.fields.type, scores.fields.flatten(), strict=True)
    sums = {
        field.name: sums_of(np.asarray(column.drop_null())[:, None])
        for field, column in columns
        if field.name not in NO_SCORES
    }
    return {
        "rows": len(scores.fields),
        "kept": kept,
        "statuses": scores.statuses,
        **{key: int(numbers.sum()) for key, numbers in scores.counted.items()},
        "sums": sums
        | {f"counts of {metric}": sums_of(rows) for metric, rows in scores.counts.items()},
        "words": scores.tallies,
    }


def seal(record: Mapping[str, Any]) -> str:
    """Return the SHA-256 of a record, by which damage to it is known."""
    content = {name: value for name, value in record.items() if name != "sha256"}
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def named_in(
    condition: Condition, scores: Any, schema: Any, numbers_in_text: bool = False
) -> Condition:
    """Return a condition on a column of the scores, whose hyphens are underscores, or the input."""
    types, added = pa.types, [field.name for field in scores]
    name = condition.column.replace("-", "_")
    name = name if name in added else condition.column
    kind = next((field.type for field in (*scores, *schema) if field.name == name), None)
    if kind is None:
        raise VifidelError(
            f"--keep '{condition}': there is no column {name!r}; the scores are "
            f"{', '.join(added)}, the columns of the input {', '.join(schema.names)}."
        )
    spelt = numbers_in_text and name not in added and is_text(kind)
    if not (spelt or types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind)):
        raise VifidelError(
            f"--keep '{condition}': the column {condition.column!r} holds {kind}, not numbers; "
            "name another column."
        )
    return replace(condition, column=name)


def passing(condition: Condition, column: Any) -> list[bool]:
    """Return which values pass; they compare in the column's precision if that is below double."""
    bound = in_precision_of(column.type, condition.number)
    values = texts(column).to_pylist() if is_text(column.type) else column.to_pylist()
    numbers = (number_of(value) if isinstance(value, str) else value for value in values)
    return [condition.holds(value, bound) for value in numbers]


def _filtered(batch: pa.RecordBatch, keep: Conditions) -> pa.RecordBatch:
    if not keep:
        return batch
    passed = [passing(condition, batch.column(condition.column)) for condition in keep]
    mask = np.logical_and.reduce(passed)
    try:
        return batch.filter(pa.array(mask))
    except NotImplementedError:  # views and run-end encoded columns, which can be cut and joined
        ends = np.flatnonzero(np.diff(mask, prepend=False, append=False))
        runs = [batch.slice(start, end - start) for start, end in ends.reshape(-1, 2).tolist()]
        table = pa.Table.from_batches(runs, batch.schema)
        return next(iter(table.combine_chunks().to_batches()), batch.slice(0, 0))


def _check_parquet(schema: pa.Schema) -> None:
    """Check that a file of Parquet gives back the types of all columns."""
    for field in schema:
        file = pa.BufferOutputStream()
        try:
            pa.parquet.write_table(pa.Table.from_batches([], pa.schema([field])), file)
            stored = pa.parquet.read_schema(pa.BufferReader(file.getvalue())).field(0).type
        except (pa.ArrowException, OSError):
            stored = None
        if stored != field.type:
            instead = "does not hold" if stored is None else f"makes {stored} of"
            raise VifidelError(
                f"the column {field.name!r} is of type {field.type}, which Parquet {instead}; "
                "choose --format arrow, or leave the column out."
            )


def _write(path: Path, style: str, schema: pa.Schema, batches: Iterator[pa.RecordBatch]) -> None:
    """Write a file in row groups."""
    options = pa.ipc.IpcWriteOptions(emit_dictionary_deltas=True)
    waiting: list[pa.RecordBatch] = []
    before = pa.Table.from_batches([], schema)
    with (
        pa.parquet.ParquetWriter(path, schema)
        if style == "parquet"
        else pa.ipc.new_file(os.fspath(path), schema, options=options)
    ) as writer:
        for batch in chain(batches, [None]):
            if batch is not None:
                waiting.append(batch)
                sizes = map(pa.ipc.get_record_batch_size, waiting)  # `nbytes` crashes on unions
                if sum(map(len, waiting)) < _ROWS and sum(sizes) < _BYTES:
                    continue
            rows = pa.Table.from_batches(waiting, schema).combine_chunks()
            waiting.clear()
            if len(rows) and style == "arrow":  # a column has one dictionary, which may only grow
                with contextlib.suppress(NotImplementedError):  # of structs, which stay the same
                    rows = pa.concat_tables([before, rows]).unify_dictionaries().combine_chunks()
                before = rows.slice(0, 0)
            if len(rows):
                writer.write_table(rows, _ROWS)
