"""Support of the words of captions, from the metrics that have it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any, NamedTuple

from ..evaluation import DetailsOfParts, Floats, Integers
from ..io.caches import Remembered
from ..io.digits import number_texts
from ..io.files import json_text
from ..words.content_words import content_words


class WordSupport(NamedTuple):
    """How well the evidence for an image supports a word of a caption."""

    word: str  # in lower case; several words where they name one thing: "hot dogs"
    support: float  # in [0, 1]; 1 for a word that the evidence contains
    is_thing: bool  # whether it names a thing
    place: range  # which of the caption's pieces between blanks hold it, counted from 0
    by: str | None = None  # the object label or word of a reference that supports it best, if any
    weight: float | None = None  # in VIFIDEL-P; 0 in what claims nothing


# A word of `SupportedWords` in JSON.
_WORD = ' {\n  "word": %s,\n  "support": %s,\n  "by": %s,\n  "thing": %s,\n  "weight": %s\n }'


@dataclass(frozen=True, eq=False)
class SupportedWords:
    """The content words of some captions, and how their images support them."""

    captions: Sequence[str]
    starts: Integers  # caption i has the distinct words from starts[i] up to starts[i + 1]
    words: Integers  # numbers of a lexicon
    by: Integers  # the word that supports each best, as a number too; negative for none
    supports: Floats  # in [0, 1]
    weights: Floats  # what each weighs in VIFIDEL-P
    names: Sequence[str]  # the words of the lexicon by their numbers, without its vectors
    things: Sequence[Collection[str]]  # of each caption, the words that name things
    stop_words: frozenset[str]

    def __call__(self) -> list[list[dict[str, Any]]]:
        """Return the words of each caption as ``--output`` has them."""
        keys = "word", "support", "by", "thing", "weight"
        return [
            [
                dict(zip(keys, (w.word, w.support, w.by, w.is_thing, w.weight), strict=True))
                for w in of_caption
            ]
            for of_caption in self.placed()
        ]

    def placed(self) -> list[list[WordSupport]]:
        """Return the words of each caption in order, as often as they occur."""
        words_in = _piece_reader(self.stop_words)
        return [
            [
                supports[word]._replace(place=range(at, at + 1))
                for at, piece in enumerate(caption.split())
                for word in words_in(piece)
                if word in supports
            ]
            for caption, supports in self._supports_by_word()
        ]

    def json_texts(self, text_of: Callable[[WordSupport], str]) -> Iterator[str]:
        """Yield the JSON of each caption's words; `text_of` returns that of one word."""
        words_in = _piece_reader(self.stop_words)
        for caption, supports in self._supports_by_word():
            texts = {word: text_of(support) for word, support in supports.items()}
            words = [word for piece in caption.split() for word in words_in(piece)]
            of_row = ",\n".join([texts[word] for word in words if word in texts])
            yield f"[\n{of_row}\n]" if of_row else "[]"

    def _supports_by_word(self) -> Iterator[tuple[str, dict[str, WordSupport]]]:
        """Yield each caption with the support of its words, which have no places yet."""
        names, nowhere, starts = self.names, range(0), self.starts.tolist()
        columns = (column.tolist() for column in (self.words, self.supports, self.by, self.weights))
        words = list(zip(*columns, strict=True))
        for row, (caption, things) in enumerate(zip(self.captions, self.things, strict=True)):
            by_word = {}
            for number, support, by, weight in words[starts[row] : starts[row + 1]]:
                word, best = names[number], names[by] if by >= 0 else None
                by_word[word] = WordSupport(word, support, word in things, nowhere, best, weight)
            yield caption, by_word


@lru_cache(maxsize=8)
def _piece_reader(stop_words: frozenset[str]) -> Callable[[str], list[str]]:
    """Return a function from a piece to its content words: the same pieces come again and again."""
    words_in: Remembered[str, list[str]] = Remembered(partial(content_words, stop_words=stop_words))
    return words_in.__getitem__


def _json_text(text_of: Callable[[Any], str], word: WordSupport) -> str:
    support, weight = number_texts([word.support, word.weight or 0.0])
    return _WORD % (text_of(word.word), support, text_of(word.by), text_of(word.is_thing), weight)


class WordDetails(DetailsOfParts):
    """The words of each row, made from the `SupportedWords` of some rows at a time."""

    def add(self, rows: int, make: Callable[[], Any]) -> None:
        super().add(rows, make())  # at once: the lexicon may be another one later

    def json_texts(self) -> list[str]:
        """Return each row as `vifidel_eval.io.files.json_text` writes it, in less time."""
        of_value = lru_cache(maxsize=1 << 14)(json_text)
        text_of = lru_cache(maxsize=1 << 16)(partial(_json_text, of_value))
        return [text for words in self._make for text in words.json_texts(text_of)]
