"""Objects in pictures, under their documented name."""

from .plugins.detect import (
    DetectionRun,
    Detector,
    Found,
    FoundPicture,
    ModelFiles,
    PictureSource,
    backends,
    detect,
    detect_objects,
    find_model,
    load_detector,
)

__all__ = ["DetectionRun", "Detector", "Found", "FoundPicture", "ModelFiles", "PictureSource"]
__all__ += ["backends", "detect", "detect_objects", "find_model", "load_detector"]
