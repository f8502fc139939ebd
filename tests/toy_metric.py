"""A metric in one file, as those in ``scorers/``: how many characters a caption has."""

from __future__ import annotations

import numpy as np

from vifidel_eval.evaluation import Column, Evaluation
from vifidel_eval.scorers import Scorer
from vifidel_eval.scorers.record import Metric, Option

_COLUMN = Column("TOY", lower_is_better=True)


class Toy(Scorer):
    def __init__(self, length):
        super().__init__()
        self._length = length

    def method(self):
        return "TOY"

    @property
    def columns(self):
        return (_COLUMN,)

    def signature(self, image_ids=None):
        return f"TOY|length:{self._length}"

    def _evaluate(self, rows, on_progress):
        scores = np.array([self._length * len(caption) for caption in rows.captions], float)
        on_progress(len(rows))
        return {"TOY": Evaluation(rows.ids, scores, signature=self.signature())}


METRIC = Metric(
    "TOY",
    "The characters of a caption",
    (_COLUMN,),
    lambda settings: Toy(settings.options["toy_length"]),
    references=False,
    options=(Option("toy_length", "What a character counts.", int, default=1),),
    needs=("patience",),
)
