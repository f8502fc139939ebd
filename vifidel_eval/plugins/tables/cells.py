"""Lists in text: a column of a CSV file spells them, such as ``["dog", "cat"]``."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import pyarrow as pa

from ...errors import VifidelError
from ...io.containers import listed_in, parsed
from .columns import Columns, is_text, texts
from .rows import spelt

_STRINGS = pa.list_(pa.string())
_SCORED = pa.list_(pa.struct([("label", pa.string()), ("score", pa.float64())]))
_COUNTED = pa.map_(pa.string(), pa.int64())
_NUMBERS = pa.list_(pa.float64())
_UNREADABLE = object()


def cells_of(schema: pa.Schema, names: Columns) -> list[str]:
    """Return which columns of lists are text."""
    of_lists = (names.references, names.label_scores, names.labels)
    return [name for name in of_lists if name is not None and _is_cells(schema, name)]


def types_of_cells(first: pa.RecordBatch, names: Columns) -> dict[str, pa.DataType]:
    """Return the types of lists that columns of text get, which their first rows say.

    It raises a VifidelError if the text in the column of labels is something else.
    """
    types = {names.references: _STRINGS, names.label_scores: _NUMBERS}
    of_text = cells_of(first.schema, names)
    if names.labels in of_text:
        types[names.labels] = _type_of(names.labels, texts(first[names.labels]).to_pylist())
    return {name: types[name] for name in of_text}


def with_lists(
    batch: pa.RecordBatch, types: Mapping[str, pa.DataType], plain: str | None
) -> pa.RecordBatch:
    """Return rows with lists in place of text; what cannot be read is a list of one null.

    In the column `plain`, that of references, text that does not look like a list is a list of one.
    """
    for name, kind in types.items():
        column = batch.column(name)
        read = partial(_list_of, kind, name == plain)
        cells = zip(column.is_valid().to_pylist(), texts(column).to_pylist(), strict=True)
        lists = pa.array([read(cell) if there else None for there, cell in cells], kind)
        batch = batch.set_column(batch.schema.get_field_index(name), name, lists)
    return batch


def _is_cells(schema: pa.Schema, name: str) -> bool:
    kinds = [schema.field(at).type for at in schema.get_all_field_indices(name)]
    return len(kinds) == 1 and is_text(kinds[0]) and not pa.types.is_null(kinds[0])


def _type_of(name: str, cells_as_text: Sequence[str | None]) -> pa.DataType:
    cells = [cell for cell in map(_parsed, cells_as_text) if cell is not None]
    lists = [cell for cell in cells if isinstance(cell, list)]
    if any(isinstance(cell, dict) for cell in cells):
        return _COUNTED
    if any(isinstance(value, list | dict) for cell in lists for value in cell):
        return _SCORED
    if cells and not lists:
        text = next((text for text in cells_as_text if text and text.strip()), "")
        raise VifidelError(
            f"the column {name!r} holds text such as {text!r:.60}; write lists in it, such as "
            '["dog", "cat"].'
        )
    return _STRINGS


def _parsed(text: str | None) -> Any:
    """Return what a cell says: None of an empty one, else a list, mapping or anything.

    Text that is not UTF-8 comes as None, and says nothing either.
    """
    if text is None or not text.strip():
        return None
    try:
        return parsed(text)
    except ValueError:
        return _UNREADABLE


def _list_of(kind: pa.DataType, plain: bool, text: str | None) -> Any:
    """Return the list of a cell; `plain` text may stand for a list of itself."""
    if plain and text:
        try:
            cell = listed_in(text, "", VifidelError)
        except VifidelError:
            return [None]
        if cell is None and text.strip():
            return [text]
    else:
        cell = _UNREADABLE if text is None else _parsed(text)
    if cell is None:
        return None
    if kind == _COUNTED:
        counts = cell.items() if isinstance(cell, dict) else [("", None)]
        return [(spelt(name), number if _is_count(number) else None) for name, number in counts]
    return list(map(_VALUES[kind], cell)) if isinstance(cell, list) else [None]


def _is_count(number: Any) -> bool:
    return type(number) is int and abs(number) < 1 << 63


def _number(value: Any) -> float | None:
    exact = type(value) is float or (type(value) is int and abs(value) < 1 << 53)
    return float(value) if exact else None


def _pair(value: Any) -> Any:
    """Return a label with its score, as annotations have it: a pair or an object."""
    label, score = value, None
    if isinstance(value, str):
        return {"label": spelt(value), "score": None}
    if isinstance(value, dict):
        label = next((value[name] for name in ("label", "name") if name in value), None)
        score = next((value[name] for name in ("score", "confidence") if name in value), None)
    elif isinstance(value, list) and len(value) == 2:
        label, score = value
    if not isinstance(label, str) or _number(score) is None:
        return None
    return {"label": spelt(label), "score": _number(score)}


_VALUES: dict[pa.DataType, Callable[[Any], Any]] = {
    _STRINGS: spelt,
    _SCORED: _pair,
    _NUMBERS: _number,
}
