"""Containers: JSON, JSON Lines, CSV, TSV, Excel and Parquet.

A cell of text may spell a list in JSON, or as Python and so pandas write it. Strings without a
comma between them, as NumPy prints an array, are no list, although Python would join them.
"""

from __future__ import annotations

import ast
import csv
import io
import json
import os
import re
import threading
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, Literal, NamedTuple, TypeAlias

from ..errors import VifidelError
from ..project import pip_install
from .entries import Entries, Entry, Source, root
from .files import as_text, first_line, parse_json, parse_json_lines, read_bytes
from .image_ids import from_json_key

#: How every Parquet file begins.
PARQUET = b"PAR1"  # https://parquet.apache.org/docs/file-format/
# An Excel workbook is a zip archive, in which names of files can be read.
_ZIP, _WORKBOOK = b"PK\x03\x04", b"xl/workbook"
# Between objects of indented JSON that are not in a list, in which there would be a comma.
_BETWEEN_OBJECTS = re.compile(r"(?<=\n\})\s*\n(?=\{)")

# A field of CSV may be as long as the longest caption that is scored, and an escaped quote doubles.
_LONGEST_FIELD = 1 << 20
_LIMIT = threading.Lock()  # held while csv has this limit, which is one for all threads
_MOST_ROWS = 20_000_000
_ROWS_AT_ONCE = 1024

# Python's literals, token by token, of which each value ends at a comma, a colon, a bracket or the
# end: so nothing is called, added or joined. What else comes is caught as a whole, so that each
# character is seen once. Of escapes, those that `repr` and JSON write for the same character.
_ESCAPE = r"\\(?:['\"\\bfnrt]|x[0-9a-f]{2}|u[0-9a-fA-F]{4}|U[0-9a-f]{8})"
_LITERAL = re.compile(
    rf"""
    (?: '[^'\\\n]*(?:{_ESCAPE}[^'\\\n]*)*' | "[^"\\\n]*(?:{_ESCAPE}[^"\\\n]*)*"
      | None | True | False | [-+]?\.?[0-9][\w.]*(?:(?<=[eE])[-+][0-9]+)? | [\])}}]
    ) (?=\s*(?:[\])}},:]|\Z))
    | [\s\[({{,:]+
    | ([\s\S]+)
    """,
    re.VERBOSE,
)
_LONGEST_LITERAL = 1 << 18  # characters; Python's own parser takes brackets 200 deep


