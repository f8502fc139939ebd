"""Caches of what functions of texts return; the folder of cached files."""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Callable, Sized
from pathlib import Path
from typing import NamedTuple, TypeVar

from ..errors import VectorsError
from .files import reason

K = TypeVar("K", bound=Sized)
V = TypeVar("V")

#: How many characters the texts of one cache have together: as in ten thousand captions.
MOST = 1 << 20
#: What an entry costs beside its text.
ENTRY = 48


class Remembered(dict[K, V]):
    """A function of one argument that keeps what it returned, and a dictionary of that.

    It holds arguments of `times` `MOST` characters together, each with `ENTRY` more; then it starts
    over.

    >>> lower = Remembered(str.lower)
    >>> lower("Dog"), lower["A" * MOST] == "a" * MOST, list(lower)
    ('dog', True, ['Dog'])
    """

    def __init__(self, function: Callable[[K], V], times: int = 1) -> None:
        super().__init__()
        self._function = function
        self._times = times
        self._held = 0  # threads may lose additions: it bounds well enough
        functools.update_wrapper(self, function)

    def __call__(self, key: K, /) -> V:
        return self[key]

    def __missing__(self, key: K) -> V:
        value = self._function(key)
        size = len(key) + ENTRY
        most = self._times * MOST
        if size > most // 16:  # one text must not drop all others
            return value
        self._held += size
        if self._held > most:
            self.clear()
            self._held = size
        self[key] = value
        return value


# The names of what we write into the cache folder; nothing else in it is ever removed.
_OWN_NAME = re.compile(r"(vectors-4(-[0-9a-f]{32}){3}|(building|pictures)-[0-9a-f]{32})\.db")


class Cleared(NamedTuple):
    """What `clear_cache` did."""

    bytes: int  # removed
    left: list[Path]  # folders in the cache that are not ours


def cache_folder() -> Path:
    """Return ``VIFIDEL_EVAL_CACHE`` if that is set, else the user's cache folder."""
    from platformdirs import user_cache_path

    chosen = os.environ.get("VIFIDEL_EVAL_CACHE")
    return Path(chosen) if chosen else user_cache_path("vifidel_eval", appauthor=False)


def clear_cache() -> Cleared:
    """Remove what this package keeps in the cache folder, and nothing else."""
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
    return Cleared(size, [path for path in found if path.is_dir()])
