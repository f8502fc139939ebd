"""Labels and scores of objects: how they are spelled, and which of them count."""

from __future__ import annotations

import math
import re
from numbers import Real
from typing import Any

from ..arguments import named_if_wrong
from ..errors import AnnotationError
from ..nfc import nfc
from ..remembered import Remembered

#: Detections of COCO's 80 categories count from this score on (VIFIDEL paper, section 4.1, D80).
DETECTION_THRESHOLD = 0.6
#: Open Images detections count from this score on (VIFIDEL paper, section 4.1, D500).
OPEN_IMAGES_THRESHOLD = 0.4
#: An answer to *is it there?* says so from this score on.
ANSWER_THRESHOLD = 0.5

# PASCAL VOC writes these categories as one word.
_RUN_TOGETHER = {
    "diningtable": "dining table",
    "pottedplant": "potted plant",
    "tvmonitor": "tv monitor",
}
_SENSE = re.compile(r"(?<=\S) ?\([^()]*\)")

#: The name that DETR's COCO models give to category ids which COCO does not use.
NO_CATEGORY = "N/A"

#: The longest names of categories, LVIS's with their senses, have about 40 characters.
LONGEST_NAME = 1000

#: Single precision may round a score of 1 up.
HIGHEST_SCORE = 1.001

#: Counts up to here are whole numbers in float64 too.
HIGHEST_COUNT = 1 << 53


@named_if_wrong
def clean_label(name: str) -> str:
    """Return a category name in lower case with blanks between its words.

    Underscores become blanks (LVIS), a sense in parentheses is dropped (LVIS, Open Images),
    and the names that PASCAL VOC writes as one word are split.

    >>> clean_label("bow_(decorative_ribbons)"), clean_label("tvmonitor"), clean_label("Hot dog")
    ('bow', 'tv monitor', 'hot dog')
    """
    return CLEAN[name]


def _cleaned(name: str) -> str:
    name = name.encode(errors="replace").decode()  # JSON can spell a lone surrogate
    name = nfc(name).lower()
    name = _SENSE.sub("", " ".join(name.replace("_", " ").split()))
    return _RUN_TOGETHER.get(name, name)


#: What `clean_label` returns, for loops over many labels.
CLEAN = Remembered(_cleaned)


def checked_label(name: str, at: str = "") -> str:
    """Return the label of a category; none for DETR's ``N/A``, which is no category.

    Messages begin with `at`, the file and the entry.
    """
    if name == NO_CATEGORY:
        return ""
    if len(name) <= LONGEST_NAME:
        if label := CLEAN[name]:
            return label
        what = "has no word in it."
    else:
        what = f"is {len(name)} characters long; at most {LONGEST_NAME} are read: is it a label?"
    raise AnnotationError(f"{f'{at}: ' if at else ''}the label {name!r:.40} {what}")


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


def from_threshold(threshold: float | None) -> str:
    """Return a threshold as signatures show it: ``>=0.6``, or nothing where there are no scores."""
    return "" if threshold is None else f">={threshold:g}"


def check_threshold(threshold: float | None, name: str = "threshold") -> None:
    """Raise if something is given as a lowest score, called `name`, that is not from 0 to 1."""
    if threshold is None:
        return
    real = isinstance(threshold, Real) and not isinstance(threshold, bool)
    if not (real and 0 <= threshold <= 1):
        percent = real and 1 < threshold <= 100
        raise AnnotationError(
            f"{name} {threshold!r:.40} is not a number between 0 and 1"
            f"{'; divide a percentage by 100' if percent else ''}."
        )


def check_thresholds(threshold: float | None, uncertain: float | None) -> None:
    """Raise unless both are scores, if given, and `uncertain` is not above `threshold`.

    From `threshold` on things are there, and below `uncertain` they are not.
    """
    check_threshold(threshold)
    check_threshold(uncertain, "uncertain")
    if uncertain is not None and threshold is not None and uncertain > threshold:
        raise AnnotationError(
            f"uncertain {uncertain:g} is above the threshold {threshold:g}; answers between the "
            "two are not judged, so give a lower one."
        )
