"""Detectors as sources of objects: pictures among the objects of a run, and what is in them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from ...errors import AnnotationError
from ...io.image_ids import ImageId, match
from ...io.pictures import SUFFIXES
from ...scorers.record import Settings
from ...scores.pairing import System
from ...words.content_words import STOP_WORDS
from ...words.mentions import MentionFinder
from ...words.synonyms import ClassList, read_things


def with_detected(settings: Settings, paths: Sequence[Path], systems: Sequence[System]) -> Settings:
    """Return settings with what their detector finds in the place of pictures.

    The paths are all objects: folders, tars and pictures are looked at, other files are read. A
    detector that looks for what it is asked is asked what any system's caption of the image
    mentions.
    """
    of_pictures = {
        path
        for path in paths
        if path.is_dir() or ".tar" in path.suffixes or path.suffix.lower() in SUFFIXES
    }
    if not of_pictures:
        raise AnnotationError(
            "a detector looks at pictures, and none of the objects is a folder of them: give the "
            "folder as objects."
        )
    from .detection_run import detect_objects

    mentioned = mentioned_in(systems, read_things(settings.options.get("things")))
    objects = [
        detect_objects(path, settings.detector, mentioned=mentioned)
        if path in of_pictures
        else path
        for path in paths
    ]
    return replace(settings, objects=objects, detector=None)


def mentioned_in(systems: Iterable[System], classes: ClassList) -> dict[ImageId, list[str]]:
    """Return the classes that any caption of an image mentions, however systems spell its id."""
    finder = MentionFinder(classes)
    mentioned: dict[ImageId, dict[str, None]] = {}
    for system in systems:
        same = match(system.captions, mentioned)
        for image_id, caption in system.captions.items():
            of_image = mentioned.setdefault(same.get(image_id, image_id), {})
            of_image.update(dict.fromkeys(classes_in(finder, caption)))
    return {image_id: list(of_image) for image_id, of_image in mentioned.items()}


def classes_in(finder: MentionFinder, caption: str) -> list[str]:
    """Return the classes that a caption mentions, each as often as it does."""
    units = finder.units(caption, STOP_WORDS)
    return [unit.category for unit in units if unit.category is not None]
