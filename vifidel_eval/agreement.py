"""Experiments with people's judgements, by the name of 0.2.0: `vifidel_eval.plugins.agreement`."""

import sys
import warnings

from .plugins.agreement import correlation, detection, flickr8k, forced_choice, pascal50s, trials

__all__ = ["correlation", "detection", "flickr8k", "forced_choice", "pascal50s", "trials"]
warnings.warn(f"{__name__} is now vifidel_eval.plugins.agreement", DeprecationWarning, 2)
sys.modules |= {f"{__name__}.{name}": globals()[name] for name in __all__}
