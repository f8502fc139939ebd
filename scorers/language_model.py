"""How likely a caption is as a sentence, whatever its image shows."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from ..image_ids import ImageId
from ..networks.language_model import load
from .base import Evaluation, Scorer, candidates


class LanguageModel(Scorer):
    """Fluency of captions by a recurrent language model (VIFIDEL, sections 4.2 and 4.4).

    A caption scores exp(-mean cross-entropy of its tokens), its end included: the inverse of its
    perplexity, in (0, 1]. A caption without a word says nothing and scores 0. Neither the image
    nor the references count; the references only give the image ids and their order. Words that
    the model does not know count as one rare word.

    Parameters
    ----------
    model : path
        A file that ``vifidel-eval train-lm`` or
        `vifidel_eval.networks.language_training.train` wrote.

    Raises
    ------
    MetricUnavailable
        If PyTorch is not installed: ``pip install 'vifidel-eval[lm]'``.
    VifidelError
        If the file is missing, damaged, or something else.
    """

    def __init__(self, model: str | os.PathLike[str]) -> None:
        self._model = load(model)

    def method(self) -> str:
        return "LM"

    def signature(self) -> str:
        return self._pinned(f"model:{self._model.digest[:8]}", package="torch")

    def evaluate(
        self,
        gts: Mapping[ImageId, Sequence[str]],
        res: Mapping[ImageId, Sequence[str]],
        on_progress: Callable[[int], object] | None = None,
    ) -> Evaluation:
        means = self._model.log_probabilities(candidates(gts, res), on_progress)
        wordless = np.isnan(means)
        return Evaluation(
            ids=list(gts),
            scores=np.where(wordless, 0.0, np.exp(means)),
            wordless=int(wordless.sum()),
        )
