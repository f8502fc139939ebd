"""Image regions for ViLBERT, under their documented name ``networks.vilbert_features``."""

import sys

from .plugins.networks import regions as vilbert_features

__all__ = ["vilbert_features"]
sys.modules[f"{__name__}.vilbert_features"] = vilbert_features
