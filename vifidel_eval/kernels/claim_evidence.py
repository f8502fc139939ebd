"""The image side of claims, before any caption is read, and what captions say of attributes.

Labels and references are evidence for things; listed attributes for words that describe a thing or
the scene.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from ..annotations.labels import ImageAttributes
from ..captions.rows import Asked, LabelCounts
from ..evaluation import Floats, Integers
from ..kernels import fidelity
from ..words.attributes import (
    Modifier,
    canonical,
    modifiers,
    rivals,
    scene_mentions,
    scene_rivals,
    spellings,
)
from ..words.content_words import rarity
from ..words.mentions import Reading
from .bags import Bags, ImageSide, bags_of_labels
from .grounding import Grounding
from .known import Deniable, Names
from .lexicon import Lexicon
from .support import NO_CLASS, Mask, class_numbers, words_of_references


@dataclass(frozen=True, eq=False)
class ClaimImageSide(ImageSide):
    """Objects and references of some rows, what the objects name, and all words of references."""

    reference_words: Bags  # the distinct words of each row's references
    shares: Floats  # of these words: the share of the references that have it
    named: Bags
    label_classes: Integers  # the number of the class of each object
    reference_classes: Integers  # the same of each word of references
    rarities: Floats  # of these words
    #: Rows and classes that labels name, with or without a vector, and all that these are kinds of.
    by_labels: tuple[Integers, Integers]
    by_words: tuple[Integers, Integers]  # the same of words of the references
    labels: Sequence[LabelCounts]
    asked: Sequence[Asked]
    texts: Sequence[Sequence[str]]
    names: Sequence[Names]
    class_numbers: Mapping[str, int]
    deniable: Sequence[Deniable]
    doubt: Floats  # (rows,): how strongly the references deny what they do not mention
    wording: fidelity.ReferenceWording
    attributes: Sequence[ImageAttributes] | None  # of each row's image, if any are listed


def claim_image_side(
    image_side: ImageSide,
    grounding: Grounding,
    labels: Sequence[LabelCounts],
    references: Sequence[Sequence[str]],
    asked: Sequence[Asked] | None,
    attributes: Sequence[ImageAttributes] | None = None,
) -> ClaimImageSide:
    """Return the image side of rows, just read, with what claims are held against."""
    lexicon, bags = image_side.lexicon, image_side.objects
    reference_words, shares = words_of_references(image_side)
    asked = [None] * image_side.rows if asked is None else asked
    names = grounding.all_names(labels, asked)
    numbers = grounding.numbers(names)
    words = [lexicon.words[atom] for atom in bags.atoms.tolist()]
    terms = [
        names[row].term_of_label(label)
        for row, label in zip(bags.owners.tolist(), words, strict=True)
    ]
    lack_vectors = bool(image_side.tallies["object labels"].unknown)
    if lack_vectors:  # names decide on these labels
        terms_of_rows = (
            dict.fromkeys(map(names_of_row.term_of_label, labels_of_row), 1)
            for names_of_row, labels_of_row in zip(names, labels, strict=True)
        )
        bags = bags_of_labels(lexicon, terms_of_rows, without_vectors=True)[0]
    elif terms != words:  # a phrase counts as the thing that ends it
        terms_of_rows = (dict.fromkeys(terms[a:b], 1) for a, b in pairwise(bags.starts.tolist()))
        bags = bags_of_labels(lexicon, terms_of_rows)[0]
    deniable = [
        grounding.deniable(*of_row) if of_row[0] or of_row[1] is not None else Deniable(frozenset())
        for of_row in zip(labels, asked, names, strict=True)
    ]
    label_classes = class_numbers(lexicon, bags, names, Names.kind_of_label, numbers)
    reference_classes = class_numbers(lexicon, reference_words, names, Names.class_of_word, numbers)
    named_rows, named_classes = bags.owners, label_classes
    if bags is not image_side.objects or any(of_row.user_names for of_row in set(names)):
        classes_of_labels = [
            (row, numbers.get(category, NO_CLASS))
            for row, (labels_of_row, of_row) in enumerate(zip(labels, names, strict=True))
            for label in labels_of_row
            for category in of_row.classes_of_label(label)
        ]
        named_rows, named_classes = np.array(classes_of_labels, dtype=np.int64).reshape(-1, 2).T
    # Labels that do not say what was looked for count as one more reference.
    undeclared = [bool(n) and not d.anything for n, d in zip(labels, deniable, strict=True)]
    return ClaimImageSide(
        **vars(image_side),
        reference_words=reference_words,
        shares=shares,
        named=bags,
        label_classes=label_classes,
        reference_classes=reference_classes,
        rarities=lexicon.map_words(reference_words.atoms, rarity.__getitem__),
        by_labels=grounding.with_kinds(named_rows, named_classes),
        by_words=grounding.with_kinds(reference_words.owners, reference_classes),
        labels=labels,
        asked=asked,
        texts=references,
        names=names,
        class_numbers=numbers,
        deniable=deniable,
        doubt=fidelity.doubts(image_side.usable_references + undeclared),
        wording=fidelity.ReferenceWording(references),
        attributes=attributes,
    )


_PERSON = "person"


class JudgedAttribute(NamedTuple):
    """A word that describes a thing, or the scene, and whether the image's attributes have it."""

    word: str  # in lower case
    start: int  # where it begins in the caption, in characters
    end: int
    is_so: bool  # whether what is listed supports it, or else contradicts it
    by: str  # what does: "red car"

    @property
    def shown(self) -> str:
        """The verdict in words."""
        return f"{'there' if self.is_so else 'contradicted'}: {self.by}"


