"""Tables: CSV and TSV with a header, and Parquet (https://parquet.apache.org/docs/file-format/)."""

from __future__ import annotations

import csv
import io
from typing import Any

from ..errors import CaptionError
from ..files import first_line

#: How every Parquet file begins.
PARQUET = b"PAR1"

# A field of CSV may be as long as the longest caption that is scored, and an escaped quote doubles.
_LONGEST_FIELD = 1 << 20
_MOST_ROWS = 20_000_000


def delimiter(text: str) -> str | None:
    """Return what separates the fields of a table's header, or None if it has one field."""
    header = text.lstrip("\n").partition("\n")[0]
    return next((between for between in "\t,;" if between in header), None)


def read_delimited(text: str, where: str, between: str) -> tuple[list[dict[str, str]], list[int]]:
    """Read CSV (RFC 4180) or TSV: the rows under their header, and the line each begins in.

    A quoted field may hold line breaks. Blank lines are skipped.

    Raises
    ------
    CaptionError
        If a column is named twice or not at all, a line has more or fewer fields than the header,
        or a quote does not end.
    """
    limit = csv.field_size_limit(_LONGEST_FIELD)
    try:
        return _rows(text, where, between)
    finally:
        csv.field_size_limit(limit)


def _rows(text: str, where: str, between: str) -> tuple[list[dict[str, str]], list[int]]:
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=between, strict=True)
    header: list[str] = []
    rows, lines = [], []
    line = 1
    try:
        for row in reader:
            if not row:
                pass
            elif not header:
                header = _checked_header(row, f"{where}: line {line}")
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
    return rows, lines


def _checked_header(header: list[str], at: str) -> list[str]:
    for name in header:
        if header.count(name) > 1:
            raise CaptionError(f"{at} names the column {name!r:.40} twice; keep one.")
    return header


def read_parquet(raw: bytes, where: str) -> list[dict[str, Any]]:
    """Read the columns of a Parquet file that can be image ids or captions; others are not read.

    Raises
    ------
    CaptionError
        If pyarrow is missing, the file is damaged, or a column is named twice.
    """
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise CaptionError(
            f"{where}: is a Parquet file, and pyarrow reads it: pip install 'vifidel-eval[tables]'."
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
    if types.is_dictionary(kind):
        kind = kind.value_type
    if types.is_list(kind) or types.is_large_list(kind):
        kind = kind.value_type
        return _is_text(types, kind)
    return _is_text(types, kind) or types.is_integer(kind) or types.is_floating(kind)


def _is_text(types: Any, kind: Any) -> bool:
    tests = (types.is_string, types.is_large_string, types.is_string_view)
    return any(test(kind) for test in tests)
