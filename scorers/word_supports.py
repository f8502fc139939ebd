"""Support of the words of captions, by those metrics that tell it."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from functools import cached_property, lru_cache
from typing import Any, NamedTuple, Protocol, runtime_checkable

from ..digits import number_texts
from ..files import json_text
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


# A word of `WordDetails` in JSON.
_WORD = ' {\n  "word": %s,\n  "support": %s,\n  "by": %s,\n  "thing": %s\n }'


@runtime_checkable
class WrittenAsJson(Protocol):
    """Details of many small parts, which know their JSON better than an encoder."""

    def json_texts(self) -> list[str]:
        """Return what `vifidel_eval.files.json_text` makes of each row."""
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

    def json_texts(self) -> list[str]:
        """Return what `vifidel_eval.files.json_text` makes of each row, in a tenth of the time."""
        text_of = lru_cache(maxsize=1 << 14)(json_text)
        supports = iter(number_texts(word.support for words in self._words for word in words))
        rows = (
            ",\n".join(
                _WORD % (text_of(word.word), support, text_of(word.by), text_of(word.is_thing))
                for word, support in zip(words, supports, strict=False)
            )
            for words in self._words
        )
        return [f"[\n{words}\n]" if words else "[]" for words in rows]


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
