"""Caches of what functions of texts return, bounded by how long the texts are.

A text may have 100 000 characters, so that a number of texts bounds nothing. What the functions
return takes memory in proportion to the text.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")

#: How many characters the texts of one cache have together, each with `ENTRY` more: as many as in
#: ten thousand captions, or in twenty thousand words.
MOST = 1 << 20
#: What an entry costs beside its text.
ENTRY = 48


class Remembered(dict[K, V]):
    """A function of one argument that keeps what it returned, and a dictionary of that.

    `size` says how large an argument is, such as its number of characters; with more than `most`
    together, each with `ENTRY` more, it starts over.

    >>> lower = Remembered(str.lower)
    >>> lower("Dog"), lower["A" * MOST] == "a" * MOST, list(lower)
    ('dog', True, ['Dog'])
    """

    def __init__(
        self,
        function: Callable[[K], V],
        size: Callable[[K], int] = len,  # type: ignore[assignment]
        most: int = MOST,
    ) -> None:
        super().__init__()
        self._function, self._size, self._most = function, size, most
        self._held = 0  # threads may lose additions: it bounds well enough
        functools.update_wrapper(self, function)

    if TYPE_CHECKING:

        def __call__(self, key: K, /) -> V: ...

    else:
        __call__ = dict.__getitem__

    def __missing__(self, key: K) -> V:
        value = self._function(key)
        size = self._size(key) + ENTRY
        if size > self._most // 16:  # one text must not drop all others
            return value
        self._held += size
        if self._held > self._most:
            self.clear()
            self._held = size
        self[key] = value
        return value
