"""Tables that are read: files and folders, here or in an object store, batch by batch."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.dataset as ds
import pyarrow.fs
import pyarrow.json

from ..errors import VifidelError
from ..files import first_line, is_address, reason

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

# Rows and bytes that are decoded at a time, and how much of a file its digest sees at each end.
_ROWS, _BATCH = 8192, 1 << 25
_BLOCK = 1 << 22
_PACKED = 3  # how many times smaller captions are compressed, about
_END = 1 << 16

#: What pyarrow raises of files that cannot be read.
_PROBLEMS = (pa.ArrowException, OSError, ValueError, NotImplementedError)


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
        return self.name[: -len(_suffix(self.name))]

    def digest(self) -> str:
        """Return a digest of the file's size and both its ends, where Parquet has its statistics.

        Raises
        ------
        VifidelError
            If it cannot be read.
        """
        with _readable(self), self.filesystem.open_input_file(self.path) as file:
            seen = hashlib.sha256(b"%d:" % self.size)
            seen.update(file.read_at(min(self.size, _END), 0))
            if self.size > _END:
                length = min(self.size - _END, _END)
                seen.update(file.read_at(length, self.size - length))
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

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Yield the rows in their order, the same batches every time.

        Raises
        ------
        VifidelError
            If the file ends too early or is damaged.
        """
        read = 0
        with _readable(self._file):
            scanner = self._dataset.scanner(
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
        if self._file.format != "Parquet":
            return _ROWS
        sizes = [
            (group.num_rows, group.total_byte_size)
            for fragment in self._dataset.get_fragments()
            for group in fragment.row_groups
        ]
        rows, size = (sum(of_group) for of_group in zip((0, 0), *sizes, strict=True))
        return max(1, min(_ROWS, _BATCH * rows // max(size, 1)))


def find_tables(sources: Sequence[str]) -> list[TableFile]:
    """Return all files of tables, in the order of their names.

    Parameters
    ----------
    sources : sequence of str
        Files and folders, which are searched with all that is below them: paths, or URIs of
        object stores. Names that begin with a full stop or an underscore are left out, as Spark
        and pyarrow do.

    Raises
    ------
    VifidelError
        If one is missing, a folder has no tables, or tables of several formats, or something else.
    """
    files = [file for source in sources for file in _of_source(source)]
    return sorted(files, key=lambda file: file.name)


def _of_source(source: str) -> list[TableFile]:
    if is_address(source):
        try:
            filesystem, path = pa.fs.FileSystem.from_uri(source)
        except _PROBLEMS as problem:
            raise VifidelError(f"{source}: {_said(problem)}; check the address.") from None
    else:
        filesystem, path = pa.fs.LocalFileSystem(), os.path.abspath(source)
    try:
        info = filesystem.get_file_info(path)
        if info.type == pa.fs.FileType.Directory:
            return _of_folder(source, filesystem, path)
    except VifidelError:
        raise
    except _PROBLEMS as problem:
        where = getattr(problem, "filename", None) or source
        raise VifidelError(f"{where}: {_said(problem)}; check the path.") from None
    if info.type == pa.fs.FileType.NotFound:
        raise VifidelError(f"{source}: no such file or directory; check the path.")
    if info.type != pa.fs.FileType.File:
        raise VifidelError(f"{source}: is a pipe or device, not an ordinary file; check the path.")
    name = PurePosixPath(info.path).name
    if _suffix(name) == "":
        raise VifidelError(
            f"{source}: its name does not say which table it is; expected {_endings()}."
        )
    return [TableFile(name, path, filesystem, _format(name), info.size)]


def _of_folder(source: str, filesystem: pa.fs.FileSystem, folder: str) -> list[TableFile]:
    found = [
        TableFile(name, path, filesystem, _format(name), size)
        for name, path, size in _listed(filesystem, folder)
        if not any(part.startswith((".", "_")) for part in name.split("/"))
    ]
    found.sort(key=lambda file: file.name)
    other = next((file for file in found if not file.format), None)
    if other is not None and len(found) > 1:
        raise VifidelError(
            f"{source}: {other.name} in this folder is not a table; name the tables themselves, "
            f"such as {os.path.join(source, '*.parquet')}."
        )
    if other is not None or not found:
        raise VifidelError(f"{source}: there is no table in this folder; expected {_endings()}.")
    formats = {file.format: file.name for file in found}
    if len(formats) > 1:
        (one, first), (other_one, second) = list(formats.items())[:2]
        raise VifidelError(
            f"{source}: this folder has {one} ({first}) and {other_one} ({second}); name the files "
            "of one of them."
        )
    return found


def _listed(filesystem: pa.fs.FileSystem, folder: str) -> Iterator[tuple[str, str, int]]:
    """Yield the name below a folder, path and size of every file in it."""
    if not isinstance(filesystem, pa.fs.LocalFileSystem):
        for info in filesystem.get_file_info(pa.fs.FileSelector(folder, recursive=True)):
            if info.type != pa.fs.FileType.Directory:
                yield info.path[len(folder) :].lstrip("/"), info.path, info.size
        return
    # pyarrow follows links, also one that leads to the folder that it is in.
    for parent, folders, names in os.walk(folder, onerror=_raised):
        for name in folders:
            link = os.path.join(parent, name)
            if os.path.islink(link):
                raise VifidelError(
                    f"{link} is a link to a folder, and links are not followed; name that folder "
                    "as an input of its own."
                )
        for name in names:
            path = os.path.join(parent, name)
            below = os.path.relpath(path, folder).replace(os.sep, "/")
            state = os.stat(path)
            if not stat.S_ISREG(state.st_mode):
                raise VifidelError(f"{path}: is a pipe or device, not an ordinary file; remove it.")
            yield below, path, state.st_size


def _raised(problem: OSError) -> None:
    raise problem


def _suffix(name: str) -> str:
    """Return the end of a name that says the format, such as ``.csv.gz``; empty if none does."""
    lower = name.lower()
    packed = next((end for end in _COMPRESSED if lower.endswith(end)), "")
    plain = lower[: len(lower) - len(packed)]
    end = next((end for end in FORMATS if plain.endswith(end) and plain != end), "")
    return end + packed if end and (not packed or FORMATS[end] in _TEXT) else ""


def _format(name: str) -> str:
    suffix = _suffix(name)
    return FORMATS["." + suffix.split(".")[1]] if suffix else ""


def _endings() -> str:
    *most, last = FORMATS
    return f"a file that ends in {', '.join(most)} or {last}, or compressed text such as .csv.gz"


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
        if isinstance(problem, _PROBLEMS) and not isinstance(problem, VifidelError):
            form = self._file.format
            raise VifidelError(
                f"{self._file.path}: cannot be read as {form}{self._where}: {_said(problem)}; "
                "write it again, or leave it out."
            ) from None


def _said(problem: BaseException) -> str:
    """Return what pyarrow says of a file, without what it was about to do."""
    if isinstance(problem, OSError) and problem.strerror:
        return reason(problem)
    return first_line(problem).rpartition("': ")[2]
