"""Detectors as sources of objects: pictures among the objects of a run, and what is in them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from ...errors import AnnotationError
from ...io.image_ids import ImageId, match
from ...io.pictures import SUFFIXES
from ...scorers.record import Settings
from ...scores.systems import System
from ...words.content_words import STOP_WORDS
from ...words.mentions import MentionFinder
from ...words.synonyms import ClassList, read_things


def with_detected(settings: Settings, paths: Sequence[Path], systems: Sequence[System]) -> Settings:
    """Return settings with what their detector finds in the place of pictures.

    The paths are all objects: folders, tars and pictures are looked at, other files are read. A
    detector that looks for what it is asked is asked what any system's caption of the image
    mentions.
    """
    if not any(map(_is_of_pictures, paths)):
        raise AnnotationError(
            "a detector looks at pictures, and none of the objects is a folder of them: give the "
            "folder as objects."
        )
    from .detection_run import detect_objects

    mentioned = mentioned_in(systems, read_things(settings.options.get("things")))
    found = [
        detect_objects(path, settings.detector, mentioned=mentioned)
        if _is_of_pictures(path)
        else path
        for path in paths
    ]
    return replace(settings, objects=found, detector=None)


def _is_of_pictures(path: Path) -> bool:
    return path.is_dir() or ".tar" in path.suffixes or path.suffix.lower() in SUFFIXES


def mentioned_in(systems: Iterable[System], classes: ClassList) -> dict[ImageId, list[str]]:
    """Return the classes that any caption of an image mentions, however systems spell its id."""
    finder = MentionFinder(classes)
    mentioned: dict[ImageId, dict[str, None]] = {}
    for system in systems:
        same = match(system.captions, mentioned)
        for image_id, caption in system.captions.items():
            of_image = mentioned.setdefault(same.get(image_id, image_id), {})
            for unit in finder.units(caption, STOP_WORDS):
                if unit.category is not None:
                    of_image[unit.category] = None
    return {image_id: list(of_image) for image_id, of_image in mentioned.items()}
