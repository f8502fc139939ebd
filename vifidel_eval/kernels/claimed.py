"""Claimed words and mentions: what of captions VIFIDEL-PRF scores, and what of it is invented."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from typing import NamedTuple

import numpy as np

from ..evaluation import Floats, Integers
from ..io.caches import Remembered
from ..words.claims import read_sentences
from ..words.content_words import content_words
from ..words.mentions import Unit
from .bags import Bags
from .fidelity import Mask
from .grounding import Grounding
from .lexicon import Lexicon
from .support import NOTHING, Nearest, nearest, nearest_evidence, some_of


class Claim(NamedTuple):
    """What of a caption is scored: its content words, None for all, and the things it names.

    It mentions them, or denies that they are there.
    """

    words: frozenset[str] | None
    mentions: tuple[Unit, ...]
    denied: tuple[Unit, ...]


@lru_cache(maxsize=8)
def claim_reader(
    units: Callable[[str], Sequence[Unit]], stop_words: frozenset[str]
) -> Callable[[str], Claim]:
    """Return what reads captions; who reads alike shares what was read last.

    What of a caption is scored are sentences that mention a thing, without the words of things that
    they deny; if there is none, the whole caption. `units` are those of a `Grounding`.
    """

    def read(caption: str) -> Claim:
        sentences = read_sentences(caption, units)
        claiming = [sentence for sentence in sentences if sentence.claims]
        things = tuple(chain.from_iterable(sentence.things for sentence in sentences))
        denied = tuple(unit for unit in things if unit.denied)
        words = None
        if claiming and (denied or len(claiming) < len(sentences)):
            said = " ".join(caption[one.start : one.end] for one in claiming)
            counts = Counter(content_words(said, stop_words))
            for unit in chain.from_iterable(sentence.things for sentence in claiming):
                if unit.denied:
                    counts.subtract(content_words(unit.words, stop_words))
            words = frozenset(word for word, n in counts.items() if n > 0)
        return Claim(words, tuple(unit for unit in things if not unit.denied), denied)

    return Remembered(read).__getitem__


@lru_cache(maxsize=8)
def _parts(stop_words: frozenset[str]) -> Remembered[str, tuple[str, ...]]:
    """Return the content words of each mention."""
    return Remembered(lambda words: tuple(content_words(words, stop_words)))


@dataclass(frozen=True, eq=False)
class Claims:
    """What of some captions is scored, as `claim_reader` says it of each."""

    of_captions: Sequence[Claim]
    stop_words: frozenset[str]

    @property
    def lexicon_words(self) -> Iterator[str]:
        """The words and terms that a lexicon needs for the mentions."""
        parts = _parts(self.stop_words)
        mentions = chain.from_iterable(claim.mentions for claim in self.of_captions)
        for unit in dict.fromkeys(mentions):
            yield unit.text
            yield from parts[unit.words]

    def chosen(self, lexicon: Lexicon, words: Bags) -> Mask:
        """Return which words are claimed, (number of atoms,): all where none of those is known.

        `words` are those of each caption that have vectors.
        """
        count = np.ones(len(words.atoms), dtype=bool)
        for row, claim in enumerate(self.of_captions):
            if claim.words is None:  # the whole caption is scored
                continue
            of_row = slice(*words.starts[row : row + 2])
            held = [lexicon.words[atom] for atom in words.atoms[of_row].tolist()]
            if not claim.words.isdisjoint(held):
                count[of_row] = [word in claim.words for word in held]
        return count

    def words_of_mentions(self) -> Iterator[set[str]]:
        """Yield the words of the things that each caption mentions."""
        parts = _parts(self.stop_words)
        for claim in self.of_captions:
            yield {word for unit in claim.mentions for word in parts[unit.words]}


class ClaimedMentions:
    """The mentions of some rows, row after row, and their place among the claimed `words`.

    Of each there is its unit, its row, the number of its class, and its lexicon number.
    """

    def __init__(
        self,
        of_rows: Sequence[tuple[Unit, ...]],
        words: Bags,
        grounding: Grounding,
        lexicon: Lexicon,
        stop_words: frozenset[str],
    ) -> None:
        self.units = list(chain.from_iterable(of_rows))
        self.rows = np.arange(len(of_rows)).repeat(_lengths(of_rows))
        self.atoms = np.array(lexicon.numbers(unit.text for unit in self.units), dtype=np.int64)
        classes = [grounding.class_numbers[unit.category or ""] for unit in self.units]
        self.classes = np.array(classes, dtype=np.int64)
        words_in = _parts(stop_words)
        self._parts = [words_in[unit.words] for unit in self.units]
        # Where the words of mentions are among those of the rows: `held` by `holders`.
        holders = np.arange(len(self.units)).repeat(_lengths(self._parts))
        of_mentions = np.array(lexicon.numbers(chain.from_iterable(self._parts)), dtype=np.int64)
        size = len(lexicon.known)
        keys = np.append(words.owners * size + words.atoms, NOTHING)
        order = keys.argsort()
        sought = self.rows[holders] * size + of_mentions
        held = order.take(keys.searchsorted(sought, sorter=order), mode="clip")
        is_there = keys[held] == sought
        self._holders, self._held = holders[is_there], held[is_there]
        self._words = len(words.atoms)

    def words_of(self, some: Integers | Mask) -> Mask:
        """Return which words are part of some mentions of their rows, (number of words,)."""
        counts = np.zeros(len(self.rows), dtype=bool)
        counts[some] = True
        found = np.zeros(self._words, dtype=bool)
        found[self._held[counts[self._holders]]] = True
        return found

    def nearness(self, lexicon: Lexicon, some: Integers, *evidence: Bags) -> Floats:
        """Return the largest cosine of some mentions to the evidence of their rows, in [0, 1].

        It is 0 for a mention without a vector.
        """
        near = (nearest_evidence(lexicon, self.atoms, self.rows, e, (), some)[0] for e in evidence)
        return np.nan_to_num(np.maximum(*near)[some])


def _lengths(lists: Iterable[Sequence[object]]) -> Integers:
    return np.array(list(map(len, lists)), dtype=np.int64)


def reached_by(lexicon: Lexicon, words: Bags, count: Mask, side: Bags, found: Nearest) -> Floats:
    """Return how near those words that count come to each of a side, (number of its atoms,).

    `count` is a mask of the words; `found` is what is nearest between all of them and the side.
    """
    if not len(side.atoms) or count.all():
        return found.of_right
    loses = np.zeros(len(words), dtype=bool)
    loses[words.owners[~count]] = True
    rows = loses.nonzero()[0]
    again = nearest(lexicon.distances, some_of(words, count).take(rows), side.take(rows))
    reached: Floats = found.of_right.copy()
    reached[loses[side.owners]] = again.of_right
    return reached
