"""What is said of each row beside its scores, and what scoring some rows returns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

from ..evaluation import Floats, Tally


class Status(IntEnum):
    """The worst that is to be said of a row, from best to worst.

    Up to `NO_WORDS` every metric has a score. From `NO_OBJECTS` on, a metric lacks something that
    it needs and is null; from `TOO_LONG` on, the row itself needs a change.
    """

    OK = 0
    UNWEIGHTED = 1
    NO_WORDS = 2
    NO_OBJECTS = 3
    NO_REFERENCES = 4
    NO_KNOWN_WORDS = 5
    TOO_LONG = 6
    BAD_CAPTION = 7
    BAD_LABELS = 8
    BAD_REFERENCES = 9

    def __str__(self) -> str:
        return self.name.lower().replace("_", " ")


#: All statuses from best to worst, as tables have them.
STATUSES: tuple[str, ...] = tuple(map(str, Status))


@dataclass(frozen=True, eq=False)
class TableScores:
    """What `TableScorer.evaluate` returns of some rows.

    Attributes
    ----------
    fields : pyarrow.StructArray
        One row per row: the metrics' columns, ``distance`` and ``status``.
    statuses : Counter
        How many rows have each status.
    tallies : mapping
        What was read (``"captions"``, ``"references"``, ``"object labels"``) to its `Tally`.
    counts : mapping
        Metrics to what a corpus score follows from, as `Statistics.of_rows` has it, where it is
        not a mean.
    """

    fields: Any
    statuses: Counter[str]
    tallies: Mapping[str, Tally]
    counts: Mapping[str, Floats]
