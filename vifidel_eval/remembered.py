"""Caches of what functions of texts return, bounded by how long the texts are.

A text may have 100 000 characters, so that a number of texts bounds nothing. What the functions
return takes memory in proportion to the text.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable
from typing import TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")

#: How many characters the texts of one cache have together, each with `ENTRY` more: as many as in
#: ten thousand captions, or in twenty thousand words.
MOST = 1 << 20
#: What an entry costs beside its text.
ENTRY = 48


class Remembered(dict[K, V]):
    """What a function returned, by its argument: ``remembered[text]`` calls it if need be.

    Parameters
    ----------
    function : callable
        From an argument to what is remembered; the same whenever it is called.
    size : callable
        From an argument to its size, such as its number of characters.
    most : int
        The size of all together, each with `ENTRY` more, from which on it starts over.

    Examples
    --------
    >>> lower = Remembered(str.lower)
    >>> lower["Dog"], lower["A" * MOST] == "a" * MOST, list(lower)
    ('dog', True, ['Dog'])
    """

    def __init__(
        self,
        function: Callable[[K], V],
        size: Callable[[K], int] = len,  # type: ignore[assignment]
        most: int = MOST,
    ) -> None:
        super().__init__()
        self._function = function
        self._size = size
        self._most = most
        self._held = 0  # threads may lose additions: it bounds well enough

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


def remembered(function: Callable[[K], V]) -> Callable[[K], V]:
    """Return the function of a text with its results `Remembered`."""
    known = Remembered(function)

    @functools.wraps(function)
    def remember(text: K) -> V:
        return known[text]

    return remember
