"""A metric that stands in for a real one."""

import numpy as np

from vifidel_eval.evaluation import Column, Evaluation
from vifidel_eval.scorers import Scorer


class FakeScorer(Scorer):
    """Scores each row by a function of its caption and references.

    The function returns a score, or one for each of several `columns`. `evaluate` raises the
    `problem`, if there is one; `calls` are the rows that were evaluated.
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
