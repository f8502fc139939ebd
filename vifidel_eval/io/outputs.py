"""Guards of outputs: checks before long work starts, and a lock while it goes on."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from ..errors import VifidelError
from .files import mode_of, reason

# What a lock holds while it is held, and if its process is killed.
_OF_A_LOCK = b"a lock of vifidel-eval\n"


def check_output(path: str | os.PathLike[str], inputs: Iterable[Path | None]) -> None:
    """Raise, before long work starts, if its output could not be written or would destroy an input.

    The inputs are everything that is read or written beside it: files, and folders whose files are
    read.
    """
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
        raise VifidelError(f"{path}: cannot be written: the folder is read-only for you.")
    if mode is not None and not stat.S_ISREG(mode):
        return  # a device or pipe replaces nothing
    for other in filter(None, inputs):
        if _same(other, target):
            raise VifidelError(f"{path}: the output would replace an input; name another file.")
        if os.path.isdir(other) and _same(other, folder):
            raise VifidelError(
                f"{path}: the output would lie in a folder that is read ({other}); name a file "
                "somewhere else."
            )


def check_folder(path: str | os.PathLike[str], inputs: Iterable[Path]) -> None:
    """Raise, before long work starts, if a tree of files in a folder would destroy an input.

    The folder may not exist yet; it may not be an input, lie in one, or have one below it.
    """
    try:
        target = os.path.realpath(path)
        known = [(other, os.path.realpath(other)) for other in inputs if os.path.exists(other)]
    except (OSError, ValueError) as problem:
        raise VifidelError(f"{path}: cannot be written: {reason(problem)}.") from None
    for other, place in known:
        if _same(other, target):
            raise VifidelError(f"{path}: the output would replace an input; name another folder.")
        if Path(target).is_relative_to(place):
            raise VifidelError(
                f"{path}: the output would lie in a folder that is read ({other}); name a folder "
                "somewhere else."
            )
        if Path(place).is_relative_to(target):
            raise VifidelError(
                f"{path}: an input ({other}) lies in the folder of the output; name another folder."
            )


def _same(one: str | os.PathLike[str], other: str) -> bool:
    try:
        return os.path.realpath(one) == other or os.path.samefile(one, other)
    except (OSError, ValueError):  # one of them does not exist
        return False


@contextlib.contextmanager
def locked(lock: Path, seconds: float = 0, kept: bool = False) -> Iterator[None]:
    """Hold a lock file for one process at a time.

    It is removed if this process has made it, also after an error, or one that was killed; an empty
    file of that name that was there before may be somebody's, and stays. It is `kept` in any case
    where others wait for it. A file of that name that holds something else is not ours, and locking
    would empty it: that is an error. Raises `filelock.Timeout` if another process holds it for so
    many seconds, OSError if it cannot be made.
    """
    from filelock import FileLock, Timeout

    left = b""
    with contextlib.suppress(OSError):
        if stat.S_ISREG(os.lstat(lock).st_mode):
            with open(lock, "rb") as file:
                left = file.read(len(_OF_A_LOCK) + 1)
        else:
            left = b"no file"
    if left not in (b"", _OF_A_LOCK):
        raise VifidelError(f"{lock}: is in the way of a lock and is none; move it away.")
    try:
        os.close(os.open(lock, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644))
        made = not kept
    except FileExistsError:
        made = left == _OF_A_LOCK and not kept
    held = FileLock(lock)
    try:
        held.acquire(timeout=seconds)
        if not _is_at(held, lock):  # one who held it until now has removed it
            raise Timeout(os.fspath(lock))
        if made:
            with contextlib.suppress(OSError):  # a full disk
                os.write(_descriptor(held), _OF_A_LOCK)
        yield
    finally:
        if made and held.is_locked and _is_at(held, lock):
            with contextlib.suppress(OSError):  # on Windows, while it is held
                lock.unlink()
        held.release()


def _is_at(held: Any, lock: Path) -> bool:
    """Return whether what is locked is the file of that name, not one that was removed."""
    with contextlib.suppress(OSError):
        return os.path.samestat(os.fstat(_descriptor(held)), os.stat(lock))
    return False


def _descriptor(held: Any) -> int:
    """Return the open file of a lock, which filelock does not show."""
    descriptor: int = held._context.lock_file_fd
    return descriptor
