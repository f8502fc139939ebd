"""Columns of PyArrow: found by name or path, checked, read; text in them may spell lists."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute

from ...captions.fields import MISSING, spelled, steps_of, value_at
from ...doors.arguments import as_python
from ...errors import VifidelError
from ...evaluation import Integers
from ...io.containers import listed_in, parsed
from ...io.files import first_line

_STRINGS = ("string", "large_string", "string_view")

# What lists in text become.
_LISTS = pa.list_(pa.string())
_SCORED = pa.list_(pa.struct([("label", pa.string()), ("score", pa.float64())]))
_NUMBERS = pa.list_(pa.float64())


@dataclass(frozen=True)
class Columns:
    """The columns of some rows (arrays of PyArrow, or `Values`), or their names or fields."""

    captions: Any
    labels: Any = None
    label_scores: Any = None
    references: Any = None
    image_ids: Any = None  # without labels, objects are looked up by them

    def __len__(self) -> int:
        return len(self.captions)

    def each(self, function: Callable[[Any], Any]) -> Columns:
        """Return what a function returns for each."""
        return Columns(*(None if name is None else function(name) for name in vars(self).values()))

    def part(self, start: int, rows: int) -> Columns:
        """Return some rows, each column as one array."""

        def joined(column: Any) -> Any:
            some = column[start : start + rows]
            return some.combine_chunks() if isinstance(some, pa.ChunkedArray) else some

        return self.each(joined)


class Values(list[Any]):
    """Values of Python that PyArrow has no type for: their rows are read one by one."""

    type = pa.null()


def field_of(schema: pa.Schema, name: str) -> Any:
    """Return the field that has a name, or that a path such as ``doc.caption[0]`` leads to."""
    places = schema.get_all_field_indices(name)
    if len(places) == 1:
        return schema.field(places[0])
    steps = steps_of(name)
    if places or len(steps) == 1 or len(schema.get_all_field_indices(steps[0])) != 1:
        amount = "no column" if not places else "more than one column"
        raise VifidelError(
            f"the table has {amount} {name!r}; its columns are {', '.join(schema.names):.200}."
        )
    kind = schema.field(steps[0]).type
    for at, step in enumerate(steps[1:], 1):
        names = [field.name for field in kind] if pa.types.is_struct(kind) else []
        if isinstance(step, int) and is_list(kind):
            kind = kind.value_type
        elif step in names:
            kind = kind.field(names.index(step)).type
        else:
            has = f"fields are {', '.join(names):.200}" if names else f"type is {kind!s:.80}"
            missing = f"[{step}]" if isinstance(step, int) else repr(step)
            raise VifidelError(
                f"the column {spelled(steps[:at])!r} has no {missing} ({name}); its {has}."
            )
    return pa.field(name, kind)


def column_of(batch: Any, name: str) -> Any:
    """Return a column that `field_of` finds in a batch or table; null where a path ends early."""
    if name in batch.schema.names:
        return batch.column(name)
    first, *steps = steps_of(name)
    cells = [value_at(value, steps) for value in batch.column(first).to_pylist()]
    values = [None if value is MISSING else value for value in cells]
    return pa.array(values, field_of(batch.schema, name).type)


def is_text(kind: Any) -> bool:
    """Return whether a column of this type holds strings; dictionary-encoded ones do, too."""
    return str(kind.value_type if pa.types.is_dictionary(kind) else kind) in (*_STRINGS, "null")


def is_list(kind: Any) -> bool:
    """Return whether a column of this type holds lists, of whatever layout."""
    views = pa.ListViewType | pa.LargeListViewType
    return isinstance(kind, pa.ListType | pa.LargeListType | pa.FixedSizeListType | views)


def is_references(kind: Any) -> bool:
    """Return whether a column of this type holds lists of strings."""
    return pa.types.is_null(kind) or (is_list(kind) and is_text(kind.value_type))


def is_ids(kind: Any) -> bool:
    """Return whether a column of this type may hold image ids."""
    return is_text(kind) or pa.types.is_integer(kind) or pa.types.is_floating(kind)


def in_precision_of(kind: Any, number: float) -> float:
    """Return a number as a column compares with it: single precision .3 is not below .3."""
    if not (pa.types.is_float16(kind) or pa.types.is_float32(kind)):
        return number
    with np.errstate(over="ignore"):
        return float(np.dtype(kind.to_pandas_dtype()).type(number))


def check_buffers(column: Any) -> None:
    """Raise a pyarrow.ArrowException if a column leads out of its buffers, which may crash.

    Text that is not UTF-8 passes: it makes a bad row. Of a slice, no more than that is looked at.
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
        raise pa.ArrowInvalid("lists point outside their values")
    return [part.slice(ends[1], ends[-2] - ends[1]) for part in parts]


def texts(column: Any) -> Any:
    """Return an array of strings as plain strings; one that is not UTF-8 becomes a null."""
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if not (pa.types.is_string(column.type) or pa.types.is_large_string(column.type)):
        column = column.cast(pa.large_string())

    def decoded(text: bytes | None) -> str | None:
        try:
            return None if text is None else text.decode()
        except UnicodeDecodeError:
            return None

    try:
        column.validate(full=True)
    except pa.ArrowInvalid:
        values = column.cast(pa.large_binary()).to_pylist()
        column = pa.array(list(map(decoded, values)), column.type)
    return column


def spelt(text: Any) -> str | None:
    """Return a string that UTF-8 can spell; None for what is not a string."""
    return text.encode(errors="replace").decode() if isinstance(text, str) else None


