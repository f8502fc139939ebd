"""Objects in pictures: detectors of other libraries, asked for classes or for what captions name.

>>> from vifidel_eval.detect import backends
>>> sorted(backends())
['ONNX Runtime', 'transformers']
"""

from .detection_run import DetectionRun, detect, detect_objects
from .detectors import Detector, Found, ModelFiles
from .loading import backends, find_model, load_detector
from .picture_sources import FoundPicture, PictureSource

__all__ = [
    "DetectionRun",
    "Detector",
    "Found",
    "FoundPicture",
    "ModelFiles",
    "PictureSource",
    "backends",
    "detect",
    "detect_objects",
    "find_model",
    "load_detector",
]
