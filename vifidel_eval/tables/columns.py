"""Columns of captions, labels and references: their types checked, sequences made into them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute

from ..annotations.listed import listed as listed_in
from ..annotations.objects import NO_CATEGORY, clean_label
from ..errors import AnnotationError, VifidelError
from ..evaluation import Integers

_STRINGS = ("string", "large_string", "string_view")


@dataclass(frozen=True)
class Columns:
    """The columns of some rows: PyArrow arrays or chunked arrays, or their names or fields.

    Attributes
    ----------
    captions : array of str
        The candidates.
    labels, label_scores, references : array, optional
        What is known of each row's image.
    """

    captions: Any
    labels: Any = None
    label_scores: Any = None
    references: Any = None

    def __len__(self) -> int:
        return len(self.captions)

    def given(self) -> list[Any]:
        """Return those that there are, the captions first."""
        columns = (self.captions, self.labels, self.label_scores, self.references)
        return [column for column in columns if column is not None]

    def part(self, start: int, rows: int) -> Columns:
        """Return some rows, each column as one array."""
        return Columns(
            *(
                None if column is None else _joined(column.slice(start, rows))
                for column in (self.captions, self.labels, self.label_scores, self.references)
            )
        )


def _joined(column: Any) -> Any:
    return column.combine_chunks() if hasattr(column, "combine_chunks") else column


def is_text(kind: Any) -> bool:
    """Return whether a column of this type holds strings; dictionary-encoded ones do, too."""
    types = pa.types
    if types.is_dictionary(kind):
        kind = kind.value_type
    return str(kind) in (*_STRINGS, "null")


def is_list(kind: Any) -> bool:
    """Return whether a column of this type holds lists, of whatever layout."""
    types = pa.types
    views = (types.is_list_view, types.is_large_list_view)
    arrays = (types.is_list, types.is_large_list, types.is_fixed_size_list)
    return any(is_one(kind) for is_one in (*arrays, *views))


def is_references(kind: Any) -> bool:
    """Return whether a column of this type holds lists of strings."""
    return pa.types.is_null(kind) or (is_list(kind) and is_text(kind.value_type))


def check_buffers(column: Any) -> None:
    """Check that offsets, indices and sizes of a column stay in its buffers: others may crash.

    Text that is not UTF-8 passes: it makes a bad row. Of a slice, no more than that is looked at,
    where PyArrow's own check takes all values of lists.

    Raises
    ------
    pyarrow.ArrowException
        If they do not, or that cannot be said.
    """
    for chunk in getattr(column, "chunks", [column]):
        chunk.validate()
        parts = _parts(chunk)
        for part in parts:
            check_buffers(part)
        if parts:
            continue
        try:
            chunk.validate(full=True)
        except pa.ArrowInvalid as problem:
            if "UTF8" not in str(problem) or str(chunk.type) not in _STRINGS:
                raise
            as_bytes = getattr(pa, str(chunk.type).replace("string", "binary"))()
            chunk.view(as_bytes).validate(full=True)


def _parts(array: Any) -> list[Any]:
    """Return the arrays that a nested one is made of, as far as they belong to its rows."""
    kind = array.type
    if isinstance(array, pa.ExtensionArray):
        return [array.storage]
    if pa.types.is_struct(kind):
        return [array.field(at) for at in range(kind.num_fields)]
    if pa.types.is_dictionary(kind):
        pa.DictionaryArray.from_arrays(array.indices, pa.nulls(len(array.dictionary)))
        return [array.dictionary]
    if pa.types.is_fixed_size_list(kind):
        return [array.values.slice(array.offset * kind.list_size, len(array) * kind.list_size)]
    if not (pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_map(kind)):
        return []
    parts = [array.keys, array.items] if pa.types.is_map(kind) else [array.values]
    ends = np.concatenate([[0], np.asarray(array.offsets), [len(parts[0])]])
    if (np.diff(ends) < 0).any():
        raise pa.ArrowInvalid("lists lead out of their values")
    return [part.slice(ends[1], ends[-2] - ends[1]) for part in parts]


def texts(column: Any) -> Any:
    """Return an array of strings as plain strings; one that is not UTF-8 becomes a null."""
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if not (pa.types.is_string(column.type) or pa.types.is_large_string(column.type)):
        column = column.cast(pa.large_string())
    try:
        column.validate(full=True)
    except pa.ArrowInvalid:
        spelt = map(_decoded, column.cast(pa.large_binary()).to_pylist())
        column = pa.array(list(spelt), column.type)
    return column


def _decoded(text: bytes | None) -> str | None:
    try:
        return None if text is None else text.decode()
    except UnicodeDecodeError:
        return None


def lists(column: Any) -> tuple[Integers, Any]:
    """Return how many values each row's list has, 0 for a null, and the values one after another.

    Parameters
    ----------
    column : pyarrow.Array
        Of lists, of whatever layout, or of nulls.
    """
    if pa.types.is_null(column.type):
        return np.zeros(len(column), dtype=np.int64), pa.nulls(0)
    sizes = pa.compute.list_value_length(column)
    if sizes.null_count:
        sizes = sizes.fill_null(0)
    return sizes.to_numpy(zero_copy_only=False).astype(np.int64), column.flatten()


def as_column(
    values: Any,
    name: str,
    fits: Callable[[Any], bool] = lambda _: True,
    convert: Callable[[Sequence[Any]], Any] | None = None,
) -> Any:
    """Return one entry per row as a column.

    Parameters
    ----------
    values : array or sequence
        A column stays what it is; its type is checked elsewhere.
    name : str
        For messages.
    fits : callable
        Whether a type that PyArrow finds for a sequence is one that is read.
    convert : callable
        Makes a column of a sequence for which PyArrow finds none; by default there is none then.

    Raises
    ------
    VifidelError
        If they are not a sequence or a column, or as `convert` raises it.
    """
    if isinstance(values, pa.Array | pa.ChunkedArray):
        return values
    if isinstance(values, str | bytes | Mapping) or not isinstance(values, Iterable):
        raise VifidelError(
            f"{name} must be a column or a sequence with one entry per row, not {values!r:.40}."
        )
    if not hasattr(values, "__array__"):
        values = list(values)
    try:
        column = pa.array(values, from_pandas=True)
        if fits(column.type):
            return column
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        pass  # rows that are no column: one by one
    if convert is None:
        raise VifidelError(f"{name} are a list of numbers per row.")
    return convert(values.tolist() if hasattr(values, "tolist") else list(values))


def spelt(text: Any) -> str | None:
    """Return a string that UTF-8 can spell; None for what is not a string."""
    return text.encode(errors="replace").decode() if isinstance(text, str) else None


def caption_rows(rows: Sequence[Any]) -> Any:
    """Return captions as a column; what is not a string becomes null."""
    return pa.array(list(map(spelt, rows)), pa.large_string())


def _is_null(row: Any) -> bool:
    return row is None or (isinstance(row, float) and math.isnan(row))


def reference_rows(rows: Sequence[Any]) -> Any:
    """Return the references of rows as a column; a row that is not a list of strings has a null."""
    listed: list[list[str | None] | None] = []
    for row in rows:
        if _is_null(row):
            listed.append(None)
            continue
        of_row = row.tolist() if hasattr(row, "tolist") else row
        listed.append(list(map(spelt, of_row)) if isinstance(of_row, list | tuple) else [None])
    return pa.array(listed, pa.large_list(pa.large_string()))


def label_rows(
    rows: Sequence[Any], threshold: float, strict: bool, uncertain: float | None = None
) -> Any:
    """Return the labels of rows as a column; a row that cannot be read has a null among them.

    Parameters
    ----------
    rows : sequence
        As `vifidel_eval.annotations.label_rows` takes them.
    threshold : float
        The lowest score that counts.
    strict : bool
        Whether a row that cannot be read raises.
    uncertain : float, optional
        As `vifidel_eval.annotations.label_rows` takes it.

    Raises
    ------
    AnnotationError
        If a row cannot be read, with `strict`.
    """
    listed: list[list[tuple[str, int | None]] | None] = []
    for number, row in enumerate(rows):
        try:
            entries = None
            if not _is_null(row):
                counted = [
                    (one.name, one.number)
                    for one in listed_in(row, threshold, uncertain)
                    if one.score is None or one.score >= threshold
                ]
                entries = _each_once(counted)
        except AnnotationError as problem:
            if strict:
                raise AnnotationError(f"row {number}: {problem}") from None
            listed.append([("", None)])
        else:
            known = entries if entries is None else [(spelt(n) or "", c) for n, c in entries]
            listed.append(known)  # type: ignore[arg-type]
    return pa.array(listed, pa.map_(pa.large_string(), pa.int64()))


def _each_once(entries: list[tuple[str, int]]) -> list[tuple[str, int]]:
    """Return labels with their counts; 0 only for those that are not there.

    Where something was looked for, and all of it is there, no category at all has a count of 0.
    """
    if all(number for _, number in entries):
        return entries
    there = {clean_label(name) for name, number in entries if number}
    listed = [(name, n) for name, n in entries if n or clean_label(name) not in there]
    return [*listed, (NO_CATEGORY, 0)]
