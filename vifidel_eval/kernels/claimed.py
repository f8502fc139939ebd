"""Claimed words and mentions: what of captions VIFIDEL-PRF scores, and what of it is invented."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import chain
from typing import NamedTuple

import numpy as np

from ..evaluation import Floats, Integers
from ..remembered import Remembered
from ..text.words import content_words
from ..things.claims import Sentence, read_sentences
from ..things.mentions import Unit
from .bags import Bags, positions, starts_of
from .fidelity import Mask
from .known_words import NO_CLASS, KnownWords
from .lexicon import Lexicon
from .support import NOTHING, Nearest, nearest, some_of


class Claim(NamedTuple):
    """What of a caption is scored.

    Attributes
    ----------
    words : frozenset of str, optional
        Its content words; None for all of the caption's.
    mentions : tuple of Unit
        The things that it mentions.
    """

    words: frozenset[str] | None
    mentions: tuple[Unit, ...]


@lru_cache(maxsize=8)
def claim_reader(
    units: Callable[[str], Sequence[Unit]], stop_words: frozenset[str]
) -> Callable[[str], tuple[Claim, ...]]:
    """Return what reads captions; who reads alike shares what was read last.

    It returns what of a caption is scored: sentences that mention a thing, without their hedged
    clauses; if there is none, all that is not hedged; if that has no usable word, the whole
    caption. More than one claim is for a caption of which the words of the first ones may have no
    vectors.

    Parameters
    ----------
    units : callable
        From a text to its content words, such as `Grounding.units`.
    stop_words : frozenset of str
        Words that are left out.
    """

    def read(caption: str) -> tuple[Claim, ...]:
        sentences = read_sentences(caption, units)
        hedged = any(sentence.hedged for sentence in sentences)
        if not hedged and len(sentences) == 1:  # as most captions
            return (Claim(None, _mentions(sentences[0].units)),)
        claiming = [sentence for sentence in sentences if sentence.claims]
        found = []
        for some in (claiming, sentences if hedged else ()):
            if some and (hedged or len(some) < len(sentences)):
                said = " ".join(sentence.claimed(caption) for sentence in some)
                words = frozenset(content_words(said, stop_words))
                if words:
                    found.append(Claim(words, _mentions(_units(some))))
        units_of_all = units(caption) if hedged else _units(sentences)
        return (*found, Claim(None, _mentions(units_of_all)))

    return Remembered(read).__getitem__


def _units(sentences: Iterable[Sentence]) -> Iterator[Unit]:
    return chain.from_iterable(sentence.units for sentence in sentences)


def _mentions(units: Iterable[Unit]) -> tuple[Unit, ...]:
    return tuple(unit for unit in units if unit.category is not None)


@lru_cache(maxsize=8)
def _parts(stop_words: frozenset[str]) -> Remembered[str, tuple[str, ...]]:
    """Return the content words of each mention."""
    return Remembered(lambda words: tuple(content_words(words, stop_words)))


@dataclass(frozen=True, eq=False)
class Claims:
    """What of some captions is scored.

    Attributes
    ----------
    of_captions : sequence of tuple of Claim
        What `claim_reader` says of each.
    stop_words : frozenset of str
        Words that are left out.
    """

    of_captions: Sequence[tuple[Claim, ...]]
    stop_words: frozenset[str]

    @cached_property
    def places(self) -> Mapping[Unit, int]:
        """All different mentions, numbered from 0."""
        claims = chain.from_iterable(self.of_captions)
        units = dict.fromkeys(chain.from_iterable(claim.mentions for claim in claims))
        return {unit: n for n, unit in enumerate(units)}

    @cached_property
    def lexicon_words(self) -> Sequence[str]:
        """The words and terms that a lexicon needs for the mentions."""
        parts = _parts(self.stop_words)
        return [word for u in self.places for word in (u.text, *parts[u.words])]

    def chosen(self, lexicon: Lexicon, words: Bags) -> tuple[Mask, Sequence[tuple[Unit, ...]]]:
        """Return which words are claimed, (number of atoms,), and what each caption mentions.

        Parameters
        ----------
        lexicon : Lexicon
            Of the words.
        words : Bags
            Of each caption, those that have vectors.
        """
        count = np.ones(len(words.atoms), dtype=bool)
        mentions = [claims[0].mentions for claims in self.of_captions]
        for row in self._in_part:
            of_row = slice(*words.starts[row : row + 2])
            held = [lexicon.word(atom) for atom in words.atoms[of_row].tolist()]
            claims = self.of_captions[row]
            claim = next(c for c in claims if c.words is None or not c.words.isdisjoint(held))
            mentions[row] = claim.mentions
            if claim.words is not None:
                count[of_row] = [word in claim.words for word in held]
        return count, mentions

    def words_of_mentions(self) -> Iterator[set[str]]:
        """Yield the words of the things that each caption mentions, claimed or not."""
        parts = _parts(self.stop_words)
        for *_, whole in self.of_captions:
            yield {word for unit in whole.mentions for word in parts[unit.words]}

    @cached_property
    def _in_part(self) -> Sequence[int]:
        """The rows of captions that are not scored as a whole."""
        return [n for n, claims in enumerate(self.of_captions) if claims[0].words is not None]


@lru_cache(maxsize=4)  # a part of a run is read when its words get numbers, and when it is scored
def read_claims(
    units: Callable[[str], Sequence[Unit]], stop_words: frozenset[str], captions: tuple[str, ...]
) -> Claims:
    """Return what of captions is scored; the arguments are those of `claim_reader`."""
    return Claims(list(map(claim_reader(units, stop_words), captions)), stop_words)


@dataclass(frozen=True, eq=False)
class Mentions:
    """The mentions of some rows, row after row.

    Attributes
    ----------
    units : sequence of Unit
        All different ones.
    rows, at : (number of mentions,) int64
        The row of each, and its place in `units`.
    classes : (number of mentions,) int64
        The number of its class.
    holders, held : (number of words of mentions,) int64
        A mention, and the position of one of its words among those of the rows.
    words : int
        How many words the rows have.
    """

    units: Sequence[Unit]
    rows: Integers
    at: Integers
    classes: Integers
    holders: Integers
    held: Integers
    words: int

    @classmethod
    def of_rows(
        cls,
        claims: Claims,
        of_rows: Sequence[tuple[Unit, ...]],
        known: KnownWords,
        lexicon: Lexicon,
        words: Bags,
    ) -> Mentions:
        """Return those mentions of claims that are the rows', which have these words."""
        places, of_words = claims.places, _parts(claims.stop_words)
        rows = np.repeat(np.arange(len(of_rows)), list(map(len, of_rows)))
        at = np.fromiter(map(places.__getitem__, chain.from_iterable(of_rows)), np.int64, len(rows))
        classes = [known.numbers[unit.category or ""] for unit in places]
        parts = [of_words[unit.words] for unit in places]
        numbers = np.array(lexicon.numbers(chain.from_iterable(parts)), dtype=np.int64)
        sizes = np.array(list(map(len, parts)), dtype=np.int64)
        holders = np.arange(len(at)).repeat(sizes[at])
        of_mentions = numbers[positions(starts_of(sizes)[at], sizes[at])]
        size = len(lexicon.known)
        keys = np.append(words.owners * size + words.atoms, NOTHING)
        order = keys.argsort()
        sought = rows[holders] * size + of_mentions
        held = order.take(keys.searchsorted(sought, sorter=order), mode="clip")
        is_there = keys[held] == sought
        return cls(
            list(places),
            rows,
            at,
            np.array(classes, dtype=np.int64)[at],
            holders[is_there],
            held[is_there],
            len(words.atoms),
        )

    def words_of(self, some: Integers | Mask) -> Mask:
        """Return which words are part of some mentions of their rows, (number of words,)."""
        counts = np.zeros(len(self.rows), dtype=bool)
        counts[some] = True
        found = np.zeros(self.words, dtype=bool)
        found[self.held[counts[self.holders]]] = True
        return found

    def described_by(
        self, lexicon: Lexicon, some: Integers, stop_words: frozenset[str]
    ) -> Iterator[tuple[int, int]]:
        """Yield the places of some mentions with the number of each of their words but the last.

        These only describe the mention, and do not support it: *traffic* is no traffic light.
        """
        parts = _parts(stop_words)
        for place, one in zip(some.tolist(), self.at[some].tolist(), strict=True):
            words = parts[self.units[one].words]
            if len(words) > 1:
                yield from ((place, number) for number in lexicon.numbers(words[:-1]))


