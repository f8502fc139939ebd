"""Claims: the words of captions that VIFIDEL-PRF scores, compared with the evidence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain, compress, pairwise

import numpy as np

from ..annotations.labels import ImageAttributes
from ..evaluation import Floats, Integers
from ..words.content_words import piece_runs
from ..words.mentions import Phrase, Reading
from ..words.settings import SUPPORT
from . import fidelity
from .bags import Bags, Batch, bags_of_labels
from .claim_evidence import ClaimImageSide, attribute_support, attribute_words, judged_attributes
from .grounding import Grounding, LongName, may_have
from .known import LABELS, KnownImage, Names, Things, Verdict
from .lexicon import Lexicon
from .support import (
    NOTHING,
    Mask,
    Nearest,
    are_named,
    nearest,
    nearest_evidence,
    some_of,
)

_WRONG_ATTRIBUTE = 0.5  # half as sure as an invented thing: it costs half as much


class _Mentions:
    """The mentions of some rows, row after row: claims, rows, numbers of classes and of words."""

    def __init__(
        self, claims_of_rows: Sequence[Sequence[Phrase]], words: Bags, image_side: ClaimImageSide
    ) -> None:
        numbers, lexicon = image_side.class_numbers, image_side.lexicon
        self.claims = list(chain.from_iterable(claims_of_rows))
        self.rows = np.arange(len(claims_of_rows)).repeat(list(map(len, claims_of_rows)))
        self.atoms = np.array(lexicon.numbers(c.text for c in self.claims), dtype=np.int64)
        classes = [numbers[claim.category or ""] for claim in self.claims]
        self.classes = np.array(classes, dtype=np.int64)
        names = [image_side.names[row] for row in self.rows.tolist()]
        parents = [
            (row, numbers[category or ""])
            for row, claim, of_row in zip(self.rows.tolist(), self.claims, names, strict=True)
            if of_row.user_names
            for category in of_row.with_kinds(claim.category)[1:]
        ]
        more_rows, more_classes = np.array(parents, dtype=np.int64).reshape(-1, 2).T
        #: Rows and classes of mentions, and of what the classes of users are kinds of.
        self.with_kinds = np.append(self.rows, more_rows), np.append(self.classes, more_classes)
        # For each word of a mention that its row has: the number of the mention, and where the word
        # is among those of all rows.
        parts = [
            of_row.content_words(c.words) for c, of_row in zip(self.claims, names, strict=True)
        ]
        mentions = np.arange(len(parts)).repeat(np.array(list(map(len, parts)), dtype=np.int64))
        atoms = np.array(lexicon.numbers(chain.from_iterable(parts)), dtype=np.int64)
        size = len(lexicon.known)
        keys = np.append(words.owners * size + words.atoms, NOTHING)
        order = keys.argsort()
        part_keys = self.rows[mentions] * size + atoms
        places = order.take(keys.searchsorted(part_keys, sorter=order), mode="clip")
        is_there = keys[places] == part_keys
        self._mentions, self._places = mentions[is_there], places[is_there]
        self._words = len(words.atoms)

    def words_of(self, some: Integers | Mask) -> Mask:
        """Return which words are part of some mentions of their rows, (number of words,)."""
        are_meant = np.zeros(len(self.rows), dtype=bool)
        are_meant[some] = True
        are_part = np.zeros(self._words, dtype=bool)
        are_part[self._places[are_meant[self._mentions]]] = True
        return are_part


def words_of_mentions(readings: Sequence[Reading], names: Sequence[Names]) -> Iterator[str]:
    """Yield the words of the mentions of captions, which a lexicon gives vectors to."""
    for reading, of_row in zip(readings, names, strict=True):
        for claim in reading.claims:
            if not claim.denied:
                yield claim.text
                yield from of_row.content_words(claim.words)


def with_names(words: Bags, readings: Sequence[Reading], image_side: ClaimImageSide) -> Bags:
    """Return the words of captions, and words without a vector by which they name things.

    These are names that the labels of the image have, or that can be absent from it. Of a name of
    several words, those that have a vector stand for it.
    """
    lexicon = image_side.lexicon
    parts_of: dict[int, list[str]] = {}
    for row, (reading, names) in enumerate(zip(readings, image_side.names, strict=True)):
        for claim in reading.claims:
            parts, category = names.content_words(claim.words), claim.category or ""
            if claim.denied or lexicon.known[lexicon.numbers(parts)].any():
                continue
            there = map(names.classes_of_label, image_side.labels[row])
            if image_side.deniable[row].has(category) or any(
                category in classes for classes in there
            ):
                parts_of.setdefault(row, []).extend(parts)
    if not parts_of:
        return words
    of_rows = (
        dict.fromkeys((*(lexicon.words[atom] for atom in atoms), *parts_of.get(row, ())), 1)
        for row, (a, b) in enumerate(pairwise(words.starts.tolist()))
        for atoms in [words.atoms[a:b].tolist()]
    )
    return bags_of_labels(lexicon, of_rows, without_vectors=True)[0]


@dataclass(frozen=True, eq=False)
class JudgedClaims:
    """What captions claim, compared with the evidence; arrays have an entry per claimed word."""

    claimed: Mask  # (words of the captions,)
    words: Bags  # the claimed words of each row
    support: Floats
    weights: Floats  # in P
    mentions_things: Mask  # (rows,)
    inventions: fidelity.Inventions
    reached: Floats  # (words of the references,): how near the caption comes to each
    spoken_of: Floats  # (labels,): how much the caption speaks of each
    near: tuple[Nearest, Nearest]  # the claimed words to those of the references, and to labels
    by_attributes: Mask  # the claimed words that attributes support


def judge_claims(
    part: Batch[ClaimImageSide], readings: Sequence[Reading], grounding: Grounding
) -> JudgedClaims:
    """Return what the captions of some rows claim, held against the evidence."""
    image_side, lexicon = part.image_side, part.image_side.lexicon
    reference_words, objects = image_side.reference_words, image_side.named
    claimed = _claimed(part.rows.captions, readings, image_side, part.words)
    words = part.words if claimed.all() else some_of(part.words, claimed)
    to_references = nearest(lexicon.distances, words, reference_words)
    to_objects = nearest(lexicon.distances, words, objects)

    image = cache(
        lambda row: grounding.known(
            image_side.labels[row], image_side.texts[row], image_side.asked[row]
        )
    )
    asserted = [
        [
            claim
            for claim in reading.claims
            if not (claim.denied or (claim.alternatives and not image(row).is_claimed(claim)))
        ]
        for row, reading in enumerate(readings)
    ]
    mentions = _Mentions(asserted, words, image_side)
    by_labels, by_references, are_denied, classes = _verdicts(image_side, mentions, grounding)
    is_named = by_labels | by_references
    unnamed = (~is_named).nonzero()[0]
    rows, denied = mentions.rows[unnamed], are_denied[unnamed]
    # What labels deny is not there. Other mentions are doubted less if the evidence comes near.
    doubted = np.maximum(0.0, 1 - _cosines(image_side, mentions, unnamed) / SUPPORT)
    sure = np.where(denied, 1.0, fidelity.sureness(image_side.doubt[rows]) * doubted)

    in_named = mentions.words_of(is_named)
    in_denied = mentions.words_of(are_denied) & ~in_named
    in_doubted = mentions.words_of(unnamed) & ~in_named & ~in_denied
    closeness = np.maximum(to_references.of_left, to_objects.of_left)
    by_name = mentions.words_of(by_labels & ~by_references) | (
        in_named & ~lexicon.known[words.atoms]
    )
    support = _supports(closeness, by_name, in_denied)
    weights = fidelity.weights_in_p(
        words, support, in_named, in_denied, in_doubted, image_side.doubt, reference_words.sizes > 0
    )
    inventions = fidelity.Inventions(rows, classes[unnamed], sure)
    by_attributes = np.zeros(len(words.atoms), dtype=bool)
    if image_side.attributes is not None:
        are_judged, shares, wrong = _judged_by_attributes(
            image_side.attributes, part, readings, words
        )
        support[are_judged], weights[are_judged] = shares, 1.0
        by_attributes, inventions = are_judged & (support > 0), inventions + wrong
    reaching = in_named | ~mentions.words_of(unnamed[sure > 0])
    kind_rows, kind_classes = grounding.with_kinds(*mentions.with_kinds)
    named_rows = np.append(kind_rows, mentions.rows[is_named])
    named_classes = np.append(kind_classes, classes[is_named])
    size = image_side.rows, len(image_side.class_numbers)
    labels = objects.owners, image_side.label_classes
    spoken_of = are_named(labels, (named_rows, named_classes), size)
    reached = _reached_by(lexicon, words, reaching, objects, to_objects)
    return JudgedClaims(
        claimed=claimed,
        words=words,
        support=support,
        weights=weights,
        mentions_things=np.bincount(mentions.rows, minlength=image_side.rows) > 0,
        inventions=_with_wrong_denials(inventions, readings, image_side, image),
        reached=_reached_by(lexicon, words, reaching, reference_words, to_references),
        spoken_of=np.where(spoken_of, 1.0, reached),
        near=(to_references, to_objects),
        by_attributes=by_attributes,
    )


def _judged_by_attributes(
    attributes: Sequence[ImageAttributes],
    part: Batch[ClaimImageSide],
    readings: Sequence[Reading],
    words: Bags,
) -> tuple[Mask, Floats, fidelity.Inventions]:
    """Return which words attributes decide, their support, and the wrong ones, as inventions."""
    image_side = part.image_side
    sides = zip(
        part.rows.captions, readings, image_side.names, image_side.labels, attributes, strict=True
    )
    judged = [judged_attributes(*of_row) for of_row in sides]
    are_judged, shares = attribute_support(words, image_side.lexicon, judged)
    wrong = are_judged.nonzero()[0][shares < 1]
    classes = len(image_side.class_numbers) + words.atoms[wrong]  # beside those of things
    sure = np.full(len(wrong), _WRONG_ATTRIBUTE)
    return are_judged, shares, fidelity.Inventions(words.owners[wrong], classes, sure)


def _cosines(image_side: ClaimImageSide, mentions: _Mentions, some: Integers) -> Floats:
    """Return the largest cosine of some mentions to the evidence; 0 without a vector."""
    atoms, rows = mentions.atoms[some], mentions.rows[some]
    by_sides = [
        nearest_evidence(image_side.lexicon, atoms, rows, side)[0]
        for side in (image_side.reference_words, image_side.named)
    ]
    return np.nan_to_num(np.maximum(*by_sides))


def _supports(closeness: Floats, by_name: Mask, denied: Mask) -> Floats:
    """Return the support of words: full where labels alone name them, none where denied."""
    return np.where(denied, 0.0, np.where(by_name, 1.0, closeness))


def words_of_sentences(caption: str, reading: Reading, names: Names) -> list[list[str]]:
    """Return the content words of each sentence of a caption, without those of what it denies."""
    denied: dict[int, list[str]] = {}
    for claim in reading.claims:
        if claim.denied:
            denied.setdefault(claim.sentence, []).extend(names.content_words(claim.words))
    words = [Counter(names.content_words(caption[start:end])) for start, end in reading.sentences]
    for number, of_claims in denied.items():
        words[number].subtract(of_claims)
    return [[word for word, n in of_sentence.items() if n > 0] for of_sentence in words]


def sentences_that_claim(
    words: Sequence[Sequence[str]], reading: Reading, image_side: ClaimImageSide, row: int
) -> list[bool]:
    """Return which sentences, with some words, mention a thing or have a word of the evidence."""
    evidence = {image_side.lexicon.words[atom] for atom in image_side.reference_words.atoms_of(row)}
    evidence.update(chain.from_iterable(map(piece_runs, image_side.labels[row])))
    if image_side.attributes is not None:
        evidence.update(attribute_words(image_side.attributes[row]))
    mentioning = {claim.sentence for claim in reading.claims if not claim.denied}
    return [n in mentioning or not evidence.isdisjoint(texts) for n, texts in enumerate(words)]


def _claimed(
    captions: Sequence[str], readings: Sequence[Reading], image_side: ClaimImageSide, words: Bags
) -> Mask:
    """Return which words are claimed, (number of atoms,): all where none of those is known."""
    claimed = np.ones(len(words.atoms), dtype=bool)
    for row, (caption, reading) in enumerate(zip(captions, readings, strict=True)):
        if len(reading.sentences) == 1 and not any(claim.denied for claim in reading.claims):
            continue  # all of it is claimed
        held = [image_side.lexicon.words[atom] for atom in words.atoms_of(row)]
        sentences = words_of_sentences(caption, reading, image_side.names[row])
        claiming = compress(sentences, sentences_that_claim(sentences, reading, image_side, row))
        claims_of_row = set(chain.from_iterable(claiming))
        if not claims_of_row.isdisjoint(held):
            of_row = slice(*words.starts[row : row + 2])
            claimed[of_row] = [word in claims_of_row for word in held]
    return claimed


def _reached_by(lexicon: Lexicon, words: Bags, count: Mask, side: Bags, near: Nearest) -> Floats:
    """Return how near the words that count come to each atom of a side; `near` has all words."""
    if not len(side.atoms) or count.all():
        return near.of_right
    loses = np.zeros(len(words), dtype=bool)
    loses[words.owners[~count]] = True
    rows = loses.nonzero()[0]
    again = nearest(lexicon.distances, some_of(words, count).take(rows), side.take(rows))
    reached: Floats = near.of_right.copy()
    reached[loses[side.owners]] = again.of_right
    return reached


def _verdicts(
    image_side: ClaimImageSide, mentions: _Mentions, grounding: Grounding
) -> tuple[Mask, Mask, Mask, Integers]:
    """Return which mentions labels name, which references name, which neither, and the classes.

    The class of a mention is the one that decides: its own or one above it. Cosines do not count.
    """
    size = image_side.rows, len(image_side.class_numbers)
    things = mentions.rows, mentions.classes
    by_labels = are_named(things, image_side.by_labels, size)
    by_references = are_named(things, image_side.by_words, size)
    denied, classes = np.zeros(len(by_labels), dtype=bool), mentions.classes.copy()
    rows = mentions.rows.tolist()
    categories = [claim.category or "" for claim in mentions.claims]

    def words_of_references(row: int) -> set[str]:
        atoms = image_side.reference_words.atoms_of(row)
        return {image_side.lexicon.words[atom] for atom in atoms}

    # Labels have settled what they name, but not whether references name it too.
    unsettled = (~by_labels | by_references).nonzero()[0].tolist()
    # A word may only be a part of a longer name: the references decide that.
    longer_names = cache(lambda row: grounding.longer_names(words_of_references(row)))
    relevant: dict[int, list[LongName]] = {}  # those that may decide on a mention, by row
    for at in unsettled:
        decisive = image_side.names[rows[at]].decisive(categories[at])
        names = [n for n in longer_names(rows[at]) if not decisive.isdisjoint(n.classes)]
        if names:
            relevant.setdefault(rows[at], []).extend(names)

    @cache
    def things_in_image(row: int) -> Things:
        read = _names_in_references(image_side, row, relevant[row]) if row in relevant else None
        return _things(image_side, row, words_of_references(row), read)

    for at in unsettled:
        if by_references[at] and rows[at] not in relevant:
            continue
        in_image = things_in_image(rows[at])
        if by_labels[at]:
            by_references[at] = categories[at] in in_image.in_references
            continue
        verdict, category = in_image.find(categories[at])
        is_there = verdict is Verdict.THERE
        by_labels[at] = is_there and category in in_image.in_labels
        by_references[at] = is_there and not by_labels[at]
        denied[at] = verdict is Verdict.ABSENT
        classes[at] = image_side.class_numbers.get(category, classes[at])
    return by_labels, by_references, denied, classes


def _names_in_references(
    image_side: ClaimImageSide, row: int, longer_names: Collection[LongName]
) -> tuple[set[str], set[str]]:
    """Return the words that stand alone in references, and the classes of names of several words.

    Only references that may have one of the `longer_names` are read for names.
    """
    alone, longer, names = set[str](), set[str](), image_side.names[row]
    for text in image_side.texts[row]:
        if not may_have(text, longer_names):
            alone.update(piece_runs(text.lower()))
            continue
        reading = names.read(text)
        alone.update(word for word in reading.words if " " not in word)
        for claim in reading.claims:
            if " " not in claim.words:
                alone.update(piece_runs(claim.words))
            elif not claim.denied:
                longer.add(claim.category or "")
    return alone, longer


def _things(
    image_side: ClaimImageSide, row: int, words: set[str], read: tuple[set[str], set[str]] | None
) -> Things:
    """Return what labels and references name; `read` are words and names in the references."""
    names, (alone, longer) = image_side.names[row], read or (words, set[str]())
    referenced = longer.union(filter(None, map(names.class_of_word, words & alone)))
    labels = chain.from_iterable(map(names.classes_of_label, image_side.labels[row]))
    return Things(names, frozenset(labels), frozenset(referenced), image_side.deniable[row])


def _with_wrong_denials(
    inventions: fidelity.Inventions,
    readings: Sequence[Reading],
    image_side: ClaimImageSide,
    image: Callable[[int], KnownImage],
) -> fidelity.Inventions:
    """Return inventions, and the denials in captions that the evidence contradicts."""
    doubted = fidelity.sureness(image_side.doubt)
    wrong = [
        (row, image_side.class_numbers[claim.category or ""], 1.0 if by == LABELS else doubted[row])
        for row, reading in enumerate(readings)
        for claim in reading.claims
        if claim.denied
        for by in [image(row).contradicts(claim.category or "")]
        if by is not None
    ]
    if not wrong:
        return inventions
    rows, classes, sure = map(np.array, zip(*wrong, strict=True))
    return inventions + fidelity.Inventions(rows, classes, sure)
