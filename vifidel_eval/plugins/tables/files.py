"""Files of tables, here or in an object store: found by what a user names, read by batches.

JSON Lines become columns: every value keeps its type, and a column may begin anywhere. A file is
read twice: first for the types of its columns, then for their values. A column of which no Arrow
type holds all values (text and numbers, whole numbers of more than 64 bits) becomes text: strings
stay what they are, other values are written as JSON.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.dataset as ds
import pyarrow.fs

from ...errors import VifidelError
from ...io.files import first_line, is_address, no_text, parse_json_lines, reason, sha256_of
from .columns import Columns, check_buffers, types_of_cells, with_lists

# The names that files of each format have; of text, also compressed.
_FORMATS = {
    ".parquet": "Parquet",
    ".pq": "Parquet",
    ".arrow": "Arrow",
    ".feather": "Arrow",
    ".ipc": "Arrow",
    ".csv": "CSV",
    ".tsv": "TSV",
    ".jsonl": "JSONL",
    ".ndjson": "JSONL",
}
_PLAIN, _TEXT = ("CSV", "TSV"), ("CSV", "TSV", "JSONL")
_COMPRESSED = (".gz", ".bz2", ".zst", ".lz4")
_ENDINGS = (
    f"a file that ends in {', '.join([*_FORMATS][:-1])} or {[*_FORMATS][-1]}, or compressed text "
    "such as .csv.gz"
)

_SECRET = re.compile("//[^/@]*@")

# Rows and bytes that are decoded at a time.
_ROWS, _BATCH = 8192, 1 << 25
_BLOCK = 1 << 22

# What pyarrow raises of files that cannot be read.
_PROBLEMS = (pa.ArrowException, OSError, ValueError, NotImplementedError)


@dataclass(frozen=True)
class TableFile:
    """A file of rows, on a file system that knows it by its path."""

    name: str  # below the folder that was given, with "/": the same on every machine
    path: str
    filesystem: pa.fs.FileSystem
    format: str  # a value of `_FORMATS`

    @property
    def stem(self) -> str:
        """The name without what says the format."""
        return self.name[: -len(_suffix_of(self.name)[0])]

    def digest(self) -> str:
        """Return the SHA-256 of the file."""
        with _readable(self), self.filesystem.open_input_stream(self.path, None) as file:
            return sha256_of(file)

    def beginning(self) -> bytes:
        """Return the first bytes of the text of a file; nothing if they cannot be read."""
        try:
            with self.filesystem.open_input_stream(self.path, compression="detect") as file:
                return bytes(file.read(8))
        except _PROBLEMS:
            return b""

    def dataset(self, texts: Sequence[str] = ()) -> ds.Dataset:
        """Return a file that is not JSON Lines as a dataset; in CSV, these columns are text."""
        form: ds.FileFormat = ds.IpcFileFormat()
        if self.format == "Parquet":
            options = ds.ParquetFragmentScanOptions(use_buffered_stream=True, pre_buffer=False)
            form = ds.ParquetFileFormat(default_fragment_scan_options=options)
        elif self.format in _PLAIN:
            types = dict.fromkeys(texts, pa.string())
            between = "\t" if self.format == "TSV" else ","
            form = ds.CsvFileFormat(
                parse_options=pa.csv.ParseOptions(delimiter=between, newlines_in_values=True),
                read_options=pa.csv.ReadOptions(use_threads=False, block_size=_BLOCK),
                convert_options=pa.csv.ConvertOptions(column_types=types, check_utf8=False),
            )
        return ds.dataset(self.path, filesystem=self.filesystem, format=form)


def _suffix_of(name: str) -> tuple[str, str]:
    """Return the end of a name, such as ``.csv.gz``, and its format; empty if there is none."""
    ends = PurePosixPath(name.lower()).suffixes
    packed = ends.pop() if ends and ends[-1] in _COMPRESSED else ""
    end = ends[-1] if ends else ""
    is_known = end in _FORMATS and (not packed or _FORMATS[end] in _TEXT)
    return (end + packed, _FORMATS[end]) if is_known else ("", "")


class OpenTable:
    """The rows of a file, with lists where text spells them; `schema` has its columns."""

    def __init__(self, file: TableFile, names: Columns, whole: bool = True) -> None:
        with _readable(file):
            if file.format == "JSONL":
                source = JsonLines(file.filesystem, file.path, whole)
            else:
                source = file.dataset()
            if file.format in _PLAIN:  # nothing is taken for a number or date
                source = file.dataset(source.schema.names)
        self._file, self._source, self._names = file, source, names
        self._types: dict[str, pa.DataType] = {}
        self.numbers_in_text = file.format in _PLAIN  # as in CSV
        try:
            self._types = types_of_cells(source.schema, names, self.batches())
        except VifidelError as problem:
            raise VifidelError(f"{file.path}: {problem}") from None
        self.schema: pa.Schema = source.schema
        for name, kind in self._types.items():
            at = self.schema.get_field_index(name)
            self.schema = self.schema.set(at, pa.field(name, kind))

    def count_rows(self) -> int | None:
        """Return how many rows there are; None of text, where that is not known before the end."""
        if isinstance(self._source, JsonLines) or self.numbers_in_text:
            return None
        with _readable(self._file):
            return int(self._source.count_rows())

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Yield the rows in their order, the same batches every time."""
        rows_read, batches = 0, self._batches()
        while True:
            with _readable(self._file, f" after row {rows_read}"):
                if (batch := next(batches, None)) is None:
                    return
            rows_read += len(batch)
            if len(batch):
                yield with_lists(batch, self._types, self._names.references)

    def _batches(self) -> Iterator[pa.RecordBatch]:
        rows, source, file = _ROWS, self._source, self._file
        if isinstance(source, JsonLines):
            yield from source.batches(rows)
            return
        if file.format == "Arrow":  # says where its buffers are: they are checked first
            with file.filesystem.open_input_file(file.path) as opened:
                reader = pa.ipc.open_file(opened)
                for batch in map(reader.get_batch, range(reader.num_record_batches)):
                    for column in batch.columns:
                        check_buffers(column)
                    yield from (batch.slice(at, rows) for at in range(0, len(batch), rows))
            return
        if file.format == "Parquet":  # a batch of images is no larger than one of ids
            groups = [group for part in source.get_fragments() for group in part.row_groups]
            size = max(1, sum(group.total_byte_size for group in groups))
            rows = max(1, min(rows, _BATCH * sum(group.num_rows for group in groups) // size))
        ahead = {"batch_readahead": 1, "fragment_readahead": 1}
        yield from source.to_batches(
            batch_size=rows, use_threads=False, cache_metadata=False, **ahead
        )


@contextlib.contextmanager
def _readable(file: TableFile, where: str = "") -> Iterator[None]:
    """Turn what pyarrow raises of a file into one sentence."""
    try:
        yield
    except (VifidelError, *_PROBLEMS) as problem:
        if file.format in _TEXT and (defect := no_text(file.beginning())):
            raise VifidelError(f"{file.path}: is {defect}.") from None
        if isinstance(problem, VifidelError):
            raise
        raise VifidelError(
            f"{file.path}: cannot be read as {file.format}{where}: {_reason(problem)}; write it "
            "again, or leave it out."
        ) from None


def _reason(problem: BaseException) -> str:
    """Return what pyarrow says of a file, without what it was about to do."""
    if isinstance(problem, OSError) and problem.strerror:
        return reason(problem)
    return first_line(problem).rpartition("': ")[2]


def find_tables(sources: Sequence[str]) -> list[TableFile]:
    """Return all files of tables, in the order of their names; sources are paths and addresses."""
    files = [file for source in sources for file in _tables_in(source)]
    return sorted(files, key=lambda file: file.name)


def _tables_in(source: str) -> list[TableFile]:
    filesystem, path = pa.fs.LocalFileSystem(), os.path.abspath(source)
    if is_address(source):
        address, source = source, _SECRET.sub("//***@", source)  # messages show no password
        try:
            filesystem, path = pa.fs.FileSystem.from_uri(address)
        except _PROBLEMS as problem:
            why = _reason(problem).replace(address, source)
            raise VifidelError(f"{source}: {why}; check the address.") from None
    try:
        info = filesystem.get_file_info(path)
        folder = info.type == pa.fs.FileType.Directory
        paths = list(_below(filesystem, path)) if folder else [(PurePosixPath(path).name, path)]
    except VifidelError:
        raise
    except _PROBLEMS as problem:
        where = getattr(problem, "filename", None) or source
        raise VifidelError(f"{where}: {_reason(problem)}; check the path.") from None
    if info.type == pa.fs.FileType.NotFound:
        raise VifidelError(f"{source}: no such file or directory; check the path.")
    if info.type == pa.fs.FileType.Unknown:
        raise VifidelError(f"{source}: is a pipe or device, not an ordinary file; check the path.")
    tables = [
        TableFile(name, path, filesystem, _suffix_of(name)[1]) for name, path in sorted(paths)
    ]
    expected = f"expected {_ENDINGS}"
    if not folder and not tables[0].format:
        raise VifidelError(f"{source}: its name does not show the format; {expected}.")
    no_table = next((file for file in tables if not file.format), None)
    if no_table is not None and len(tables) > 1:
        raise VifidelError(
            f"{source}: {no_table.name} in this folder is not a table; name the tables themselves, "
            f"such as {os.path.join(source, '*.parquet')}."
        )
    if no_table is not None or not tables:
        raise VifidelError(f"{source}: this folder has no tables; {expected}.")
    formats = {file.format: file.name for file in tables}
    if len(formats) > 1:
        (form, first), (other_form, second) = list(formats.items())[:2]
        raise VifidelError(
            f"{source}: this folder has {form} ({first}) and {other_form} ({second}); name the "
            "files of one of them."
        )
    return tables


def _below(filesystem: pa.fs.FileSystem, folder: str) -> Iterator[tuple[str, str]]:
    """Yield the name below a folder and the path of every file in it that is not left out."""
    if isinstance(filesystem, pa.fs.LocalFileSystem):
        # pyarrow follows links, also one that leads to the folder that it is in, or nowhere.
        for parent, folders, names in os.walk(folder):
            paths = (os.path.join(parent, name) for name in (*folders, *names))
            for link in filter(os.path.islink, paths):
                if os.path.isdir(link):
                    raise VifidelError(
                        f"{link} is a link to a folder, and links are not followed; give that "
                        "folder as an input itself."
                    )
                if not os.path.exists(link):
                    raise VifidelError(f"{link}: no such file or directory; check the path.")
    for info in filesystem.get_file_info(pa.fs.FileSelector(folder, recursive=True)):
        if info.type == pa.fs.FileType.Unknown:
            raise VifidelError(
                f"{info.path}: is a pipe or device, not an ordinary file; remove it."
            )
        name = info.path[len(folder) :].lstrip("/")
        hidden = any(part.startswith((".", "_")) for part in name.split("/"))  # as for Spark
        if info.type == pa.fs.FileType.File and not hidden:
            yield name, info.path


# Bytes that are read at a time, and the longest line.
_BYTES_AT_ONCE, _LONGEST = 1 << 20, 1 << 26
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
            incomplete, lines = stream.read(3).removeprefix(b"\xef\xbb\xbf"), 1
            while block := stream.read(_BYTES_AT_ONCE):
                whole, end, last = block.rpartition(b"\n")
                if end:
                    yield self._rows(incomplete + whole, lines)
                    lines, incomplete = lines + whole.count(b"\n") + 1, last
                elif len(incomplete) > _LONGEST:
                    raise VifidelError(
                        f"{self._refusal}: line {lines} has more than {_LONGEST >> 20} MiB; write "
                        "one JSON object per line."
                    )
                else:
                    incomplete += block
            yield self._rows(incomplete, lines)

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
