"""Judgements of captions by people: the shape that all data sets are read into."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ...evaluation import Floats
from ...io.caches import Remembered
from ...io.image_ids import ImageId

#: All kinds of pairs together.
ALL = "all"

_APART = re.compile(r"[\W_]+")


@dataclass(frozen=True)
class Judged:
    """Captions of an image that were judged together.

    Attributes
    ----------
    image_id : hashable
        The image.
    captions : tuple of str
        Two for a choice, one for a rating.
    references : tuple of str
        All references of the image; some may be among `captions`.
    """

    image_id: ImageId
    captions: tuple[str, ...]
    references: tuple[str, ...]

    def others(self, references: Sequence[str]) -> list[str]:
        """Return the references that say something else than any of the captions.

        Case, blanks and punctuation make no difference.

        Parameters
        ----------
        references : sequence of str
            Some of those of the image, in any order.
        """
        return [reference for reference in references if reference not in self._own]

    @cached_property
    def _own(self) -> frozenset[str]:
        """The references that say what one of the captions says; every draw asks for them."""
        said = {_plain(caption) for caption in self.captions}
        return frozenset(r for r in self.references if _plain(r) in said)


@Remembered  # several judgements are of one image and its references
def _plain(caption: str) -> str:
    return _APART.sub("", caption.lower())


@dataclass(frozen=True)
class Choices:
    """Pairs of captions of which people preferred one.

    Attributes
    ----------
    name : str
        The data set, as a table names it.
    judged : list of Judged
        Each with two captions.
    preferred : (number of pairs,) float64
        1 for the first caption, -1 for the second, 0 where people were divided.
    kinds : list of str
        The kind of each pair; all the same where the data set has none.
    """

    name: str
    judged: list[Judged]
    preferred: Floats
    kinds: list[str]


@dataclass(frozen=True)
class Hallucinations:
    """Captions in which people marked, or planted, what is not in the image.

    Attributes
    ----------
    name : str
        The data set, as a table names it.
    judged : list of Judged
        Each with one caption, or all with two of which the second has the hallucination.
    made_up : (captions judged together, number of judgements) bool
        Whether the caption has a hallucination.
    marked : list of sets of int
        For each judgement the pieces between blanks, counted from 0, of its last caption that are
        made up; empty where nothing is.
    """

    name: str
    judged: list[Judged]
    made_up: NDArray[np.bool_]
    marked: list[frozenset[int]]


@dataclass(frozen=True)
class Ratings:
    """Captions that people rated.

    Attributes
    ----------
    name : str
        The data set, as a table names it.
    judged : list of Judged
        Each with one caption.
    ratings : mapping
        What was asked, and the answers: float64 of shape (number of captions, number of judges).
    subsets : mapping
        Name to a mask over the captions: parts of the data set that are evaluated apart.
    """

    name: str
    judged: list[Judged]
    ratings: Mapping[str, Floats]
    subsets: Mapping[str, NDArray[np.bool_]]
