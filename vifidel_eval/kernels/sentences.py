"""Sentences: what captions claim and deny, and with which words, before any evidence is seen."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from itertools import chain
from typing import NamedTuple

from ..io.records import Remembered
from ..words.content_words import content_words
from ..words.english import sentence_places
from ..words.mentions import Unit
from .names import MOST_OWN, Names


class Sentence(NamedTuple):
    """A sentence of a text, without the blanks around it: its place, and the things it names."""

    start: int
    end: int
    things: tuple[Unit, ...]


def read_sentences(text: str, units: Callable[[str], Sequence[Unit]]) -> tuple[Sentence, ...]:
    """Return the sentences of a text; `units` finds content words, as `Names.units` does."""
    return tuple(
        Sentence(start, end, tuple(unit for unit in units(text[start:end]) if unit.category))
        for start, end in sentence_places(text)
    )


class ClaimedWords(NamedTuple):
    """The content words of a sentence without those of what it denies."""

    words: tuple[str, ...]
    mentions_things: bool


class Claim(NamedTuple):
    """What a caption says: its sentences, and the things that it mentions and denies."""

    sentences: tuple[ClaimedWords, ...]  # none if it is plain
    is_plain: bool  # whether it is one sentence without denials, so that all of it is claimed
    mentions: tuple[Unit, ...]
    parts: tuple[tuple[str, ...], ...]  # the words of each mention
    looked_up: tuple[str, ...]  # what a lexicon needs for the mentions
    denied: tuple[Unit, ...]


@lru_cache(maxsize=MOST_OWN)
def claim_reader(names: Names, stop_words: frozenset[str]) -> Callable[[str], Claim]:
    """Return a reader of the captions of images with these names; equal arguments share it."""
    words_in: Remembered[str, tuple[str, ...]] = Remembered(
        lambda text: tuple(content_words(text, stop_words))
    )

    def read(caption: str) -> Claim:
        read_as = read_sentences(caption, names.units)
        things = tuple(chain.from_iterable(sentence.things for sentence in read_as))
        denied = tuple(unit for unit in things if unit.denied)
        mentions = tuple(unit for unit in things if not unit.denied)
        is_plain = len(read_as) == 1 and not denied
        sentences = () if is_plain else tuple(map(partial(claimed_words, caption), read_as))
        parts = tuple(words_in(unit.words) for unit in mentions)
        looked_up = (*(unit.text for unit in mentions), *chain.from_iterable(parts))
        return Claim(sentences, is_plain, mentions, parts, looked_up, denied)

    def claimed_words(caption: str, sentence: Sentence) -> ClaimedWords:
        counts = Counter(content_words(caption[sentence.start : sentence.end], stop_words))
        for unit in sentence.things:
            if unit.denied:
                counts.subtract(words_in(unit.words))
        words = tuple(word for word, n in counts.items() if n > 0)
        return ClaimedWords(words, not all(unit.denied for unit in sentence.things))

    return Remembered(read).__getitem__
