"""Adapters of `vifidel_eval.plugins.training`, under their documented names."""

from ..plugins.training import LMMS_EVAL

__all__ = ["LMMS_EVAL"]
