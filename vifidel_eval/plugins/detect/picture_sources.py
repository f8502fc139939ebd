"""Sources of pictures: a folder with its subfolders, a tar, a list of files, or one file."""

from __future__ import annotations

import contextlib
import io
import os
import sys
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from ...doors.arguments import name_wrong_argument
from ...errors import VifidelError
from ...io.files import STANDARD_INPUT, open_file, read_text, reason
from ...io.pictures import SUFFIXES as _OF_REPORTS
from ...io.pictures import DamagedPictureError

#: The endings of the names of pictures.
SUFFIXES = _OF_REPORTS | {".avif"}

# A tar says how large its members are before they are read.
_MOST_BYTES = 1 << 29
_MOST_ENDS = 8  # how often the end of a whole tar may be read
_TARS = (".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tar.xz")


@dataclass(frozen=True)
class FoundPicture:
    """A picture that is to be read."""

    image_id: str  #: its path in the folder or tar, or as the list has it, with slashes
    content: Path | bytes  #: the file, or what is in it
    problem: str | None = None  #: why it cannot be read, if that is known already

    def open(self) -> IO[bytes]:
        """Open it, to be read more than once; what is no file is a `DamagedPictureError`."""
        if self.problem:
            raise DamagedPictureError(self.problem)
        if isinstance(self.content, bytes):
            return io.BytesIO(self.content)
        if not self.content.is_file():
            raise DamagedPictureError("there is no such file")
        return self.content.open("rb")


def may_be_pictures(path: Path) -> bool:
    """Return whether a path is a folder, or has the name of a tar or picture."""
    return path.is_dir() or path.name.lower().endswith((*_TARS, *SUFFIXES))


class PictureSource:
    """The pictures of a folder, tar, list or file, in the order of their names or of the list.

    The `path` is a folder, which is read with its subfolders; a tar, compressed or not; ``-``, a
    tar on standard input; a text file with the path of a picture per line, relative to its own
    folder; or a picture. What cannot be read, has no picture, or has one twice is a `VifidelError`.
    """

    @name_wrong_argument
    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        #: Of all pictures; None for standard input, which can be read only once.
        self.image_ids: list[str] | None = None
        self._files: dict[str, Path] | None = None  # None for a tar
        self._is_stream = os.fspath(path) == STANDARD_INPUT
        if self._is_stream:
            return
        if os.path.isdir(path):  # Path's methods fail for names that are too long
            self._files = dict(_in_folder(self.path))
        elif self.path.suffix.lower() in SUFFIXES:
            if not os.path.isfile(path):
                raise VifidelError(f"{self.path}: there is no such picture; check the path.")
            self._files = {self.path.name: self.path}
        elif not self.path.name.lower().endswith(_TARS):
            self._files = _listed(self.path)
        names = (name for name, _, _ in self._members()) if self._files is None else self._files
        self.image_ids = list(names)
        if not self.image_ids:
            raise VifidelError(
                f"{self.path}: has no pictures ({', '.join(sorted(SUFFIXES))}); name a folder, a "
                "tar or a list of pictures."
            )

    def __iter__(self) -> Iterator[FoundPicture]:
        if self._files is not None:
            for image_id, file in self._files.items():
                yield FoundPicture(image_id, file)
            return
        for name, tar, member in self._members():
            if member.size > _MOST_BYTES:
                yield FoundPicture(name, b"", f"has {member.size} bytes, more than {_MOST_BYTES}")
                continue
            with self._undamaged():
                content = tar.extractfile(member)
                assert content is not None  # it is a file
                picture = content.read()
            yield FoundPicture(name, picture)

    def _members(self) -> Iterator[tuple[str, tarfile.TarFile, tarfile.TarInfo]]:
        """Yield the pictures of a tar, which is read from front to back."""
        seen = set()
        with self._undamaged(), contextlib.ExitStack() as opened:
            if self._is_stream:
                stream = _Stream(sys.stdin.buffer)
                tar = opened.enter_context(tarfile.open(fileobj=stream, mode="r|*"))
            else:
                file = opened.enter_context(open_file(self.path, VifidelError))
                tar = opened.enter_context(tarfile.open(fileobj=file, mode="r:*"))
            for member in tar:
                name = _normal(member.name)
                if not member.isfile() or not _is_picture(name):
                    continue
                if name in seen:
                    raise VifidelError(f"{self.path}: {name!r} appears twice; keep one.")
                seen.add(name)
                yield name, tar, member

    @contextlib.contextmanager
    def _undamaged(self) -> Iterator[None]:
        try:
            yield
        except (OSError, tarfile.TarError, EOFError) as problem:
            why = reason(problem) if isinstance(problem, OSError) else str(problem)
            raise VifidelError(
                f"{self.path}: the tar cannot be read to its end ({why.rstrip('.')}); get a "
                "fresh copy, or name a folder."
            ) from None


class _Stream(io.RawIOBase):
    """Standard input, which ends once: tarfile skips what a header claims, block by block."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._ends = 0

    def read(self, size: int = -1, /) -> bytes:
        block = self._file.read(size)
        self._ends += not block
        if self._ends > _MOST_ENDS:
            raise EOFError("unexpected end of data")
        return block


def _in_folder(folder: Path) -> list[tuple[str, Path]]:
    """Return the pictures below a folder by path in it, links followed, each folder once."""
    pictures = []
    walked = set()

    def unreadable(problem: OSError) -> None:
        raise VifidelError(f"{problem.filename}: {reason(problem)}; make it readable, or move it.")

    for place, folders, names in os.walk(folder, onerror=unreadable, followlinks=True):
        real_path = os.path.realpath(place)
        if real_path in walked:  # a link that leads back
            folders.clear()
            continue
        walked.add(real_path)
        pictures += [Path(place, name) for name in names if _is_picture(name)]
    files = [(file.relative_to(folder).as_posix(), file) for file in pictures if file.is_file()]
    return sorted(files)


def _listed(path: Path) -> dict[str, Path]:
    """Return the pictures of a list by the names that it gives them."""
    files: dict[str, Path] = {}
    for number, line in enumerate(read_text(path, VifidelError).split("\n"), 1):
        name = line.strip()
        if not name:
            continue
        if "\0" in name or Path(name).suffix.lower() not in SUFFIXES:
            raise VifidelError(
                f"{path}, line {number}: {name!r:.60} is not the name of a picture; write the path "
                "of one picture per line."
            )
        if _normal(name) in files:
            raise VifidelError(f"{path}, line {number}: {name!r} appears twice; keep one.")
        files[_normal(name)] = path.parent / name
    return files


def _normal(name: str) -> str:
    name = name.replace("\\", "/") if os.sep == "\\" else name
    while name.startswith("./"):
        name = name[2:]
    return name


def _is_picture(name: str) -> bool:
    base = name.rpartition("/")[2]
    # What macOS keeps beside a file begins with a dot.
    return not base.startswith(".") and os.path.splitext(base)[1].lower() in SUFFIXES