def same_class(mentions: Mentions, side: Bags, classes: Integers, number: int) -> tuple[Mask, Mask]:
    """Return which mentions have a class that their row's side has, and which of the side.

    Parameters
    ----------
    mentions : Mentions
        Of some rows.
    side : Bags
        Labels, or words of references, of the same rows.
    classes : (number of atoms of the side,) int64
        The class of each.
    number : int
        How many classes there are.
    """
    named = (classes != NO_CLASS).nonzero()[0]
    if not len(named):
        return np.zeros(len(mentions.rows), dtype=bool), np.zeros(len(side.atoms), dtype=bool)
    rows, classes = side.owners[named], classes[named]
    there = np.zeros((2, len(side), number), dtype=bool)
    there[0, rows, classes] = True
    there[1, mentions.rows, mentions.classes] = True
    of_side = np.zeros(len(side.atoms), dtype=bool)
    of_side[named] = there[1, rows, classes]
    return there[0, mentions.rows, mentions.classes], of_side


def supports_of(
    lexicon: Lexicon,
    mentions: Mentions,
    some: Integers,
    sides: Sequence[Bags],
    apart: Sequence[tuple[int, int]] = (),
) -> Floats:
    """Return the largest cosine of some mentions to a word or label of their rows.

    It is in [0, 1], and NaN for a mention without a vector. `apart` are places of mentions, each
    with the number of a word that does not support it.
    """
    numbers = np.array(lexicon.numbers(unit.text for unit in mentions.units), dtype=np.int64)
    atoms = numbers[mentions.at[some]]
    known = np.flatnonzero(lexicon.known[atoms])
    supports = np.full(len(some), np.nan)
    if not len(known):
        return supports
    rows, size = mentions.rows[some][known], len(lexicon.known)
    keys_apart = [place * size + atom for place, atom in apart]
    supports[known] = 0.0
    for side in sides:
        if not len(side.atoms):
            continue
        starts, evidence = rows.searchsorted(np.arange(len(side) + 1)), side
        if keys_apart:
            starts, evidence = np.arange(len(known) + 1), side.take(rows)
            keys = some[known][evidence.owners] * size + evidence.atoms
            evidence = some_of(evidence, ~np.isin(keys, keys_apart))
        each = Bags(starts, atoms[known], np.ones(len(known)))
        found = nearest(lexicon.distances, each, evidence, floor=0.0)
        supports[known] = np.maximum(supports[known], found.of_left)
    return supports


def reached_by(lexicon: Lexicon, words: Bags, count: Mask, side: Bags, found: Nearest) -> Floats:
    """Return how near those words that count come to each of a side.

    Parameters
    ----------
    lexicon : Lexicon
        Of the words.
    words : Bags
        Of each row.
    count : (number of atoms of the words,) bool
        Whether each word counts.
    side : Bags
        What is reached: labels, or words of references.
    found : Nearest
        Between all words and the side.
    """
    if not len(side.atoms) or count.all():
        return found.of_right
    if found.pairs is not None:
        still: Floats = found.pairs.max(axis=0, where=count[:, None], initial=0.0)
        return still
    loses = np.zeros(len(words), dtype=bool)
    loses[words.owners[~count]] = True
    rows = loses.nonzero()[0]
    again = nearest(lexicon.distances, some_of(words, count).take(rows), side.take(rows))
    reached: Floats = found.of_right.copy()
    reached[loses[side.owners]] = again.of_right
    return reached
