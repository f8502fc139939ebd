"""The base of the metrics that score what captions claim: VIFIDEL-PRF and VIFIDEL-D."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..evaluation import Floats, Integers
from ..kernels import fidelity
from ..kernels.bags import Bags
from ..kernels.claimed import (
    Claims,
    Mentions,
    reached_by,
    read_claims,
    same_class,
    supports_of,
)
from ..kernels.known_words import KnownWords
from ..kernels.lexicon import Lexicon
from ..kernels.support import ReferenceWords, nearest, some_of, words_of_references
from ..rows import Rows
from ..things.grounded import SUPPORT
from ..things.mentions import Unit
from .thing_scorer import ThingScorer
from .word_vectors import Gold, Part


@dataclass(frozen=True, eq=False)
class WordsGold(Gold):
    """Objects and references of some rows, and the words of all references of each row."""

    said: ReferenceWords


@dataclass(frozen=True, eq=False)
class JudgedClaims:
    """What captions claim, held against the evidence; arrays of it are of the claimed words.

    Attributes
    ----------
    claimed : (number of words of the captions,) bool
        Whether each word of a caption is claimed.
    words : Bags
        The claimed words of each row.
    support, weights : float64
        Their support and their weight in P.
    inventions : Inventions
        Mentions that are not in the image.
    doubt : (rows,) float64
        How strongly the references deny what they do not mention.
    reached : (number of words of the references,) float64
        How near the caption comes to each.
    spoken_of : (number of labels,) float64
        How much the caption speaks of each label.
    """

    claimed: NDArray[np.bool_]
    words: Bags
    support: Floats
    weights: Floats
    inventions: fidelity.Inventions
    doubt: Floats
    reached: Floats
    spoken_of: Floats


class ClaimScorer(ThingScorer[WordsGold]):
    """A metric that scores what captions claim, and leaves out what claims nothing."""

    reads_texts = True
    _known_words: KnownWords | None = None

    def prepare(self, gold: Gold, rows: Rows) -> WordsGold:
        said = words_of_references(gold.lexicon, gold.references, gold.row_of_reference, gold.rows)
        return WordsGold(**vars(gold), said=said)

    def further_words(self, rows: Rows) -> Iterable[str]:
        return self._claims(rows).lexicon_words

    def _claims(self, rows: Rows) -> Claims:
        return read_claims(self._grounding.units, self._space.stop_words, tuple(rows.captions))

    def judge_claims(self, part: Part[WordsGold]) -> JudgedClaims:
        """Return what the captions of some rows claim, held against the evidence."""
        gold, lexicon = part.gold, part.gold.lexicon
        said, objects = gold.said.words, gold.objects
        known = self._words_known(lexicon)
        count, of_rows = self._claims(part.rows).chosen(lexicon, part.words)
        words = part.words if count.all() else some_of(part.words, count)
        to_said = nearest(lexicon.distances, words, said)
        to_objects = nearest(lexicon.distances, words, objects)

        mentions, classes = Mentions.of_rows(of_rows, known), len(known.numbers)
        labels, words_said = known.classes_of_labels(objects.atoms), known.classes(said.atoms)
        in_labels, spoken_of = same_class(mentions, objects, labels, classes)
        in_said, _ = same_class(mentions, said, words_said, classes)
        # What nothing names or comes near to is invented, if the evidence can deny it.
        unnamed = np.flatnonzero(~in_labels & ~in_said)
        supports = supports_of(lexicon, mentions, unnamed, (said, objects))
        far = supports < SUPPORT
        unnamed, supports = unnamed[far], supports[far]
        rows = mentions.rows[unnamed]
        denied = self._denied(part, rows, [mentions.units[at] for at in mentions.at[unnamed]])
        absent = denied | (said.sizes[rows] > 0)
        unnamed, supports, denied = unnamed[absent], supports[absent], denied[absent]
        invented = fidelity.Inventions(
            mentions.rows[unnamed], mentions.classes[unnamed], supports, denied
        )
        stop_words = self._space.stop_words
        in_invented = mentions.words(lexicon, words, unnamed, stop_words)
        in_denied = mentions.words(lexicon, words, unnamed[denied], stop_words)
        by_label = mentions.words(lexicon, words, np.flatnonzero(in_labels & ~in_said), stop_words)

        support = np.maximum(to_said.of_left, to_objects.of_left)
        support[by_label & ~in_invented] = 1.0
        usable = gold.row_of_reference[gold.references.sizes > 0]
        doubt = fidelity.doubts(np.bincount(usable, minlength=gold.rows))
        is_thing = known.classes(words.atoms) >= 0
        near_labels = reached_by(lexicon, words, ~in_invented, objects, to_objects)
        return JudgedClaims(
            claimed=count,
            words=words,
            support=support,
            weights=fidelity.weights_in_p(words, support, is_thing, in_denied, doubt),
            inventions=invented,
            doubt=doubt,
            reached=reached_by(lexicon, words, ~in_denied, said, to_said),
            spoken_of=np.where(spoken_of, 1.0, near_labels),
        )

    def _denied(
        self, part: Part[WordsGold], rows: Integers, units: Sequence[Unit]
    ) -> NDArray[np.bool_]:
        """Return which mentions the object labels of their rows deny: those of what they list."""
        looked_for = self._grounding.looked_for(self._labels_of(part.rows.take(rows.tolist())))
        of_mentions = zip(units, looked_for, strict=True)
        denied = (classes is None or unit.category in classes for unit, classes in of_mentions)
        return np.fromiter(denied, bool, len(units))

    def _words_known(self, lexicon: Lexicon) -> KnownWords:
        known = self._known_words
        if known is None or known.lexicon() is not lexicon:
            known = KnownWords(lexicon, self._things, self._grounding.class_of_label)
            self._known_words = known
        return known

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "_known_words": None}
