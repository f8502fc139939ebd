"""Counts and exact sums of rows that were scored, which add up in any order.

From the sums of a whole run follow its scores, and whether the vectors know its language.
"""

from __future__ import annotations

import math
import warnings
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from ...errors import VifidelWarning
from ...evaluation import COUNTED_OF_ROWS, Floats, Tally, add_tallies
from ...scorers.registry import METRICS
from ...scorers.vifidel_h import warn_of_undeclared
from ...words.word_vectors import WordVectors
from .rows import RANKS, STATUSES

# How many words without a vector are listed of a file.
_LISTED = 20

#: A sum without rounding: doubles that add up to it, the nearest one first.
Exact = tuple[float, ...]


def exact_sum(values: Iterable[float]) -> Exact:
    """Return the sum of finite numbers.

    >>> exact_sum([1e16, 0.5, -1e16, 0.5]), exact_sum([1e16, 0.5])
    ((1.0,), (1e+16, 0.5))
    """
    left, doubles = list(values), list[float]()
    while nearest := math.fsum(left):
        doubles.append(nearest)
        left.append(-nearest)
    return tuple(doubles)


@dataclass(frozen=True)
class Sums:
    """Exact sums over rows: of a column's scores, or of each number that a metric counts.

    `rows` says how many rows have the numbers.
    """

    rows: int = 0
    of: tuple[Exact, ...] = ()

    @classmethod
    def over(cls, values: Floats) -> Sums:
        """Return the sums of (rows, k) numbers; rows with NaN are left out."""
        there = values[~np.isnan(values).any(axis=1)]
        return cls(len(there), tuple(map(exact_sum, there.T.tolist())))

    def __add__(self, other: Sums) -> Sums:
        if not self.rows or not other.rows:
            return self if self.rows else other
        pairs = zip(self.of, other.of, strict=True)
        return Sums(
            self.rows + other.rows, tuple(exact_sum(one + another) for one, another in pairs)
        )

    @classmethod
    def from_json(cls, content: Any) -> Sums:
        """Return what JSON has as a list of both."""
        rows, of = content
        return cls(int(rows), tuple(exact_sum(map(_finite, doubles)) for doubles in of))


def _finite(number: Any) -> float:
    if not math.isfinite(number):
        raise ValueError
    return float(number)


@dataclass(frozen=True)
class Totals:
    """Counts and sums of rows: how many were read and kept, and how many have each status.

    `sums` are of each column of scores, over the rows that have one, and of each metric with a
    corpus score that is no mean, of what that follows from. `tallies` and `counted` are those of
    `TableScores`, the latter of all rows.
    """

    rows: int = 0
    kept: int = 0
    statuses: Mapping[str, int] = field(default_factory=dict)
    sums: Mapping[str, Sums] = field(default_factory=dict)
    tallies: Mapping[str, Tally] = field(default_factory=dict)
    counted: Mapping[str, int] = field(default_factory=dict)

    def __add__(self, other: Totals) -> Totals:
        return Totals(
            self.rows + other.rows,
            self.kept + other.kept,
            Counter(self.statuses) + Counter(other.statuses),
            {
                name: self.sums.get(name, Sums()) + other.sums.get(name, Sums())
                for name in dict.fromkeys([*self.sums, *other.sums])
            },
            add_tallies([self.tallies, other.tallies]),
            Counter(self.counted) + Counter(other.counted),
        )

    def to_json(self) -> dict[str, Any]:
        """Return everything as JSON has it; of words without a vector, the most frequent ones."""
        return {
            "rows": self.rows,
            "kept": self.kept,
            "statuses": in_order(self.statuses),
            **{key: n for key, n in self.counted.items() if n},
            "sums": {name: [sums.rows, sums.of] for name, sums in self.sums.items()},
            "words": {
                what: {
                    "words": tally.words,
                    "without_vector": tally.without_vector,
                    "such_as": dict(tally.unknown.most_common(_LISTED)),
                }
                for what, tally in self.tallies.items()
            },
        }

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> Totals:
        """Return what `to_json` was called of, but for rare words; else one of many errors."""
        return cls(
            int(content["rows"]),
            int(content["kept"]),
            {status: int(content["statuses"].get(status, 0)) for status in STATUSES},
            {name: Sums.from_json(sums) for name, sums in content["sums"].items()},
            {what: _tally(of) for what, of in content["words"].items()},
            {key: int(content.get(key, 0)) for key in COUNTED_OF_ROWS},
        )


def _tally(content: Mapping[str, Any]) -> Tally:
    listed = Counter({word: int(number) for word, number in content["such_as"].items()})
    return Tally(int(content["words"]), listed, int(content["without_vector"]) - listed.total())


def in_order(statuses: Mapping[str, int]) -> dict[str, int]:
    """Return how many rows have each status, from best to worst."""
    return {status: statuses.get(status, 0) for status in STATUSES}


def corpus_scores(metrics: Iterable[str], totals: Totals) -> dict[str, dict[str, Any]]:
    """Return each column of scores with its score of a whole run and the rows that it is of.

    That is the mean over the rows that have a score or, of VIFIDEL-H's shares, the share in the
    counts of the run, as `Evaluation.score` has it.
    """
    scores: dict[str, dict[str, Any]] = {}
    for metric in metrics:
        for column in METRICS[metric].columns:
            name = column.name.replace("-", "_")
            sums = totals.sums.get(name, Sums())
            score = float(sum(map(Fraction, sums.of[0])) / sums.rows) if sums.rows else None
            counted = totals.sums.get(counts_of(metric), Sums())
            if column.of_sums is not None and counted.rows:
                sums = counted
                share = float(column.of_sums(np.array([sum(of) for of in counted.of], dtype=float)))
                score = None if math.isnan(share) else share
            scores[name] = {"score": score, "rows": sums.rows}
    return scores


def counts_of(metric: str) -> str:
    """Return what `Totals.sums` calls the counts of a metric."""
    return f"counts of {metric}"


def judge(totals: Totals, vectors: WordVectors) -> None:
    """Refuse a whole run, or warn of it, for what was counted in it.

    The vectors may know almost none of the words (VectorsError) or few of them (VifidelWarning), or
    no row has a score under every metric (VifidelWarning).
    """
    for what, tally in totals.tallies.items():
        tally.check_known(what, vectors)
    warn_of_undeclared(totals.statuses.get("nothing looked for", 0))
    given = {status: n for status, n in in_order(totals.statuses).items() if n}
    if totals.rows > 0 and all(RANKS[status] >= RANKS["nothing looked for"] for status in given):
        causes = ", ".join(f"{number} {status}" for status, number in given.items())
        warnings.warn(
            f"none of the {totals.rows} rows has a score under every metric ({causes}).",
            VifidelWarning,
            stacklevel=2,
        )
