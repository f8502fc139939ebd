"""How the words of captions stand to what is known of their images, and objects to the words."""

from __future__ import annotations

from functools import lru_cache
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..evaluation import Floats, Integers
from ..kernels.bags import Bags
from ..kernels.lexicon import Lexicon
from ..kernels.support import nearest
from ..text.words import piece_words
from .evidence import NOTHING, Evidence, Mentioned, some_of
from .explained import rows_of
from .judging import Judge


class Standings(NamedTuple):
    """How content words stand to what is known of their images.

    Attributes
    ----------
    support : (number of words,) float64
        Of the mention that the word belongs to, else of the word itself; NaN if nothing is known.
    by : (number of words,) int64
        The lexicon number of what supports a word that is of no mention; -1 for nothing.
    mentions : (number of words,) int64
        The mention that it stands for; -1 for none.
    """

    support: Floats
    by: Integers
    mentions: Integers


def standings(lexicon: Lexicon, words: Bags, evidence: Evidence, mentioned: Mentioned) -> Standings:
    """Return how each word of some captions stands, in the order of ``words.atoms``."""
    rows = rows_of(words.starts)
    mentions = _mentions_of(lexicon, words, rows, mentioned)
    support = np.append(mentioned.support, np.nan)[mentions]
    by = np.full(len(rows), NOTHING)
    others = np.flatnonzero(mentions == NOTHING)
    found = nearest(lexicon.distances, some_of(words, others), evidence.units, floor=0.0)
    support[others] = np.where(evidence.is_there[rows[others]], found.of_left, np.nan)
    supported = found.of_left > 0
    by[others[supported]] = evidence.units.atoms[found.at_left[supported]]
    return Standings(support, by, mentions)


def _mentions_of(lexicon: Lexicon, words: Bags, rows: Integers, mentioned: Mentioned) -> Integers:
    """Return the mention that each word stands for: of several the worst, of equals the first."""
    found = np.full(len(rows), NOTHING)
    number_of = {lexicon.word(number): number for number in np.unique(words.atoms).tolist()}
    of_words = {
        said: [number_of[word] for word in _content_words(said) if word in number_of]
        for said in {unit.words for unit in mentioned.units}
    }
    numbers = [of_words[unit.words] for unit in mentioned.units]
    sizes = np.array(list(map(len, numbers)), dtype=np.int64)
    at = np.repeat(np.arange(len(numbers)), sizes)
    listed = np.fromiter(chain.from_iterable(numbers), np.int64, len(at))
    # Verdicts are in the order of their weight; where a word is set again, the last one stays.
    order = np.lexsort((-at, mentioned.verdicts[at]))
    wanted = (mentioned.rows[at] * len(lexicon.known) + listed)[order]
    keys = rows * len(lexicon.known) + words.atoms
    by_key = np.argsort(keys)
    places = np.append(by_key, NOTHING)[np.searchsorted(keys, wanted, sorter=by_key)]
    in_caption = np.append(keys, NOTHING)[places] == wanted
    found[places[in_caption]] = at[order][in_caption]
    return found


@lru_cache(maxsize=1 << 13)
def _content_words(said: str) -> tuple[str, ...]:
    return tuple(word for piece in said.split() for word in piece_words(piece))


def are_mentioned(
    lexicon: Lexicon, objects: Bags, words: Bags, mentioned: Mentioned, judge: Judge, far: float
) -> NDArray[np.bool_]:
    """Return whether captions speak of each object, (number of object atoms,).

    They do if they mention something of its class, or if a word has a cosine of at least `far`.
    """
    rows = rows_of(objects.starts)
    labels, of_label = np.unique(objects.atoms, return_inverse=True)
    numbers: dict[str | None, int] = {}
    classes = [
        numbers.setdefault(judge.class_of_label(lexicon.word(label)), len(numbers))
        for label in labels.tolist()
    ]
    of_mentions = np.array(
        [numbers.get(unit.category, NOTHING) for unit in mentioned.units], dtype=np.int64
    )
    spoken_of = np.isin(
        rows * len(numbers) + np.array(classes, dtype=np.int64)[of_label],
        (mentioned.rows * len(numbers) + of_mentions)[of_mentions != NOTHING],
    )
    others = np.flatnonzero(~spoken_of)
    near = nearest(lexicon.distances, some_of(objects, others), words, floor=-1.0)
    # With this floor a cosine c counts as (c + 1) / 2, and 0 is a caption without words.
    spoken_of[others] = (words.sizes[rows[others]] > 0) & (2 * near.of_left - 1 >= far)
    return spoken_of
