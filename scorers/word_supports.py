"""Support of the words of captions, by those metrics that tell it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import chain
from typing import Any, NamedTuple

from ..evaluation import DetailsOfParts, Floats, Integers
from ..io.caches import Remembered
from ..io.digits import number_texts
from ..io.files import json_text
from ..kernels.claims import Claim
from ..words.content_words import content_words


class WordSupport(NamedTuple):
    """How well what is known of an image supports a word of a caption."""

    word: str  # in lower case; several words where they name one thing: "hot dogs"
    support: float  # in [0, 1]; 1 for a word that the evidence contains
    is_thing: bool  # whether it names a thing
    place: range  # which of the caption's pieces between blanks hold it, counted from 0
    by: str | None = None  # the object label or word of a reference that supports it best, if any
    weight: float | None = None  # in VIFIDEL-P; 0 in what claims nothing


# A word of `SupportedWords` in JSON.
_WORD = ' {\n  "word": %s,\n  "support": %s,\n  "by": %s,\n  "thing": %s,\n  "weight": %s\n }'


# A word, its support, whether it names a thing, what supports it best, and its weight.
_Known = tuple[str, float, bool, str | None, float]


@dataclass(frozen=True, eq=False)
class SupportedWords:
    """The content words of some captions, held against what is known of their images."""

    captions: Sequence[str]
    starts: Integers  # caption i has the distinct words from starts[i] up to starts[i + 1]
    words: Integers  # numbers of a lexicon
    by: Integers  # what supports each best, likewise; negative for nothing
    supports: Floats  # in [0, 1]
    weights: Floats  # what each weighs in VIFIDEL-P
    names: Sequence[str]  # the words of the lexicon by their numbers, which is less than it
    claims: Sequence[Claim]  # what the captions mention
    stop_words: frozenset[str]

    def __call__(self) -> list[list[dict[str, Any]]]:
        """Return what ``--output`` says of each caption."""
        return [list(map(_for_json, of_row)) for of_row in self.placed()]

    def placed(self) -> list[list[WordSupport]]:
        """Return the words of each caption in order, as often as they occur."""
        words_in = piece_reader(self.stop_words)
        return [
            [
                WordSupport(word, support, is_thing, range(at, at + 1), best, weight)
                for at, piece in enumerate(caption.split())
                for word in words_in(piece)
                if word in known
                for _, support, is_thing, best, weight in [known[word]]
            ]
            for caption, known in self._known()
        ]

    def json_texts(self, text_of: Callable[[_Known], str]) -> Iterator[str]:
        """Yield what `vifidel_eval.io.files.json_text` makes of each caption's words.

        `text_of` returns what it makes of one of them; much is said of many captions.
        """
        words_in = piece_reader(self.stop_words)
        for caption, known in self._known():
            texts = {word: text_of(said) for word, said in known.items()}
            words = [word for piece in caption.split() for word in words_in(piece)]
            of_row = ",\n".join([texts[word] for word in words if word in texts])
            yield f"[\n{of_row}\n]" if of_row else "[]"

    def _known(self) -> Iterator[tuple[str, dict[str, _Known]]]:
        """Yield each caption with what is known of its words."""
        names = self.names
        columns = [each.tolist() for each in (self.words, self.supports, self.by, self.weights)]
        starts = self.starts.tolist()
        mentioned = (frozenset(chain.from_iterable(claim.parts)) for claim in self.claims)
        of_rows = zip(self.captions, mentioned, starts, starts[1:], strict=False)
        for caption, things, start, end in of_rows:
            known = {}
            for number, support, by, weight in zip(
                *(of_all[start:end] for of_all in columns), strict=True
            ):
                word = names[number]
                best = names[by] if by >= 0 else None
                known[word] = word, support, word in things, best, weight
            yield caption, known


@lru_cache(maxsize=8)
def piece_reader(stop_words: frozenset[str]) -> Callable[[str], list[str]]:
    """Return what finds the content words of a piece: the same ones come again and again."""
    return Remembered(partial(content_words, stop_words=stop_words)).__getitem__


def _json_text(text_of: Callable[[Any], str], known: _Known) -> str:
    word, support, is_thing, by, weight = known
    support_text, weight_text = number_texts([support, weight])
    return _WORD % (text_of(word), support_text, text_of(by), text_of(is_thing), weight_text)


def _for_json(word: WordSupport) -> dict[str, Any]:
    """Return the word as JSON can hold it, as VIFIDEL-PRF writes it into ``--output``."""
    weight = {} if word.weight is None else {"weight": word.weight}
    of_word = {"word": word.word, "support": word.support, "by": word.by}
    return {**of_word, "thing": word.is_thing, **weight}


class WordDetails(DetailsOfParts):
    """What ``--output`` says of the words of each row, from the `SupportedWords` of some rows."""

    def add(self, rows: int, make: Callable[[], Any]) -> None:
        super().add(rows, make())  # at once: it needs what the rows were read with

    def json_texts(self) -> list[str]:
        """Return each row as `vifidel_eval.io.files.json_text` makes it, in a tenth of the time."""
        of_value = lru_cache(maxsize=1 << 14)(json_text)
        text_of = lru_cache(maxsize=1 << 16)(partial(_json_text, of_value))
        return [text for words in self._make for text in words.json_texts(text_of)]
