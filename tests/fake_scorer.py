"""A metric that stands in for a real one."""

from __future__ import annotations

import numpy as np

from vifidel_eval.evaluation import Column, Evaluation
from vifidel_eval.scorers import Scorer


class FakeScorer(Scorer):
    """Scores each row by a function of its caption and references.

    Parameters
    ----------
    name : str
        What `method` returns.
    function : callable
        From a caption and its references to its score; to a tuple of scores, one per column, if
        there are several columns.
    columns : sequence of Column, optional
        By default one, called `name`.
    problem : MetricUnavailable, optional
        What `evaluate` raises.
    signature : str, optional
        By default made of `name`.

    Attributes
    ----------
    calls : list of Rows
        What was evaluated.
    """

    def __init__(
        self,
        name="FAKE",
        function=lambda caption, references: float(len(caption)),
        columns=None,
        problem=None,
        signature=None,
    ):
        super().__init__()
        self.name = name
        self.function = function
        self.problem = problem
        self.calls = []
        self.columns = (Column(name),) if columns is None else tuple(columns)
        self._signature = f"{name}|fake" if signature is None else signature

    def method(self):
        return self.name

    def signature(self, image_ids=None):
        return self._signature

    def _evaluate(self, rows, on_progress):
        self.calls.append(rows)
        if self.problem is not None:
            raise self.problem
        scores = [self.function(*row) for row in zip(rows.captions, rows.references, strict=True)]
        on_progress(len(rows))
        table = np.array(scores, dtype=np.float64).reshape(len(rows), len(self.columns))
        signature = self.signature(rows.image_ids)
        return {
            column.name: Evaluation(rows.ids, of_column.copy(), signature=signature)
            for column, of_column in zip(self.columns, table.T, strict=True)
        }
