"""Caches: what functions returned, in memory, and the folder of those on disk."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sized
from functools import update_wrapper
from pathlib import Path
from typing import TypeVar

from ..errors import VectorsError
from .files import reason

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
        room = self._times * MOST
        if size > room // 16:  # one text must not drop all others
            return value
        self._held += size
        if self._held > room:  # it starts over
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
        paths = sorted(cache.iterdir()) if cache.is_dir() else []
        files = [path for path in paths if path.is_file() and not path.is_symlink()]
        ours = [path for path in files if _OWN_NAME.fullmatch(path.name)]
        size = sum(path.stat().st_size for path in ours)
        for path in ours:
            path.unlink(missing_ok=True)
    except OSError as problem:
        raise VectorsError(
            f"{problem.filename or cache}: cannot be removed: {reason(problem)}."
        ) from None
    return size, [path for path in paths if path.is_dir()]
