"""VIFIDEL for the COCO caption evaluation toolkit: how faithful a caption is to its image.

>>> from vifidel_eval import Vifidel
>>> scorer = Vifidel({42: ["dog", "frisbee"]}, references=False)
>>> score, scores = scorer.compute_score({42: []}, {42: ["a dog catches a frisbee"]})
"""

from __future__ import annotations

import importlib
import os
from typing import TYPE_CHECKING, Any

from .errors import (
    AnnotationError,
    CaptionError,
    ImageIdError,
    MetricUnavailable,
    VectorsError,
    VifidelError,
    VifidelWarning,
)

if TYPE_CHECKING:
    from .scorers import Vifidel
    from .text.words import STOP_WORDS, content_words

__all__ = [
    "STOP_WORDS",
    "AnnotationError",
    "CaptionError",
    "ImageIdError",
    "MetricUnavailable",
    "VectorsError",
    "Vifidel",
    "VifidelError",
    "VifidelWarning",
    "content_words",
]

# In a checkout, annotations/ and scorers/ stand beside this folder and not in it (setup.py).
_here = os.path.dirname(__file__)
if not os.path.isdir(os.path.join(_here, "scorers")):
    __path__.append(os.path.dirname(_here))

# Imported when first used: NumPy and the readers are not needed to import this package.
_LAZY = {"Vifidel": ".scorers", "STOP_WORDS": ".text.words", "content_words": ".text.words"}


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        value = getattr(importlib.import_module(_LAZY[name], __name__), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
