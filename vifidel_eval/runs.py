"""Comparisons of systems, by the name of 0.2.0: `vifidel_eval.scores.comparison`."""

import sys
import warnings

from .scores import comparison

warnings.warn(f"{__name__}.comparison is now {comparison.__name__}", DeprecationWarning, 2)
sys.modules[f"{__name__}.comparison"] = comparison
