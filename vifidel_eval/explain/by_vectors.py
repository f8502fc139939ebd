"""Explanations by word vectors: the grounding of captions, and VIFIDEL's transport plans."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..evaluation import Floats
from ..kernels.bags import Bags, Part, meetings
from ..kernels.grounding import Evidence, Grounding
from ..kernels.standing import are_mentioned, standings
from ..kernels.support import NOTHING
from ..kernels.transport import similarities, sums_of_bags, transport_plans, travel_costs
from .explained import (
    Explained,
    MatchColumns,
    MentionColumns,
    ObjectColumns,
    Texts,
    WordColumns,
)
from .explanation import Thresholds


def explained_by_vectors(
    part: Part[Any],
    grounding: Grounding,
    evidence: Evidence,
    p: int,
    thresholds: Thresholds,
    unknown_words: Mapping[int, tuple[str, ...]],
    denied: Mapping[int, tuple[str, ...]],
) -> Explained:
    """Return the explanations of rows that were read.

    `evidence` is what is known of their images, and `p` the exponent of the travel cost. Words
    without a vector, and what was looked for and is not there, are given by row.
    """
    rows, words, gold = part.rows, part.words, part.gold
    lexicon, objects = gold.lexicon, gold.objects
    label_penalties, penalty = gold.label_penalties, gold.penalties(words)
    costs = travel_costs(lexicon.distances, objects, words, p, label_penalties, penalty)
    plans = transport_plans(objects, words, costs)
    distances = sums_of_bags(plans * costs, objects, words)
    mentions = grounding.mentions(lexicon, rows.captions, evidence, thresholds.support)
    standing = standings(lexicon, words, evidence, mentions)
    mentioned = are_mentioned(grounding, lexicon, objects, words, mentions, thresholds.far)
    texts = Texts()
    by = texts.of(mentions.by)
    return Explained(
        ids=rows.ids,
        captions=rows.captions,
        scores=similarities(objects.sizes > 0, words, distances),
        distances=distances,
        known=evidence.is_there,
        rated=evidence.is_there & evidence.denies,
        objects=ObjectColumns(
            objects.starts,
            texts.of_numbers(lexicon, objects.atoms),
            label_penalties,
            ~mentioned,
        ),
        words=WordColumns(
            words.starts,
            texts.of_numbers(lexicon, words.atoms),
            penalty,
            standing.support,
            np.where(
                standing.mentions == NOTHING,
                texts.of_numbers(lexicon, standing.by),
                np.append(by, NOTHING)[standing.mentions],
            ),
            standing.mentions,
        ),
        mentions=MentionColumns(
            np.searchsorted(mentions.rows, np.arange(len(rows) + 1)),
            mentions.places,
            texts.of([unit.words for unit in mentions.units]),
            texts.of([unit.category for unit in mentions.units]),
            mentions.support,
            by,
            mentions.verdicts,
            texts.of(mentions.judged_by),
        ),
        matches=_matches(objects, words, plans, costs),
        unknown_words=unknown_words,
        denied=denied,
        texts=texts.listed,  # last: now all are listed
    )


def _matches(objects: Bags, words: Bags, plans: Floats, costs: Floats) -> MatchColumns:
    """Return the matches of those pairs that move mass."""
    moving = np.flatnonzero(plans > 0)
    of_objects, of_words = (side[moving] for side in meetings(objects, words))
    masses, costs = plans[moving], costs[moving]
    rows = objects.owners[of_objects]
    order = np.lexsort((-masses * costs, rows))
    starts = np.searchsorted(rows, np.arange(len(objects) + 1))
    return MatchColumns(starts, of_objects[order], of_words[order], masses[order], costs[order])