def entries(column: Any, field: str = "") -> tuple[Any, Integers]:
    """Return the entries of all lists of a column, or a field of them, and each row's number."""
    if pa.types.is_null(column.type):
        return pa.nulls(0, pa.string()), np.zeros(len(column), np.int64)
    sizes = pa.compute.list_value_length(column).fill_null(0).to_numpy(zero_copy_only=False)
    flat = column.flatten()
    if field:
        flat = pa.compute.struct_field(flat, field)
    if is_text(flat.type):
        flat = texts(flat)
    elif pa.types.is_decimal(flat.type):
        flat = flat.cast(pa.float64(), safe=False)
    return flat, sizes


def split(flat: Any, sizes: Integers) -> list[list[Any]]:
    """Return the list of each row, from what `entries` returns."""
    values, ends = flat.to_pylist(), sizes.cumsum().tolist()
    return [values[start:end] for start, end in zip([0, *ends], ends, strict=False)]


def table_of(frame: Any) -> Any:
    """Return a DataFrame as a pyarrow.Table; a Table or RecordBatch as it is."""
    if isinstance(frame, pa.Table | pa.RecordBatch):
        return frame
    try:
        return frame.to_arrow() if hasattr(frame, "to_arrow") else pa.table(frame)
    except (pa.ArrowException, TypeError, ValueError) as problem:
        raise VifidelError(
            f"a table is a pyarrow Table or RecordBatch, or a DataFrame of pandas or polars, not "
            f"{frame!r:.40}: {first_line(problem)}"
        ) from None


def as_column(
    values: Any, name: str, fits: Callable[[Any], object] | None = None, members: str = ""
) -> Any:
    """Return one entry per row as a column, or as `Values` if its type does not fit.

    Without `fits`, it must become a column, with lists of such `members`.
    """
    if values is None or isinstance(values, pa.Array | pa.ChunkedArray):
        return values
    if isinstance(values, str | bytes | Mapping) or not isinstance(values, Iterable):
        raise VifidelError(
            f"{name} must be a column or a sequence with one entry per row, not {values!r:.40}."
        )
    if not hasattr(values, "__array__"):
        values = list(values)
    try:
        column = pa.array(values, from_pandas=True)
        if fits is None or fits(column.type):
            return column
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        if fits is None:
            raise VifidelError(f"{name} must be a list of {members} per row.") from None
    listed = as_python(values)
    # pandas has NaN where there is nothing.
    return Values(None if isinstance(row, float) and math.isnan(row) else row for row in listed)


def types_of_cells(
    schema: pa.Schema, names: Columns, batches: Iterator[pa.RecordBatch]
) -> dict[str, pa.DataType]:
    """Return the types of lists that text spells in columns; for labels, first rows tell it."""
    lists = {names.references: _LISTS, names.label_scores: _NUMBERS, names.labels: _LISTS}
    types = {}
    for name, kind in lists.items():
        at = -1 if name is None else schema.get_field_index(name)
        if at >= 0 and is_text(schema.field(at).type) and not pa.types.is_null(schema.types[at]):
            types[name] = kind
    first = next(batches, None) if types else None
    if first is not None and names.labels in types and names.label_scores is None:
        # Other texts are read row by row, as a file of objects has them.
        if not _have_scores(texts(first[names.labels]).to_pylist()):
            del types[names.labels]
        else:
            types[names.labels] = _SCORED
    return types


def with_lists(
    batch: pa.RecordBatch, types: Mapping[str, pa.DataType], plain: str | None
) -> pa.RecordBatch:
    """Return rows with lists in place of text; the column `plain` may hold plain text, too."""
    for name, kind in types.items():
        column = batch.column(name)
        read = partial(_list_of, kind, name == plain)
        cells = zip(column.is_valid().to_pylist(), texts(column).to_pylist(), strict=True)
        lists = pa.array([read(cell) if valid else None for valid, cell in cells], kind)
        batch = batch.set_column(batch.schema.get_field_index(name), name, lists)
    return batch


def _have_scores(cells: Sequence[str | None]) -> bool:
    """Return whether lists that texts spell have labels with scores."""
    lists = [cell for cell in map(_parsed, cells) if isinstance(cell, list)]
    return any(isinstance(value, list | dict) for cell in lists for value in cell)


def _parsed(text: str | None) -> Any:
    """Return what a cell says: a list, mapping or anything; None of an empty one, or no text."""
    if text is None or not text.strip():
        return None
    try:
        return parsed(text)
    except ValueError:
        return text


def _list_of(kind: pa.DataType, plain: bool, text: str | None) -> Any:
    """Return the list of a cell, of one null if it says none; `plain` text is a list of itself."""
    if plain and text:
        try:
            cell = listed_in(text, "", VifidelError)
        except VifidelError:
            return [None]
        if cell is None and text.strip():
            return [text]
    else:
        cell = "" if text is None else _parsed(text)
    if cell is None:
        return None
    value = {_LISTS: spelt, _SCORED: _pair, _NUMBERS: _number}[kind]
    return list(map(value, cell)) if isinstance(cell, list) else [None]


def _number(value: Any) -> float | None:
    exact = type(value) is float or (type(value) is int and abs(value) < 1 << 53)
    return float(value) if exact else None


def _pair(value: Any) -> Any:
    """Return a label with its score, as annotations have it: a pair or an object."""
    if isinstance(value, str):
        return spelt(value), None
    if isinstance(value, dict):
        score = value.get("score", value.get("confidence"))
        value = [value.get("label", value.get("name")), score]
    if not isinstance(value, list) or len(value) != 2:
        return None
    label, score = spelt(value[0]), _number(value[1])
    return None if label is None or score is None else (label, score)
