"""The files of a submission: result files as given or in a zip, and the zip that is uploaded."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from ..errors import VifidelError
from ..files import first_line, read_bytes
from ..text_tables import one_line

#: What the server's upload page calls the zip.
ZIP_NAME = "results.zip"

# Bounds on what a zip may cost: its members, the bytes of one and of all together. The largest
# result file of COCO has a hundredth of that.
_MOST_MEMBERS, _MOST_BYTES, _MOST_BYTES_IN_ALL = 1000, 1 << 28, 1 << 29


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


def read_sources(paths: Sequence[Path], zips: bool = True) -> Iterator[Source | Fault]:
    """Yield the content of result files, zips unpacked, and what is wrong with the files.

    A zip's own faults are those that the server stumbles over: another name, files in a folder,
    files that are no result file. Without `zips`, a zip is a fault itself.
    """
    for path in paths:
        try:
            data = read_bytes(path, VifidelError)
        except VifidelError as problem:
            what = str(problem).removeprefix(f"{path}: ").rstrip(".")
            yield Fault(str(path), "unreadable", what)
            continue
        if path.suffix.lower() == ".zip" or zipfile.is_zipfile(io.BytesIO(data)):
            if zips:
                yield from _unpacked(path, data)
            else:
                what = "is a zip; give the JSON file itself, or --profile coco for COCO's zip"
                yield Fault(str(path), "zip", what)
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
            members = archive.infolist()
            if len(members) > _MOST_MEMBERS:
                what = f"holds {len(members)} files, more than the {_MOST_MEMBERS} that are read"
                yield Fault(str(path), "too large", what)
                return
            room = _MOST_BYTES_IN_ALL
            for member in members:
                if member.filename and member.is_dir():
                    continue
                yield from _member(path, archive, member, room)
                room -= member.file_size
    except Exception as problem:  # damaged archives raise nearly anything
        what = f"not a zip that can be read ({first_line(problem)})"
        yield Fault(str(path), "unreadable", what)


def _member(
    path: Path, archive: zipfile.ZipFile, member: zipfile.ZipInfo, room: int
) -> Iterator[Source | Fault]:
    inside = PurePosixPath(member.filename.replace("\\", "/"))
    label = f"{path}/{one_line(str(inside)) if member.filename else '(no name)'}"
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
    most = min(_MOST_BYTES, room)
    if member.file_size > most:  # no more than that is unpacked, whatever the zip says
        what = f"unpacks to {member.file_size >> 20} MiB, more than the {most >> 20} that are read"
        yield Fault(label, "too large", what)
        return
    try:
        data = archive.read(member)
    except Exception as problem:  # damaged members raise nearly anything
        yield Fault(label, "unreadable", f"cannot be unpacked ({first_line(problem)})")
        return
    yield Source(label, inside.name, data)
