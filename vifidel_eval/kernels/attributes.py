"""What captions say of the attributes of things and of the scene, held against what is listed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from ..annotations.labels import ImageAttributes
from ..captions.rows import LabelCounts
from ..evaluation import Floats
from ..words.attributes import (
    Modifier,
    modifiers,
    of_scenes,
    rivals,
    said_of_scene,
    same,
    spellings,
)
from ..words.mentions import Reading
from .bags import Bags
from .lexicon import Lexicon
from .names import Names
from .support import Mask

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
    may_be: dict[str, dict[str, frozenset[str]]] = {}  # by the class of a thing
    judged = []
    for modifier in described:
        category = modifier.claim.category or ""
        if category not in may_be:
            may_be[category] = {x: w for x, w in words_of.items() if _may_be(category, x, names)}
        found = _judged(modifier, may_be[category], listed.partly)
        judged += [] if found is None else [found]
    done = {attribute.start for attribute in judged}
    return judged + [a for a in _of_scene(caption, reading, listed) if a.start not in done]


def _may_be(category: str, label: str, names: Names) -> bool:
    """Return whether a thing may be an object with a label: one is a kind of the other."""
    classes = names.classes_of_label(label)
    return any(x in names.upward(category) or category in names.upward(x) for x in classes)


def _judged(
    modifier: Modifier, words_of: Mapping[str, frozenset[str]], partly: frozenset[str]
) -> JudgedAttribute | None:
    """Return what the words that are listed of the objects that a thing may be say of it."""
    word, family = same(modifier.word), rivals(modifier.word)
    having = [label for label, words in words_of.items() if word in words]
    others = [f"{other} {x}" for x, words in words_of.items() for other in sorted(words & family)]
    if having:
        is_so, by = True, f"{word} {having[0]}"
        if modifier.denied and len(others) > 1:  # another one may be meant
            return None
    elif others and all(words & family and x not in partly for x, words in words_of.items()):
        if modifier.is_guess:
            return None
        is_so, by = False, others[0]
    else:
        return None
    return JudgedAttribute(*modifier[:3], is_so is not modifier.denied, by)


def _of_scene(caption: str, reading: Reading, listed: ImageAttributes) -> Iterator[JudgedAttribute]:
    """Yield the judged words of a caption that describe the whole image."""
    scenes = {spelled: scene for scene in listed.scene for spelled in spellings([scene])}
    family = of_scenes(scenes.keys())
    others = spellings(family) - scenes.keys() if family else ()
    for words in (*scenes, *sorted(others)):
        for start, end, denied in said_of_scene(caption, words, reading.claims):
            by = scenes.get(words) or next(x for x in listed.scene if rivals(x) & rivals(words))
            yield JudgedAttribute(words, start, end, (words in scenes) is not denied, by)


def _words(attributes: Iterable[str]) -> frozenset[str]:
    return frozenset(same(word) for attribute in attributes for word in attribute.split())


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
    so: dict[tuple[int, str], list[bool]] = {}
    for row, of_row in enumerate(judged):
        for attribute in of_row:
            for word in attribute.word.split():
                so.setdefault((row, word), []).append(attribute.is_so)
    texts = map(lexicon.words.__getitem__, words.atoms.tolist())
    shares = [so.get(place) for place in zip(words.owners.tolist(), texts, strict=True)]
    are_judged = np.array([share is not None for share in shares], dtype=bool)
    return are_judged, np.array([np.mean(share) for share in shares if share is not None])
