"""Files of tables, here or in an object store: read batch by batch, or in parts."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.dataset as ds
import pyarrow.fs
import pyarrow.json

from ..errors import VifidelError
from ..files import first_line, reason

#: The names that files of each format have; of text, also compressed.
FORMATS = {
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
_TEXT = frozenset({"CSV", "TSV", "JSONL"})
_COMPRESSED = (".gz", ".bz2", ".zst", ".lz4")

# Rows and bytes that are decoded at a time.
_ROWS, _BATCH = 8192, 1 << 25
_BLOCK = 1 << 22
_PACKED = 3  # how many times smaller captions are compressed, about

# What a fingerprint sees: files up to this size, and so much of each end of larger ones.
_WHOLE, _END = 1 << 24, 1 << 16

#: A file of more rows is scored in parts of at least so many.
PART_ROWS = 1 << 20

#: What pyarrow raises of files that cannot be read.
PROBLEMS = (pa.ArrowException, OSError, ValueError, NotImplementedError)


@dataclass(frozen=True)
class TableFile:
    """A file of rows.

    Attributes
    ----------
    name : str
        Below the folder that was given, with ``/``: the same on every machine.
    path : str
        As `filesystem` knows it.
    filesystem : pyarrow.fs.FileSystem
        Where it is.
    format : str
        A value of `FORMATS`.
    size : int
        Bytes.
    """

    name: str
    path: str
    filesystem: pa.fs.FileSystem
    format: str
    size: int

    @property
    def stem(self) -> str:
        """The name without what says the format."""
        return self.name[: -len(suffix_of(self.name))]

    def fingerprint(self) -> str:
        """Return a digest by which a file is known again, without reading all of a large one.

        It is SHA-256 of the size and, of Parquet, the first 64 KiB and the whole footer, which has
        the place, size and statistics of every column in every row group; of other formats all of
        a file up to 16 MiB, and 64 KiB at both ends of a larger one.

        Raises
        ------
        VifidelError
            If it cannot be read.
        """
        with _readable(self), self.filesystem.open_input_file(self.path) as file:
            end = _END
            if self.format == "Parquet":  # it ends in the footer, 4 bytes of its length, PAR1
                end = int.from_bytes(file.read_at(8, max(0, self.size - 8))[:4], "little") + 8
            elif self.size <= _WHOLE:
                end = self.size
            seen = hashlib.sha256(b"%d:" % self.size)
            seen.update(file.read_at(min(self.size, _END), 0))
            start = max(min(self.size, _END), self.size - end)
            seen.update(file.read_at(self.size - start, start))
            return seen.hexdigest()

    def open(self, text_columns: Iterable[str] = ()) -> OpenTable:
        """Open the file.

        Parameters
        ----------
        text_columns : iterable of str
            Columns that are text even where they look like numbers or dates.

        Raises
        ------
        VifidelError
            If it is not of its format.
        """
        with _readable(self):
            found = self._dataset(_formats(self.format, {}))
            if self.format in _TEXT:
                text = {name: pa.string() for name in text_columns if _may_be_text(found, name)}
                found = self._dataset(_formats(self.format, text))
            return OpenTable(self, found)

    def _dataset(self, form: ds.FileFormat) -> ds.Dataset:
        return ds.dataset(self.path, filesystem=self.filesystem, format=form)


def suffix_of(name: str) -> str:
    """Return the end of a name that says the format, such as ``.csv.gz``; empty if none does."""
    lower = name.lower()
    packed = next((end for end in _COMPRESSED if lower.endswith(end)), "")
    plain = lower[: len(lower) - len(packed)]
    end = next((end for end in FORMATS if plain.endswith(end) and plain != end), "")
    return end + packed if end and (not packed or FORMATS[end] in _TEXT) else ""


def format_of(name: str) -> str:
    """Return the format that a file's name says; empty if it says none."""
    suffix = suffix_of(name)
    return FORMATS["." + suffix.split(".")[1]] if suffix else ""


@dataclass(frozen=True)
class RowGroups:
    """Some row groups of a Parquet file, one after another.

    Attributes
    ----------
    ids : range
        Their numbers.
    first_row, rows : int
        The number of their first row in the file, and how many they have.
    """

    ids: range
    first_row: int
    rows: int


