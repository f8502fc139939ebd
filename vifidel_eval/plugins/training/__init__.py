"""Adapters for other people's training and evaluation tools."""

from pathlib import Path

#: The folder with the task of lmms-eval, ``vifidel_coco_caption``.
LMMS_EVAL = Path(__file__).with_name("lmms_eval")
