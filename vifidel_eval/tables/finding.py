"""The files of tables that a user names: files, folders, and addresses in object stores."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath

import pyarrow as pa
import pyarrow.fs

from ..errors import VifidelError
from ..files import is_address
from .inputs import FORMATS, PROBLEMS, TableFile, format_of, said, suffix_of

_SECRET = re.compile("//[^/@]*@")


def find_tables(sources: Sequence[str]) -> list[TableFile]:
    """Return all files of tables, in the order of their names.

    `sources` are files and folders, which are searched with all that is below them: paths, or URIs
    of object stores. Names that begin with a full stop or an underscore are left out, as Spark and
    pyarrow do. It raises a VifidelError if a source is missing, or a folder has no tables, tables
    of several formats, or something else.
    """
    files = [file for source in sources for file in _of_source(source)]
    return sorted(files, key=lambda file: file.name)


def _of_source(source: str) -> list[TableFile]:
    if is_address(source):
        given, source = source, _SECRET.sub("//***@", source)  # what messages show of it
        try:
            filesystem, path = pa.fs.FileSystem.from_uri(given)
        except PROBLEMS as problem:
            why = said(problem).replace(given, source)
            raise VifidelError(f"{source}: {why}; check the address.") from None
    else:
        filesystem, path = pa.fs.LocalFileSystem(), os.path.abspath(source)
    try:
        info = filesystem.get_file_info(path)
        if info.type == pa.fs.FileType.Directory:
            return _of_folder(source, filesystem, path)
    except VifidelError:
        raise
    except PROBLEMS as problem:
        where = getattr(problem, "filename", None) or source
        raise VifidelError(f"{where}: {said(problem)}; check the path.") from None
    if info.type == pa.fs.FileType.NotFound:
        raise VifidelError(f"{source}: no such file or directory; check the path.")
    if info.type != pa.fs.FileType.File:
        raise VifidelError(f"{source}: is a pipe or device, not an ordinary file; check the path.")
    name = PurePosixPath(info.path).name
    if suffix_of(name) == "":
        raise VifidelError(
            f"{source}: its name does not say which table it is; expected {_endings()}."
        )
    return [TableFile(name, path, filesystem, format_of(name))]


def _of_folder(source: str, filesystem: pa.fs.FileSystem, folder: str) -> list[TableFile]:
    found = [
        TableFile(name, path, filesystem, format_of(name))
        for name, path in _listed(filesystem, folder)
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


def _listed(filesystem: pa.fs.FileSystem, folder: str) -> Iterator[tuple[str, str]]:
    """Yield the name below a folder and the path of every file in it."""
    if not isinstance(filesystem, pa.fs.LocalFileSystem):
        for info in filesystem.get_file_info(pa.fs.FileSelector(folder, recursive=True)):
            if info.type != pa.fs.FileType.Directory:
                yield info.path[len(folder) :].lstrip("/"), info.path
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
            if not stat.S_ISREG(os.stat(path).st_mode):
                raise VifidelError(f"{path}: is a pipe or device, not an ordinary file; remove it.")
            yield below, path


def _raised(problem: OSError) -> None:
    raise problem


def _endings() -> str:
    *most, last = FORMATS
    return f"a file that ends in {', '.join(most)} or {last}, or compressed text such as .csv.gz"
