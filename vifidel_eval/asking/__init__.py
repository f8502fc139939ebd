"""Questions about what captions mention, and what the errors of the answers do to a rate.

>>> import vifidel_eval
>>> vifidel_eval.questions({"mine": {7: "a dog by a lamp"}, "base": {7: "a puppy"}})
[{'image_id': 7, 'thing': 'dog'}, {'image_id': 7, 'thing': 'lamp'}]
"""

from ..runs.remarks import Calibrated
from .calibration import AnswerCounts, calibrate, calibrated
from .composing import questions, read_answered, read_asked, read_controls

__all__ = [
    "AnswerCounts",
    "Calibrated",
    "calibrate",
    "calibrated",
    "questions",
    "read_answered",
    "read_asked",
    "read_controls",
]
