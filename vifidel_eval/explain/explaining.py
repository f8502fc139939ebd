"""Explanations of captions, made from what VIFIDEL computes of them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from ..evaluation import Floats, Integers
from ..kernels.bags import Bags, meetings
from ..kernels.lexicon import Lexicon
from ..kernels.transport import similarities, sums_of_bags, transport_plans
from ..rows import LabelCounts, Rows
from ..text.words import content_words
from .explanation import CaptionWord, Explanation, Match, ThingMentioned, mentions_of
from .judging import Judge, Sought
from .standing import are_mentioned, standings


class Weighed(NamedTuple):
    """Some rows as VIFIDEL weighs them.

    Attributes
    ----------
    rows : Rows
        The captions.
    labels : sequence of mappings
        The object labels of each row.
    references : sequence of sequences of str
        The references that count, row by row.
    lexicon : Lexicon
        Where the numbers of all bags come from.
    objects, words : Bags
        Labels and content words, one bag per row each.
    label_penalties, word_penalties : float64
        Eq. 4, one per atom of `objects` and of `words`.
    costs : float64
        Eq. 5, one per pair of atoms that meet.
    unknown : Counter
        Labels and words without a vector.
    """

    rows: Rows
    labels: Sequence[LabelCounts]
    references: Sequence[Sequence[str]]
    lexicon: Lexicon
    objects: Bags
    words: Bags
    label_penalties: Floats
    word_penalties: Floats
    costs: Floats
    unknown: Counter[str]


def explanations_of(
    weighed: Weighed, judge: Judge, sought: Sought | None, far: float
) -> Iterator[Explanation]:
    """Yield the explanation of each row.

    Parameters
    ----------
    weighed : Weighed
        The rows.
    judge : Judge
        Which mentions of things are there.
    sought : Sought, optional
        What the source of objects looks for.
    far : float
        As `Thresholds.far`.
    """
    rows, objects, words, lexicon = weighed.rows, weighed.objects, weighed.words, weighed.lexicon
    plans = transport_plans(objects, words, weighed.costs)
    distances = sums_of_bags(plans * weighed.costs, objects, words)
    scores = similarities(objects.sizes > 0, words, distances)
    moving = np.flatnonzero(plans > 0)
    matches = _matches(weighed, plans, moving)
    evidence = judge.evidence(lexicon, weighed.labels, weighed.references, sought)
    mentioned = judge.judge(lexicon, rows.captions, evidence)
    mentions: list[list[ThingMentioned]] = [[] for _ in range(len(rows))]
    for row, mention in mentions_of(mentioned):
        mentions[row].append(mention)
    of_words = standings(lexicon, words, evidence, mentioned)
    spoken_of = are_mentioned(lexicon, objects, words, mentioned, judge, far)
    pairs = np.concatenate([[0], np.cumsum(objects.sizes * words.sizes)])
    ends = np.searchsorted(moving, pairs).tolist()
    for i, (image_id, caption) in enumerate(zip(rows.ids, rows.captions, strict=True)):
        moved = matches[ends[i] : ends[i + 1]]
        amounts: dict[str, list[float]] = {}
        for match in moved:
            amounts.setdefault(match.word, []).append(match.contribution)
        of_image = slice(*objects.starts[i : i + 2])
        of_caption = slice(*words.starts[i : i + 2])
        caption_words = [
            CaptionWord(word, math.fsum(amounts[word]) if moved else math.nan, *standing)
            for word, standing in zip(
                map(lexicon.word, words.atoms[of_caption].tolist()),
                of_words[of_caption],
                strict=True,
            )
        ]
        silent = objects.atoms[of_image][~spoken_of[of_image]]
        yield Explanation(
            image_id=image_id,
            caption=caption,
            score=float(scores[i]),
            distance=float(distances[i]),
            known=bool(evidence.texts[i]),
            matches=tuple(sorted(moved, key=lambda match: -match.contribution)),
            words=tuple(sorted(caption_words, key=lambda word: -word.cost)),
            mentions=tuple(mentions[i]),
            unmentioned=tuple(map(lexicon.word, silent.tolist())),
            unknown_words=_unknown_words(weighed, judge, i),
        )


def _unknown_words(weighed: Weighed, judge: Judge, row: int) -> tuple[str, ...]:
    """Return the labels and words of a row that have no vector."""
    caption, unknown = weighed.rows.captions[row], weighed.unknown
    plain = caption.lower()
    # Most captions have none, which is seen without cutting them into words.
    can_be = not plain.isascii() or any(word in plain for word in unknown)
    words = content_words(caption, judge.stop_words) if can_be else ()
    read = (*weighed.labels[row], *words)
    return tuple(dict.fromkeys(word for word in read if word in unknown))


def _matches(weighed: Weighed, plans: Floats, moving: Integers) -> list[Match]:
    """Return the matches of those pairs that move mass."""
    left, right = (side[moving] for side in meetings(weighed.objects, weighed.words))
    word_of = weighed.lexicon.word
    return [
        Match(word_of(label), word_of(word), *numbers)
        for label, word, *numbers in zip(
            weighed.objects.atoms[left].tolist(),
            weighed.words.atoms[right].tolist(),
            plans[moving].tolist(),
            weighed.costs[moving].tolist(),
            weighed.label_penalties[left].tolist(),
            weighed.word_penalties[right].tolist(),
            strict=True,
        )
    ]
