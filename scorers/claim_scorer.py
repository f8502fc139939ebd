"""The base of the metrics that score what captions claim: VIFIDEL-PRF and VIFIDEL-D."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, pairwise

import numpy as np
from numpy.typing import NDArray

from ..evaluation import Floats, Integers
from ..kernels import fidelity
from ..kernels.bags import Bags, Gold, Part, bags_of_labels
from ..kernels.claimed import ClaimedMentions, Claims, claim_reader, reached_by
from ..kernels.grounding import Grounding, Sought
from ..kernels.support import (
    NO_CLASS,
    Nearest,
    ReferenceWords,
    nearest,
    nearest_evidence,
    same_class,
    some_of,
    words_of_references,
)
from ..rows import Rows
from ..things.grounded import SUPPORT
from ..things.mentions import Unit
from ..things.nouns import other_senses, rarity
from ..things.synonyms import ClassList
from .base import asked_of
from .explaining import ExplainingScorer


@dataclass(frozen=True, eq=False)
class WordsGold(Gold):
    """Objects and references of some rows, what the objects name, and all words of references.

    `label_classes` and `said_classes` have the number of the class of each of these, `rarities` the
    rarity of each word of references.
    """

    said: ReferenceWords
    named: Bags
    label_classes: Integers
    said_classes: Integers
    rarities: Floats


@dataclass(frozen=True, eq=False)
class JudgedClaims:
    """What captions claim, held against the evidence; arrays of it are of the claimed words."""

    claimed: NDArray[np.bool_]  # (words of the captions,)
    words: Bags  # the claimed words of each row
    support: Floats
    weights: Floats  # in P
    inventions: fidelity.Inventions  # mentions that are not in the image
    doubt: Floats  # (rows,): how strongly the references deny what they do not mention
    reached: Floats  # (words of the references,): how near the caption comes to each
    spoken_of: Floats  # (labels,): how much the caption speaks of each
    to_said: Nearest  # between the claimed words and the words of the references
    to_objects: Nearest  # and the labels


class ClaimScorer(ExplainingScorer[WordsGold]):
    """A metric that scores what captions claim, and leaves out what claims nothing."""

    def prepare(self, gold: Gold, rows: Rows) -> WordsGold:
        said = words_of_references(gold.lexicon, gold.references, gold.row_of_reference, gold.rows)
        named, grounding, lexicon = self._named(gold), self._names_grounding, gold.lexicon
        return WordsGold(
            **vars(gold),
            said=said,
            named=named,
            label_classes=grounding.class_numbers_of_labels(lexicon, named.atoms),
            said_classes=grounding.class_numbers_of_words(lexicon, said.words.atoms),
            rarities=lexicon.of_each(said.words.atoms, rarity.__getitem__),
        )

    @property
    def _names(self) -> ClassList:
        return super()._names.things  # the sky and other stuff are words like others

    @cached_property
    def _names_grounding(self) -> Grounding:
        """What reads captions and labels for scores, without stuff."""
        return Grounding(self._names, self._space.stop_words, self._objects, self._looked_for)

    def _named(self, gold: Gold) -> Bags:
        """Return the object labels of each row, of phrases the thing that ends each."""
        objects = gold.objects
        labels = [gold.lexicon.words[atom] for atom in objects.atoms.tolist()]
        terms = list(map(self._names_grounding.term_of_label, labels))
        if terms == labels:
            return objects
        of_rows = (
            dict.fromkeys(terms[start:end], 1) for start, end in pairwise(objects.starts.tolist())
        )
        return bags_of_labels(gold.lexicon, of_rows)[0]

    def further_words(self, rows: Rows) -> Iterable[str]:
        return self._claims(rows).lexicon_words

    def _claims(self, rows: Rows) -> Claims:
        stop_words = self._space.stop_words
        read = claim_reader(self._names_grounding.units, stop_words)
        return Claims(list(map(read, rows.captions)), stop_words)

    def names_things(self, part: Part[WordsGold], words: Bags) -> NDArray[np.bool_]:
        """Return which words name things, (number of atoms,)."""
        classes = self._names_grounding.class_numbers_of_words(part.gold.lexicon, words.atoms)
        named: NDArray[np.bool_] = classes != NO_CLASS
        return named

    def judge_claims(self, part: Part[WordsGold]) -> JudgedClaims:
        """Return what the captions of some rows claim, held against the evidence."""
        gold, lexicon, grounding = part.gold, part.gold.lexicon, self._names_grounding
        said, objects = gold.said.words, gold.named
        claims = self._claims(part.rows)
        count, of_rows = claims.chosen(lexicon, part.words)
        words = part.words if count.all() else some_of(part.words, count)
        to_said = nearest(lexicon.distances, words, said)
        to_objects = nearest(lexicon.distances, words, objects)

        mentions = ClaimedMentions(of_rows, words, grounding, lexicon, claims.stop_words)
        classes = len(grounding.class_numbers)
        of_mentions = mentions.rows, mentions.classes
        in_labels, spoken_of = same_class(*of_mentions, objects, gold.label_classes, classes)
        in_said, _ = same_class(*of_mentions, said, gold.said_classes, classes)
        apart = self._apart(part, mentions, in_said)
        # What nothing names or comes near to is invented, if the evidence can deny it.
        unnamed = np.flatnonzero(~in_labels & ~in_said)
        no_support = [*apart, *mentions.described_by(lexicon, unnamed)]
        atoms, rows = mentions.atoms, mentions.rows
        by_said, _ = nearest_evidence(lexicon, atoms, rows, said, no_support, unnamed)
        by_objects, _ = nearest_evidence(lexicon, atoms, rows, objects, no_support, unnamed)
        supports = np.maximum(by_said, by_objects)[unnamed]
        rows = rows[unnamed]
        units = [mentions.units[at] for at in unnamed.tolist()]
        answered, denied = self._denials(part, rows, units)
        supports[answered] = 0.0  # an answer about its own class counts, whatever else is near
        absent = (supports < SUPPORT) & (denied | (said.sizes[rows] > 0))
        unnamed, supports, denied = unnamed[absent], supports[absent], denied[absent]
        invented = fidelity.Inventions(
            mentions.rows[unnamed], mentions.classes[unnamed], supports, denied
        )
        invents = np.zeros(gold.rows, dtype=bool)
        invents[invented.rows] = True
        others = invents[mentions.rows]
        others[unnamed] = False
        in_others = mentions.words_of(others)
        in_invented = mentions.words_of(unnamed) & ~in_others
        in_denied = mentions.words_of(unnamed[denied]) & ~in_others
        # Labels that deny a mention do not support its words, nor does a dog those of *hot dog*.
        is_apart = np.zeros(len(mentions.rows), dtype=bool)
        is_apart[[place for place, _ in apart]] = True
        unsupported = mentions.words_of(unnamed[denied | is_apart[unnamed]]) & ~in_others
        by_label = mentions.words_of(in_labels & ~in_said)

        support = np.maximum(to_said.of_left, to_objects.of_left)
        support[by_label] = 1.0
        support[unsupported] = 0.0
        doubt = fidelity.doubts(gold.usable_references)
        is_thing = self.names_things(part, words)
        near_labels = reached_by(lexicon, words, ~in_invented, objects, to_objects)
        return JudgedClaims(
            claimed=count,
            words=words,
            support=support,
            weights=fidelity.weights_in_p(words, support, is_thing, in_denied, doubt),
            inventions=invented,
            doubt=doubt,
            reached=reached_by(lexicon, words, ~unsupported, said, to_said),
            spoken_of=np.where(spoken_of, 1.0, near_labels),
            to_said=to_said,
            to_objects=to_objects,
        )

    def _apart(
        self, part: Part[WordsGold], mentions: ClaimedMentions, in_said: NDArray[np.bool_]
    ) -> list[tuple[int, int]]:
        """Return evidence that does not support mentions, as pairs of their places and its atoms.

        As for VIFIDEL-H, a hot dog is no dog. Mentions whose class the references name by a word of
        the other term alone leave `in_said`.
        """
        gold, grounding = part.gold, self._names_grounding
        numbers = grounding.class_numbers
        classes = [numbers[name] for name in numbers.keys() & grounding.apart]
        of_one = [(mentions.classes == one).nonzero()[0].tolist() for one in classes]
        places = list(chain.from_iterable(of_one))
        if not places:
            return []
        said, objects = gold.said.words, gold.named
        sides = (
            (said, np.isin(gold.said_classes, classes)),
            (objects, np.isin(gold.label_classes, classes)),
        )
        rows = mentions.rows[places]
        distinct = np.unique(rows).tolist()
        named = {
            row: {unit.category for text in of_row for unit in grounding.units(text)}
            for row, of_row in zip(
                distinct, self._references_of(part.rows.take(distinct)), strict=True
            )
        }
        pairs: list[tuple[int, int]] = []
        for place, row in zip(places, rows.tolist(), strict=True):
            in_said[place] = mentions.units[place].category in named[row]
            for side, is_apart in sides:
                atoms = slice(*side.starts[row : row + 2])
                pairs += [(place, atom) for atom in side.atoms[atoms][is_apart[atoms]].tolist()]
        return pairs

    def _denials(
        self, part: Part[WordsGold], rows: Integers, units: Sequence[Unit]
    ) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Return which mentions an answer about their class denies, and which the labels do.

        Labels that do not say what was looked for are taken for all things that are there:
        otherwise P would say nothing of what is made up. They deny no name that may also mean
        something that is there: a motorcycle is a bike too.
        """
        answered, denied = np.zeros((2, len(units)), dtype=bool)
        if not units:
            return answered, denied
        distinct, of_mentions = np.unique(rows, return_inverse=True)
        of_rows = part.rows.take(distinct.tolist())
        objects = self._objects
        asked = asked_of(of_rows, objects) or [None] * len(of_rows)
        says = objects is not None and objects.says_what_was_asked
        known = list(zip(self.sought(of_rows), self._labels_of(of_rows), asked, strict=True))
        first: dict[tuple[int, Unit], int] = {}
        for at, (row, unit) in enumerate(zip(of_mentions.tolist(), units, strict=True)):
            same = first.setdefault((row, unit), at)
            if same < at:  # mentioned before
                answered[at], denied[at] = answered[same], denied[same]
                continue
            sought, labels, of_image = known[row]
            answered[at] = unit.category in sought.denied
            undeclared = not (says or of_image is not None or sought.denies) and bool(labels)
            denied[at] = undeclared or sought.can_lack(unit.category)
            if denied[at] and (senses := other_senses(unit.text)):
                class_of = self._names_grounding.class_of_label
                denied[at] = {*map(class_of, senses)}.isdisjoint(map(class_of, labels))
        return answered, denied

    def sought(self, rows: Rows) -> list[Sought]:
        """Return what the object labels alone say can be absent from the image of each row."""
        return self._names_grounding.sought(self._labels_of(rows), asked_of(rows, self._objects))
