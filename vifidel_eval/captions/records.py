"""Records from any container: JSON, JSON Lines, CSV, TSV or Parquet, told apart by content.

Parquet: https://parquet.apache.org/docs/file-format/.
"""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from ..errors import CaptionError
from ..io.files import (
    STANDARD_INPUT,
    as_text,
    first_line,
    is_json_lines,
    parse_json,
    parse_json_lines,
    read_bytes,
    read_standard_input,
)
from ..project import pip_install
from .fields import (
    CAPTIONS,
    IMAGE_IDS,
    MISSING,
    REFERENCES,
    Wanted,
    listed,
    spelled,
    steps_of,
    usual,
    value_at,
)

#: How every Parquet file begins.
PARQUET = b"PAR1"

# A field of CSV may be as long as the longest caption that is scored, and an escaped quote doubles.
_LONGEST_FIELD = 1 << 20
_MOST_ROWS = 20_000_000


@dataclass(frozen=True)
class Records:
    """Entries of a file, one per caption or per image: dicts where the file is right."""

    #: What messages call the file.
    where: str
    entries: Sequence[Any]
    #: The line or row of each entry, from 1; None for the entries of one JSON list.
    lines: Sequence[int] | None = None
    #: What `lines` counts: "line" or "row".
    unit: str = "line"
    #: Whether all values are text, as in CSV, so that an id of digits is a number.
    textual: bool = False

    def place(self, number: int) -> str:
        """Return where entry `number` is: ``[0]``, ``line 2`` or ``row 1``."""
        return f"[{number}]" if self.lines is None else f"{self.unit} {self.lines[number]}"

    def at(self, number: int) -> str:
        """Return the file and where entry `number` is in it."""
        return f"{self.where}: {self.place(number)}"

    @cached_property
    def names(self) -> list[str]:
        """The names of all fields that an entry has, in the order of the file."""
        seen: dict[str, None] = {}
        for number, entry in enumerate(self.entries):
            if not isinstance(entry, dict):
                raise CaptionError(
                    f"{self.at(number)}: expected an object with an image id and a caption, found "
                    f"{entry!r:.40}."
                )
            if not entry.keys() <= seen.keys():
                seen.update(dict.fromkeys(entry))
        return list(seen)

    def with_paths(self, wanted: Wanted) -> Records:
        """Return records in which the paths that a user names are fields of those names.

        So everything after it reads plain fields. A field of exactly that name goes before the
        path; of several paths, those are left out that lead nowhere in any entry.
        """
        entries = self.entries
        for asked, option in ((wanted.id_fields, "--id-field"), (wanted.fields, wanted.option)):
            for name in asked:
                if name in self.names:
                    break
                steps = steps_of(name)
                if len(steps) == 1:
                    continue
                values = [value_at(entry, steps) for entry in self.entries]
                if len(asked) > 1 and all(value is MISSING for value in values):
                    continue
                for number, value in enumerate(values):
                    if value is MISSING:
                        raise self._missing_part(number, steps, f"{option} {name}")
                filled = zip(entries, values, strict=True)
                entries = [{**entry, name: value} for entry, value in filled]
                break
        return self if entries is self.entries else replace(self, entries=entries)

    def _missing_part(self, number: int, steps: Sequence[str | int], option: str) -> CaptionError:
        """Return the error for an entry in which a path ends too early."""
        entry = self.entries[number]
        ends = next(at for at in range(len(steps)) if value_at(entry, steps[: at + 1]) is MISSING)
        step, holder = steps[ends], value_at(entry, steps[:ends])
        if isinstance(step, str) and isinstance(holder, Mapping):
            keys = [str(key) for key in holder]
            there = f"has {listed(keys)}" if keys else "is empty"
        elif isinstance(step, int) and isinstance(holder, list | tuple):
            there = f"has {len(holder)} {'entry' if len(holder) == 1 else 'entries'}"
        else:
            found = "null" if holder is None else f"{holder!r:.40}"
            there = f"is {found}, not {'an object' if isinstance(step, str) else 'a list'}"
        missing = f"{step!r:.60}" if isinstance(step, str) else f"[{step}]"
        if not ends:
            return CaptionError(f"{self.at(number)}: no field {missing} ({option}); it {there}.")
        within = f"{spelled(steps[:ends])!r:.60}"
        return CaptionError(
            f"{self.at(number)}: no {missing} in {within} ({option}), which {there}."
        )


def read_content(path: str | os.PathLike[str]) -> tuple[Records | dict[str, Any], str]:
    """Return the content of a file, or of standard input for ``-``, and what messages call it.

    The content is a dict if the file is one JSON object that is not a record.
    """
    if os.fspath(path) == STANDARD_INPUT:
        where, raw = "standard input", read_standard_input(CaptionError)
    else:
        where, raw = str(path), read_bytes(path, CaptionError)
    return content_of(raw, where), where