class OpenTable:
    """The rows of a file.

    Attributes
    ----------
    schema : pyarrow.Schema
        Its columns.
    """

    def __init__(self, file: TableFile, dataset: ds.Dataset) -> None:
        self._file, self._dataset = file, dataset
        self.schema: pa.Schema = dataset.schema

    def count_rows(self) -> int:
        """Return how many rows there are: of text an estimate by its first block."""
        with _readable(self._file):
            if self._file.format not in _TEXT:
                return int(self._dataset.count_rows())
        first = next(self.batches(), None)
        if first is None:
            return 0
        packed = _PACKED if self._file.path.lower().endswith(_COMPRESSED) else 1
        rows: int = len(first)
        return max(rows, rows * self._file.size * packed // _BLOCK)

    def parts(self) -> list[RowGroups]:
        """Return the parts of a large Parquet file that can be scored apart from each other.

        They depend on the file alone. There are none if it is small, or cannot be cut: other
        formats are read from their beginning.
        """
        parts: list[RowGroups] = []
        first = row = rows = 0
        groups = self._row_groups()
        for number, group in enumerate(groups, 1):
            rows += group.num_rows
            if rows >= PART_ROWS or number == len(groups):
                parts.append(RowGroups(range(first, number), row, rows))
                first, row, rows = number, row + rows, 0
        return parts if len(parts) > 1 else []

    def batches(self, groups: RowGroups | None = None) -> Iterator[pa.RecordBatch]:
        """Yield the rows in their order, the same batches every time.

        Parameters
        ----------
        groups : RowGroups, optional
            Those whose rows are read; by default, all.

        Raises
        ------
        VifidelError
            If the file ends too early or is damaged.
        """
        read = 0 if groups is None else groups.first_row
        with _readable(self._file):
            source: Any = self._dataset
            if groups is not None:
                (fragment,) = source.get_fragments()
                source = fragment.subset(row_group_ids=list(groups.ids))
            scanner = source.scanner(
                batch_size=self._rows_at_a_time(),
                batch_readahead=1,
                fragment_readahead=1,
                use_threads=False,
                cache_metadata=False,
            )
            batches = scanner.to_batches()
        while True:
            with _readable(self._file, f" after row {read}"):
                batch = next(batches, None)
            if batch is None:
                return
            read += len(batch)
            if len(batch):
                yield batch

    def _rows_at_a_time(self) -> int:
        """Return how many rows fit into a batch, so that one of images is no larger than of ids."""
        groups = self._row_groups()
        if not groups:
            return _ROWS
        rows: int = sum(group.num_rows for group in groups)
        size: int = sum(group.total_byte_size for group in groups)
        return max(1, min(_ROWS, _BATCH * rows // max(size, 1)))

    def _row_groups(self) -> list[Any]:
        """Return the row groups of a Parquet file; other formats have none."""
        if self._file.format != "Parquet":
            return []
        with _readable(self._file):
            return [group for part in self._dataset.get_fragments() for group in part.row_groups]


def _formats(name: str, text: dict[str, pa.DataType]) -> ds.FileFormat:
    """Return how pyarrow reads a format; text columns are not taken for numbers or dates."""
    if name == "Parquet":
        options = ds.ParquetFragmentScanOptions(use_buffered_stream=True, pre_buffer=False)
        return ds.ParquetFileFormat(default_fragment_scan_options=options)
    if name == "Arrow":
        return ds.IpcFileFormat()
    if name == "JSONL":
        return ds.JsonFileFormat(
            read_options=pa.json.ReadOptions(use_threads=False, block_size=_BLOCK),
            parse_options=pa.json.ParseOptions(
                explicit_schema=pa.schema(list(text.items())) if text else None
            ),
        )
    return ds.CsvFileFormat(
        parse_options=pa.csv.ParseOptions(
            delimiter="\t" if name == "TSV" else ",", newlines_in_values=True
        ),
        read_options=pa.csv.ReadOptions(use_threads=False, block_size=_BLOCK),
        convert_options=pa.csv.ConvertOptions(column_types=text or None),
    )


def _may_be_text(dataset: ds.Dataset, name: str) -> bool:
    """Return whether text was taken for something else: a list of a JSON file never is."""
    at = dataset.schema.get_field_index(name)
    return at >= 0 and not pa.types.is_nested(dataset.schema.field(at).type)


class _readable:  # noqa: N801 - a context manager, cheaper than a generator in a loop
    """Turns what pyarrow raises of a file into one sentence."""

    def __init__(self, file: TableFile, where: str = "") -> None:
        self._file, self._where = file, where

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, problem: BaseException | None, _: Any) -> None:
        if isinstance(problem, PROBLEMS) and not isinstance(problem, VifidelError):
            form = self._file.format
            raise VifidelError(
                f"{self._file.path}: cannot be read as {form}{self._where}: {said(problem)}; "
                "write it again, or leave it out."
            ) from None


def said(problem: BaseException) -> str:
    """Return what pyarrow says of a file, without what it was about to do."""
    if isinstance(problem, OSError) and problem.strerror:
        return reason(problem)
    return first_line(problem).rpartition("': ")[2]
