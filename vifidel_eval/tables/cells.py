"""Lists in text: a column of a CSV file holds them as JSON, such as ``["dog", "cat"]``."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from ..errors import VifidelError
from .columns import is_text

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
    plain: str | None

    @classmethod
    def of(
        cls,
        first: pa.RecordBatch,
        labels: str | None,
        label_scores: str | None,
        references: str | None,
    ) -> Cells:
        """Return how columns are read, which their first rows say.

        Parameters
        ----------
        first : RecordBatch
            The first rows.
        labels, label_scores, references : str, optional
            The names of the columns, which need not be there.

        Raises
        ------
        VifidelError
            If the text in the column of labels is something else.
        """

        def is_cells(name: str | None) -> bool:
            if name not in first.schema.names:
                return False
            kind = first.schema.field(name).type
            return is_text(kind) and not pa.types.is_null(kind)

        types = {}
        if labels is not None and is_cells(labels):
            types[labels] = _type_of(labels, first.column(labels).to_pylist())
        if label_scores is not None and is_cells(label_scores):
            types[label_scores] = _NUMBERS
        if references is not None and is_cells(references):
            types[references] = _NAMES
        return cls(types, references)

    def schema(self, schema: pa.Schema) -> pa.Schema:
        """Return the schema with the types that columns get."""
        for name, kind in self.types.items():
            schema = schema.set(schema.get_field_index(name), pa.field(name, kind))
        return schema

    def read(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Return rows with lists in place of text; what cannot be read is a list of one null."""
        for name, kind in self.types.items():
            read = _of_plain if name == self.plain else _READERS[kind]
            column = pa.array(map(read, batch.column(name).to_pylist()), kind)
            batch = batch.set_column(batch.schema.get_field_index(name), name, column)
        return batch


def _type_of(name: str, texts: Sequence[str | None]) -> pa.DataType:
    cells = [cell for cell in map(_parsed, texts) if cell is not None]
    lists = [cell for cell in cells if isinstance(cell, list)]
    if any(isinstance(cell, dict) for cell in cells):
        return _COUNTED
    values = [value for cell in lists for value in cell]
    if any(isinstance(value, list | dict) for value in values):
        return _SCORED
    if cells and not lists:
        text = next(text for text in texts if text and text.strip())
        raise VifidelError(
            f"the column {name!r} holds text such as {text!r:.60}; write lists in it as JSON, such "
            'as ["dog", "cat"].'
        )
    return _NAMES


def _parsed(text: str | None) -> Any:
    """Return what JSON in a cell says: None of an empty cell, else a list, object or anything."""
    if text is None or not text.strip():
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return _NO_JSON


def _spelt(text: str) -> str:
    """Return text without lone surrogates, which JSON can spell and Arrow cannot."""
    return text.encode(errors="replace").decode()


def _names(text: str | None) -> Any:
    cell = _parsed(text)
    if cell is None:
        return None
    if not isinstance(cell, list):
        return [None]
    return [_spelt(value) if isinstance(value, str) else None for value in cell]


def _of_plain(text: str | None) -> Any:
    return _names(text) if text is None or text.strip()[:1] in ("", "[") else [text]


def _scored(text: str | None) -> Any:
    cell = _parsed(text)
    if cell is None:
        return None
    return [_pair(value) for value in cell] if isinstance(cell, list) else [None]


def _pair(value: Any) -> Any:
    """Return a label with its score, as annotations have it: a pair or an object."""
    if isinstance(value, str):
        return {"label": _spelt(value), "score": None}
    if isinstance(value, dict):
        label = next((value[name] for name in ("label", "name") if name in value), None)
        score = next((value[name] for name in ("score", "confidence") if name in value), None)
    elif isinstance(value, list) and len(value) == 2:
        label, score = value
    else:
        return None
    if not isinstance(label, str) or score is None or not _is_number(score):
        return None
    return {"label": _spelt(label), "score": float(score)}


def _counted(text: str | None) -> Any:
    cell = _parsed(text)
    if cell is None:
        return None
    if not isinstance(cell, dict):
        return [("", None)]
    return [
        (_spelt(label), count if type(count) is int and abs(count) < 1 << 63 else None)
        for label, count in cell.items()
    ]


def _numbers(text: str | None) -> Any:
    cell = _parsed(text)
    if cell is None:
        return None
    if not isinstance(cell, list):
        return [None]
    return [float(value) if _is_number(value) else None for value in cell]


def _is_number(value: Any) -> bool:
    return type(value) is float or (type(value) is int and abs(value) < 1 << 53)


_READERS: dict[pa.DataType, Callable[[str | None], Any]] = {
    _NAMES: _names,
    _SCORED: _scored,
    _COUNTED: _counted,
    _NUMBERS: _numbers,
}