def content_of(raw: bytes, where: str) -> Records | dict[str, Any]:
    """Return the content of a file's bytes as `read_content` does."""
    if raw.startswith(PARQUET):
        rows = _read_parquet(raw, where)
        return Records(where, rows, range(1, len(rows) + 1), "row")
    text = as_text(raw, where, CaptionError)
    if is_json_lines(text):
        entries, lines = parse_json_lines(text, where, CaptionError)
        return Records(where, entries, lines)
    between = delimiter(text)
    if text.lstrip()[:1] in ("{", "[") or between is None:
        return _from_json(parse_json(text, where, CaptionError), where)
    limit = csv.field_size_limit(_LONGEST_FIELD)
    try:
        return _read_delimited(text, where, between)
    finally:
        csv.field_size_limit(limit)


def _from_json(content: Any, where: str) -> Records | dict[str, Any]:
    if isinstance(content, list):
        return Records(where, content)
    if not isinstance(content, dict):
        raise CaptionError(
            f"{where}: {content!r:.40} is not a caption file; accepted: COCO's JSON, JSON Lines, "
            "CSV or TSV with a header, Parquet."
        )
    ids, captions = usual(content, IMAGE_IDS), usual(content, {*CAPTIONS, *REFERENCES})
    if not ids or not captions or "annotations" in content:
        return content
    if any(isinstance(content[name], dict | list) for name in ids):
        raise CaptionError(
            f"{where}: looks like a table written column by column; write one record per image, as "
            "JSON Lines or CSV."
        )
    return Records(where, [content])  # a file of one line


def delimiter(text: str) -> str | None:
    """Return what separates the fields of a table's header, or None if it has one field."""
    header = text.lstrip("\n").partition("\n")[0]
    return next((between for between in "\t,;" if between in header), None)


def _read_delimited(text: str, where: str, between: str) -> Records:
    """Read CSV (RFC 4180) or TSV; a quoted field may hold line breaks, blank lines are skipped."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=between, strict=True)
    header: list[str] = []
    rows, lines = [], []
    line = 1
    try:
        for row in reader:
            if not row:
                pass
            elif not header:
                header = row
                twice = [name for name in header if header.count(name) > 1]
                if twice:
                    raise CaptionError(
                        f"{where}: line {line} names the column {twice[0]!r:.40} twice; keep one."
                    )
            elif len(row) == len(header):
                rows.append(dict(zip(header, row, strict=True)))
                lines.append(line)
            else:
                raise CaptionError(
                    f"{where}: line {line} has {len(row)} fields but the header has {len(header)}; "
                    "put captions that contain the separator in quotes."
                )
            line = reader.line_num + 1
    except csv.Error as problem:
        raise CaptionError(
            f"{where}: line {line} is not {'TSV' if between == chr(9) else 'CSV'} "
            f"({first_line(problem)}): a quote that does not end, or one inside a field that is "
            "not doubled."
        ) from None
    return Records(where, rows, lines, textual=True)


def _read_parquet(raw: bytes, where: str) -> list[dict[str, Any]]:
    """Read the columns of a Parquet file that can be image ids or captions."""
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise CaptionError(
            f"{where}: is a Parquet file, and pyarrow reads it: {pip_install('pyarrow')}."
        ) from None
    try:
        file = pq.ParquetFile(pa.BufferReader(raw))
        schema = file.schema_arrow
        many = file.metadata.num_rows > _MOST_ROWS
        repeated = sorted({name for name in schema.names if schema.names.count(name) > 1})
        columns = [field.name for field in schema if _is_readable(pa.types, field.type)]
        rows = [] if repeated or many else file.read(columns=columns).to_pylist()
    except Exception as problem:  # damaged files raise nearly anything
        raise CaptionError(
            f"{where}: the Parquet file cannot be read ({first_line(problem):.200}); write it "
            "again."
        ) from None
    if many:  # a small file can say so of any number
        raise CaptionError(
            f"{where}: holds {file.metadata.num_rows} rows, more than the {_MOST_ROWS} that are "
            "read into memory; split it."
        )
    if repeated:
        raise CaptionError(f"{where}: the column {repeated[0]!r:.40} appears twice; keep one.")
    return rows


def _is_readable(types: Any, kind: Any) -> bool:
    """Return whether a column has texts, lists of texts, or numbers."""
    if types.is_dictionary(kind):
        kind = kind.value_type
    in_lists = types.is_list(kind) or types.is_large_list(kind)
    if in_lists:
        kind = kind.value_type
    texts = types.is_string, types.is_large_string, types.is_string_view
    numbers = () if in_lists else (types.is_integer, types.is_floating)
    return any(is_kind(kind) for is_kind in (*texts, *numbers))
