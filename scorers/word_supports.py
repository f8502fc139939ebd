"""What a metric says of the words of captions, for those metrics that say it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
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
    """

    word: str
    support: float
    is_thing: bool
    place: range
    by: str | None = None


@runtime_checkable
class SupportsWords(Protocol):
    """A scorer that knows the support of each word."""

    def word_supports(self, rows: Rows) -> list[list[WordSupport]]:
        """Return the words that the metric judges, row by row, in the order of the caption."""
        ...


class WordDetails(Sequence[list[dict[str, Any]]]):
    """What ``--output`` says of the words of each row; computed when it is first asked for.

    Parameters
    ----------
    scorer : SupportsWords
        Who judges the words.
    rows : Rows
        What was scored.
    """

    def __init__(self, scorer: SupportsWords, rows: Rows) -> None:
        self._scorer = scorer
        self._rows = rows

    @cached_property
    def _words(self) -> list[list[WordSupport]]:
        return self._scorer.word_supports(self._rows)

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, row: Any) -> Any:
        return [
            {"word": word.word, "support": word.support, "by": word.by, "thing": word.is_thing}
            for word in self._words[row]
        ]
