"""Detectors as sources of objects: pictures among the objects of a run, and what is in them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from ...errors import AnnotationError, VifidelError
from ...io.image_ids import ImageId, match
from ...io.options import named_if_wrong
from ...io.pictures import SUFFIXES
from ...scores.systems import System
from ...words.content_words import STOP_WORDS
from ...words.mentions import MentionFinder
from ...words.settings import Settings
from ...words.synonyms import ClassList, read_things
from .detection_run import detect
from .loading import find_model, load_detector
from .picture_sources import PictureSource


def with_detected(settings: Settings, paths: Sequence[Path], systems: Sequence[System]) -> Settings:
    """Return settings with what their detector finds in the place of pictures.

    A detector that looks for what it is asked is asked what any caption of the image mentions.
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
    assert settings.detector is not None
    download = bool(settings.options.get("download"))
    mentioned = mentioned_in(systems, read_things(settings.options.get("things")))
    objects = [
        detect_objects(path, settings.detector, mentioned=mentioned, download=download)
        if path in of_pictures
        else path
        for path in paths
    ]
    return replace(settings, objects=objects, detector=None)


@named_if_wrong
def detect_objects(
    pictures: str | os.PathLike[str],
    model: str | os.PathLike[str],
    *,
    questions: Mapping[ImageId, Sequence[str]] | None = None,
    mentioned: Mapping[ImageId, Sequence[str]] | None = None,
    device: str | None = None,
    download: bool = False,
    progress: bool | None = None,
) -> Path:
    """Return the file of what a model finds in pictures; it is beside them, and is kept.

    It is ``photos.MODEL.objects.jsonl`` beside the folder ``photos``, with the model's name. What
    it has already is not computed again. The parameters are those of `PictureSource` (but not
    standard input), `find_model`, `load_detector` and `detect`, which raise the errors; `mentioned`
    are `questions` for a detector that looks for what it is asked, and nothing for another.
    """
    source = PictureSource(pictures)
    if source.image_ids is None:
        raise VifidelError("standard input has no place beside it; write the tar to a file.")
    files = find_model(model, download)
    place = source.path.resolve()
    name = files.name.replace("/", "--")
    output = place.with_name(f"{place.name}.{name}.objects.jsonl")
    detector = load_detector(files, device)
    if questions is None and detector.classes is None:
        questions = mentioned
    detect(source, detector, output, questions=questions, progress=progress)
    return output


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
