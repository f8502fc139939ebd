"""Containers: JSON, JSON Lines, CSV, TSV and Parquet, told apart by content.

Parquet: https://parquet.apache.org/docs/file-format/.
"""

from __future__ import annotations

import csv
import os
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any, Literal, NamedTuple, TypeAlias

from ..errors import VifidelError
from ..project import pip_install
from .entries import Entries, Entry, Source, root
from .files import as_text, first_line, is_json_lines, parse_json, parse_json_lines, read_bytes
from .image_ids import from_json_key

#: How every Parquet file begins.
PARQUET = b"PAR1"

# A field of CSV may be as long as the longest caption that is scored, and an escaped quote doubles.
_LONGEST_FIELD = 1 << 20
_MOST_ROWS = 20_000_000
_ROWS_AT_ONCE = 1024


class CsvTable:
    """Text that may be a table with a header: CSV, or with tabs or semicolons between fields.

    `header` is empty if the first line cannot be read, and `delimiter` if it has one field.
    """

    def __init__(self, text: str, source: Source) -> None:
        self.text = text
        self.source = source
        first = text.lstrip("\n").partition("\n")[0]
        semicolons = first.count(";") > first.count(",")
        self.delimiter = next((d for d in "\t;," if d in first and (d != ";" or semicolons)), "")
        try:
            self.header = next(csv.reader([first], delimiter=self.delimiter or ",", strict=True))
        except (csv.Error, StopIteration):
            self.header = []

    def __iter__(self) -> Iterator[Entry]:
        """Yield the rows below the header, whose fields are text."""
        source, names = self.source, self.header
        rows = csv_rows(self.text, source.where, self.delimiter or ",", source.error)
        line, _ = next(rows, (1, []))
        twice = [name for name in names if name and names.count(name) > 1]
        if twice:
            raise source.error(
                f"{source.where}: line {line} names the column {twice[0]!r:.40} twice; keep one."
            )
        entries = Entries((), source, unit="line", textual=True)
        for line, row in rows:
            if len(row) != len(names):
                raise source.error(
                    f"{source.where}: line {line} has {len(row)} fields but the header has "
                    f"{len(names)}; put fields that contain the separator in quotes."
                )
            entry = source.reading = Entry(dict(zip(names, row, strict=True)), entries, line)
            yield entry

    def entries(self) -> Entries:
        """Return all rows."""
        rows = list(self)
        numbers = [row.ordinal or 0 for row in rows]
        contents = [row.content for row in rows]
        return Entries(contents, self.source, numbers=numbers, unit="line", textual=True)


def csv_rows(
    text: str, where: str, delimiter: str, error: type[VifidelError]
) -> Iterator[tuple[int, list[str]]]:
    """Yield rows (RFC 4180) that are not blank, each after the number of its first line.

    A quoted field may hold line breaks.
    """
    lines = (f"{line}\n" for line in text.split("\n"))
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    line = 1
    rows: list[tuple[int, list[str]]] | None = None
    while rows is None or rows:
        rows = []
        limit = csv.field_size_limit(_LONGEST_FIELD)
        try:
            for row in islice(reader, _ROWS_AT_ONCE):
                rows.append((line, row))
                line = reader.line_num + 1
        except csv.Error as problem:
            raise error(
                f"{where}: line {line} is not {'TSV' if delimiter == chr(9) else 'CSV'} "
                f"({first_line(problem)}): a quote that does not end, or one inside a field that "
                "is not doubled."
            ) from None
        finally:
            csv.field_size_limit(limit)
        yield from ((line, row) for line, row in rows if row)


#: What content comes as: a JSON object, the objects of a list, of JSON Lines or of Parquet, text
#: that is not JSON, XML, a folder; or something else.
Kind: TypeAlias = Literal["object", "list", "table", "xml", "folder", "other"]


class Content(NamedTuple):
    """What a file or a program gives.

    The value of an ``"object"`` is an `Entry`, of a ``"list"`` an `Entries`, of a ``"table"`` a
    `CsvTable`, of ``"xml"`` bytes, whose encoding is declared there, of a ``"folder"`` its path.
    """

    kind: Kind
    value: Any
    source: Source


def content_of(raw: bytes, where: str, error: type[VifidelError]) -> Content:
    """Return the content of a file's bytes; messages call it `where`.

    The keys of a JSON object may be image ids: whole numbers among them become numbers.
    """
    source = Source(where, error)
    if raw.startswith(PARQUET):
        rows = _read_parquet(raw, where, error)
        numbers = range(1, len(rows) + 1)
        return Content("list", Entries(rows, source, numbers=numbers, unit="row"), source)
    if raw[:64].removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"<"):
        return Content("xml", raw, source)
    text = as_text(raw, where, error)
    if is_json_lines(text):
        values, numbers_of_lines = parse_json_lines(text, where, error)
        entries = Entries(values, source, numbers=numbers_of_lines, unit="line")
        return Content("list", entries, source)
    if text.strip() and text.lstrip()[0] not in "{[":
        table = CsvTable(text, source)
        if table.delimiter or not where.lower().endswith(".json"):
            return Content("table", table, source)
    content = parse_json(text, where, error)
    if isinstance(content, dict):
        by_id = {from_json_key(key): value for key, value in content.items()}
        return Content("object", root(by_id, source), source)
    is_list = isinstance(content, list)
    return (
        Content("list", Entries(content, source), source)
        if is_list
        else Content("other", content, source)
    )


def entries_of(
    given: str | os.PathLike[str] | Sequence[Any], error: type[VifidelError], where: str = ""
) -> Entries:
    """Return the entries of a file, a JSON list or JSON Lines, or of a list, called `where`."""
    if not isinstance(given, str | os.PathLike):
        numbers = range(1, len(given) + 1)
        return Entries(given, Source(where, error), numbers=numbers, unit="line")
    content = content_of(read_bytes(given, error), str(given), error)
    if content.kind == "object":  # JSON Lines of one line
        return Entries([content.value.content], content.source, numbers=[1], unit="line")
    if content.kind != "list":
        raise error(f"{given}: is no list of JSON objects or JSON Lines; is it the right file?")
    entries: Entries = content.value
    return entries


def _read_parquet(raw: bytes, where: str, error: type[VifidelError]) -> list[dict[str, Any]]:
    """Read the columns of a Parquet file that can be image ids, captions or labels."""
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise error(
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
        raise error(
            f"{where}: the Parquet file cannot be read ({first_line(problem):.200}); write it "
            "again."
        ) from None
    if many:  # a small file can say so of any number
        raise error(
            f"{where}: holds {file.metadata.num_rows} rows, more than the {_MOST_ROWS} that are "
            "read into memory; split it."
        )
    if repeated:
        raise error(f"{where}: the column {repeated[0]!r:.40} appears twice; keep one.")
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
