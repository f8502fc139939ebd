"""What a metric says of the words of captions, for those metrics that say it."""

from __future__ import annotations

from typing import NamedTuple, Protocol, runtime_checkable

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
    """

    word: str
    support: float
    is_thing: bool
    place: range


@runtime_checkable
class SupportsWords(Protocol):
    """A scorer that knows the support of each word."""

    def word_supports(self, rows: Rows) -> list[list[WordSupport]]:
        """Return the words that the metric judges, row by row, in the order of the caption."""
        ...
