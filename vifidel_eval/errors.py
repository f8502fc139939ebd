"""The exceptions that users of `vifidel_eval` see, and its one warning.

Each message is one sentence that says what is wrong, where, and what to do. The command line
prints that sentence and exits with status 1; in Python, ``except VifidelError`` catches them all.
"""

from __future__ import annotations

import sys
import warnings
from types import FrameType


class VifidelError(ValueError):
    """Base of all errors of this package: the input needs a change, not the program."""


class AnnotationError(VifidelError):
    """A source of object labels or human judgements cannot be read or holds something else."""


class CaptionError(VifidelError):
    """Captions or references cannot be read, or an image does not have exactly one candidate."""


class ImageIdError(VifidelError):
    """Two sides do not have the same image ids."""


class VectorsError(VifidelError):
    """Word vectors cannot be read, or know almost none of the words."""


class MetricUnavailable(VifidelError):  # noqa: N818
    """A metric cannot run here, but others can; the message says why and what would help."""


class MetricFailed(MetricUnavailable):
    """A metric of another package broke; the message names it and says where."""


class UnknownName(VifidelError, KeyError):  # noqa: N818
    """There is no system or column of that name; the message says which there are."""

    __str__ = Exception.__str__  # KeyError's puts the sentence between quotation marks


class VifidelWarning(UserWarning):
    """The scores are correct by definition, but the input deserves a look."""


def warn(message: str) -> None:
    """Give a `VifidelWarning` of the line that called this package, however deep its cause is."""
    frame: FrameType | None = sys._getframe()
    depth = level = 0
    while frame is not None:
        depth += 1
        if frame.f_globals.get("__name__", "").partition(".")[0] == __package__:
            level = depth + 1  # who called the outermost of our frames
        frame = frame.f_back
    warnings.warn(message, VifidelWarning, stacklevel=level)
