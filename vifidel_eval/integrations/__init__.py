"""Adapters of `vifidel_eval.plugins.training`, under their documented names.

`vifidel_scorer` (for Inspect) and `vifidel_metric` (for lighteval) need these packages.
"""

from typing import Any

from ..plugins.training import LMMS_EVAL
from ..plugins.training.caption_scores import CapevalMetric, CaptionScores

__all__ = ["LMMS_EVAL", "CapevalMetric", "CaptionScores"]


def __getattr__(name: str) -> Any:
    if name == "vifidel_scorer":
        from ..plugins.training.inspect_ai import vifidel_scorer

        return vifidel_scorer
    if name == "vifidel_metric":
        from ..plugins.training.lighteval import vifidel_metric

        return vifidel_metric
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
