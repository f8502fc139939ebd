"""Explanations of captions, made from what VIFIDEL computes of them."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Collection, Sequence
from itertools import accumulate
from typing import NamedTuple

import numpy as np

from ..evaluation import Floats
from ..kernels.bags import Bags, meetings
from ..kernels.lexicon import Lexicon
from ..kernels.transport import similarities, sums_of_bags, transport_plans
from ..rows import LabelCounts, Rows
from ..text.words import content_words
from .evidence import NOTHING, Evidence
from .explained import Explained, Matches, Mentions, Objects, Texts, Words, rows_of
from .judging import Judge
from .standing import are_mentioned, standings


class Weighed(NamedTuple):
    """Some rows as VIFIDEL weighs them.

    Attributes
    ----------
    rows : Rows
        The captions.
    labels : sequence of mappings
        The object labels of each row.
    lexicon : Lexicon
        Where the numbers of all bags come from.
    objects, words : Bags
        Labels and content words, one bag per row each.
    label_penalties, word_penalties : float64
        Eq. 4, one per atom of `objects` and of `words`.
    costs : float64
        Eq. 5, one per pair of atoms that meet.
    unknown_labels, unknown_words : Counter
        Labels and words without a vector.
    """

    rows: Rows
    labels: Sequence[LabelCounts]
    lexicon: Lexicon
    objects: Bags
    words: Bags
    label_penalties: Floats
    word_penalties: Floats
    costs: Floats
    unknown_labels: Counter[str]
    unknown_words: Counter[str]


def columns_of(weighed: Weighed, judge: Judge, evidence: Evidence, far: float) -> Explained:
    """Return the explanations of some rows.

    Parameters
    ----------
    weighed : Weighed
        The rows.
    judge : Judge
        Which mentions of things are there.
    evidence : Evidence
        What is known of the images.
    far : float
        As `Thresholds.far`.
    """
    rows, objects, words, lexicon = weighed.rows, weighed.objects, weighed.words, weighed.lexicon
    plans = transport_plans(objects, words, weighed.costs)
    distances = sums_of_bags(plans * weighed.costs, objects, words)
    mentioned = judge.judge(lexicon, rows.captions, evidence)
    standing = standings(lexicon, words, evidence, mentioned)
    spoken_of = are_mentioned(lexicon, objects, words, mentioned, judge, far)
    texts = Texts()
    by = texts.of(mentioned.by)
    return Explained(
        ids=rows.ids,
        captions=rows.captions,
        scores=similarities(objects.sizes > 0, words, distances),
        distances=distances,
        known=evidence.is_there,
        objects=Objects(
            objects.starts,
            texts.of_numbers(lexicon, objects.atoms),
            weighed.label_penalties,
            ~spoken_of,
        ),
        words=Words(
            words.starts,
            texts.of_numbers(lexicon, words.atoms),
            weighed.word_penalties,
            standing.support,
            np.where(
                standing.mentions == NOTHING,
                texts.of_numbers(lexicon, standing.by),
                np.append(by, NOTHING)[standing.mentions],
            ),
            standing.mentions,
        ),
        mentions=Mentions(
            np.searchsorted(mentioned.rows, np.arange(len(rows) + 1)),
            texts.of([unit.words for unit in mentioned.units]),
            texts.of([unit.category for unit in mentioned.units]),
            mentioned.support,
            by,
            mentioned.verdicts,
        ),
        matches=_matches(weighed, plans),
        unknown_words=_unknown_words(weighed, judge),
        texts=texts.listed,  # last: now all are listed
    )


def _matches(weighed: Weighed, plans: Floats) -> Matches:
    """Return the matches of those pairs that move mass."""
    moving = np.flatnonzero(plans > 0)
    objects, words = (side[moving] for side in meetings(weighed.objects, weighed.words))
    masses, costs = plans[moving], weighed.costs[moving]
    rows = rows_of(weighed.objects.starts)[objects]
    order = np.lexsort((-masses * costs, rows))
    starts = np.searchsorted(rows, np.arange(len(weighed.objects) + 1))
    return Matches(starts, objects[order], words[order], masses[order], costs[order])


def _unknown_words(weighed: Weighed, judge: Judge) -> dict[int, tuple[str, ...]]:
    """Return the labels and words without a vector, by row; most rows have none."""
    captions, labels = weighed.rows.captions, weighed.labels
    unknown = weighed.unknown_labels.keys() | weighed.unknown_words.keys()
    rows = _rows_with(unknown, captions) if unknown else set()
    if weighed.unknown_labels:
        rows.update(i for i, of_row in enumerate(labels) if not unknown.isdisjoint(of_row))
    found = {}
    for row in sorted(rows):
        read = (*labels[row], *content_words(captions[row], judge.stop_words))
        of_row = tuple(dict.fromkeys(word for word in read if word in unknown))
        if of_row:
            found[row] = of_row
    return found


def _rows_with(words: Collection[str], captions: Sequence[str]) -> set[int]:
    """Return the captions that can have some of the words, without cutting them into words."""
    if len(words) >= len(captions):
        return set(range(len(captions)))
    lowered = [caption.lower() for caption in captions]
    ends = list(accumulate(len(caption) + 1 for caption in lowered))
    text = "\n".join(lowered)
    rows = {row for row, caption in enumerate(lowered) if not caption.isascii()}
    for word in words:
        at = text.find(word)
        while 0 <= at < len(text):
            row = bisect_right(ends, at)
            rows.add(row)
            at = text.find(word, ends[row])
    return rows
