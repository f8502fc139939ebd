"""Claims: what of captions VIFIDEL-PRF scores, held against the evidence of their images."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache, partial
from itertools import chain, pairwise
from typing import NamedTuple

import numpy as np

from ..captions.rows import Asked, LabelCounts
from ..evaluation import Floats, Integers
from ..io.records import Remembered
from ..words.content_words import content_words
from ..words.english import sentence_places
from ..words.mentions import Unit
from ..words.settings import SUPPORT
from ..words.synonyms import rarity
from . import fidelity
from .bags import Bags, Gold, Part, bags_of_labels
from .grounding import Grounding
from .lexicon import Lexicon
from .names import MOST_OWN, Names
from .support import (
    LABELS,
    NO_CLASS,
    NOTHING,
    Deniable,
    Known,
    Mask,
    Nearest,
    are_named,
    nearest,
    nearest_evidence,
    some_of,
    words_of_references,
)


class Sentence(NamedTuple):
    """A sentence of a text, without the blanks around it: its place, and the things it names."""

    start: int
    end: int
    things: tuple[Unit, ...]

    @property
    def claims(self) -> bool:
        """Whether it mentions a thing; denials mention none."""
        return any(not unit.denied for unit in self.things)


def read_sentences(text: str, units: Callable[[str], Sequence[Unit]]) -> tuple[Sentence, ...]:
    """Return the sentences of a text; `units` finds content words, as `Names.units` does."""
    return tuple(
        Sentence(start, end, tuple(unit for unit in units(text[start:end]) if unit.category))
        for start, end in sentence_places(text)
    )


class Claim(NamedTuple):
    """What of a caption is scored: its content words, None for all, and the things it names."""

    words: frozenset[str] | None
    mentions: tuple[Unit, ...]
    parts: tuple[tuple[str, ...], ...]  # the words of each mention
    looked_up: tuple[str, ...]  # what a lexicon needs for the mentions
    denied: tuple[Unit, ...]


@lru_cache(maxsize=MOST_OWN)
def claim_reader(names: Names, stop_words: frozenset[str]) -> Callable[[str], Claim]:
    """Return a reader of the captions of images with these names; equal arguments share it."""
    words_in: Remembered[str, tuple[str, ...]] = Remembered(
        lambda text: tuple(content_words(text, stop_words))
    )

    def read(caption: str) -> Claim:
        # Scored are sentences that mention a thing, without the words of what they deny; if there
        # is none, the whole caption.
        sentences = read_sentences(caption, names.units)
        claiming = [sentence for sentence in sentences if sentence.claims]
        things = tuple(chain.from_iterable(sentence.things for sentence in sentences))
        denied = tuple(unit for unit in things if unit.denied)
        mentions = tuple(unit for unit in things if not unit.denied)
        words = None
        if claiming and (denied or len(claiming) < len(sentences)):
            said = " ".join(caption[one.start : one.end] for one in claiming)
            counts = Counter(content_words(said, stop_words))
            for unit in chain.from_iterable(sentence.things for sentence in claiming):
                if unit.denied:
                    counts.subtract(words_in(unit.words))
            words = frozenset(word for word, n in counts.items() if n > 0)
        parts = tuple(words_in(unit.words) for unit in mentions)
        looked_up = (*(unit.text for unit in mentions), *chain.from_iterable(parts))
        return Claim(words, mentions, parts, looked_up, denied)

    return Remembered(read).__getitem__


@dataclass(frozen=True, eq=False)
class ClaimsGold(Gold):
    """Objects and references of some rows, what the objects name, and all words of references."""

    said: Bags  # the distinct words of each row's references
    shares: Floats  # of these words: the share of the references that have it
    named: Bags
    label_classes: Integers  # the number of the class of each object
    said_classes: Integers  # and of each word of references
    rarities: Floats  # of these words
    named_rows: Integers  # of all labels, with and without a vector
    named_classes: Integers  # what they name
    labels: Sequence[LabelCounts]
    asked: Sequence[Asked]
    texts: Sequence[Sequence[str]]
    names: Sequence[Names]
    class_numbers: Mapping[str, int]
    deniable: Sequence[Deniable]
    doubt: Floats  # (rows,): how strongly the references deny what they do not mention
    wording: fidelity.ReferenceWording


def claims_gold(
    gold: Gold,
    grounding: Grounding,
    labels: Sequence[LabelCounts],
    references: Sequence[Sequence[str]],
    asked: Sequence[Asked] | None,
) -> ClaimsGold:
    """Return the gold side of rows, just read, with what claims are held against."""
    lexicon, named = gold.lexicon, gold.objects
    said, shares = words_of_references(gold)
    asked = [None] * gold.rows if asked is None else asked
    names = grounding.all_names(labels, asked)
    numbers = grounding.numbers(names)
    listed = [lexicon.words[atom] for atom in named.atoms.tolist()]
    of_atoms = zip(named.owners.tolist(), listed, strict=True)
    terms = [names[row].term_of_label(label) for row, label in of_atoms]
    if gold.tallies["object labels"].unknown:  # which names decide
        of_rows = (
            dict.fromkeys(map(one.term_of_label, of_row), 1)
            for one, of_row in zip(names, labels, strict=True)
        )
        named = bags_of_labels(lexicon, of_rows, without_vectors=True)[0]
    elif terms != listed:  # of phrases the thing that ends each
        of_rows = (dict.fromkeys(terms[a:b], 1) for a, b in pairwise(named.starts.tolist()))
        named = bags_of_labels(lexicon, of_rows)[0]
    deniable = [
        grounding.deniable(*of_row) if of_row[0] or of_row[1] is not None else Deniable(frozenset())
        for of_row in zip(labels, asked, names, strict=True)
    ]
    label_classes = class_numbers(lexicon, named, names, Names.kind_of_label, numbers)
    named_rows, named_classes = named.owners, label_classes
    by_users = any(one.of_users for one in set(names))
    if by_users or named is not gold.objects or gold.tallies["object labels"].unknown:
        all_of = [
            (row, numbers.get(category, NO_CLASS))
            for row, (of_row, one) in enumerate(zip(labels, names, strict=True))
            for label in of_row
            for category in one.classes_of_label(label)
        ]
        named_rows, named_classes = np.array(all_of, dtype=np.int64).reshape(-1, 2).T
    # Labels that do not say what was looked for are one more witness, like a reference.
    undeclared = [bool(n) and not d.anything for n, d in zip(labels, deniable, strict=True)]
    return ClaimsGold(
        **vars(gold),
        said=said,
        shares=shares,
        named=named,
        label_classes=label_classes,
        said_classes=class_numbers(lexicon, said, names, Names.class_of_word, numbers),
        rarities=lexicon.of_each(said.atoms, rarity.__getitem__),
        named_rows=named_rows,
        named_classes=named_classes,
        labels=labels,
        asked=asked,
        texts=references,
        names=names,
        class_numbers=numbers,
        deniable=deniable,
        doubt=fidelity.doubts(gold.usable_references + undeclared),
        wording=fidelity.ReferenceWording(references),
    )


def class_numbers(
    lexicon: Lexicon,
    texts: Bags,
    names: Sequence[Names],
    class_of: Callable[[Names, str], str],
    numbers: Mapping[str, int],
) -> Integers:
    """Return the number of the class of each text of rows, which have names of their own."""
    if len(set(names)) == 1:  # as most rows have none
        of_word = partial(class_of, names[0])
        return lexicon.of_each(
            texts.atoms, lambda word: numbers.get(of_word(word), NO_CLASS)
        ).astype(np.int64)
    words = [lexicon.words[atom] for atom in texts.atoms.tolist()]
    of_rows = zip(texts.owners.tolist(), words, strict=True)
    each = (numbers.get(class_of(names[row], word), NO_CLASS) for row, word in of_rows)
    return np.fromiter(each, np.int64, len(words))


class _Mentions:
    """The mentions of some rows, row after row: units, rows, numbers of classes and of words."""

    def __init__(self, claims: Sequence[Claim], words: Bags, gold: ClaimsGold) -> None:
        numbers, lexicon = gold.class_numbers, gold.lexicon
        self.units = [unit for claim in claims for unit in claim.mentions]
        parts = [words_in for claim in claims for words_in in claim.parts]
        sizes = np.array([len(claim.mentions) for claim in claims], dtype=np.int64)
        self.rows = np.arange(len(claims)).repeat(sizes)
        self.atoms = np.array(lexicon.numbers(unit.text for unit in self.units), dtype=np.int64)
        classes = [numbers[unit.category or ""] for unit in self.units]
        self.classes = np.array(classes, dtype=np.int64)
        #: Rows and classes, with what these are kinds of.
        kinds = [
            (row, numbers[category or ""])
            for row, unit in zip(self.rows.tolist(), self.units, strict=True)
            if gold.names[row].of_users
            for category in gold.names[row].with_kinds(unit.category)[1:]
        ]
        of_kinds = np.array(kinds, dtype=np.int64).reshape(-1, 2).T
        self.with_kinds = np.append(self.rows, of_kinds[0]), np.append(self.classes, of_kinds[1])
        # Where the words of mentions are among those of the rows: `held` by `holders`.
        holders = np.arange(len(parts)).repeat(np.array(list(map(len, parts)), dtype=np.int64))
        of_mentions = np.array(lexicon.numbers(chain.from_iterable(parts)), dtype=np.int64)
        size = len(lexicon.known)
        keys = np.append(words.owners * size + words.atoms, NOTHING)
        order = keys.argsort()
        wanted = self.rows[holders] * size + of_mentions
        held = order.take(keys.searchsorted(wanted, sorter=order), mode="clip")
        is_there = keys[held] == wanted
        self._holders, self._held = holders[is_there], held[is_there]
        self._words = len(words.atoms)

    def words_of(self, some: Integers | Mask) -> Mask:
        """Return which words are part of some mentions of their rows, (number of words,)."""
        counts = np.zeros(len(self.rows), dtype=bool)
        counts[some] = True
        are_part = np.zeros(self._words, dtype=bool)
        are_part[self._held[counts[self._holders]]] = True
        return are_part


def with_names(words: Bags, claims: Sequence[Claim], gold: ClaimsGold) -> Bags:
    """Return the words of captions, and words without a vector by which they name things.

    These are names that the labels of the image have, or that can be absent from it. Of a name of
    several words, those that have a vector stand for it.
    """
    lexicon = gold.lexicon
    more: dict[int, list[str]] = {}
    for row, claim in enumerate(claims):
        for unit, parts in zip(claim.mentions, claim.parts, strict=True):
            if lexicon.known[lexicon.numbers(parts)].any():
                continue
            category = unit.category or ""
            there = map(gold.names[row].classes_of_label, gold.labels[row])
            if gold.deniable[row].has(category) or any(category in classes for classes in there):
                more.setdefault(row, []).extend(parts)
    if not more:
        return words
    of_rows = (
        dict.fromkeys((*(lexicon.words[atom] for atom in atoms), *more.get(row, ())), 1)
        for row, (a, b) in enumerate(pairwise(words.starts.tolist()))
        for atoms in [words.atoms[a:b].tolist()]
    )
    return bags_of_labels(lexicon, of_rows, without_vectors=True)[0]


@dataclass(frozen=True, eq=False)
class JudgedClaims:
    """What captions claim, held against the evidence; arrays of it are of the claimed words."""

    claimed: Mask  # (words of the captions,)
    words: Bags  # the claimed words of each row
    support: Floats
    weights: Floats  # in P
    inventions: fidelity.Inventions
    reached: Floats  # (words of the references,): how near the caption comes to each
    spoken_of: Floats  # (labels,): how much the caption speaks of each
    near: tuple[Nearest, Nearest]  # the claimed words to those of the references, and to labels


def judge_claims(
    part: Part[ClaimsGold], claims: Sequence[Claim], grounding: Grounding
) -> JudgedClaims:
    """Return what the captions of some rows claim, held against the evidence."""
    gold, lexicon = part.gold, part.gold.lexicon
    said, objects = gold.said, gold.named
    claimed = _claimed(claims, lexicon, part.words)
    words = part.words if claimed.all() else some_of(part.words, claimed)
    to_said = nearest(lexicon.distances, words, said)
    to_objects = nearest(lexicon.distances, words, objects)

    image = cache(lambda row: grounding.known(gold.labels[row], gold.texts[row], gold.asked[row]))
    mentions = _Mentions(claims, words, gold)
    in_labels, in_said, apart, same = _named_by(gold, mentions, grounding, image)
    is_named = in_labels | in_said
    unnamed = (~is_named).nonzero()[0]
    rows = mentions.rows[unnamed]
    near = denied = np.zeros(0, dtype=bool)
    if len(unnamed):
        near, denied = _unnamed(gold, mentions, unnamed, same, apart)
    # Labels deny for sure; else mentions are doubted, the less the nearer the evidence comes.
    sure = np.where(denied, 1.0, gold.doubt[rows] * np.maximum(0.0, 1 - near / SUPPORT))

    in_named = mentions.words_of(is_named)
    in_denied = mentions.words_of(unnamed[denied]) & ~in_named
    in_doubted = mentions.words_of(unnamed) & ~in_named & ~in_denied
    closeness = np.maximum(to_said.of_left, to_objects.of_left)
    without = in_denied | mentions.words_of(apart) & ~in_named
    by_name = mentions.words_of(in_labels & ~in_said) | (in_named & ~lexicon.known[words.atoms])
    support = _supports(closeness, by_name, without)
    weights = fidelity.weights_in_p(
        words, support, in_named, in_denied, in_doubted, gold.doubt, said.sizes > 0
    )
    reaching = in_named | ~mentions.words_of(unnamed[sure > 0])
    spoken_of = are_named(
        (objects.owners, gold.label_classes),
        mentions.with_kinds,
        (gold.rows, len(gold.class_numbers)),
    )
    reached = _reached_by(lexicon, words, reaching, objects, to_objects)
    return JudgedClaims(
        claimed=claimed,
        words=words,
        support=support,
        weights=weights,
        inventions=_with_wrong_denials(
            fidelity.Inventions(rows, mentions.classes[unnamed], sure),
            claims,
            image,
            gold,
        ),
        reached=_reached_by(lexicon, words, reaching, said, to_said),
        spoken_of=np.where(spoken_of, 1.0, reached),
        near=(to_said, to_objects),
    )


def _supports(near: Floats, by_labels: Mask, denied: Mask) -> Floats:
    """Return the support of words: full where labels alone name them, none where denied."""
    return np.where(denied, 0.0, np.where(by_labels, 1.0, near))


def _claimed(claims: Sequence[Claim], lexicon: Lexicon, words: Bags) -> Mask:
    """Return which words are claimed, (number of atoms,): all where none of those is known."""
    claimed = np.ones(len(words.atoms), dtype=bool)
    for row, claim in enumerate(claims):
        if claim.words is None:  # the whole caption is scored
            continue
        of_row = slice(*words.starts[row : row + 2])
        held = [lexicon.words[atom] for atom in words.atoms[of_row].tolist()]
        if not claim.words.isdisjoint(held):
            claimed[of_row] = [word in claim.words for word in held]
    return claimed


def _reached_by(lexicon: Lexicon, words: Bags, count: Mask, side: Bags, near: Nearest) -> Floats:
    """Return how near the words that count come to each atom of a side; `near` is of all words."""
    if not len(side.atoms) or count.all():
        return near.of_right
    loses = np.zeros(len(words), dtype=bool)
    loses[words.owners[~count]] = True
    rows = loses.nonzero()[0]
    again = nearest(lexicon.distances, some_of(words, count).take(rows), side.take(rows))
    reached: Floats = near.of_right.copy()
    reached[loses[side.owners]] = again.of_right
    return reached


def _named_by(
    gold: ClaimsGold, mentions: _Mentions, grounding: Grounding, image: Callable[[int], Known]
) -> tuple[Mask, Mask, Mask, Mask]:
    """Return which mentions labels name, which references; what is apart, or may be the same."""
    numbers = gold.class_numbers
    size = gold.rows, len(numbers)
    labels = gold.named_rows, gold.named_classes
    references = gold.said.owners, gold.said_classes
    of_mentions = mentions.rows, mentions.classes
    # A hot dog is no dog, which is apart; a bike may be a motorcycle, which is the same.
    in_labels, in_said = (are_named(of_mentions, by, size) for by in (labels, references))
    apart, same = np.zeros((2, len(in_said)), dtype=bool)
    for at, unit in enumerate(mentions.units):
        category = unit.category or ""
        if category in grounding.apart:
            known = image(int(mentions.rows[at]))
            in_said[at] = category in (known.shares or ())
            apart[at] = known.names(grounding.apart[category])
    unnamed = ~in_labels & ~in_said
    others = {at: grounding.other_class(mentions.units[at]) for at in unnamed.nonzero()[0].tolist()}
    if any(others.values()):
        places = np.fromiter(others, np.int64)
        classes = np.array([numbers.get(other or "", NO_CLASS) for other in others.values()])
        for by in (labels, references):
            same[places] |= are_named((mentions.rows[places], classes), by, size)
    return in_labels, in_said, apart & unnamed, same


def _unnamed(
    gold: ClaimsGold, mentions: _Mentions, unnamed: Integers, same: Mask, apart: Mask
) -> tuple[Floats, Mask]:
    """Return how near the evidence comes to mentions that nothing names, and which it denies."""
    rows = mentions.rows[unnamed]
    judged = [
        (of_row.has(category), category in of_row.denied)
        for row, at in zip(rows.tolist(), unnamed.tolist(), strict=True)
        for of_row, category in [(gold.deniable[row], mentions.units[at].category)]
    ]
    can_lack, answered = np.array(judged).T
    near_both = (
        nearest_evidence(gold.lexicon, mentions.atoms[unnamed], rows, side)[0]
        for side in (gold.said, gold.named)
    )
    near = np.nan_to_num(np.maximum(*near_both))
    near[same[unnamed]] = 1.0
    near[answered | apart[unnamed]] = 0.0
    return near, can_lack & (near < SUPPORT)


def _with_wrong_denials(
    inventions: fidelity.Inventions,
    claims: Sequence[Claim],
    image: Callable[[int], Known],
    gold: ClaimsGold,
) -> fidelity.Inventions:
    """Return inventions with what captions deny though the evidence has it."""
    wrong = [
        (row, gold.class_numbers[unit.category or ""], 1.0 if by == LABELS else gold.doubt[row])
        for row, claim in enumerate(claims)
        for unit in claim.denied
        for by in [image(row).contradicts(unit.category)]
        if by is not None
    ]
    if not wrong:
        return inventions
    columns = zip(vars(inventions).values(), zip(*wrong, strict=True), strict=True)
    return fidelity.Inventions(*(np.append(found, more) for found, more in columns))
