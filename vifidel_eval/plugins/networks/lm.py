"""Fluency: how likely a caption is as a sentence, regardless of its image."""

from __future__ import annotations

import os
from collections.abc import Sequence

import numpy as np

from ...captions.rows import Rows
from ...evaluation import Evaluation
from ...io.image_ids import ImageId
from ...io.options import Option
from ...scorers.base import Progress, Scorer
from ...scorers.papers import MADHYASTHA_2019
from ...scorers.record import Metric
from ...scorers.registry import register
from ..pytorch import MadeAgain
from .language_model import load


class LanguageModel(MadeAgain, Scorer):
    """Fluency of captions by a recurrent language model (VIFIDEL, sections 4.2 and 4.4).

    A caption scores exp(-mean cross-entropy of its tokens), its end included: the inverse of its
    perplexity, in (0, 1]. A caption without a word says nothing and scores 0. Neither the image
    nor the references count; the references only give the image ids and their order. Words that
    the model does not know count as one rare word.

    Parameters
    ----------
    model : path
        A file that ``vifidel-eval train-lm`` or
        `vifidel_eval.plugins.networks.language_training.train` wrote.

    Raises
    ------
    MetricUnavailable
        If PyTorch is not installed.
    VifidelError
        If the file is missing, damaged, or something else.
    """

    def __init__(self, model: str | os.PathLike[str]) -> None:
        super().__init__()
        self._model = load(model)

    def method(self) -> str:
        return "LM"

    def signature(self, image_ids: Sequence[ImageId] | None = None) -> str:
        return self._pinned(f"model:{self._model.digest[:8]}", package="torch")

    def _evaluate(self, rows: Rows, on_progress: Progress) -> dict[str, Evaluation]:
        means = self._model.log_probabilities(rows.captions, on_progress)
        wordless = np.isnan(means)
        evaluation = Evaluation(
            rows.ids,
            np.where(wordless, 0.0, np.exp(means)),
            counts={"no_words": int(wordless.sum())},
        )
        return {self.main: evaluation}


register(
    Metric(
        "LM",
        "Fluency of the caption alone: inverse perplexity under a trained language model",
        LanguageModel,
        lambda settings: LanguageModel(settings.options["language_model"]),
        rank=110,
        references=False,
        options=(Option("language_model", "Model that train-lm wrote, for LM.", required=True),),
        packages=("torch",),
        papers=(MADHYASTHA_2019,),
    )
)
