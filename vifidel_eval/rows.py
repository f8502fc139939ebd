"""Rows, by the name of 0.2.0: `vifidel_eval.captions.rows`."""

import warnings

from .captions.rows import Rows, coco_rows, make_rows

__all__ = ["Rows", "coco_rows", "make_rows"]
warnings.warn(f"{__name__} is now vifidel_eval.captions.rows", DeprecationWarning, 2)
