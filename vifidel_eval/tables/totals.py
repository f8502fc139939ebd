"""What is known of rows that were scored: counts, exact sums, a digest. It adds up in any order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from ..evaluation import Tally, add_tallies
from .digests import NO_ROWS, add_digests


@dataclass(frozen=True)
class Mean:
    """A mean that is rounded only when it is read."""

    rows: int = 0
    sum: Fraction = Fraction(0)

    def __add__(self, other: Mean) -> Mean:
        return Mean(self.rows + other.rows, self.sum + other.sum)

    @property
    def value(self) -> float | None:
        """The mean; None of no rows."""
        return float(self.sum / self.rows) if self.rows else None


@dataclass(frozen=True)
class Totals:
    """Counts and sums of rows.

    Attributes
    ----------
    rows, kept : int
        How many were read, and how many were written.
    statuses : Counter
        How many have each status.
    means : mapping
        Of each column of scores, over the rows that have one.
    tallies : mapping
        What was read (captions, references, object labels) to its words.
    digest : tuple of int
        As `digest_rows` returns it.
    """

    rows: int = 0
    kept: int = 0
    statuses: Mapping[str, int] = field(default_factory=dict)
    means: Mapping[str, Mean] = field(default_factory=dict)
    tallies: Mapping[str, Tally] = field(default_factory=dict)
    digest: tuple[int, ...] = NO_ROWS

    def __add__(self, other: Totals) -> Totals:
        names = dict.fromkeys([*self.means, *other.means])
        none = Mean()
        return Totals(
            self.rows + other.rows,
            self.kept + other.kept,
            Counter(self.statuses) + Counter(other.statuses),
            {name: self.means.get(name, none) + other.means.get(name, none) for name in names},
            add_tallies([self.tallies, other.tallies]),
            add_digests([self.digest, other.digest]),
        )

    def to_json(self) -> dict[str, Any]:
        """Return everything as JSON has it, without rounding."""
        return {
            "rows": self.rows,
            "kept": self.kept,
            "statuses": dict(self.statuses),
            "means": {name: [mean.rows, str(mean.sum)] for name, mean in self.means.items()},
            "tallies": {
                what: [tally.words, tally.others, dict(tally.unknown)]
                for what, tally in self.tallies.items()
            },
            "digest": list(self.digest),
        }

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> Totals:
        """Return what `to_json` was called of."""
        return cls(
            content["rows"],
            content["kept"],
            content["statuses"],
            {name: Mean(rows, Fraction(of)) for name, (rows, of) in content["means"].items()},
            {
                what: Tally(words, Counter(unknown), others)
                for what, (words, others, unknown) in content["tallies"].items()
            },
            tuple(content["digest"]),
        )


def add_totals(parts: Iterable[Totals]) -> Totals:
    """Return the totals of all parts."""
    return sum(parts, Totals())
