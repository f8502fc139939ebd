"""Systems, references and objects brought together by image id."""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..captions.rows import Rows, check_references
from ..errors import ImageIdError, VifidelWarning
from ..io.files import parse_json, read_text
from ..io.image_ids import (
    ImageId,
    check_distinct,
    from_json_key,
    from_json_value,
    match,
    mismatch,
    samples,
)

# Where COCO's files say, near their beginning, which release they are of: in their info, in file
# names and in addresses of images.
_COCO_YEAR = re.compile(
    r'"year": ?(2014|2017)\b|"COCO (2014|2017)|COCO_(?:train|val)(2014|2017)_\d{12}'
    r"|cocodataset\.org/(?:train|val)(2014|2017)/"
)
_BEGINNING = 1 << 16


@dataclass(frozen=True)
class System:
    """A captioning system: its name, its caption of each image, and whose sample it is."""

    name: str
    captions: Mapping[ImageId, str]
    sample_of: str | None = None


def all_images(
    systems: Iterable[System], references: Mapping[ImageId, Sequence[str]] | None = None
) -> Mapping[ImageId, Sequence[str]]:
    """Return the images of a run with their references, or else the images of all systems."""
    if references is not None:
        return references
    images: dict[ImageId, Sequence[str]] = {}
    # The longest spelling of each image, which says most of its path: `a/1.jpg` and `b/1.jpg` stay
    # apart although another system calls one of them `1`.
    spelled: dict[ImageId, ImageId] = {}
    for system in systems:
        check_distinct(system.captions, f"system {system.name!r}")
        same_image = match(system.captions, spelled)
        for image_id in system.captions:
            other = same_image.get(image_id)
            if other is None:
                images[image_id] = []
                spelled[image_id] = image_id
            elif len(str(image_id)) > len(str(other)):
                spelled[image_id] = spelled.pop(other)
    check_distinct(images, "the systems together")
    return images


def captioned(
    systems: Iterable[System], images: Mapping[ImageId, Sequence[str]]
) -> dict[ImageId, Sequence[str]]:
    """Return those images, with their references, of which some system has a caption."""
    named: set[ImageId] = set()
    for system in systems:
        named.update(_known(system, images).values())
    return {image_id: references for image_id, references in images.items() if image_id in named}


def in_one_spelling(
    systems: Sequence[System],
    known: Collection[ImageId],
    references: dict[ImageId, list[str]] | None = None,
) -> tuple[list[System], dict[ImageId, list[str]] | None]:
    """Return systems and references whose ids are spelled in one way, where the known ids tell.

    With 7 known, ``val/7.jpg`` of one system and ``images/7.jpg`` of another mean the same. The
    references' spelling wins, then the first system's; but ``refs/7.jpg``, which leads to no
    objects, becomes the 7 of a system where the objects have ``images/7.jpg``.
    """
    spelled_as: dict[ImageId, ImageId] = {}  # from an id that is known
    done: Mapping[ImageId, ImageId] = {}
    if references is not None:
        references = _leading_to(known, references, systems)
        if all(len(match(s.captions, references)) == len(s.captions) for s in systems):
            return list(systems), references
        spelled_as = {of_objects: image for image, of_objects in match(references, known).items()}
    spelled = []
    for system in systems:
        if references is not None:
            done = match(system.captions, references)
        todo = [image_id for image_id in system.captions if image_id not in done]
        same_image = match(todo, known)
        new = {i: spelled_as.setdefault(same_image[i], i) for i in todo if i in same_image}
        captions = {new.get(i, i): caption for i, caption in system.captions.items()}
        one_each = len(captions) == len(system.captions)
        spelled.append(replace(system, captions=captions) if one_each else system)
    return spelled, references


def _leading_to(
    known: Collection[ImageId], references: dict[ImageId, list[str]], systems: Iterable[System]
) -> dict[ImageId, list[str]]:
    """Return references under ids of systems where only these lead to the objects."""
    of_systems: dict[ImageId, ImageId] = {}
    for system in systems:
        same_image = match(system.captions, references)
        lost = set(same_image.values()) - set(match(same_image.values(), known))
        leading = match(system.captions, known) if lost else {}
        for image_id, reference in same_image.items():
            if reference in lost and image_id in leading:
                of_systems.setdefault(reference, image_id)
    if not of_systems:
        return references
    return {of_systems.get(image_id, image_id): of for image_id, of in references.items()}


