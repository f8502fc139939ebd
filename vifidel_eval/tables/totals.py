"""What is known of rows that were scored: counts, exact sums, a digest. It adds up in any order.

From the sums of a whole run follow its scores, and whether the vectors know its language.
"""

from __future__ import annotations

import math
import warnings
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import zip_longest
from typing import Any, TypeVar

import numpy as np

from ..errors import VifidelWarning
from ..evaluation import Floats, Tally, add_tallies
from ..metrics import METRICS
from ..vectors import WordVectors
from .digests import NO_ROWS, add_digests
from .statuses import STATUSES, Status
from .sums import exact_sum


@dataclass(frozen=True)
class Mean:
    """A mean that is rounded only when it is read."""

    rows: int = 0
    sum: Fraction = Fraction(0)

    @classmethod
    def of(cls, values: Floats) -> Mean:
        """Return the mean of finite numbers."""
        return cls(len(values), exact_sum(values))

    def __add__(self, other: Mean) -> Mean:
        return Mean(self.rows + other.rows, self.sum + other.sum)

    @property
    def value(self) -> float | None:
        """The mean; None of no rows."""
        return float(self.sum / self.rows) if self.rows else None


@dataclass(frozen=True)
class Counted:
    """Sums of what is counted in rows: `Statistics.of_rows`, added."""

    rows: int = 0
    sums: tuple[int, ...] = ()

    @classmethod
    def of(cls, counts: Floats) -> Counted:
        """Return the sums of counts, (rows, k); rows with NaN are left out."""
        there = counts[~np.isnan(counts).any(axis=1)]
        return cls(len(there), tuple(map(int, there.sum(axis=0))))

    def __add__(self, other: Counted) -> Counted:
        sums = zip_longest(self.sums, other.sums, fillvalue=0)
        return Counted(self.rows + other.rows, tuple(map(sum, sums)))


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
    counted : mapping
        Of each metric with a corpus score that is no mean, what that follows from.
    tallies : mapping
        What was read (captions, references, object labels) to its words.
    digest : tuple of int
        As `digest_rows` returns it.
    """

    rows: int = 0
    kept: int = 0
    statuses: Mapping[str, int] = field(default_factory=dict)
    means: Mapping[str, Mean] = field(default_factory=dict)
    counted: Mapping[str, Counted] = field(default_factory=dict)
    tallies: Mapping[str, Tally] = field(default_factory=dict)
    digest: tuple[int, ...] = NO_ROWS

    def __add__(self, other: Totals) -> Totals:
        return Totals(
            self.rows + other.rows,
            self.kept + other.kept,
            Counter(self.statuses) + Counter(other.statuses),
            _added(self.means, other.means, Mean()),
            _added(self.counted, other.counted, Counted()),
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
            "counted": {name: [of.rows, of.sums] for name, of in self.counted.items()},
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
            {name: Counted(rows, tuple(of)) for name, (rows, of) in content["counted"].items()},
            {
                what: Tally(words, Counter(unknown), others)
                for what, (words, others, unknown) in content["tallies"].items()
            },
            tuple(content["digest"]),
        )


Sums = TypeVar("Sums", Mean, Counted)


def _added(one: Mapping[str, Sums], other: Mapping[str, Sums], none: Sums) -> dict[str, Sums]:
    names = dict.fromkeys([*one, *other])
    return {name: one.get(name, none) + other.get(name, none) for name in names}


def corpus_scores(metrics: Iterable[str], totals: Totals) -> dict[str, dict[str, Any]]:
    """Return each column of scores with its score of a whole run and the rows that it is of.

    That is the mean over the rows that have a score or, of VIFIDEL-H's shares, the share in the
    counts of the run, as `Evaluation.score` has it.

    Parameters
    ----------
    metrics : iterable of str
        Their names.
    totals : Totals
        Of the run.
    """
    scores: dict[str, dict[str, Any]] = {}
    for metric in metrics:
        for column in METRICS[metric].columns:
            name = column.name.replace("-", "_")
            mean = totals.means.get(name, Mean())
            score, rows = mean.value, mean.rows
            if column.of_sums is not None and metric in totals.counted:
                counted = totals.counted[metric]
                share = float(column.of_sums(np.array(counted.sums, dtype=np.float64)))
                score, rows = None if math.isnan(share) else share, counted.rows
            scores[name] = {"score": score, "rows": rows}
    return scores


def judge(totals: Totals, vectors: WordVectors) -> None:
    """Refuse a whole run, or warn of it, for what was counted in it.

    Raises
    ------
    VectorsError
        If the vectors know almost none of the words.

    Warns
    -----
    VifidelWarning
        If they do not know many, or no row has a score under every metric.
    """
    for what, tally in totals.tallies.items():
        tally.check_known(what, vectors)
    statuses = totals.statuses
    scored = sum(statuses.get(str(status), 0) for status in Status if status < Status.NO_OBJECTS)
    if totals.rows > 0 and not scored:
        causes = ", ".join(f"{statuses[name]} {name}" for name in STATUSES if statuses.get(name))
        warnings.warn(
            f"none of the {totals.rows} rows has a score under every metric ({causes}).",
            VifidelWarning,
            stacklevel=2,
        )
