"""What is said of each row beside its scores, and what scoring some rows returns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..evaluation import ROW_COUNTS, Floats, Integers, Tally

#: All statuses from best to worst, as tables have them.
STATUSES: tuple[str, ...] = ("ok", *(key.replace("_", " ") for key in ROW_COUNTS))

#: The places of statuses in `STATUSES`, (rows,).
Statuses = NDArray[np.uint8]

#: The place of each: 0 for ``"ok"``, higher for worse.
RANKS: Mapping[str, int] = {status: rank for rank, status in enumerate(STATUSES)}


def worsen(statuses: Statuses, rows: NDArray[np.bool_] | Integers, status: str) -> None:
    """Give rows, which are marked or numbered, a status, unless theirs is worse."""
    statuses[rows] = np.maximum(statuses[rows], np.uint8(RANKS[status]))


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
    not_judged : (rows,) int64
        How many mentions of each row nobody looked for, under VIFIDEL-H.
    """

    fields: Any
    statuses: Counter[str]
    tallies: Mapping[str, Tally]
    counts: Mapping[str, Floats]
    not_judged: Integers
