"""Kinds: which classes of things are kinds of others, and what may be one.

A *pony* is a horse. A *desk* may be what somebody else calls a dining table, and a *calf* may be a
giraffe's: such a kind fits where there is one, but is not denied where there is none.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from ..io.caches import Remembered


class Parent(NamedTuple):
    """What the things of a class are, or may be."""

    category: str
    is_sure: bool  # whether they always are


class Kinds:
    """The parents of classes; without circles, or `circle` has one."""

    def __init__(self, parents: Mapping[str, Iterable[Parent]]) -> None:
        self._parents = {
            category: tuple(dict.fromkeys(above)) for category, above in parents.items()
        }
        self._above: Remembered[str, tuple[tuple[Parent, ...], ...]]
        self._above = Remembered(lambda category: tuple(self._levels(category)))
        self._upward: Remembered[str, frozenset[str]]
        self._upward = Remembered(lambda category: frozenset(self._all_above(category)))

    def above(self, category: str) -> tuple[tuple[Parent, ...], ...]:
        """Return the parents of a class, then what these are kinds of, and so on."""
        return self._above[category] if category in self._parents else ()

    def upward(self, category: str) -> frozenset[str]:
        """Return a class, and all that its things are for sure."""
        return self._upward[category] if category in self._parents else frozenset((category,))

    def circle(self) -> str | None:
        """Return a class that is a kind of itself, or None."""
        above = ((category, self._levels(category)) for category in self._parents)
        circles = (
            c for c, levels in above if any(c == p.category for level in levels for p in level)
        )
        return next(circles, None)

    def _levels(self, category: str) -> Iterator[tuple[Parent, ...]]:
        seen: set[str] = set()
        level = self._parents.get(category, ())
        while level:
            yield level
            seen.update(parent.category for parent in level)
            # What a thing only may be says nothing of what is above.
            above = (self._parents.get(p.category, ()) for p in level if p.is_sure)
            level = tuple(
                dict.fromkeys(p for parents in above for p in parents if p.category not in seen)
            )

    def _all_above(self, category: str) -> Iterator[str]:
        yield category
        for level in self._levels(category):
            yield from (parent.category for parent in level if parent.is_sure)
