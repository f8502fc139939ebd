"""Adapters of `vifidel_eval.plugins.training`, under their documented names."""

from ..plugins.training import LMMS_EVAL
from ..plugins.training.capevalkit import CapevalMetric

__all__ = ["LMMS_EVAL", "CapevalMetric"]
