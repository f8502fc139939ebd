"""Explanations of many captions as columns of numbers, which the page and findings are made of.

An `Explanation` is what a person reads, and has objects for everything in it; a run has millions
of these. So what is derived from all captions is computed from columns, and explanations are made
of them one by one, where they are asked for.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..evaluation import Floats, Integers
from ..io.image_ids import ImageId
from ..kernels.lexicon import Lexicon
from ..kernels.support import NOTHING
from ..words.grounded import GroundedMention, Verdict
from .explanation import CaptionWord, Explanation, Match


class ObjectColumns(NamedTuple):
    """The object labels that have a vector, in alphabetical order within a caption."""

    starts: Integers  # caption i has the entries from starts[i] up to starts[i + 1], here as below
    labels: Integers  # places in `Explained.texts`
    penalties: Floats  # Eq. 4
    unmentioned: NDArray[np.bool_]  # whether the caption does not speak of the object


class WordColumns(NamedTuple):
    """The different content words that have a vector, in alphabetical order within a caption."""

    starts: Integers
    words: Integers  # places in `Explained.texts`
    penalties: Floats  # Eq. 4
    support: Floats  # as `CaptionWord.support`
    by: Integers  # the place of `CaptionWord.supported_by`, or `NOTHING`
    mentions: Integers  # the entry of `MentionColumns` that the word stands for, or `NOTHING`


class MentionColumns(NamedTuple):
    """The mentions of things, in the order of each caption."""

    starts: Integers
    places: Integers  # of each among the things that its caption names
    words: Integers  # places in `Explained.texts`
    categories: Integers  # places in `Explained.texts`
    support: Floats  # as `GroundedMention.support`
    by: Integers  # the place of `GroundedMention.supported_by`, or `NOTHING`
    verdicts: Integers  # of `Verdict`
    judged_by: Integers  # the place of `GroundedMention.judged_by`, or `NOTHING`


class MatchColumns(NamedTuple):
    """The transport plans, the largest contribution of each caption first."""

    starts: Integers
    objects: Integers  # entries of `ObjectColumns`
    words: Integers  # entries of `WordColumns`
    masses: Floats  # as in `Match`
    costs: Floats


class Texts:
    """The different texts of some columns, each with a place."""

    def __init__(self) -> None:
        self._places: dict[str | None, int] = {None: NOTHING}

    @property
    def listed(self) -> list[str]:
        """The texts in the order of their places."""
        return [text for text in self._places if text is not None]

    def of(self, texts: Sequence[str | None]) -> Integers:
        """Return the place of each text; that of None is `NOTHING`."""
        places = self._places
        for text in dict.fromkeys(texts):
            places.setdefault(text, len(places) - 1)
        return np.fromiter(map(places.__getitem__, texts), np.int64, len(texts))

    def of_numbers(self, lexicon: Lexicon, numbers: Integers) -> Integers:
        """Return the place of each word of a lexicon; that of the number `NOTHING` is the same."""
        place_of = np.full(len(lexicon.known) + 1, NOTHING)  # the last one stays
        held = np.zeros(len(lexicon.known) + 1, dtype=bool)
        held[numbers] = True
        distinct = np.flatnonzero(held[:-1])
        place_of[distinct] = self.of(list(map(lexicon.words.__getitem__, distinct.tolist())))
        return place_of[numbers]


@dataclass(frozen=True, eq=False)
class Explained:
    """The explanations of some captions; iterating makes an `Explanation` of each."""

    ids: Sequence[ImageId]
    captions: Sequence[str]
    scores: Floats  # these three are as in `Explanation`, (captions,)
    distances: Floats
    known: NDArray[np.bool_]
    rated: NDArray[np.bool_]  # whether rates count the caption: something can be absent
    texts: Sequence[str]  # the words, labels, mentions and classes that the columns refer to
    objects: ObjectColumns
    words: WordColumns
    mentions: MentionColumns
    matches: MatchColumns
    # As in `Explanation`, by the places of those captions that have some.
    unknown_words: Mapping[int, tuple[str, ...]]
    denied: Mapping[int, tuple[str, ...]] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.captions)

    def __iter__(self) -> Iterator[Explanation]:
        texts: list[Any] = [*self.texts, None]  # NOTHING is the last one
        mentions, matches = self._mentions(texts), self._matches(texts)
        words = list(zip(*(column.tolist() for column in self.words[1:]), strict=True))
        for at, (image_id, caption) in enumerate(zip(self.ids, self.captions, strict=True)):
            of_mentions = slice(*self.mentions.starts[at : at + 2])
            of_objects = slice(*self.objects.starts[at : at + 2])
            moved = matches[slice(*self.matches.starts[at : at + 2])]
            costs: dict[str, list[float]] = {}
            for match in moved:
                costs.setdefault(match.word, []).append(match.contribution)
            caption_words = []
            for word, _, support, by, mention in words[slice(*self.words.starts[at : at + 2])]:
                cost = math.fsum(costs[texts[word]]) if moved else math.nan
                said = None if mention == NOTHING else mentions[mention]
                judged = (said.words, said.category, said.verdict) if said else (None, None, None)
                caption_words.append(CaptionWord(texts[word], cost, support, texts[by], *judged))
            silent = self.objects.labels[of_objects][self.objects.unmentioned[of_objects]]
            yield Explanation(
                image_id=image_id,
                caption=caption,
                score=float(self.scores[at]),
                distance=float(self.distances[at]),
                known=bool(self.known[at]),
                matches=tuple(moved),
                words=tuple(sorted(caption_words, key=lambda word: -word.cost)),
                mentions=tuple(mentions[of_mentions]),
                unmentioned=tuple(map(self.texts.__getitem__, silent.tolist())),
                unknown_words=self.unknown_words.get(at, ()),
                denied=self.denied.get(at, ()),
            )

    def _mentions(self, texts: Sequence[Any]) -> list[GroundedMention]:
        columns = (column.tolist() for column in self.mentions[2:])
        return [
            GroundedMention(texts[words], texts[of], support, texts[by], Verdict(verdict), texts[j])
            for words, of, support, by, verdict, j in zip(*columns, strict=True)
        ]

    def _matches(self, texts: Sequence[Any]) -> list[Match]:
        _, objects, words, masses, costs = self.matches
        columns = (
            self.objects.labels[objects],
            self.words.words[words],
            masses,
            costs,
            self.objects.penalties[objects],
            self.words.penalties[words],
        )
        return [
            Match(texts[label], texts[word], *numbers)
            for label, word, *numbers in zip(*(c.tolist() for c in columns), strict=True)
        ]
