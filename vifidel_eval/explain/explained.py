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
from ..image_ids import ImageId
from ..kernels.lexicon import Lexicon
from ..kernels.support import NOTHING
from ..things.grounded import GroundedMention, Verdict
from .explanation import CaptionWord, Explanation, Match


class ObjectColumns(NamedTuple):
    """The object labels that have a vector.

    Attributes
    ----------
    starts : (captions + 1,) int64
        Caption i has the entries from ``starts[i]`` up to ``starts[i + 1]``.
    labels : int64
        Places in `Explained.texts`, within a caption in alphabetical order.
    penalties : float64
        Eq. 4.
    unmentioned : bool
        Whether the caption does not speak of the object.
    """

    starts: Integers
    labels: Integers
    penalties: Floats
    unmentioned: NDArray[np.bool_]


class WordColumns(NamedTuple):
    """The different content words that have a vector.

    Attributes
    ----------
    starts : (captions + 1,) int64
        As for `ObjectColumns`.
    words : int64
        Places in `Explained.texts`, within a caption in alphabetical order.
    penalties : float64
        Eq. 4.
    support : float64
        As `CaptionWord.support`.
    by : int64
        The place of `CaptionWord.supported_by`, or `NOTHING`.
    mentions : int64
        The entry of `MentionColumns` that the word stands for, or `NOTHING`.
    """

    starts: Integers
    words: Integers
    penalties: Floats
    support: Floats
    by: Integers
    mentions: Integers


class MentionColumns(NamedTuple):
    """The mentions of things, in the order of each caption.

    Attributes
    ----------
    starts : (captions + 1,) int64
        As for `ObjectColumns`.
    words, categories : int64
        Places in `Explained.texts`.
    support : float64
        As `GroundedMention.support`.
    by : int64
        The place of `GroundedMention.supported_by`, or `NOTHING`.
    verdicts : int64
        Of `Verdict`.
    hedged : bool
        Whether it is not in the image and only a clause that claims nothing mentions it there.
    """

    starts: Integers
    words: Integers
    categories: Integers
    support: Floats
    by: Integers
    verdicts: Integers
    hedged: NDArray[np.bool_]


class MatchColumns(NamedTuple):
    """The transport plans, the largest contribution of each caption first.

    Attributes
    ----------
    starts : (captions + 1,) int64
        As for `ObjectColumns`.
    objects, words : int64
        Entries of `ObjectColumns` and `WordColumns`.
    masses, costs : float64
        As in `Match`.
    """

    starts: Integers
    objects: Integers
    words: Integers
    masses: Floats
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
    """The explanations of some captions; iterating makes an `Explanation` of each.

    Attributes
    ----------
    ids, captions : sequence
        Image and caption of each.
    scores, distances : (captions,) float64
        As in `Explanation`.
    known : (captions,) bool
        Whether anything is known of the image.
    texts : sequence of str
        The words, labels, mentions and classes that the columns refer to.
    objects, words, mentions, matches
        What is in images and captions, and how they were matched.
    unknown_words : mapping
        `Explanation.unknown_words` of those captions that have some, by their place.
    denied : mapping
        `Explanation.denied` of those captions that have some, by their place.
    """

    ids: Sequence[ImageId]
    captions: Sequence[str]
    scores: Floats
    distances: Floats
    known: NDArray[np.bool_]
    texts: Sequence[str]
    objects: ObjectColumns
    words: WordColumns
    mentions: MentionColumns
    matches: MatchColumns
    unknown_words: Mapping[int, tuple[str, ...]]
    denied: Mapping[int, tuple[str, ...]] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.captions)

    def __iter__(self) -> Iterator[Explanation]:
        texts: list[str | None] = [*self.texts, None]  # NOTHING is the last one
        mentions = self._mentions(texts)
        words, matches = self._words(texts, mentions), self._matches(texts)
        for at, (image_id, caption) in enumerate(zip(self.ids, self.captions, strict=True)):
            moved = matches[slice(*self.matches.starts[at : at + 2])]
            costs: dict[str, list[float]] = {}
            for match in moved:
                costs.setdefault(match.word, []).append(match.contribution)
            caption_words = [
                CaptionWord(word, math.fsum(costs[word]) if moved else math.nan, *standing)
                for word, *standing in words[slice(*self.words.starts[at : at + 2])]
            ]
            of_caption = slice(*self.mentions.starts[at : at + 2])
            of_image = slice(*self.objects.starts[at : at + 2])
            silent = self.objects.labels[of_image][self.objects.unmentioned[of_image]]
            yield Explanation(
                image_id=image_id,
                caption=caption,
                score=float(self.scores[at]),
                distance=float(self.distances[at]),
                known=bool(self.known[at]),
                matches=tuple(moved),
                words=tuple(sorted(caption_words, key=lambda word: -word.cost)),
                mentions=tuple(mentions[of_caption]),
                unmentioned=tuple(map(self.texts.__getitem__, silent.tolist())),
                unknown_words=self.unknown_words.get(at, ()),
                hedged=_only_hedged(mentions[of_caption], self.mentions.hedged[of_caption]),
                denied=self.denied.get(at, ()),
            )

    def _mentions(self, texts: Sequence[Any]) -> list[GroundedMention]:
        columns = (column.tolist() for column in self.mentions[1:-1])
        return [
            GroundedMention(texts[words], texts[category], support, texts[by], Verdict(verdict))
            for words, category, support, by, verdict in zip(*columns, strict=True)
        ]

    def _words(self, texts: Sequence[Any], mentions: Sequence[GroundedMention]) -> list[list[Any]]:
        """Return words with what `CaptionWord` has of each behind its cost."""
        _, words, _, supports, evidence, of_mentions = (column.tolist() for column in self.words)
        found: list[list[Any]] = []
        for word, support, by, at in zip(words, supports, evidence, of_mentions, strict=True):
            of_word = [texts[word], support, texts[by]]
            if at == NOTHING:
                found.append([*of_word, None, None, None])
            else:
                mention = mentions[at]
                found.append([*of_word, mention.words, mention.category, mention.verdict])
        return found

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


def _only_hedged(mentions: Sequence[GroundedMention], hedged: NDArray[np.bool_]) -> tuple[str, ...]:
    """Return the words for absent things that hedged clauses mention and no claim does."""
    if not hedged.any():
        return ()
    absent = [
        (m.words, of) for m, of in zip(mentions, hedged, strict=True) if m.verdict is Verdict.ABSENT
    ]
    claimed = {words for words, is_hedged in absent if not is_hedged}
    return tuple(words for words in dict.fromkeys(w for w, _ in absent) if words not in claimed)