def paired(system: System, references: Mapping[ImageId, Sequence[str]], allow_subset: bool) -> Rows:
    """Return the captions and references of the images of a system, in the references' order."""
    check_distinct(references, "the references")
    reference_id = _known(system, references)
    captions = {reference_id[image_id]: caption for image_id, caption in system.captions.items()}
    if len(captions) < len(system.captions):
        raise ImageIdError(
            f"system {system.name!r}: two of its image ids mean the same image; keep one."
        )
    missing = [image_id for image_id in references if image_id not in captions]
    if missing and not allow_subset:
        raise ImageIdError(
            f"system {system.name!r} has no caption for {len(missing)} of {len(references)} "
            f"images, such as {samples(missing)}; complete the file, or give --allow-subset "
            "(allow_subset=True) to score only the images it has."
        )
    ids = [image_id for image_id in references if image_id in captions]
    rows = Rows([captions[i] for i in ids], [references[i] for i in ids], ids)
    check_references(rows)
    return rows


def _known(system: System, references: Mapping[ImageId, Any]) -> dict[ImageId, ImageId]:
    """Return what the references call each image of a system, or raise an ImageIdError."""
    reference_id = match(system.captions, references)
    unknown = [image_id for image_id in system.captions if image_id not in reference_id]
    if unknown:
        raise mismatch(unknown, references, f"system {system.name!r}", "the reference side")
    return reference_id


def read_image_ids(path: str | os.PathLike[str]) -> list[ImageId]:
    """Read the ids of images from a file, as `parse_image_ids` does from its text."""
    return parse_image_ids(read_text(path, ImageIdError), str(path))


def parse_image_ids(text: str, where: str) -> list[ImageId]:
    """Return the ids of images in a text that `where` names: a JSON list, or one id per line."""
    # How each id is written, by its place; lines may be empty.
    written: dict[str, Any] = {
        f"line {at}": line.strip() for at, line in enumerate(text.splitlines(), 1) if line.strip()
    }
    read: Callable[[Any], ImageId | None] = from_json_key
    if text.lstrip()[:1] in ("[", "{"):
        content = parse_json(text, where, ImageIdError)
        if not isinstance(content, list):
            raise ImageIdError(f"{where}: holds a JSON object; image ids are a list or lines.")
        written = {f"[{at}]": given for at, given in enumerate(content) if given != ""}
        read = from_json_value
    first_at: dict[ImageId, str] = {}
    for place, given in written.items():
        image_id = read(given)
        if image_id is None:
            raise ImageIdError(
                f"{where}: {place} is {given!r:.40}; an image id is an integer or a string."
            )
        if image_id in first_at:
            raise ImageIdError(
                f"{where}: image {image_id!r} appears twice ({first_at[image_id]} and {place}); "
                "keep one."
            )
        first_at[image_id] = place
    if not first_at:
        raise ImageIdError(f"{where}: there is no image id in it.")
    return list(first_at)


def only_images(
    named: Collection[ImageId],
    systems: Sequence[System],
    references: Mapping[ImageId, list[str]] | None,
    where: str = "the image ids",
) -> tuple[list[System], dict[ImageId, list[str]] | None]:
    """Return systems and references of the named images alone; messages call these `where`."""
    known = all_images(systems, references)
    matched = match(named, known)
    missing = [image_id for image_id in named if image_id not in matched]
    if missing:
        knower = "the systems together" if references is None else "the reference side"
        raise mismatch(missing, known, where, knower)
    images = set(matched.values())
    subset = {i: list(captions) for i, captions in known.items() if i in images}
    of_systems = []
    for system in systems:
        same = match(system.captions, subset)
        captions = {i: caption for i, caption in system.captions.items() if i in same}
        of_systems.append(replace(system, captions=captions))
    return of_systems, None if references is None else subset


def check_releases(
    objects: Iterable[str | os.PathLike[str]],
    images: Collection[ImageId],
    references: str | os.PathLike[str],
    wanted: Collection[ImageId],
) -> None:
    """Warn of objects and references of COCO 2014 and 2017; raise if `wanted` images have none."""
    year = _coco_year(references)
    years = {of: path for path in objects if (of := _coco_year(path)) is not None}
    if year is None or not years or year in years:
        return
    other, path = next(iter(years.items()))
    apart = (
        f"the objects ({path}) are from COCO {other} and the references ({references}) from {year}"
    )
    missing = len(wanted) - len(match(wanted, images))
    if missing:
        raise ImageIdError(
            f"{apart}: {missing} of the {len(wanted)} images have no entry among the objects; take "
            "both from one release."
        )
    warnings.warn(
        f"{apart}; take both from one release, so that others get the same numbers.",
        VifidelWarning,
        stacklevel=2,
    )


def _coco_year(path: str | os.PathLike[str]) -> str | None:
    """Return the year of the release of COCO that a file is of, if it says so."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            year = _COCO_YEAR.search(file.read(_BEGINNING))
    except (OSError, ValueError):
        return None  # whoever reads it says what is wrong
    return next(filter(None, year.groups())) if year else None