class CsvTable:
    """Text that may be a table with a header: CSV, or with tabs or semicolons between fields."""

    def __init__(self, text: str, source: Source) -> None:
        self.text = text
        self.source = source
        self.first_line = first = text.lstrip("\n").partition("\n")[0]
        semicolons = first.count(";") > first.count(",")
        self.delimiter = next((d for d in "\t;," if d in first and (d != ";" or semicolons)), "")
        try:
            self.header = next(csv.reader([first], delimiter=self.delimiter or ",", strict=True))
        except (csv.Error, StopIteration):
            self.header = []  # of a first line that cannot be read

    @property
    def columns(self) -> dict[str, str]:
        """The names of the columns as they are and in plain spelling, as keys."""
        return dict.fromkeys([*self.header, *map(plain_name, self.header)], "")

    def pairs(self) -> Entries:
        """Return all lines, the first too: ``column_1``, a tab and ``column_2``, without quotes."""
        lines = {at: line for at, line in enumerate(self.text.split("\n"), 1) if line.strip()}
        for at, line in lines.items():
            if line.count("\t") != 1:
                raise self.source.error(
                    f"{self.source.where}: line {at} is not an image id, a tab and a caption; "
                    "write one such line per caption, or a header in the first line."
                )
        fields = [line.split("\t") for line in lines.values()]
        pairs = [{"column_1": image, "column_2": caption} for image, caption in fields]
        return Entries(pairs, self.source, numbers=list(lines), unit="line", textual=True)

    def rows(self, line_breaks: bool = False) -> Iterator[Entry]:
        """Yield the rows below the header, whose fields are text."""
        source, names = self.source, self.header
        delimiter = self.delimiter or ","
        rows = csv_rows(self.text, source.where, delimiter, source.error, line_breaks)
        line, _ = next(rows, (1, []))
        if twice := _repeated(names):
            raise source.error(
                f"{source.where}: line {line} names the column {twice!r:.40} twice; keep one."
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
        """Return all rows, whose fields may hold line breaks."""
        rows = list(self.rows(line_breaks=True))
        numbers = [row.ordinal or 0 for row in rows]
        contents = [row.content for row in rows]
        return Entries(contents, self.source, numbers=numbers, unit="line", textual=True)


def plain_name(column: str) -> str:
    """Return the name of a column in lower case, with underscores between its words."""
    return "_".join(column.strip().lower().replace("-", " ").split())


def csv_rows(
    text: str, where: str, delimiter: str, error: type[VifidelError], line_breaks: bool = False
) -> Iterator[tuple[int, list[str]]]:
    """Yield rows (RFC 4180) that are not blank, each after the number of its first line."""
    lines = (f"{line}\n" for line in text.split("\n"))
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    line = 1
    rows: list[tuple[int, list[str]]] | None = None
    while rows is None or rows:
        rows = []
        with _LIMIT:
            limit = csv.field_size_limit(_LONGEST_FIELD)
            try:
                for row in islice(reader, _ROWS_AT_ONCE):
                    if reader.line_num > line and not line_breaks:  # a quote that nobody closed
                        raise csv.Error("a field continues in the next line")
                    rows.append((line, row))
                    line = reader.line_num + 1
            except csv.Error as problem:
                raise error(
                    f"{where}: line {line} is not {'TSV' if delimiter == chr(9) else 'CSV'} "
                    f"({first_line(problem)}): close every quote, and double quotes inside a field."
                ) from None
            finally:
                csv.field_size_limit(limit)
        yield from ((line, row) for line, row in rows if row)


def _repeated(names: Iterable[str]) -> str:
    """Return the first name that several columns have; empty if all differ."""
    return next((name for name, number in Counter(names).items() if name and number > 1), "")


#: What content comes as: a JSON object, the objects of a list, of JSON Lines or of Parquet, text
#: that is not JSON, XML, a folder; or something else.
Kind: TypeAlias = Literal["object", "list", "table", "xml", "folder", "other"]


class Content(NamedTuple):
    """What a file or a program gives."""

    kind: Kind
    value: Any  # an `Entry`, `Entries`, `CsvTable`, XML's bytes, a folder's path, by the kind
    source: Source


def content_of(raw: bytes, where: str, error: type[VifidelError]) -> Content:
    """Return the content of a file's bytes; messages call it `where`."""
    source = Source(where, error)
    parquet = raw.startswith(PARQUET)
    if parquet or (raw.startswith(_ZIP) and _WORKBOOK in raw):
        names, rows = (_read_parquet if parquet else _read_excel)(raw, where, error)
        if twice := _repeated(names):
            raise error(f"{where}: the column {twice!r:.40} appears twice; keep one.")
        numbers = range(1, len(rows) + 1) if parquet else range(2, len(rows) + 2)
        entries = Entries(rows, source, numbers=numbers, unit="row", textual=not parquet)
        return Content("list", entries, source)
    if raw[:64].removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"<"):
        return Content("xml", raw, source)
    text = as_text(raw, where, error)
    first, _, rest = text.lstrip().partition("\n")
    if first.startswith("{") and first.rstrip().endswith("}") and rest.lstrip().startswith("{"):
        values, numbers_of_lines = parse_json_lines(text, where, error)
        entries = Entries(values, source, numbers=numbers_of_lines, unit="line")
        return Content("list", entries, source)
    if text.strip() and text.lstrip()[0] not in "{[":
        table = CsvTable(text, source)
        if table.delimiter or not where.lower().endswith(".json"):
            return Content("table", table, source)
    objects = _BETWEEN_OBJECTS.split(text) if first.startswith("{") and "\n{" in text else []
    if len(objects) > 1:
        numbers = range(1, len(objects) + 1)
        places = [f"{where}: object {number}" for number in numbers]
        values = [parse_json(member, at, error) for member, at in zip(objects, places, strict=True)]
        return Content("list", Entries(values, source, numbers=numbers, unit="object"), source)
    kind: Kind = "other"
    content = parse_json(text, where, error)
    if isinstance(content, dict):  # whose keys may be image ids
        by_id = {from_json_key(key): value for key, value in content.items()}
        content, kind = root(by_id, source), "object"
    elif isinstance(content, list):
        content, kind = Entries(content, source), "list"
    return Content(kind, content, source)


def content_of_file(path: str | os.PathLike[str], error: type[VifidelError]) -> Content:
    """Return the content of a file, which messages call by its path."""
    return content_of(read_bytes(path, error), str(path), error)


def entries_of(
    source: str | os.PathLike[str] | Sequence[Any], error: type[VifidelError], where: str = ""
) -> Entries:
    """Return the entries of a file, a JSON list or JSON Lines, or of a list, called `where`."""
    if not isinstance(source, str | os.PathLike):
        numbers = range(1, len(source) + 1)
        return Entries(source, Source(where, error), numbers=numbers, unit="line")
    content = content_of_file(source, error)
    if content.kind == "object":  # JSON Lines of one line
        return Entries([content.value.content], content.source, numbers=[1], unit="line")
    if content.kind != "list":
        raise error(
            f"{source}: is neither a list of JSON objects nor JSON Lines; is it the right file?"
        )
    entries: Entries = content.value
    return entries