def judged_attributes(
    caption: str, reading: Reading, names: Names, labels: LabelCounts, listed: ImageAttributes
) -> list[JudgedAttribute]:
    """Return the words of a caption that the attributes of its image support or contradict.

    A word is contradicted if all objects that its thing may be are listed with others of its
    family, such as colours. Of all else nothing is said.
    """
    described = modifiers(
        caption, reading.claims, lambda category: _PERSON in names.upward(category)
    )
    words_of = {label: _words(listed.objects.get(label, ())) for label in labels}
    candidates: dict[str, dict[str, frozenset[str]]] = {}  # by the class of a thing
    judged = []
    for modifier in described:
        category = modifier.claim.category or ""
        if category not in candidates:
            candidates[category] = {
                label: words for label, words in words_of.items() if _may_be(category, label, names)
            }
        attribute = _judged(modifier, candidates[category], listed.partly)
        if attribute is not None:
            judged.append(attribute)
    starts = {attribute.start for attribute in judged}
    return judged + [a for a in _of_scene(caption, reading, listed) if a.start not in starts]


def _may_be(category: str, label: str, names: Names) -> bool:
    """Return whether a thing may be an object with a label: one is a kind of the other."""
    classes = names.classes_of_label(label)
    return any(x in names.upward(category) or category in names.upward(x) for x in classes)


def _judged(
    modifier: Modifier, words_of: Mapping[str, frozenset[str]], partly: frozenset[str]
) -> JudgedAttribute | None:
    """Return what the words that are listed of the objects that a thing may be say of it."""
    word, family = canonical(modifier.word), rivals(modifier.word)
    owners = [label for label, words in words_of.items() if word in words]
    others = [f"{other} {x}" for x, words in words_of.items() for other in sorted(words & family)]
    if owners:
        is_so, by = True, f"{word} {owners[0]}"
        if modifier.denied and len(others) > 1:  # another one may be meant
            return None
    elif others and all(words & family and x not in partly for x, words in words_of.items()):
        if modifier.is_guess:
            return None
        is_so, by = False, others[0]
    else:
        return None
    is_so = is_so is not modifier.denied
    return JudgedAttribute(modifier.word, modifier.start, modifier.end, is_so, by)


def _of_scene(caption: str, reading: Reading, listed: ImageAttributes) -> Iterator[JudgedAttribute]:
    """Yield the judged words of a caption that describe the whole image."""
    scenes = {spelled: scene for scene in listed.scene for spelled in spellings([scene])}
    family = scene_rivals(scenes.keys())
    others = spellings(family) - scenes.keys() if family else ()
    for words in (*scenes, *sorted(others)):
        for start, end, denied in scene_mentions(caption, words, reading.claims):
            by = scenes.get(words) or next(x for x in listed.scene if rivals(x) & rivals(words))
            yield JudgedAttribute(words, start, end, (words in scenes) is not denied, by)


def _words(attributes: Iterable[str]) -> frozenset[str]:
    return frozenset(canonical(word) for attribute in attributes for word in attribute.split())


def attribute_words(listed: ImageAttributes) -> set[str]:
    """Return the words that the attributes of an image support or contradict."""
    words = {word for attribute in listed.words for word in attribute.split()}
    return spellings(words.union(*map(rivals, words)))


def attribute_support(
    words: Bags, lexicon: Lexicon, judged: Sequence[Sequence[JudgedAttribute]]
) -> tuple[Mask, Floats]:
    """Return which words of some rows were judged, and the support of each of these.

    It is the share of the places where the word is so.
    """
    verdicts: dict[tuple[int, str], list[bool]] = {}
    for row, of_row in enumerate(judged):
        for attribute in of_row:
            for word in attribute.word.split():
                verdicts.setdefault((row, word), []).append(attribute.is_so)
    texts = map(lexicon.words.__getitem__, words.atoms.tolist())
    shares = [verdicts.get(place) for place in zip(words.owners.tolist(), texts, strict=True)]
    are_judged = np.array([share is not None for share in shares], dtype=bool)
    return are_judged, np.array([np.mean(share) for share in shares if share is not None])
