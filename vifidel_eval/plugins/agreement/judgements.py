"""Judgements of captions by people: the shapes that data sets are read into, and references."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePosixPath

import numpy as np
from numpy.typing import NDArray

from ...evaluation import Floats
from ...io.image_ids import ImageId, from_json_key
from ...io.records import Remembered

#: All kinds of pairs together.
ALL = "all"

#: A number of references, or one of the two words below.
References = int | str
#: All references of an image.
ALL_REFERENCES = "all"
#: Whatever references another tool's scores were computed with.
AS_GIVEN = "as given"

_APART = re.compile(r"[\W_]+")


@dataclass(frozen=True)
class Judged:
    """Captions of an image that were judged together: two for a choice, one for a rating."""

    image_id: ImageId
    captions: tuple[str, ...]
    references: tuple[str, ...]  # all of the image's; some may be among the captions
    keeps_own: bool = False  # whether captions that are references stay among them

    def others(self, references: Sequence[str]) -> list[str]:
        """Return those of some references that say something else than any of the captions."""
        return [reference for reference in references if reference not in self._own]

    @cached_property
    def _own(self) -> frozenset[str]:
        """The references that say what one of the captions says; every draw asks for them."""
        captions = set() if self.keeps_own else {_plain(caption) for caption in self.captions}
        return frozenset(r for r in self.references if _plain(r) in captions)


@Remembered  # several judgements are of one image and its references
def _plain(caption: str) -> str:
    return _APART.sub("", caption.lower())  # case, blanks and punctuation make no difference


@dataclass(frozen=True)
class Choices:
    """Pairs of captions of which people preferred one."""

    name: str  # the data set, as a table names it
    judged: list[Judged]  # each with two captions
    # 1 for the first caption of a pair, -1 for the second, 0 where people were divided; (pairs,).
    preferred: Floats
    kinds: list[str]  # the kind of each pair; all the same where the data set has none


@dataclass(frozen=True)
class Hallucinations:
    """Captions in which people marked, or planted, what is not in the image."""

    name: str  # the data set, as a table names it
    judged: list[Judged]  # with one caption each, or with two, the second with the hallucination
    made_up: NDArray[np.bool_]  # whether captions have one; (captions judged together, judgements)
    # For each judgement the pieces between blanks, counted from 0, of its last caption that are
    # made up; empty where nothing is.
    marked: list[frozenset[int]]


@dataclass(frozen=True)
class Ratings:
    """Captions that people rated."""

    name: str  # the data set, as a table names it
    judged: list[Judged]  # each with one caption
    ratings: Mapping[str, Floats]  # what was asked, and the answers, (captions, judges), or NaN
    subsets: Mapping[str, NDArray[np.bool_]]  # masks over captions that are evaluated apart


def image_id_of(name: str) -> ImageId:
    """Return the image id of a file name or an address: its stem, a whole number as a number."""
    return from_json_key(PurePosixPath(name).stem)


def times_drawn(judged: Sequence[Judged], number: References, draws: int) -> int:
    """Return how many draws of so many references there are: one, if no image has more of them."""
    most = max(len(one.references) for one in judged)
    return draws if isinstance(number, int) and 0 < number < most else 1


def drawn(judged: Sequence[Judged], number: References, seed: int, draw: int) -> list[list[str]]:
    """Return the references of each judgement, the first of a random order of its image's.

    So those of a smaller number are among those of a larger one; its own captions are not.
    """
    if not isinstance(number, int):
        return [one.others(one.references) for one in judged]
    random = np.random.default_rng([seed, draw])
    shuffled: dict[tuple[str, ...], list[str]] = {}
    for one in judged:
        if one.references not in shuffled:
            order = random.permutation(len(one.references))
            shuffled[one.references] = [one.references[place] for place in order]
    return [one.others(shuffled[one.references])[:number] for one in judged]