_Columns: TypeAlias = tuple[list[str], list[dict[str, Any]]]  #: all names, and rows of some


def _read_excel(raw: bytes, where: str, error: type[VifidelError]) -> _Columns:
    """Read the first sheet of an Excel workbook, whose first row has the names, as text."""
    try:
        import pandas as pd

        # Without a header: pandas would rename columns of the same name.
        table = pd.read_excel(io.BytesIO(raw), header=None, dtype=str, keep_default_na=False)
    except ImportError:  # pandas reads it with openpyxl
        raise error(
            f"{where}: is an Excel file; save it as CSV (UTF-8), or "
            f"{pip_install('pandas', 'openpyxl')}."
        ) from None
    except Exception as problem:  # damaged files raise nearly anything
        raise error(
            f"{where}: the Excel file cannot be read ({first_line(problem):.200}); save it as CSV."
        ) from None
    names, *rows = table.to_numpy().tolist() or [[]]
    return names, [dict(zip(names, row, strict=True)) for row in rows]


def _read_parquet(raw: bytes, where: str, error: type[VifidelError]) -> _Columns:
    """Read the columns of a Parquet file that can be image ids, captions or labels."""
    try:
        import pyarrow as pa
        import pyarrow.compute as pc
        import pyarrow.parquet as pq
    except ImportError:
        raise error(
            f"{where}: is a Parquet file, which needs pyarrow: {pip_install('pyarrow')}."
        ) from None
    try:
        file = pq.ParquetFile(pa.BufferReader(raw))
        schema = file.schema_arrow
        too_many = file.metadata.num_rows > _MOST_ROWS
        columns = [field.name for field in schema if _is_readable(pa.types, field.type)]
        table = file.read(columns=[] if too_many else columns)
        for at, kind in enumerate(table.schema.types):
            if pa.types.is_floating(kind):  # pandas writes NaN for a missing value
                filled = pc.if_else(pc.is_nan(table[at]), None, table[at])
                table = table.set_column(at, table.field(at), filled)
        rows = [] if too_many else table.to_pylist()
    except Exception as problem:  # damaged files raise nearly anything
        raise error(
            f"{where}: the Parquet file cannot be read ({first_line(problem):.200}); write it "
            "again."
        ) from None
    if too_many:  # a small file can say so of any number
        raise error(
            f"{where}: holds {file.metadata.num_rows} rows, and at most {_MOST_ROWS} are read "
            "into memory; split it."
        )
    return schema.names, rows


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


def parsed(text: str) -> Any:
    """Return what a text says in JSON, or in Python's literals; `ValueError` if in neither."""
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    except ValueError:
        literal = text.strip()
    if len(literal) > _LONGEST_LITERAL or _LITERAL.sub(r"\1", literal):
        raise ValueError("neither JSON nor literals")
    try:
        # Tuples become lists; what JSON does not have is refused.
        return json.loads(json.dumps(ast.literal_eval(literal)))
    except (SyntaxError, TypeError, MemoryError, RecursionError) as problem:
        raise ValueError(str(problem)) from None


def listed_in(text: str, at: object, error: type[VifidelError], whole: bool = True) -> Any:
    """Return the list that a text spells; None if it spells none, `error` if it seems to."""
    # With `whole`, anything in brackets is one, such as [a dog, a cat], which cannot be read.
    stripped = text.strip()
    if stripped[:1] not in ("[", "(", "{") or not _looks_listed(stripped, whole):
        return None
    try:
        entries = parsed(stripped)
    except ValueError:
        entries = None
    if not isinstance(entries, list):
        raise error(
            f"{at}: {stripped!r:.60} looks like a list and cannot be read as one; write it as "
            'JSON, such as ["a", "b"], or as Python writes a list (for an array, write its '
            "tolist())."
        )
    return entries


def _looks_listed(text: str, whole: bool) -> bool:
    inner = text.lstrip("[({ \t\n")
    quoted, ends = inner[:1] in ("'", '"'), text[-1] in "])}"
    if text[0] == "(":  # a caption may be in parentheses
        return quoted and ends and text[:-1].rstrip(", ")[-1:] in ("'", '"')
    if quoted and (whole or text[0] == "["):
        return ends or "]" not in text  # the end may be lost
    return text[0] == "[" and ends and (whole or inner == "]")
