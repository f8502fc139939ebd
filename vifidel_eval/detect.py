"""Objects in pictures, under their documented name."""

from .plugins.detect.detected_objects import DetectionRun, detect, detect_objects
from .plugins.detect.detectors import Detector, Found
from .plugins.detect.loading import backends, find_model, load_detector
from .plugins.detect.picture_sources import FoundPicture, PictureSource
from .plugins.pytorch import ModelFiles

__all__ = ["DetectionRun", "Detector", "Found", "FoundPicture", "ModelFiles", "PictureSource"]
__all__ += ["backends", "detect", "detect_objects", "find_model", "load_detector"]
