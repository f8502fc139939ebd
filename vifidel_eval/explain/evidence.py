"""What is known of images, and the mentions of captions with what was found of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..evaluation import Floats, Integers, Tally
from ..kernels.bags import Bags
from ..things.mentions import Unit
from .explanation import Verdict

#: The place of a text, of evidence, or of a mention that is not there.
NOTHING = -1


class Sought(NamedTuple):
    """What a source of objects looks for.

    Attributes
    ----------
    classes : frozenset of str, optional
        The classes; None for everything.
    """

    classes: frozenset[str] | None


@dataclass(frozen=True, eq=False)
class Evidence:
    """What is known of the images of some rows.

    Attributes
    ----------
    units : Bags
        One bag per row: its labels and the units of its references that have a vector.
    texts : tuple of mapping
        For each row, all of these, with or without a vector, and the class of each that names one.
    sought : tuple of Sought
        For each row, what can be absent from it.
    tally : Tally
        Which of them have no vector.
    """

    units: Bags
    texts: tuple[Mapping[str, str | None], ...]
    sought: tuple[Sought, ...]
    tally: Tally

    def names_class(self, row: int, category: str | None) -> bool:
        """Return whether the evidence of a row names something of a class."""
        return category is not None and category in self.texts[row].values()

    @property
    def is_there(self) -> NDArray[np.bool_]:
        """Whether anything is known of each row's image, (rows,)."""
        return np.array([bool(texts) for texts in self.texts], dtype=bool)


@dataclass(frozen=True, eq=False)
class Mentioned:
    """All mentions of some captions, caption after caption in the order of their words.

    Attributes
    ----------
    rows : (number of mentions,) int64
        The row of each.
    units : tuple of Unit
        Their words and classes.
    support : (number of mentions,) float64
        The largest cosine to the evidence, in [0, 1]; NaN for words without a vector.
    by : tuple of str or None
        The evidence with that cosine, or, if it is too far away for a verdict, evidence of the
        same class; None if nothing supports the mention.
    verdicts : (number of mentions,) int64
        Of `Verdict`.
    """

    rows: Integers
    units: tuple[Unit, ...]
    support: Floats
    by: tuple[str | None, ...]
    verdicts: Integers

    def each(self) -> Iterator[tuple[int, Unit, float, str | None, Verdict]]:
        """Yield row, unit, support, what supports it and verdict of every mention."""
        yield from zip(
            self.rows.tolist(),
            self.units,
            self.support.tolist(),
            self.by,
            map(Verdict, self.verdicts.tolist()),
            strict=True,
        )


def some_of(bags: Bags, kept: Integers | NDArray[np.bool_]) -> Bags:
    """Return bags with some of their atoms, which are positions or a mask; masses stay."""
    keep = np.zeros(len(bags.atoms), dtype=bool)
    keep[kept] = True
    ends = np.concatenate([[0], np.cumsum(keep)])[bags.starts]
    return Bags(ends, bags.atoms[keep], bags.masses[keep])
