"""Which words of captions speak of objects in the image, and which name objects it lacks.

Judged by unweighted cosines, whatever the transport plan does; `vifidel_eval.explain.explanation`
says what the judgements mean and why.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..evaluation import Floats, Integers
from ..kernels.bags import Bags, cross, meetings
from ..kernels.distances import WordDistances
from .explanation import Thresholds

_NONE = -1
_PLURAL_ENDINGS = ("s", "es")
_PAIRS_AT_ONCE = 1 << 17


@dataclass(frozen=True)
class Grounding:
    """How the words of captions stand to the objects of their images.

    Attributes
    ----------
    nearest : (number of word atoms,) int64
        Position among the object atoms of the most similar object; -1 without objects.
    similarities : (number of word atoms,) float64
        Its cosine; NaN without objects.
    near : (number of word atoms,) bool
        That cosine is not below the threshold. But a word that names a label is not near a longer
        label that only contains it: *dog* is not near a hot dog, unless the caption says *hot*.
    names : (number of word atoms,) int64
        Lexicon number of the label that a word names; -1 if it names none.
    hallucinated : (number of word atoms,) bool
        Names a label; no object of the image is near; no reference mentions it.
    mentioned : (number of object atoms,) bool
        Some word of the caption is not far.
    """

    nearest: Integers
    similarities: Floats
    near: NDArray[np.bool_]
    names: Integers
    hallucinated: NDArray[np.bool_]
    mentioned: NDArray[np.bool_]


class Labels:
    """All labels that a source of objects knows, and which of them is nearest to a word.

    Parameters
    ----------
    distances : WordDistances
        Between labels and words.
    numbers : int64 array
        Lexicon numbers of the labels.
    text_of : callable
        Returns the text of a lexicon number.
    """

    def __init__(
        self, distances: WordDistances, numbers: Integers, text_of: Callable[[int], str]
    ) -> None:
        self.text_of = text_of
        self._distances = distances
        self._numbers = numbers
        self._known: dict[int, tuple[int, float]] = {}

    def nearest(self, words: Integers) -> tuple[Integers, Floats]:
        """Return the nearest label of each word and its cosine.

        They are -1 and NaN without labels, and where the two only begin alike.
        """
        distinct, again = np.unique(words, return_inverse=True)
        new = np.array([n for n in distinct.tolist() if n not in self._known], dtype=np.int64)
        at_once = max(_PAIRS_AT_ONCE // max(len(self._numbers), 1), 1)
        for start in range(0, len(new) if len(self._numbers) else 0, at_once):
            some = new[start : start + at_once]
            cosines = self._distances.cosines(
                np.repeat(some, len(self._numbers)),
                np.tile(self._numbers, len(some)),
                keep=False,
            ).reshape(len(some), len(self._numbers))
            best = cosines.argmax(axis=1)
            for word, label, cosine in zip(
                some.tolist(),
                self._numbers[best].tolist(),
                cosines.max(axis=1).tolist(),
                strict=True,
            ):
                if not _begin_alike(self.text_of(word), self.text_of(label)):
                    self._known[word] = label, cosine
        nearest = [self._known.get(number, (_NONE, np.nan)) for number in distinct.tolist()]
        labels = np.array([label for label, _ in nearest], dtype=np.int64)
        return labels[again], np.array([cosine for _, cosine in nearest])[again]


def _begin_alike(one: str, other: str) -> bool:
    """Return whether a word is the beginning of another that is not its plural.

    Vectors made of pieces of words cannot tell them apart.

    >>> [_begin_alike("car", other) for other in ("caring", "cars", "car", "truck")]
    [True, False, False, False]
    """
    short, long = sorted((one, other), key=len)
    rest = long.removeprefix(short)
    return rest != long and rest.isalpha() and rest not in _PLURAL_ENDINGS


def ground(
    distances: WordDistances,
    objects: Bags,
    words: Bags,
    references: Bags,
    row_of_reference: Integers,
    labels: Labels,
    thresholds: Thresholds,
) -> Grounding:
    """Return how the words of many captions stand to the objects of their images.

    Parameters
    ----------
    distances : WordDistances
        Between the words of all bags.
    objects, words : Bags
        One bag an image each.
    references : Bags
        One bag a reference, the references of an image one after the other.
    row_of_reference : (number of references,)
        Place of each reference's image.
    labels : Labels
        What words can name.
    thresholds : Thresholds
        The cosines that decide.
    """
    object_at, word_at = meetings(objects, words)
    cosines = distances.cosines(objects.atoms[object_at], words.atoms[word_at])
    similarities = np.full(len(words.atoms), -np.inf)
    np.maximum.at(similarities, word_at, cosines)
    nearest = np.full(len(words.atoms), _NONE)
    best = np.flatnonzero(cosines == similarities[word_at])[::-1]
    nearest[word_at[best]] = object_at[best]  # of equals the first: it is written last
    closest = np.full(len(objects.atoms), -np.inf)
    np.maximum.at(closest, object_at, cosines)

    named, cosines_of_labels = labels.nearest(words.atoms)
    named[~(cosines_of_labels >= thresholds.names)] = _NONE
    image_of_word = np.repeat(np.arange(len(words)), words.sizes)
    near = similarities >= thresholds.near
    for at in np.flatnonzero(near & (named != _NONE)).tolist():
        name, label = (labels.text_of(int(n)) for n in (named[at], objects.atoms[nearest[at]]))
        parts = set(label.split())
        if name != label and name in parts:
            first, last = words.starts[image_of_word[at] :][:2]
            spoken = map(labels.text_of, words.atoms[first:last].tolist())
            near[at] = parts <= {name, *spoken}
    suspects = np.flatnonzero((named != _NONE) & (nearest != _NONE) & ~near)
    images = image_of_word[suspects]
    first, last = (
        references.starts[np.searchsorted(row_of_reference, images, side)]
        for side in ("left", "right")
    )
    at, reference_at = cross(suspects, np.ones_like(suspects), first, last - first)
    same = distances.cosines(words.atoms[at], references.atoms[reference_at]) >= thresholds.names
    hallucinated = np.zeros(len(words.atoms), dtype=bool)
    hallucinated[suspects] = True
    hallucinated[at[same]] = False
    similarities[nearest == _NONE] = np.nan
    return Grounding(nearest, similarities, near, named, hallucinated, closest >= thresholds.far)
