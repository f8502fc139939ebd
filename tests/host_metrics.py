"""Captions and conditions that the tests of pycocoevalcap's metrics share."""

import shutil
import sys

import pytest

from vifidel_eval.text.tokenization import PythonTokenizer, Tokenization

needs_java = pytest.mark.skipif(shutil.which("java") is None, reason="needs Java")
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


def python_tokens():
    return Tokenization(PythonTokenizer())
