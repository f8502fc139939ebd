"""The files of a submission: result files as given or in a zip, and the zip that is uploaded."""

from __future__ import annotations

import io
import lzma
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from ..files import reason
from ..text_tables import one_line

#: What the server's upload page calls the zip.
ZIP_NAME = "results.zip"

_DAMAGED = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    EOFError,
    RuntimeError,
    OSError,
    ValueError,
)


@dataclass(frozen=True)
class Fault:
    """Something that the server refuses or counts as nothing, or that is not in its format.

    Attributes
    ----------
    file : str
        The file as the user called it; for a zip's members with the zip before it.
    kind : str
        What faults of the same kind have in common, in a few words.
    what : str
        What is wrong.
    entry : int or None
        The place in the file's list, counted from 0; None if no entry is at fault.
    image_id : int or str or None
        The image, as far as it is known.
    repair : str or None
        What is done about it where repairs are asked for; None if a person must decide.
    """

    file: str
    kind: str
    what: str
    entry: int | None = None
    image_id: int | str | None = None
    repair: str | None = None


@dataclass(frozen=True)
class Source:
    """The bytes of a result file.

    Attributes
    ----------
    label : str
        The file as the user called it.
    name : str
        Its name without folders.
    data : bytes
        Its content.
    """

    label: str
    name: str
    data: bytes


def read_sources(paths: Sequence[Path]) -> Iterator[Source | Fault]:
    """Yield the content of result files, zips unpacked, and what is wrong with the files.

    A zip's own faults are those that the server stumbles over: another name, files in a folder,
    files that are no result file.
    """
    for path in paths:
        try:
            data = path.read_bytes()
        except (OSError, ValueError) as problem:  # ValueError: a path with a null character
            yield Fault(str(path), "unreadable", f"{reason(problem)}; check the path")
            continue
        if path.suffix.lower() == ".zip" or zipfile.is_zipfile(io.BytesIO(data)):
            yield from _unpacked(path, data)
        else:
            yield Source(str(path), path.name, data)


def zipped(members: Mapping[str, bytes]) -> bytes:
    """Return a zip of the given files: the same bytes on every machine.

    They are stored, not compressed: what a compressor returns depends on its version.
    """
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_STORED) as archive:
        for name, data in members.items():
            member = zipfile.ZipInfo(name)  # dated 1980, the earliest that a zip can say
            member.create_system = 3  # as from Unix, also on Windows
            member.external_attr = 0o644 << 16
            archive.writestr(member, data)
    return content.getvalue()


def _unpacked(path: Path, data: bytes) -> Iterator[Source | Fault]:
    if path.name != ZIP_NAME:
        yield Fault(
            str(path),
            "zip name",
            f"the upload is called {ZIP_NAME}",
            repair=f"the new zip is called {ZIP_NAME}",
        )
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = [member for member in archive.infolist() if not member.is_dir()]
            for member in members:
                yield from _member(path, archive, member)
    except _DAMAGED as problem:
        yield Fault(str(path), "unreadable", f"not a zip that can be read ({problem})")


def _member(
    path: Path, archive: zipfile.ZipFile, member: zipfile.ZipInfo
) -> Iterator[Source | Fault]:
    inside = PurePosixPath(member.filename.replace("\\", "/"))
    label = f"{path}/{one_line(str(inside))}"
    if inside.suffix.lower() != ".json" or inside.name.startswith("."):
        yield Fault(
            label,
            "extra file",
            "the zip holds the two result files and nothing else",
            repair="left out",
        )
        return
    if len(inside.parts) > 1:
        yield Fault(
            label,
            "in a folder",
            "the server looks for result files at the top of the zip",
            repair="moved to the top",
        )
    try:
        yield Source(label, inside.name, archive.read(member))
    except _DAMAGED as problem:
        yield Fault(label, "unreadable", f"cannot be unpacked ({problem})")
