"""The image side of claims: labels and references, before any caption is read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ..annotations.labels import ImageAttributes
from ..captions.rows import Asked, LabelCounts
from ..evaluation import Floats, Integers
from ..words.content_words import rarity
from . import fidelity
from .bags import Bags, ImageSide, bags_of_labels
from .grounding import Grounding
from .known import Deniable
from .names import Names
from .support import NO_CLASS, class_numbers, words_of_references


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
    lexicon, named = image_side.lexicon, image_side.objects
    reference_words, shares = words_of_references(image_side)
    asked = [None] * image_side.rows if asked is None else asked
    names = grounding.all_names(labels, asked)
    numbers = grounding.numbers(names)
    listed = [lexicon.words[atom] for atom in named.atoms.tolist()]
    of_atoms = zip(named.owners.tolist(), listed, strict=True)
    terms = [names[row].term_of_label(label) for row, label in of_atoms]
    if image_side.tallies["object labels"].unknown:  # names decide on these
        of_rows = (
            dict.fromkeys(map(reader.term_of_label, of_row), 1)
            for reader, of_row in zip(names, labels, strict=True)
        )
        named = bags_of_labels(lexicon, of_rows, without_vectors=True)[0]
    elif terms != listed:  # a phrase counts as the thing that ends it
        of_rows = (dict.fromkeys(terms[a:b], 1) for a, b in pairwise(named.starts.tolist()))
        named = bags_of_labels(lexicon, of_rows)[0]
    deniable = [
        grounding.deniable(*of_row) if of_row[0] or of_row[1] is not None else Deniable(frozenset())
        for of_row in zip(labels, asked, names, strict=True)
    ]
    label_classes = class_numbers(lexicon, named, names, Names.kind_of_label, numbers)
    reference_classes = class_numbers(lexicon, reference_words, names, Names.class_of_word, numbers)
    named_rows, named_classes = named.owners, label_classes
    by_users = any(reader.of_users for reader in set(names))
    if by_users or named is not image_side.objects or image_side.tallies["object labels"].unknown:
        all_of = [
            (row, numbers.get(category, NO_CLASS))
            for row, (of_row, reader) in enumerate(zip(labels, names, strict=True))
            for label in of_row
            for category in reader.classes_of_label(label)
        ]
        named_rows, named_classes = np.array(all_of, dtype=np.int64).reshape(-1, 2).T
    # Labels that do not say what was looked for are one more witness, like a reference.
    undeclared = [bool(n) and not d.anything for n, d in zip(labels, deniable, strict=True)]
    return ClaimImageSide(
        **vars(image_side),
        reference_words=reference_words,
        shares=shares,
        named=named,
        label_classes=label_classes,
        reference_classes=reference_classes,
        rarities=lexicon.of_each(reference_words.atoms, rarity.__getitem__),
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
