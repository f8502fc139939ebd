"""A metric for lighteval: captions that a task's model writes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ...errors import MetricUnavailable
from ...project import pip_install
from .caption_scores import CaptionScores

try:
    from lighteval.metrics.metrics_sample import SampleLevelComputation
    from lighteval.metrics.utils.metric_utils import SampleLevelMetricGrouping
    from lighteval.models.model_output import ModelResponse
    from lighteval.tasks.requests import Doc, SamplingMethod
except ModuleNotFoundError as problem:
    raise MetricUnavailable(
        f"the metric needs the package {problem.name}: {pip_install('lighteval')}."
    ) from problem


class _SampleScores(SampleLevelComputation):
    """The scores of what a model wrote first, by columns."""

    def __init__(self, scores: CaptionScores, objects: str, references: bool) -> None:
        self._scores, self._objects, self._references = scores, objects, references

    def compute(self, doc: Doc, model_response: ModelResponse, **_: Any) -> dict[str, float]:
        """Return the score in each column, NaN where it is undefined."""
        captions = [text for text in doc.get_golds() if text.strip()] if self._references else []
        labels = (doc.specific or {}).get(self._objects)
        return self._scores(model_response.final_text[0], labels, captions)


def vifidel_metric(
    columns: str | Sequence[str] = ("VIFIDEL-F", "VIFIDEL-Hi"),
    objects: str = "objects",
    references: bool = True,
    as_written: bool = False,
) -> SampleLevelMetricGrouping:
    """Return a metric for the ``metrics`` of a ``LightevalTaskConfig``.

    Parameters
    ----------
    columns : str or sequence of str
        The columns, as `CaptionScores` takes them.
    objects : str
        The key of ``Doc.specific`` that holds the object labels; a document may lack it.
    references : bool
        Whether the gold choices of documents are references.
    as_written : bool
        Whether all of a response is scored, with reasoning and what else is around its caption.
    """
    scores = CaptionScores(columns, references, as_written)
    return SampleLevelMetricGrouping(
        metric_name=[*scores.higher_is_better],
        higher_is_better={**scores.higher_is_better},
        category=SamplingMethod.GENERATIVE,
        sample_level_fn=_SampleScores(scores, objects, references),
        corpus_level_fn=dict.fromkeys(scores.higher_is_better, _mean),
    )


def _mean(scores: Sequence[float]) -> float:
    """Return the mean of the defined scores; NaN if none is."""
    defined = [score for score in scores if not math.isnan(score)]
    return math.fsum(defined) / len(defined) if defined else math.nan
