"""Questions and calibration, under their documented name."""

from .plugins.detect.calibration import AnswerCounts, calibrate, calibrated
from .plugins.detect.questions import questions, read_answered, read_asked, read_controls
from .scores.scores import Calibrated

__all__ = ["AnswerCounts", "Calibrated", "calibrate", "calibrated", "questions"]
__all__ += ["read_answered", "read_asked", "read_controls"]
