"""Comparisons of systems, under their documented names, ``comparison`` and ``baseline``."""

import sys

from .scores import comparison

baseline = comparison
__all__ = ["baseline", "comparison"]
sys.modules |= {f"{__name__}.{name}": comparison for name in __all__}
