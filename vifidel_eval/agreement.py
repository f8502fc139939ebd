"""Experiments with people's judgements, under their documented names."""

import sys

from .plugins.agreement import correlation, detection, forced_choice, trials

__all__ = ["correlation", "detection", "forced_choice", "trials"]
sys.modules |= {f"{__name__}.{name}": globals()[name] for name in __all__}
