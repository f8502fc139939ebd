"""The standing of words to the evidence of their images, and of objects to the words.

Mentions are grounded as `grounding` does it; all other words, such as *standing* or *large*, have a
support too, of which nothing is claimed.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..evaluation import Floats, Integers
from ..io.caches import Remembered
from ..words.content_words import piece_words
from ..words.grounded import SUPPORT
from ..words.mentions import Unit
from .bags import Bags
from .grounding import Evidence, GroundedMentions, Grounding, words_of
from .lexicon import Lexicon
from .support import NOTHING, are_named, nearest, some_of


class Standings(NamedTuple):
    """How content words stand to what is known of their images.

    Of each word: the support of the mention that it stands for, else of the word itself, NaN if
    nothing is known; the lexicon number of what supports a word of no mention; and that mention.
    """

    support: Floats
    by: Integers
    mentions: Integers


def standings(
    lexicon: Lexicon, words: Bags, evidence: Evidence, mentions: GroundedMentions
) -> Standings:
    """Return how each word of some captions stands, in the order of ``words.atoms``."""
    rows = words.owners
    of_mentions = _mentions_of(lexicon, words, rows, mentions)
    support = np.append(mentions.support, np.nan)[of_mentions]
    by = np.full(len(rows), NOTHING)
    others = np.flatnonzero(of_mentions == NOTHING)
    support[others], by[others] = evidence.support(lexicon, words.atoms[others], rows[others])
    return Standings(support, by, of_mentions)


def _mentions_of(
    lexicon: Lexicon, words: Bags, rows: Integers, mentions: GroundedMentions
) -> Integers:
    """Return the mention that each word stands for: of several the worst, of equals the first."""
    found: dict[tuple[int, str], int] = {}
    # Verdicts are in the order of their weight; where a word is set again, the last one stays.
    for at in np.lexsort((-np.arange(len(mentions.units)), mentions.verdicts)).tolist():
        row = int(mentions.rows[at])
        found |= {(row, word): at for word in _content_words(mentions.units[at].words)}
    texts = map(lexicon.words.__getitem__, words.atoms.tolist())
    at_words = (found.get(key, NOTHING) for key in zip(rows.tolist(), texts, strict=True))
    return np.fromiter(at_words, np.int64, len(rows))


@Remembered
def _content_words(said: str) -> tuple[str, ...]:
    return tuple(word for piece in said.split() for word in piece_words(piece))


def are_mentioned(
    grounding: Grounding,
    lexicon: Lexicon,
    objects: Bags,
    words: Bags,
    mentions: GroundedMentions,
    far: float,
) -> NDArray[np.bool_]:
    """Return whether captions speak of each object, (number of object atoms,).

    They do if they mention something of its class, or if a word has a cosine of at least `far`.
    """
    rows, numbers = objects.owners, grounding.class_numbers
    labels = grounding.class_numbers_of_labels(lexicon, objects.atoms)
    classes = np.array([numbers[unit.category or ""] for unit in mentions.units], dtype=np.int64)
    spoken_of = are_named((rows, labels), (mentions.rows, classes), (len(objects), len(numbers)))
    others = np.flatnonzero(~spoken_of)
    near = nearest(lexicon.distances, some_of(objects, others), words, floor=-1.0)
    # With this floor a cosine c counts as (c + 1) / 2, and 0 is a caption without words.
    spoken_of[others] = (words.sizes[rows[others]] > 0) & (2 * near.of_left - 1 >= far)
    return spoken_of


def supports(
    grounding: Grounding,
    lexicon: Lexicon,
    captions: Sequence[str],
    evidence: Evidence,
    threshold: float = SUPPORT,
) -> list[list[tuple[Unit, float, str | None]]]:
    """Return all units of each caption in order, each with its support and what supports it.

    Those that `Grounding.mentions` does not judge are of no category.
    """
    of_rows = list(map(grounding.units, captions))
    rows = np.arange(len(of_rows)).repeat(list(map(len, of_rows)))
    units = list(chain.from_iterable(of_rows))
    atoms = np.array(lexicon.numbers(unit.text for unit in units), dtype=np.int64)
    support, by = evidence.support(lexicon, atoms, rows)
    known = list(zip(support.tolist(), words_of(lexicon, by), strict=True))
    mentions = grounding.mentions(lexicon, captions, evidence, threshold)
    things = np.array([n for n, unit in enumerate(units) if unit.category], dtype=np.int64)
    starts = np.searchsorted(rows[things], np.arange(len(of_rows)))
    places = things[starts[mentions.rows] + mentions.places].tolist()
    units = [unit._replace(category=None) for unit in units]
    for at, unit, mention in zip(places, mentions.units, mentions, strict=True):
        units[at], known[at] = unit, (mention.support, mention.supported_by)
    found: list[list[tuple[Unit, float, str | None]]] = [[] for _ in captions]
    for row, unit, of_unit in zip(rows.tolist(), units, known, strict=True):
        found[row].append((unit, *of_unit))
    return found
