"""Lists in text: a column of a CSV file holds them as JSON, such as ``["dog", "cat"]``."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import pyarrow as pa

from ..errors import VifidelError
from .arrow_columns import Columns, is_text, texts
from .table_rows import spelt

_NAMES = pa.list_(pa.string())
_SCORED = pa.list_(pa.struct([("label", pa.string()), ("score", pa.float64())]))
_COUNTED = pa.map_(pa.string(), pa.int64())
_NUMBERS = pa.list_(pa.float64())
_NO_JSON = object()


@dataclass(frozen=True)
class Cells:
    """How the columns of a table that are text become lists.

    Attributes
    ----------
    types : mapping
        Names of such columns to the types that they get.
    plain : str, optional
        The column where text that is no JSON list is a list of one: references.
    """

    types: Mapping[str, pa.DataType]
    plain: str | None = None

    @staticmethod
    def are_in(schema: pa.Schema, names: Columns) -> bool:
        """Return whether a table has text in a column of lists."""
        return any(
            _is_cells(schema, n) for n in (names.labels, names.label_scores, names.references)
        )

    @classmethod
    def of(cls, first: pa.RecordBatch, names: Columns) -> Cells:
        """Return how columns are read, which their first rows say.

        Parameters
        ----------
        first : RecordBatch
            The first rows.
        names : Columns
            The names of the columns, which need not be there.

        Raises
        ------
        VifidelError
            If the text in the column of labels is something else.
        """
        types = {names.references: _NAMES, names.label_scores: _NUMBERS}
        if _is_cells(first.schema, names.labels):
            types[names.labels] = _type_of(names.labels, texts(first[names.labels]).to_pylist())
        there = {name: kind for name, kind in types.items() if _is_cells(first.schema, name)}
        return cls(there, names.references)

    def schema(self, schema: pa.Schema) -> pa.Schema:
        """Return the schema with the types that columns get."""
        for name, kind in self.types.items():
            schema = schema.set(schema.get_field_index(name), pa.field(name, kind))
        return schema

    def read(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Return rows with lists in place of text; what cannot be read is a list of one null."""
        for name, kind in self.types.items():
            column = batch.column(name)
            read = partial(_list_of, kind, name == self.plain)
            cells = zip(column.is_valid().to_pylist(), texts(column).to_pylist(), strict=True)
            lists = pa.array([read(cell) if there else None for there, cell in cells], kind)
            batch = batch.set_column(batch.schema.get_field_index(name), name, lists)
        return batch


def _is_cells(schema: pa.Schema, name: str | None) -> bool:
    at = -1 if name is None else schema.get_field_index(name)
    return (
        at >= 0 and is_text(schema.field(at).type) and not pa.types.is_null(schema.field(at).type)
    )


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
            f"the column {name!r} holds text such as {text!r:.60}; write lists in it as JSON, such "
            'as ["dog", "cat"].'
        )
    return _NAMES


def _parsed(text: str | None) -> Any:
    """Return what JSON in a cell says: None of an empty cell, else a list, object or anything.

    Text that is not UTF-8 comes as None, and says nothing either.
    """
    if text is None or not text.strip():
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return _NO_JSON


def _list_of(kind: pa.DataType, plain: bool, text: str | None) -> Any:
    """Return the list of a cell; `plain` text may stand for a list of itself."""
    if plain and text is not None and text.strip()[:1] not in ("", "["):
        return [text]
    cell = _NO_JSON if text is None else _parsed(text)
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
    _NAMES: spelt,
    _SCORED: _pair,
    _NUMBERS: _number,
}
