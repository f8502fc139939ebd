"""How the words of captions stand to what is known of their images, and objects to the words."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..kernels.bags import Bags
from ..kernels.lexicon import Lexicon
from ..kernels.support import nearest
from ..text.words import piece_words
from .explanation import Verdict
from .judging import Evidence, Judge, Mentioned

# Of several mentions that share a word, the word stands for the first of these.
_WEIGHT = {Verdict.NOT_JUDGED: 0, Verdict.THERE: 1, Verdict.ABSENT: 2}


class Standing(NamedTuple):
    """How a content word stands to what is known of the image.

    Attributes
    ----------
    support : float
        Of the mention that the word belongs to, else of the word itself; NaN if nothing is known.
    by : str or None
        What supports it.
    mention, category : str or None
        The mention that it belongs to, as the caption has it, and its class.
    verdict : Verdict or None
        Of that mention.
    """

    support: float
    by: str | None
    mention: str | None = None
    category: str | None = None
    verdict: Verdict | None = None


def standings(
    lexicon: Lexicon, words: Bags, evidence: Evidence, mentioned: Mentioned
) -> list[Standing]:
    """Return how each word of some captions stands, in the order of ``words.atoms``."""
    of_word: dict[tuple[int, str], Standing] = {}
    for row, unit, support, by, verdict in mentioned.each():
        standing = Standing(support, by, unit.words, unit.category, verdict)
        for word in (word for piece in unit.words.split() for word in piece_words(piece)):
            known = of_word.get((row, word))
            if known is None or _weight(standing) > _weight(known):
                of_word[row, word] = standing
    found = nearest(lexicon.distances, words, evidence.units, floor=0.0)
    rows = np.repeat(np.arange(len(words)), words.sizes)
    is_known = evidence.is_there[rows]
    texts = [
        lexicon.word(evidence.units.atoms[at]) if support > 0 else None
        for at, support in zip(found.at_left.tolist(), found.of_left.tolist(), strict=True)
    ]
    return [
        of_word.get((row, lexicon.word(atom))) or Standing(support if known else float("nan"), text)
        for row, atom, support, text, known in zip(
            rows.tolist(),
            words.atoms.tolist(),
            found.of_left.tolist(),
            texts,
            is_known.tolist(),
            strict=True,
        )
    ]


def _weight(standing: Standing) -> int:
    return -1 if standing.verdict is None else _WEIGHT[standing.verdict]


def are_mentioned(
    lexicon: Lexicon, objects: Bags, words: Bags, mentioned: Mentioned, judge: Judge, far: float
) -> NDArray[np.bool_]:
    """Return whether captions speak of each object, (number of object atoms,).

    They do if they mention something of its class, or if a word has a cosine of at least `far`.
    """
    classes: list[set[str | None]] = [set() for _ in range(len(objects))]
    for row, unit in zip(mentioned.rows.tolist(), mentioned.units, strict=True):
        classes[row].add(unit.category)
    rows = np.repeat(np.arange(len(objects)), objects.sizes)
    by_class = np.array(
        [
            judge.class_of_label(lexicon.word(atom)) in classes[row]
            for row, atom in zip(rows.tolist(), objects.atoms.tolist(), strict=True)
        ],
        dtype=bool,
    )
    near = nearest(lexicon.distances, objects, words, floor=-1.0)
    # With this floor a cosine c counts as (c + 1) / 2, and 0 is a caption without words.
    cosines: NDArray[np.bool_] = (words.sizes[rows] > 0) & (2 * near.of_left - 1 >= far)
    return by_class | cosines
