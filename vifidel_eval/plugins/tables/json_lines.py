"""JSON Lines as columns: every value keeps its type, and a column may begin anywhere.

A file is read twice: first for the types of its columns, then for their values. A column of which
no Arrow type holds all values (text and numbers, whole numbers of more than 64 bits) becomes text:
strings stay what they are, other values are written as JSON.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from ...errors import VifidelError
from ...io.files import parse_json_lines

# Bytes that are read at a time, and the longest line.
_BLOCK, _LONGEST = 1 << 20, 1 << 26
# So many fields an object may have in a column of its own; one of more is rather a mapping.
_MOST_FIELDS = 1000
# What is in every text that has a number above the largest double, and in hardly any other.
_LARGE = re.compile(rb"\d[eE]\+?\d{3}|\d{309}")


class JsonLines:
    """The rows of a file of JSON Lines; `schema` has its columns in the order of appearance.

    All of them, as `batches` needs them, only if the `whole` of it is looked at.
    """

    def __init__(self, filesystem: Any, path: str, whole: bool) -> None:
        self._filesystem, self._path = filesystem, path
        self._refusal = f"{path}: cannot be read as JSONL"
        kinds: dict[str, pa.DataType | None] = {}
        changed: set[str] = set()
        for rows in self._blocks():
            for name in dict.fromkeys(name for row in rows for name in row):
                before = kinds.get(name, pa.null())
                kind = _type_of([row.get(name) for row in rows])
                kinds[name] = _common(before, kind)
                if {before, kind} - {kinds[name], pa.null()}:
                    changed.add(name)
            if kinds and not whole:
                break
        if not kinds:
            raise VifidelError(f"{self._refusal}: it has no rows; write it again.")
        changed = {name for name in changed if kinds[name] is not None}
        for rows in self._blocks() if changed else ():
            for name in changed:
                if _type_of([row.get(name) for row in rows], kinds[name]) is None:
                    kinds[name] = None  # a whole number that no double holds, beside fractions
        self._as_text = {name for name, kind in kinds.items() if kind is None}
        self.schema = pa.schema([(n, kind or pa.string()) for n, kind in kinds.items()])

    def batches(self, rows_at_once: int) -> Iterator[pa.RecordBatch]:
        """Yield the rows in their order."""
        for block in self._blocks():
            for start in range(0, len(block), rows_at_once):
                rows = block[start : start + rows_at_once]
                columns = [self._column(field, rows) for field in self.schema]
                yield pa.RecordBatch.from_arrays(columns, schema=self.schema)

    def _column(self, field: pa.Field, rows: list[dict[str, Any]]) -> pa.Array:
        values = [row.get(field.name) for row in rows]
        if field.name not in self._as_text:
            return pa.array(values, field.type)
        return pa.array(list(map(_bytes, values)), pa.binary()).view(pa.string())

    def _blocks(self) -> Iterator[list[dict[str, Any]]]:
        """Yield the rows of some lines at a time."""
        with self._filesystem.open_input_stream(self._path, compression="detect") as stream:
            rest, lines = stream.read(3).removeprefix(b"\xef\xbb\xbf"), 1
            while block := stream.read(_BLOCK):
                whole, end, last = block.rpartition(b"\n")
                if end:
                    yield self._rows(rest + whole, lines)
                    lines, rest = lines + whole.count(b"\n") + 1, last
                elif len(rest) > _LONGEST:
                    raise VifidelError(
                        f"{self._refusal}: line {lines} has more than {_LONGEST >> 20} MiB; write "
                        "one JSON object per line."
                    )
                else:
                    rest += block
            yield self._rows(rest, lines)

    def _rows(self, lines: bytes, first: int) -> list[dict[str, Any]]:
        text = lines.decode("utf-8", "surrogateescape")
        values, numbers = parse_json_lines(text, self._refusal, VifidelError, first)
        for value, number in zip(values, numbers, strict=True):
            if not isinstance(value, dict):
                raise VifidelError(
                    f"{self._refusal}: line {number} holds {value!r:.40}; write one JSON object "
                    "per line."
                )
        if _LARGE.search(lines):
            for number, line in enumerate(text.split("\n"), first):
                self._check_numbers(line, number)
        return values

    def _check_numbers(self, line: str, number: int) -> None:
        """Raise for a number that would become infinity."""

        def check(spelt: str) -> float:
            if math.isinf(float(spelt)):
                raise VifidelError(
                    f"{self._refusal}: line {number} holds {spelt:.40}, which is too large for "
                    "double precision; write it as a string."
                )
            return 0.0

        if line.strip():
            json.loads(line, parse_float=check)


def _type_of(values: list[Any], kind: pa.DataType | None = None) -> pa.DataType | None:
    """Return the Arrow type that holds values as they are, or whether this does; else None."""
    try:
        return _bounded(pa.array(values, kind).type)
    except (pa.ArrowException, OverflowError, UnicodeEncodeError):
        return None


def _common(first: pa.DataType | None, second: pa.DataType | None) -> pa.DataType | None:
    """Return the type that holds values of both."""
    if first is None or second is None or first == second:
        return second if first == second else None
    schemas = [pa.schema([("", kind)]) for kind in (first, second)]
    try:
        return _bounded(pa.unify_schemas(schemas, promote_options="permissive").field(0).type)
    except pa.ArrowException:
        return None


def _bounded(kind: pa.DataType) -> pa.DataType | None:
    """Return a type that Parquet holds and that has not too many fields; None for others."""
    spelt = str(kind)
    return None if "struct<>" in spelt or spelt.count(": ") > _MOST_FIELDS else kind


def _bytes(value: Any) -> bytes | None:
    """Return a value as text, with the bytes of the file also where they are not UTF-8."""
    if value is None:
        return None
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:  # half of a character, such as \ud800
        return text.encode("utf-8", "surrogatepass")
