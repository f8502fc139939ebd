"""Detectors as sources of objects: pictures among the objects of a run, and what is in them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..errors import AnnotationError
from ..image_ids import ImageId, match
from ..pictures import SUFFIXES
from ..runs.pairing import System
from ..scorers.record import Settings
from ..text.words import STOP_WORDS
from ..things.mentions import MentionFinder
from ..things.synonyms import read_things


def with_detected(settings: Settings, paths: Sequence[Path], systems: Sequence[System]) -> Settings:
    """Return settings with what their detector finds in the place of pictures.

    A detector that looks for what it is asked is asked what any system's caption of the image
    mentions.

    Parameters
    ----------
    settings : Settings
        With a detector.
    paths : sequence of path
        All objects: folders are of pictures, and so are tars and pictures; files are read as
        objects.
    systems : sequence of System
        All systems of the run.

    Raises
    ------
    VifidelError
        As `vifidel_eval.detect.detect_objects` raises it, or if there are no pictures.
    """
    if not any(map(_is_of_pictures, paths)):
        raise AnnotationError(
            "a detector looks at pictures, and none of the objects is a folder of them: give the "
            "folder as objects."
        )
    from ..detect import detect_objects

    mentioned = _mentioned(systems, settings.options.get("things"))
    found = [
        detect_objects(path, settings.detector, mentioned=mentioned)
        if _is_of_pictures(path)
        else path
        for path in paths
    ]
    return replace(settings, objects=found, detector=None)


def _is_of_pictures(path: Path) -> bool:
    return path.is_dir() or ".tar" in path.suffixes or path.suffix.lower() in SUFFIXES


def _mentioned(systems: Sequence[System], things: Any) -> dict[ImageId, list[str]]:
    """Return the classes that any caption of an image mentions."""
    finder = MentionFinder(read_things(things))
    mentioned: dict[ImageId, dict[str, None]] = {}
    for system in systems:
        same = match(system.captions, mentioned)
        for image_id, caption in system.captions.items():
            of_image = mentioned.setdefault(same.get(image_id, image_id), {})
            for unit in finder.units(caption, STOP_WORDS):
                if unit.category is not None:
                    of_image[unit.category] = None
    return {image_id: list(of_image) for image_id, of_image in mentioned.items()}
