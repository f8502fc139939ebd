"""What runs keep: caches; and runs that take long: their outputs, locks, records, progress."""

from __future__ import annotations

import contextlib
import hashlib
import importlib
import json
import os
import re
import stat
import sys
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator, Sized
from functools import update_wrapper
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from ..errors import VectorsError, VifidelError
from .files import beside, mode_of, read_kept, reason, write_whole

if TYPE_CHECKING:
    from tqdm import tqdm

# By which a lock is known to be ours from the moment it exists: no empty file of a user's can be
# executed. What we wrote into it would come too late for one who opens it meanwhile.
_OURS = stat.S_IXUSR

# The first line of records, by which a file is known to be ours.
_MARK = '{"vifidel-eval": "an unfinished run"}\n'


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


def _same(one: str | os.PathLike[str], other: str) -> bool:
    try:
        return os.path.realpath(one) == other or os.path.samefile(one, other)
    except (OSError, ValueError):  # one of them does not exist
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
        if self.path is None or not self.path.exists():
            return
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
                key, kept, digest = part["key"], part["content"], part["digest"]
                if digest != _digest(key, kept):
                    raise ValueError
                self._known[key] = kept
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
            try:
                mode = "a" if self._begun else "w"
                with self.path.open(mode, encoding="utf-8", newline="\n") as file:
                    # Another run of the same output may have ended, and removed the file.
                    before = "" if file.tell() else _MARK
                    file.write(f"{before}\n{line}\n")  # the line before may have no end
            except OSError as problem:
                raise VifidelError(f"{self.path}: cannot be written: {reason(problem)}.") from None
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


@contextlib.contextmanager
def progress_bar(
    total: int | None, unit: str = " captions", shown: bool | None = None, **settings: Any
) -> Iterator[tqdm[NoReturn]]:
    """Show a bar of `total` units; none appears in a pipe or for short work unless `shown`.

    It appears after a second, whether or not it has moved; warnings are on lines of their own.
    """
    ipython = sys.modules.get("IPython")  # imported by every kernel before its first cell
    shell = None if ipython is None else ipython.get_ipython()
    notebook = shell is not None and "IPKernelApp" in shell.config
    # A notebook is not a terminal, and somebody looks at it.
    absent = sys.stderr is None or sys.stderr.closed
    usual = {"disable": False if notebook else absent or None, "delay": 1, "leave": False}
    if shown is not None:
        usual |= {"disable": not shown, "delay": 0}
    with warnings.catch_warnings():
        # A notebook without ipywidgets gets a bar of characters, which is no cause for a warning.
        warnings.filterwarnings("ignore", message="IProgress not found")
        tqdm = importlib.import_module("tqdm.auto" if notebook else "tqdm").tqdm
        bar = tqdm(total=total, unit=unit, **{**usual, **settings})
    if bar.disable:
        yield bar
        return
    show = warnings.showwarning

    def appear() -> None:
        bar.delay = 0  # else `close` takes it for one that was never shown
        bar.refresh()

    def show_below(*warning: Any, **where: Any) -> None:
        bar.clear()
        show(*warning, **where)

    timer = threading.Timer(bar.delay, appear)
    timer.daemon = True
    with bar:
        timer.start()
        warnings.showwarning = show_below
        try:
            yield bar
        finally:
            warnings.showwarning = show
            timer.cancel()


K = TypeVar("K", bound=Sized)
V = TypeVar("V")

#: How many characters the texts of one cache have together: as in ten thousand captions.
MOST = 1 << 20
ENTRY = 48  #: what an entry costs beside its text


class Remembered(dict[K, V]):
    """A function of one argument that keeps what it returned, `times` `MOST` characters of it."""

    def __init__(self, function: Callable[[K], V], times: int = 1) -> None:
        super().__init__()
        self._function = function
        self._times = times
        self._held = 0  # threads may lose additions: it bounds well enough
        update_wrapper(self, function)

    def __call__(self, key: K, /) -> V:
        return self[key]

    def __missing__(self, key: K) -> V:
        value = self._function(key)
        size = len(key) + ENTRY
        most = self._times * MOST
        if size > most // 16:  # one text must not drop all others
            return value
        self._held += size
        if self._held > most:  # it starts over
            self.clear()
            self._held = size
        self[key] = value
        return value


# The names of what we write into the cache folder; nothing else in it is ever removed.
_OWN_NAME = re.compile(r"(vectors-4(-[0-9a-f]{32}){3}|(building|pictures)-[0-9a-f]{32})\.db")


def cache_folder() -> Path:
    """Return ``VIFIDEL_EVAL_CACHE`` if that is set, else the user's cache folder."""
    from platformdirs import user_cache_path

    chosen = os.environ.get("VIFIDEL_EVAL_CACHE")
    return Path(chosen) if chosen else user_cache_path("vifidel_eval", appauthor=False)


def clear_cache() -> tuple[int, list[Path]]:
    """Remove what we keep in the cache folder; return how many bytes, and folders of others."""
    cache = cache_folder()
    try:
        found = sorted(cache.iterdir()) if cache.is_dir() else []
        files = [path for path in found if path.is_file() and not path.is_symlink()]
        own = [path for path in files if _OWN_NAME.fullmatch(path.name)]
        size = sum(path.stat().st_size for path in own)
        for path in own:
            path.unlink(missing_ok=True)
    except OSError as problem:
        raise VectorsError(
            f"{problem.filename or cache}: cannot be removed: {reason(problem)}."
        ) from None
    return size, [path for path in found if path.is_dir()]
