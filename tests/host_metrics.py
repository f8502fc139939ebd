"""Captions and conditions that the tests of pycocoevalcap's metrics share."""

import sys

import pytest

from vifidel_eval.rows import coco_rows
from vifidel_eval.text.tokenization import PythonTokenizer, Tokenization

on_posix = pytest.mark.skipif(sys.platform == "win32", reason="puts a script on the PATH")

# The ids are in no order, and some captions are odd, but none holds a line break.
GTS = {
    724: ["A stop sign at a street.", "Cars behind a red sign, it's raining"],
    139: ["a dog with a frisbee", "the dog plays", "A dog's frisbee (red)"],
    885: ["A tennis player hits the ball.", "..."],
    285: ["a big brown bear", "a bear in the caf\u00e9"],
    632: ["a bedroom with a bookcase", "a bed by a window"],
}
RES = {
    724: ["A red stop sign by the street"],
    139: ["A dog catches a frisbee."],
    885: [""],
    285: ["a bear in a Caf\u00e9"],
    632: ["a bedroom with a bookcase"],
}


def evaluate(scorer, gts, res, on_progress=None):
    """Return the evaluation of a scorer's main column."""
    return scorer.evaluate(coco_rows(gts, res), on_progress)[scorer.main]


def python_tokens():
    return Tokenization(PythonTokenizer())
