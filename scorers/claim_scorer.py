"""The base of the metrics that score what captions claim: VIFIDEL-PRF and VIFIDEL-D."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

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
from ..rows import Rows
from ..things.grounded import LABELS
from ..things.nouns import rarity
from ..things.synonyms import ClassList
from .base import asked_of
from .explaining import ExplainingScorer


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
        numbers = grounding.class_numbers
        size = gold.rows, len(numbers)
        by_labels = gold.named_rows, gold.named_classes, *size
        by_said = said.owners, gold.said_classes, *size
        of_mentions = mentions.rows, mentions.classes
        in_labels, in_said = are_named(*of_mentions, *by_labels), are_named(*of_mentions, *by_said)
        spoken_of = are_named(objects.owners, gold.label_classes, *of_mentions, *size)
        apart = self._apart(part, mentions, in_said)
        unnamed = np.flatnonzero(~in_labels & ~in_said)
        others = map(grounding.other_class, map(mentions.units.__getitem__, unnamed.tolist()))
        classes = np.array([numbers.get(other or "", NO_CLASS) for other in others], dtype=np.int64)
        in_labels[unnamed] = are_named(mentions.rows[unnamed], classes, *by_labels)
        in_said[unnamed] = are_named(mentions.rows[unnamed], classes, *by_said)
        is_named = in_labels | in_said
        unnamed = np.flatnonzero(~is_named)
        # What nothing names is denied if the labels looked for it, and else doubted.
        rows = mentions.rows[unnamed]
        classes = (mentions.units[at].category for at in unnamed.tolist())
        sought = zip(map(gold.sought.__getitem__, rows.tolist()), classes, strict=True)
        denied = np.array([of_row.can_lack(one) for of_row, one in sought], dtype=bool)
        near = mentions.nearness(lexicon, unnamed, said, objects)
        near[denied | apart[unnamed]] = 0.0
        sure = fidelity.sureness(near, denied, gold.doubt[rows])
        columns = zip(
            (rows, mentions.classes[unnamed], sure),
            self._wrong_denials(part, claims, gold.doubt),
            strict=True,
        )

        in_named = mentions.words_of(is_named)
        reaches = in_named | ~mentions.words_of(
            unnamed[sure > 0]
        )  # what is invented covers nothing
        in_denied = mentions.words_of(unnamed[denied]) & ~in_named
        in_doubted = mentions.words_of(unnamed) & ~in_named & ~in_denied
        support = np.maximum(to_said.of_left, to_objects.of_left)
        support[mentions.words_of(in_labels & ~in_said)] = 1.0
        support[in_denied | mentions.words_of(apart) & ~in_named] = 0.0
        weights = fidelity.weights_in_p(
            words, support, in_named, in_denied, in_doubted, gold.doubt, said.sizes > 0
        )
        return JudgedClaims(
            claimed=count,
            words=words,
            support=support,
            weights=weights,
            inventions=fidelity.Inventions(*map(np.concatenate, columns)),
            reached=reached_by(lexicon, words, reaches, said, to_said),
            spoken_of=np.where(
                spoken_of, 1.0, reached_by(lexicon, words, reaches, objects, to_objects)
            ),
            to_said=to_said,
            to_objects=to_objects,
        )

    def _wrong_denials(
        self, part: Part[WordsGold], claims: Claims, doubt: Floats
    ) -> tuple[Integers, Integers, Floats]:
        """Return the columns of `Inventions` of things that captions deny and that are there."""
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
                    wrong.append((row, number, 1.0 if by == LABELS else doubt[row]))
        found = np.array(wrong, dtype=np.float64).reshape(-1, 3)
        return found[:, 0].astype(np.int64), found[:, 1].astype(np.int64), found[:, 2]

    def _apart(self, part: Part[WordsGold], mentions: ClaimedMentions, in_said: Mask) -> Mask:
        """Return which mentions have only the name of something else in their references.

        As for VIFIDEL-H, a hot dog is no dog. Those mentions leave `in_said`.
        """
        grounding = self._names_grounding
        apart = np.zeros(len(in_said), dtype=bool)
        numbers = grounding.class_numbers
        classes = [numbers[name] for name in grounding.apart.keys() & numbers]
        for place in np.flatnonzero(np.isin(mentions.classes, classes)).tolist():
            references = self._references_of(part.rows.take([mentions.rows[place]]))[0]
            _, said = grounding.said(references)
            category = mentions.units[place].category or ""
            in_said[place] = category in said
            apart[place] = category not in said and grounding.apart[category] in said
        return apart
