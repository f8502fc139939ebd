"""What is known of rows that were scored: counts and exact sums, which add up in any order.

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

from ..errors import VifidelWarning
from ..evaluation import Floats, Tally, add_tallies
from ..scorers.registry import METRICS
from ..scorers.vifidel_h import warn_of_undeclared
from ..vectors import WordVectors
from .statuses import RANKS, STATUSES

_MANTISSA = 53  # bits of a float64
_LOW = 27  # bits that are added apart, so that 2**36 numbers do not overflow
_SCALE = 1074 + _MANTISSA  # the smallest float64 times 2**_SCALE is a whole number, cut or not

# How many words without a vector are listed of a file.
_LISTED = 20


def exact_sum(values: Floats) -> Fraction:
    """Return the sum of finite numbers, (n,), without rounding.

    Examples
    --------
    >>> float(exact_sum(np.array([1e16, 0.5, -1e16, 0.5])))
    1.0
    """
    mantissas, exponents = np.frexp(values)
    whole = np.ldexp(mantissas, _MANTISSA).astype(np.int64)
    total = 0
    for exponent in np.unique(exponents).tolist():
        some = whole[exponents == exponent]
        low = some & ((1 << _LOW) - 1)
        of_exponent = (int((some >> _LOW).sum()) << _LOW) + int(low.sum())
        total += of_exponent << (exponent - _MANTISSA + _SCALE)
    return Fraction(total, 1 << _SCALE)


@dataclass(frozen=True)
class Sums:
    """Exact sums over rows: of a column's scores, or of what a metric counts.

    Attributes
    ----------
    rows : int
        How many rows have the numbers.
    of : tuple of Fraction
        The sum of each number.
    """

    rows: int = 0
    of: tuple[Fraction, ...] = ()

    @classmethod
    def over(cls, values: Floats) -> Sums:
        """Return the sums of (rows, k) numbers; rows with NaN are left out."""
        there = values[~np.isnan(values).any(axis=1)]
        return cls(len(there), tuple(map(exact_sum, there.T)))

    def __add__(self, other: Sums) -> Sums:
        if not self.rows or not other.rows:
            return self if self.rows else other
        sums = tuple(one + another for one, another in zip(self.of, other.of, strict=True))
        return Sums(self.rows + other.rows, sums)

    def to_json(self) -> list[Any]:
        """Return the rows, and doubles that add up to each sum exactly, the nearest one first."""
        return [self.rows, [_doubles(of) for of in self.of]]

    @classmethod
    def from_json(cls, content: Any) -> Sums:
        """Return what `to_json` was called of."""
        rows, of = content
        return cls(int(rows), tuple(sum(map(Fraction, doubles), Fraction(0)) for doubles in of))


def _doubles(number: Fraction) -> list[float]:
    doubles = []
    while number:
        doubles.append(float(number))
        number -= Fraction(doubles[-1])
    return doubles


@dataclass(frozen=True)
class Totals:
    """Counts and sums of rows.

    Attributes
    ----------
    rows, kept : int
        How many were read, and how many were written.
    statuses : mapping
        How many have each status.
    sums : mapping
        Of each column of scores, over the rows that have one, and of each metric with a corpus
        score that is no mean, what that follows from.
    tallies : mapping
        What was read (captions, references, object labels) to its words.
    not_judged : int
        How many mentions nobody looked for.
    """

    rows: int = 0
    kept: int = 0
    statuses: Mapping[str, int] = field(default_factory=dict)
    sums: Mapping[str, Sums] = field(default_factory=dict)
    tallies: Mapping[str, Tally] = field(default_factory=dict)
    not_judged: int = 0

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
            self.not_judged + other.not_judged,
        )

    def to_json(self) -> dict[str, Any]:
        """Return everything as JSON has it; of words without a vector, the most frequent ones."""
        return {
            "rows": self.rows,
            "kept": self.kept,
            "statuses": in_order(self.statuses),
            **({"not_judged": self.not_judged} if self.not_judged else {}),
            "sums": {name: sums.to_json() for name, sums in self.sums.items()},
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
        """Return what `to_json` was called of, but for rare words.

        Raises
        ------
        KeyError, TypeError, ValueError, AttributeError
            If it is something else.
        """
        return cls(
            int(content["rows"]),
            int(content["kept"]),
            {status: int(content["statuses"].get(status, 0)) for status in STATUSES},
            {name: Sums.from_json(sums) for name, sums in content["sums"].items()},
            {what: _tally(of) for what, of in content["words"].items()},
            int(content.get("not_judged", 0)),
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
            sums = totals.sums.get(name, Sums())
            score = float(sums.of[0] / sums.rows) if sums.rows else None
            counted = totals.sums.get(counts_of(metric), Sums())
            if column.of_sums is not None and counted.rows:
                sums = counted
                share = float(column.of_sums(np.array(counted.of, dtype=np.float64)))
                score = None if math.isnan(share) else share
            scores[name] = {"score": score, "rows": sums.rows}
    return scores


def counts_of(metric: str) -> str:
    """Return what `Totals.sums` calls the counts of a metric."""
    return f"counts of {metric}"


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
    warn_of_undeclared(totals.statuses.get("nothing looked for", 0))
    given = {status: n for status, n in in_order(totals.statuses).items() if n}
    if totals.rows > 0 and all(RANKS[status] >= RANKS["nothing looked for"] for status in given):
        causes = ", ".join(f"{number} {status}" for status, number in given.items())
        warnings.warn(
            f"none of the {totals.rows} rows has a score under every metric ({causes}).",
            VifidelWarning,
            stacklevel=2,
        )
