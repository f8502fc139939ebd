"""Scores made by hand, for tests of tables."""

from __future__ import annotations

import numpy as np

from vifidel_eval.evaluation import Evaluation
from vifidel_eval.scores.scores import Scores


def scores(columns, lower=(), unranked=(), counts=None):
    """Return scores from ``{column: {system: [scores of images]}}``."""
    systems = list(next(iter(columns.values())))
    return Scores(
        {name: f"{name}|version:1" for name in columns},
        {
            system: {
                name: Evaluation(
                    list(range(1, len(of_column[system]) + 1)),
                    np.array(of_column[system], dtype=np.float64),
                    lower_is_better=name in lower,
                    ranked=name not in unranked,
                    counts=counts or {},
                    signature=f"{name}|version:1",
                )
                for name, of_column in columns.items()
            }
            for system in systems
        },
    )
