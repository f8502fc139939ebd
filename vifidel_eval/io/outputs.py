"""Outputs: checked before long work, and written by one run at a time, which holds a lock."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from ..errors import VifidelError
from .files import mode_of, reason

# By which a lock is known to be ours from the moment it exists: no empty file of a user's can be
# executed. What we wrote into it would come too late for one who opens it meanwhile.
_OURS = stat.S_IXUSR


def check_output(path: str | os.PathLike[str], inputs: Iterable[Path | None]) -> None:
    """Raise, before long work, if its output cannot be written or would destroy an input."""
    if os.path.isdir(path):
        raise VifidelError(f"{path}: the output is a folder; name a file in it.")
    try:
        target = os.path.realpath(path)
        folder = os.path.dirname(target)
        mode = mode_of(path)
    except (OSError, ValueError) as problem:
        raise VifidelError(f"{path}: cannot be written: {reason(problem)}.") from None
    if mode is None and not os.path.isdir(folder):
        raise VifidelError(f"{path}: there is no such folder; create it first.")
    if mode is None and not os.access(folder, os.W_OK):
        raise VifidelError(f"{path}: cannot be written: you may not write to the folder.")
    if mode is not None and not stat.S_ISREG(mode):
        return  # a device or pipe replaces nothing
    for other in filter(None, inputs):
        if _same(other, target):
            raise VifidelError(f"{path}: the output would replace an input; name another file.")
        if os.path.isdir(other) and _same(other, folder):
            raise VifidelError(
                f"{path}: the output would be in a folder that is read ({other}); name a file "
                "somewhere else."
            )


def check_folder(path: str | os.PathLike[str], inputs: Iterable[Path]) -> None:
    """Raise, before long work, if a folder of outputs is an input, or in one, or has one in it."""
    try:
        target = Path(os.path.realpath(path))
        known = [(other, Path(os.path.realpath(other))) for other in inputs if other.exists()]
    except (OSError, ValueError) as problem:
        raise VifidelError(f"{path}: cannot be written: {reason(problem)}.") from None
    for other, place in known:
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
def alone(lock: Path, output: Path, what: str = "file") -> Iterator[None]:
    """Hold a lock for the only run that writes an output, a file or folder; else `VifidelError`."""
    from filelock import Timeout

    with contextlib.ExitStack() as held:
        try:
            held.enter_context(locked(lock))
        except Timeout:
            preposition = "to this folder" if what == "folder" else f"this {what}"
            raise VifidelError(
                f"{output}: another run is writing {preposition}; wait for it, or name another."
            ) from None
        except (OSError, NotImplementedError) as problem:
            why = reason(problem) if isinstance(problem, OSError) else str(problem)
            raise VifidelError(f"{output}: cannot be written: {why}.") from None
        yield
