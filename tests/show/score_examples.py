"""Scores made by hand, for tests of comparisons and tables."""

from __future__ import annotations

import numpy as np

from vifidel_eval.evaluation import Evaluation
from vifidel_eval.scores.scores import Scores


def scores(columns, lower=(), unranked=(), counts=None):
    """Return scores from ``{column: {system: [scores of images] or {image id: score}}}``."""

    def evaluation(name, row):
        of_images = row if isinstance(row, dict) else dict(enumerate(row, 1))
        return Evaluation(
            list(of_images),
            np.array(list(of_images.values()), dtype=np.float64),
            lower_is_better=name in lower,
            ranked=name not in unranked,
            counts=counts or {},
            signature=f"{name}|version:1",
        )

    return Scores(
        {name: f"{name}|version:1" for name in columns},
        {
            system: {name: evaluation(name, rows[system]) for name, rows in columns.items()}
            for system in next(iter(columns.values()))
        },
    )


def scores_of(systems, lower=False):
    """Return scores of one metric, M."""
    return scores({"M": systems}, lower=["M"] if lower else ())
