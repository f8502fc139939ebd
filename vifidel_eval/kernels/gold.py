"""Rows that were read: the gold side, and the words of the candidates that are held against it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, TypeVar

import numpy as np

from ..evaluation import Floats, Integers, Tally
from ..rows import Rows
from .bags import Bags
from .lexicon import Lexicon
from .transport import penalties


@dataclass(frozen=True, eq=False)
class Gold:
    """What the candidates of some rows are held against; all systems share it."""

    lexicon: Lexicon  # where the numbers of all bags come from
    rows: int
    objects: Bags  # one bag of labels per row, empty for metrics that see no objects
    references: Bags  # one bag per reference, the references of a row one after the other
    row_of_reference: Integers  # (number of references,)
    tallies: Mapping[str, Tally]  # what was read, by what it is

    def penalties(self, bags: Bags) -> Floats:
        """Return what the references make of each entry of a bag per row (Eq. 4)."""
        return penalties(self.lexicon.distances, bags, self.references, self.row_of_reference)

    @cached_property
    def label_penalties(self) -> Floats:
        """What the references make of each object label."""
        return self.penalties(self.objects)

    @cached_property
    def usable_references(self) -> Integers:
        """How many references of each row have a usable word, (rows,)."""
        usable = self.row_of_reference[self.references.sizes > 0]
        return np.bincount(usable, minlength=self.rows)


GoldT = TypeVar("GoldT", bound=Gold)


@dataclass(frozen=True, eq=False)
class Part(Generic[GoldT]):
    """Some rows, read: their gold side, and a bag of content words per candidate."""

    rows: Rows
    gold: GoldT
    words: Bags
    of_words: Tally
