"""Outputs: which files a run may write, and what an interrupted one has done."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from ..errors import VifidelError
from .files import beside, mode_of, read_kept, reason, write_whole, writing

# By which a lock is known to be ours from the moment it exists: no empty file of a user's can be
# executed. What we wrote into it would come too late for one who opens it meanwhile.
_OURS = stat.S_IXUSR


def check_output(path: str | os.PathLike[str], inputs: Iterable[Path | None]) -> None:
    """Raise, before long work, if its output cannot be written or would destroy an input."""
    if os.path.isdir(path):
        raise VifidelError(f"{path}: the output is a folder; name a file in it.")
    with writing(path):
        target = os.path.realpath(path)
        folder = os.path.dirname(target)
        mode = mode_of(path)
    if mode is None and not os.path.isdir(folder):
        raise VifidelError(f"{path}: there is no such folder; create it first.")
    if mode is None and not os.access(folder, os.W_OK):
        raise VifidelError(f"{path}: cannot be written: you may not write to the folder.")
    if mode is not None and not stat.S_ISREG(mode):
        return  # a device or pipe replaces nothing
    for other in filter(None, inputs):
        if _same(other, target):
            raise VifidelError(
                f"{path}: the output would replace an input or another output; name another file."
            )
        if os.path.isdir(other) and _same(other, folder):
            raise VifidelError(
                f"{path}: the output would be in a folder that is read ({other}); name a file "
                "somewhere else."
            )


def check_folder(path: str | os.PathLike[str], inputs: Iterable[Path]) -> None:
    """Raise, before long work, if a folder of outputs is an input, or in one, or has one in it."""
    with writing(path):
        target = Path(os.path.realpath(path))
        places = [(other, Path(os.path.realpath(other))) for other in inputs if other.exists()]
    for other, place in places:
        if _same(other, str(target)):
            raise VifidelError(f"{path}: the output would replace an input; name another folder.")
        if target.is_relative_to(place):
            raise VifidelError(
                f"{path}: the output would be in a folder that is read ({other}); name a folder "
                "somewhere else."
            )
        if place.is_relative_to(target):
            raise VifidelError(
                f"{path}: an input ({other}) is in the folder of the output; name another folder."
            )


def check_inside(path: Path, folder: Path) -> None:
    """Raise if a link in a folder of outputs would lead one of them out of it."""
    if not Path(os.path.realpath(path)).is_relative_to(os.path.realpath(folder)):
        raise VifidelError(f"{path}: is a link that leads out of {folder}; remove it.")


def _same(path: str | os.PathLike[str], other: str) -> bool:
    try:
        return os.path.realpath(path) == other or os.path.samefile(path, other)
    except (OSError, ValueError):  # one of the two does not exist
        return False


@contextlib.contextmanager
def locked(lock: Path, seconds: float = 0, kept: bool = False) -> Iterator[None]:
    """Hold a lock file for one process at a time; `filelock.Timeout` after so many seconds."""
    from filelock import FileLock, Timeout

    mode = 0o644 if kept else 0o644 | _OURS
    with contextlib.suppress(FileNotFoundError):
        state = os.lstat(lock)
        mode = stat.S_IMODE(state.st_mode)  # filelock 4.1 gives it to what is there as well
        if not stat.S_ISREG(state.st_mode) or state.st_size:
            raise VifidelError(f"{lock}: exists and is not one of our lock files; move it away.")
    held = FileLock(lock, mode=mode)
    try:
        held.acquire(timeout=seconds)
        if _mode_at(held, lock) is None:  # one who held it until now has removed it
            raise Timeout(os.fspath(lock))
        yield
    finally:
        # Who holds it last removes it, unless it is kept, where others wait for it.
        if not kept and held.is_locked and (_mode_at(held, lock) or 0) & _OURS:
            with contextlib.suppress(OSError):  # on Windows, while it is held
                lock.unlink()
        held.release()


def _mode_at(held: Any, lock: Path) -> int | None:
    """Return the mode of a held lock; None if the file of that name is another, or none."""
    with contextlib.suppress(OSError):
        state = os.fstat(held._context.lock_file_fd)  # which filelock does not show
        if os.path.samestat(state, os.stat(lock)):
            return state.st_mode
    return None


@contextlib.contextmanager
def alone(lock: Path, output: Path, noun: str = "file") -> Iterator[None]:
    """Hold a lock for the only run that writes an output, a file or folder; else `VifidelError`."""
    from filelock import Timeout

    with contextlib.ExitStack() as held:
        try:
            held.enter_context(locked(lock))
        except Timeout:
            preposition = "to this folder" if noun == "folder" else f"this {noun}"
            raise VifidelError(
                f"{output}: another run is writing {preposition}; wait for it, or name another."
            ) from None
        except (OSError, NotImplementedError) as problem:
            why = reason(problem) if isinstance(problem, OSError) else str(problem)
            raise VifidelError(f"{output}: cannot be written: {why}.") from None
        yield


# The first line of records, by which a file is known to be ours.
_MARK = '{"vifidel-eval": "an unfinished run"}\n'


class Parts:
    """What an interrupted run has done, by key, in a file ``.unfinished`` beside its output."""

    # A key says everything that the part depends on, so that a part that is there is never stale.

    def __init__(self, output: Path | None) -> None:
        self.path: Path | None = None  # of no output, or of a device, parts are not kept
        if output is not None and (output.is_file() or not output.exists()):
            self.path = beside(output, ".unfinished")
        self._known: dict[str, Any] = {}
        self.damaged = 0  # parts that could not be read
        self._begun = False
        if self.path is None or not os.path.lexists(self.path):
            return
        if self.path.is_symlink():  # what is added would be written where it leads
            raise VifidelError(f"{self.path}: is a link, not an unfinished run; move it away.")
        try:
            content = read_kept(self.path, VifidelError).decode()
        except (OSError, UnicodeDecodeError) as problem:
            raise VifidelError(
                f"{self.path}: the unfinished run cannot be read ({problem}); delete it to start "
                "again."
            ) from None
        self._begun = content.startswith(_MARK)
        if not self._begun and not _MARK.startswith(content):
            raise VifidelError(
                f"{self.path}: is not an unfinished run of this version; move it away."
            )
        for line in filter(None, content.splitlines()[1:]):
            try:
                part = json.loads(line)
                key, value, digest = part["key"], part["content"], part["digest"]
                if digest != _digest(key, value):
                    raise ValueError
                self._known[key] = value
            except (ValueError, KeyError, TypeError, RecursionError):
                self.damaged += 1

    def __contains__(self, key: str) -> bool:
        return key in self._known

    def __getitem__(self, key: str) -> Any:
        return self._known[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._known)

    def add(self, key: str, content: Any, alone: bool = False) -> None:
        """Keep a part, a value of JSON, in place of what its key had, or (`alone`) of all parts."""
        if alone:
            self._known.clear()
        self._known[key] = content
        if self.path is None:
            return
        part = {"key": key, "content": content, "digest": _digest(key, content)}
        line = json.dumps(part, allow_nan=False)
        if alone:
            write_whole(self.path, f"{_MARK}{line}\n")
        else:
            mode = "a" if self._begun else "w"
            with (
                writing(self.path),
                self.path.open(mode, encoding="utf-8", newline="\n") as file,
            ):
                # Another run of the same output may have ended, and removed the file.
                before = "" if file.tell() else _MARK
                file.write(f"{before}\n{line}\n")  # the line before may have no end
        self._begun = True

    def clear(self) -> None:
        """Forget all parts: the run is complete. A file that is not of this run stays."""
        if self.path is not None and self._begun:
            with contextlib.suppress(FileNotFoundError):
                with self.path.open("rb") as file:
                    ours = file.read(len(_MARK)) == _MARK.encode()
                if ours:
                    self.path.unlink()
            self._begun = False


def _digest(key: str, content: Any) -> str:
    """Return what tells a part from a damaged one."""
    text = json.dumps([key, content], allow_nan=False, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]
