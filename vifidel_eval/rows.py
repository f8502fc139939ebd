"""Rows, under their documented name: `vifidel_eval.captions.rows`."""

from .captions.rows import Rows, coco_rows, make_rows

__all__ = ["Rows", "coco_rows", "make_rows"]
