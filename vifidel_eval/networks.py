"""Image regions for ViLBERT, by the name of 0.2.0: `vifidel_eval.plugins.networks.regions`."""

import sys
import warnings

from .plugins.networks import regions as vilbert_features

warnings.warn(f"{__name__} is now vifidel_eval.plugins.networks.regions", DeprecationWarning, 2)
sys.modules[f"{__name__}.vilbert_features"] = vilbert_features
