"""Scores of detections: from which one on they count, and what is none."""

from __future__ import annotations

import math
from numbers import Real
from typing import Any

from ..errors import AnnotationError

#: Detections of COCO's 80 categories count from this score on (VIFIDEL paper, section 4.1, D80).
DETECTION_THRESHOLD = 0.6
#: Open Images detections count from this score on (VIFIDEL paper, section 4.1, D500).
OPEN_IMAGES_THRESHOLD = 0.4
#: An answer to *is it there?* says so from this score on.
ANSWER_THRESHOLD = 0.5

#: Single precision may round a score of 1 up.
HIGHEST_SCORE = 1.001


def check_score(score: Any, at: str) -> float:
    """Return a detection's score as a float; messages begin with `at`, the file and the entry."""
    try:
        # NumPy's and PyTorch's scalars say what they are; float() drops an imaginary part.
        value = score.item() if hasattr(score, "item") else score
        real = isinstance(value, Real) and not isinstance(value, bool)
        number = float(value) if real else math.nan
    except (TypeError, ValueError, OverflowError, RuntimeError):
        number = math.nan
    if not math.isfinite(number):
        raise AnnotationError(f"{at}: score {score!r:.40} is not a number; write a number.")
    if number < 0:
        raise AnnotationError(f"{at}: score {score!r:.40} is negative; scores are from 0 to 1.")
    if number > HIGHEST_SCORE:
        raise AnnotationError(f"{at}: score {score!r:.40} is above 1; divide percentages by 100.")
    return number
