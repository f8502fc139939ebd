"""Support of the words of captions, by those metrics that tell it."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol, runtime_checkable

from ..rows import Rows


class WordSupport(NamedTuple):
    """How well what is known of an image supports a word of a caption.

    Attributes
    ----------
    word : str
        In lower case; several words where they name one thing: ``"hot dogs"``.
    support : float
        In [0, 1]; 1 for a word that the evidence contains.
    is_thing : bool
        Whether it names a thing.
    place : range
        Which of the caption's pieces between blanks hold it, counted from 0.
    by : str, optional
        The object label or the word of a reference that supports it best; None where nothing does.
    weight : float, optional
        What it weighs in VIFIDEL-P; 0 in what claims nothing.
    """

    word: str
    support: float
    is_thing: bool
    place: range
    by: str | None = None
    weight: float | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the word as JSON can hold it, as VIFIDEL-PRF writes it into ``--output``."""
        weight = {} if self.weight is None else {"weight": self.weight}
        of_word = {"word": self.word, "support": self.support, "by": self.by}
        return {**of_word, "thing": self.is_thing, **weight}


@runtime_checkable
class SupportsWords(Protocol):
    """A scorer that knows the support of each word."""

    def word_supports(self, rows: Rows) -> list[list[WordSupport]]:
        """Return the words that the metric judges, row by row, in the order of the caption."""
        ...


class DetailsOfParts(Sequence[Any]):
    """What ``--output`` says of each row, made from what was found in some rows when it is wanted.

    Made at once it would be the largest part of an evaluation: objects for each word of each row,
    which nobody asks for if there is no ``--output``.
    """

    def __init__(self) -> None:
        self._ends: list[int] = []
        self._make: list[Callable[[], list[Any]]] = []
        self._last: tuple[int, list[Any]] | None = None  # rows are read one after the other

    def add(self, rows: int, make: Callable[[], list[Any]]) -> None:
        """Add rows, and what makes the details of each of them."""
        self._ends.append(len(self) + rows)
        self._make.append(make)

    def __len__(self) -> int:
        return self._ends[-1] if self._ends else 0

    def __getitem__(self, row: Any) -> Any:
        if isinstance(row, slice):
            return [self[at] for at in range(*row.indices(len(self)))]
        row = range(len(self))[row]
        part = bisect_right(self._ends, row)
        last = self._last
        if last is None or last[0] != part:
            self._last = last = part, self._make[part]()
        return last[1][row - self._ends[part]]
