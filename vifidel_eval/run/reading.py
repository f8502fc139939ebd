"""What a run is asked for, and reading it: captions, references and objects."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import Any, TypeAlias

from ..annotations import read_objects
from ..annotations.categories import read_declared
from ..annotations.read import HasDataset
from ..captions import system_names
from ..captions.fields import CaptionFields, Ids, NamedImages, Selection
from ..captions.read import captions_from, kind_of
from ..captions.rows import captions_by_image
from ..doors.entry_points import service
from ..errors import CaptionError, ImageIdError, VifidelError, warn
from ..io.image_ids import ImageId, check_distinct, match, read_image_ids
from ..io.text_tables import counted
from ..scorers import Scorer
from ..scores.alignment import System, only_images
from ..scores.samples import spread
from ..words.settings import Settings

PathLike: TypeAlias = str | os.PathLike[str]  #: a file's path
#: The captions of a system: a file, ``{image id: caption}``, a COCO results list, a DataFrame.
Captions: TypeAlias = PathLike | Mapping[Any, Any] | Sequence[Mapping[str, Any]] | HasDataset | Any
#: All systems of a run: ``{name: captions}``, or result files, whose names name the systems.
Systems: TypeAlias = Mapping[str, Captions] | PathLike | Sequence[PathLike]
References: TypeAlias = Captions  #: the references of a run

#: What a run does first.
READING = "Reading captions, references and objects"

_SYSTEMS = (
    "systems are {name: captions}, where captions are a path, {image id: caption}, a list of "
    '{"image_id": ..., "caption": ...} or a DataFrame; or the paths of result files'
)


@dataclass(frozen=True, eq=False)
class Request:
    """What is to be scored, and how, as the user gave it."""

    systems: Mapping[str, Captions]
    references: References | None
    settings: Settings
    metrics: Sequence[str]  #: their names
    fields: CaptionFields
    selection: Selection
    scorers: Mapping[str, Scorer] = field(default_factory=dict)  #: the user's own, beside `metrics`
    scores: Mapping[str, Any] = field(default_factory=dict)  #: of other tools, by system
    lower_is_better: Sequence[str] = ()  #: among the columns of `scores`


@dataclass(frozen=True, eq=False)
class Sources:
    """What a run read, with image ids as they were written."""

    systems: list[System]  #: one for each sample
    references: Mapping[ImageId, Sequence[str]] | None
    settings: Settings  #: with the object labels
    #: ``captions``, ``references`` and ``objects`` to the files that they were read from.
    files: dict[str, list[Path]]


def read(request: Request) -> Sources:
    """Read captions, references and objects, those of the chosen images alone."""
    selection, settings = request.selection, request.settings
    systems, references = read_captions(
        request.systems,
        request.references,
        request.fields,
        selection.image_ids,
        settings.as_written,
    )
    if settings.detector is not None:
        settings = service("detector")(settings, paths_in(settings.objects), systems)
    files = {
        "captions": [path for source in request.systems.values() for path in paths_in(source)],
        "references": paths_in(request.references),
        "objects": paths_in(settings.objects),
    }
    settings = replace(settings, files=list(chain.from_iterable(files.values())))
    return Sources(systems, references, with_labels(settings), files)


def with_labels(settings: Settings) -> Settings:
    """Return settings with the object labels that are read from their sources."""
    if settings.looked_for is not None:
        settings = replace(settings, looked_for=read_declared(settings.looked_for))
    if settings.objects is None:
        if settings.attributes is not None:
            raise VifidelError("attributes describe objects: give objects too.")
        return settings
    labels = read_objects(
        settings.objects,
        settings.threshold,
        settings.categories,
        settings.uncertain,
        settings.agree,
        settings.attributes,
    )
    if settings.threshold and not labels.leaves_out:
        below = "" if labels.threshold is None else f" below {settings.threshold:g}"
        warn(f"{labels.where}: no label has a score{below}, so the threshold leaves nothing out.")
    return replace(settings, labels=labels)


def by_name(systems: Systems) -> dict[str, Captions]:
    """Return systems by name; those of result files are named as the command names them."""
    if isinstance(systems, str | os.PathLike):
        systems = [systems]
    if isinstance(systems, Mapping):
        for name, captions in systems.items():
            if not isinstance(name, str) or not name.strip():
                raise CaptionError(
                    f"{_SYSTEMS}; found the name {name!r:.40} with {captions!r:.40}."
                )
        by_system = dict(systems)
    elif isinstance(systems, list | tuple) and all(
        isinstance(path, str | os.PathLike) for path in systems
    ):
        paths = [Path(path) for path in systems]
        by_system = dict(zip(system_names(paths), paths, strict=True))
    else:
        raise CaptionError(f"{_SYSTEMS}; found {kind_of(systems)}: give each system a name.")
    if not by_system:
        raise CaptionError(f"{_SYSTEMS}; there is none.")
    return by_system


def read_captions(
    systems: Mapping[str, Captions],
    references: References | None,
    fields: CaptionFields,
    image_ids: Ids = None,
    as_written: bool = False,
) -> tuple[list[System], Mapping[ImageId, Sequence[str]] | None]:
    """Return systems, one for each sample, and references, of all images or of `image_ids`.

    Unless `as_written`, captions are what `vifidel_eval.captions.generated` takes of the texts.
    """
    texts = {
        name: _captions_in(source, f"system {name!r}", fields) for name, source in systems.items()
    }
    reference_texts = None
    if references is not None:
        of_references = replace(fields, references=True, samples=False)
        reference_texts = _captions_in(references, "references", of_references)
    found: list[System] = []
    for name, as_spelled in texts.items():
        by_image = as_spelled
        if isinstance(reference_texts, NamedImages):
            by_image = reference_texts.in_ids(as_spelled)
        if reference_texts == by_image:
            where = references if isinstance(references, str | os.PathLike) else "references"
            warn(
                f"{where}: holds exactly the captions of system {name!r}, so each caption is "
                "compared with itself; give captions that people wrote as references."
            )
        if fields.samples:
            found += spread(name, by_image, as_written)
        else:
            captions = {image_id: caption for image_id, (caption,) in by_image.items()}
            found.append(System.read(name, captions, as_written))
    if image_ids is None:
        return found, reference_texts
    if isinstance(image_ids, str | os.PathLike):
        return only_images(read_image_ids(image_ids), found, reference_texts, str(image_ids))
    listed = list(dict.fromkeys(image_ids)) if isinstance(image_ids, Iterable) else []
    if not listed or any(isinstance(image_id, bool) for image_id in listed):
        raise ImageIdError(f"image_ids are a path or a list of ids, not {image_ids!r:.40}.")
    return only_images(listed, found, reference_texts)


def _captions_in(source: Any, where: str, fields: CaptionFields) -> dict[ImageId, list[str]]:
    """Return the captions of each image; those of a program need no layout."""
    if isinstance(source, list) and source and paths_alone(source):
        return _captions_in_files(source, where, fields)
    plain = None
    if not (fields.splits or fields.samples):
        plain = captions_by_image(source, fields.references)
    if plain is None:
        return captions_from(source, where, fields)
    check_distinct(plain, where)
    return plain


def _captions_in_files(
    paths: Sequence[str | os.PathLike[str]], where: str, fields: CaptionFields
) -> dict[ImageId, list[str]]:
    """Return the captions of each image in several files, of what messages call `where`.

    References and samples of an image may be in several files. Two files with a caption of one
    image, where one is wanted, are a `CaptionError`.
    """
    together: dict[ImageId, list[str]] = {}
    file_of: dict[ImageId, str] = {}
    for path in paths:
        captions = captions_from(path, where, fields)
        shared = match(captions, together)
        if shared and not (fields.samples or fields.references):
            image_id = next(iter(shared))
            raise CaptionError(
                f"{path}: image {image_id!r} has a caption in {file_of[shared[image_id]]} too "
                f"({counted(len(shared), 'image')} in both); keep one of each."
            )
        for image_id, texts in captions.items():
            first_id = shared.get(image_id, image_id)
            together.setdefault(first_id, []).extend(texts)
            file_of.setdefault(first_id, str(path))
    return together


def paths_alone(source: Any) -> bool:
    """Return whether a source is nothing, a path, or a list of paths."""
    members = source if isinstance(source, list | tuple) else [source]
    return source is None or len(paths_in(source)) == len(members)


def paths_in(source: Any) -> list[Path]:
    """Return the paths that a source is or, if it is a list, holds."""
    members = source if isinstance(source, list | tuple) else [source]
    return [Path(member) for member in members if isinstance(member, str | os.PathLike)]
