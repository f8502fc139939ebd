"""The base of the metrics that score what captions claim: VIFIDEL-PRF and VIFIDEL-D."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from ..captions.rows import Rows
from ..evaluation import Floats, Integers
from ..kernels import fidelity
from ..kernels.bags import Bags, Gold, Part, bags_of_labels
from ..kernels.claimed import ClaimedMentions, Claims, claim_reader, reached_by
from ..kernels.fidelity import Mask
from ..kernels.grounding import Grounding, Sought, contradicts
from ..kernels.support import (
    NO_CLASS,
    Nearest,
    ReferenceWords,
    are_named,
    nearest,
    some_of,
    words_of_references,
)
from ..kernels.wording import ReferenceWording
from ..words.grounded import LABELS, SUPPORT
from ..words.nouns import rarity
from ..words.synonyms import ClassList
from .explaining import ExplainingScorer
from .word_vectors import asked_of


@dataclass(frozen=True, eq=False)
class WordsGold(Gold):
    """Objects and references of some rows, what the objects name, and all words of references.

    `label_classes` and `said_classes` have the number of the class of each of these, `rarities` the
    rarity of each word of references. Labels name their classes, `named_classes` in `named_rows`,
    with and without a vector. Of each row there is what its labels looked for.
    """

    said: ReferenceWords
    named: Bags
    label_classes: Integers
    said_classes: Integers
    rarities: Floats
    named_rows: Integers
    named_classes: Integers
    sought: Sequence[Sought]
    doubt: Floats  # (rows,): how strongly the references deny what they do not mention
    wording: ReferenceWording


@dataclass(frozen=True, eq=False)
class JudgedClaims:
    """What captions claim, held against the evidence; arrays of it are of the claimed words."""

    claimed: Mask  # (words of the captions,)
    words: Bags  # the claimed words of each row
    support: Floats
    weights: Floats  # in P
    inventions: fidelity.Inventions  # mentions that are not in the image
    reached: Floats  # (words of the references,): how near the caption comes to each
    spoken_of: Floats  # (labels,): how much the caption speaks of each
    to_said: Nearest  # between the claimed words and the words of the references
    to_objects: Nearest  # and the labels


class ClaimScorer(ExplainingScorer[WordsGold]):
    """A metric that scores what captions claim, and leaves out what claims nothing."""

    def prepare(self, gold: Gold, rows: Rows) -> WordsGold:
        said = words_of_references(gold.lexicon, gold.references, gold.row_of_reference, gold.rows)
        named, grounding, lexicon = self._named(gold), self._names_grounding, gold.lexicon
        labels = self._labels_of(rows)
        sought = grounding.sought(labels, asked_of(rows, self._objects))
        label_classes = grounding.class_numbers_of_labels(lexicon, named.atoms)
        named_rows, named_classes = named.owners, label_classes
        if named is not gold.objects or gold.tallies["object labels"].unknown:
            all_of = [(row, label) for row, of_row in enumerate(labels) for label in of_row]
            named_rows = np.array([row for row, _ in all_of], dtype=np.int64)
            classes = [grounding.class_number_of_label(label) for _, label in all_of]
            named_classes = np.array(classes, dtype=np.int64)
        # Labels that do not say what was looked for are one more witness, like a reference.
        undeclared = [
            bool(label) and not one.denies for label, one in zip(labels, sought, strict=True)
        ]
        return WordsGold(
            **vars(gold),
            said=said,
            named=named,
            label_classes=label_classes,
            said_classes=grounding.class_numbers_of_words(lexicon, said.words.atoms),
            rarities=lexicon.of_each(said.words.atoms, rarity.__getitem__),
            named_rows=named_rows,
            named_classes=named_classes,
            sought=sought,
            doubt=fidelity.doubts(gold.usable_references + undeclared),
            wording=ReferenceWording(self._references_of(rows)),
        )

    @property
    def _names(self) -> ClassList:
        return super()._names.things  # the sky and other stuff are words like others

    @cached_property
    def _names_grounding(self) -> Grounding:
        """What reads captions and labels for scores, without stuff.

        Where a source does not say what it looked for, an image is judged by its own labels alone,
        as a row of a table is.
        """
        source = self._objects
        if source is not None and not (source.categories or source.says_what_was_asked):
            source = None
        return Grounding(self._names, self._space.stop_words, source, self._looked_for)

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

    def judge_claims(self, part: Part[WordsGold]) -> JudgedClaims:
        """Return what the captions of some rows claim, held against the evidence."""
        gold, lexicon, grounding = part.gold, part.gold.lexicon, self._names_grounding
        said, objects = gold.said.words, gold.named
        claims = self._claims(part.rows)
        count = claims.chosen(lexicon, part.words)
        words = part.words if count.all() else some_of(part.words, count)
        to_said = nearest(lexicon.distances, words, said)
        to_objects = nearest(lexicon.distances, words, objects)

        of_rows = [claim.mentions for claim in claims.of_captions]
        mentions = ClaimedMentions(of_rows, words, grounding, lexicon, claims.stop_words)
        in_labels, in_said, apart, same = self._named_by(part, mentions)
        is_named = in_labels | in_said
        unnamed = np.flatnonzero(~is_named)
        rows = mentions.rows[unnamed]
        units = (mentions.units[at] for at in unnamed.tolist())
        sought = map(gold.sought.__getitem__, rows.tolist())
        judged = [
            (of_row.can_lack(unit.category), unit.category in of_row.denied)
            for of_row, unit in zip(sought, units, strict=True)
        ]
        can_lack, answered = np.array(judged, dtype=bool).reshape(-1, 2).T
        near = mentions.nearness(lexicon, unnamed, said, objects)
        near[same[unnamed]] = 1.0
        near[answered | apart[unnamed]] = 0.0
        denied = can_lack & (near < SUPPORT)
        sure = fidelity.sureness(near, denied, gold.doubt[rows])
        denials = self._wrong_denials(part, claims)

        in_named = mentions.words_of(is_named)
        in_denied = mentions.words_of(unnamed[denied]) & ~in_named
        in_doubted = mentions.words_of(unnamed) & ~in_named & ~in_denied
        support = fidelity.supports(
            np.maximum(to_said.of_left, to_objects.of_left),
            mentions.words_of(in_labels & ~in_said),
            in_denied | mentions.words_of(apart) & ~in_named,
        )
        weights = fidelity.weights_in_p(
            words, support, in_named, in_denied, in_doubted, gold.doubt, said.sizes > 0
        )
        reaching = in_named | ~mentions.words_of(unnamed[sure > 0])
        spoken_of = are_named(
            (objects.owners, gold.label_classes),
            (mentions.rows, mentions.classes),
            (gold.rows, len(grounding.class_numbers)),
        )
        reached = reached_by(lexicon, words, reaching, objects, to_objects)
        return JudgedClaims(
            claimed=count,
            words=words,
            support=support,
            weights=weights,
            inventions=fidelity.Inventions(
                np.append(rows, denials.rows),
                np.append(mentions.classes[unnamed], denials.classes),
                np.append(sure, denials.sure),
            ),
            reached=reached_by(lexicon, words, reaching, said, to_said),
            spoken_of=np.where(spoken_of, 1.0, reached),
            to_said=to_said,
            to_objects=to_objects,
        )

    def _named_by(
        self, part: Part[WordsGold], mentions: ClaimedMentions
    ) -> tuple[Mask, Mask, Mask, Mask]:
        """Return which mentions labels name, and which references do.

        Of those that neither does, return where they name what is never the same, as for VIFIDEL-H
        a hot dog is no dog, and where they name what may be the same: a bike may be a motorcycle.
        """
        gold, grounding = part.gold, self._names_grounding
        numbers = grounding.class_numbers
        size = gold.rows, len(numbers)
        labels = gold.named_rows, gold.named_classes
        references = gold.said.words.owners, gold.said_classes
        of_mentions = mentions.rows, mentions.classes
        in_labels, in_said = (are_named(of_mentions, by, size) for by in (labels, references))
        apart = np.zeros(len(in_said), dtype=bool)
        classes = {numbers[one]: other for one, other in grounding.apart.items() if one in numbers}
        places = np.flatnonzero(np.isin(mentions.classes, list(classes)))
        distinct, of_places = np.unique(mentions.rows[places], return_inverse=True)
        some = part.rows.take(distinct.tolist())
        said = [grounding.said(of_row)[1].keys() for of_row in self._references_of(some)]
        known = [{*map(grounding.class_of_label, of_row)} for of_row in self._labels_of(some)]
        for place, at in zip(places.tolist(), of_places.tolist(), strict=True):
            in_said[place] = mentions.units[place].category in said[at]
            apart[place] = classes[int(mentions.classes[place])] in said[at] | known[at]
        unnamed = np.flatnonzero(~in_labels & ~in_said)
        others = map(grounding.other_class, map(mentions.units.__getitem__, unnamed.tolist()))
        of_others = [numbers.get(other or "", NO_CLASS) for other in others]
        of_mentions = mentions.rows[unnamed], np.array(of_others, dtype=np.int64)
        same = np.zeros(len(in_said), dtype=bool)
        same[unnamed] = are_named(of_mentions, labels, size)
        same[unnamed] |= are_named(of_mentions, references, size)
        return in_labels, in_said, apart & ~in_labels & ~in_said, same

    def _wrong_denials(self, part: Part[WordsGold], claims: Claims) -> fidelity.Inventions:
        """Return the things that captions deny and that are there."""
        grounding = self._names_grounding
        rows = [row for row, claim in enumerate(claims.of_captions) if claim.denied]
        some = part.rows.take(rows)
        known = zip(rows, self._labels_of(some), self._references_of(some), strict=True)
        wrong = []
        for row, labels, references in known:
            of_labels = {grounding.class_of_label(label) for label, n in labels.items() if n}
            _, said = grounding.said(references)
            for unit in claims.of_captions[row].denied:
                by = contradicts(of_labels, said, unit.category)
                if by is not None:
                    number = grounding.class_numbers[unit.category or ""]
                    wrong.append((row, number, 1.0 if by == LABELS else part.gold.doubt[row]))
        found = np.array(wrong, dtype=np.float64).reshape(-1, 3)
        places = found[:, :2].astype(np.int64)
        return fidelity.Inventions(places[:, 0], places[:, 1], found[:, 2])
