"""Systems and references from all that people have: files, mappings, records, DataFrames."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from ..annotations.read import HasDataset
from ..captions import read_references, read_results, system_names
from ..captions.layout import Wanted
from ..captions.layouts import captions_of, only_captions
from ..captions.records import Records
from ..errors import CaptionError, ImageIdError
from ..image_ids import ImageId
from ..runs.pairing import System, only_images, read_image_ids

#: A file's path.
PathLike: TypeAlias = str | os.PathLike[str]
#: The captions of a system: a file, ``{image id: caption}``, a COCO results list, a DataFrame.
Captions: TypeAlias = PathLike | Mapping[Any, Any] | Sequence[Mapping[str, Any]] | HasDataset | Any
#: All systems of a run: ``{name: captions}``, or result files, whose names name the systems.
Systems: TypeAlias = Mapping[str, Captions] | PathLike | Sequence[PathLike]
#: The references of a run.
References: TypeAlias = Captions

_SYSTEMS = (
    "systems are {name: captions}, where captions are a path, {image id: caption}, a list of "
    '{"image_id": ..., "caption": ...} or a DataFrame; or the paths of result files'
)


@dataclass(frozen=True)
class Fields:
    """What the fields of caption files are called, where they have other than the usual names.

    Attributes
    ----------
    id_field, caption_field, reference_field : tuple of str
        Image ids, captions of systems, references; of several the first that there is.
    split : tuple of str
        Splits of Karpathy's dataset JSON.
    """

    id_field: tuple[str, ...] = ()
    caption_field: tuple[str, ...] = ()
    reference_field: tuple[str, ...] = ()
    split: tuple[str, ...] = ()


def named(systems: Systems) -> dict[str, Captions]:
    """Return systems by name; those of result files are named as the command names them.

    Raises
    ------
    CaptionError
        If they are something else, or there is none.
    """
    if isinstance(systems, str | os.PathLike):
        systems = [systems]
    if isinstance(systems, Mapping):
        for name, captions in systems.items():
            if not isinstance(name, str) or not name.strip():
                raise CaptionError(
                    f"{_SYSTEMS}; found the name {name!r:.40} with {captions!r:.40}."
                )
        found = dict(systems)
    elif isinstance(systems, list | tuple) and all(
        isinstance(path, str | os.PathLike) for path in systems
    ):
        paths = [Path(path) for path in systems]
        found = dict(zip(system_names(paths), paths, strict=True))
    else:
        raise CaptionError(f"{_SYSTEMS}; found {_kind(systems)}: give each system a name.")
    if not found:
        raise CaptionError(f"{_SYSTEMS}; there is none.")
    return found


def read_captions(
    systems: Mapping[str, Captions],
    references: References | None,
    fields: Fields,
    image_ids: PathLike | Collection[ImageId] | None = None,
) -> tuple[list[System], dict[ImageId, list[str]] | None]:
    """Return systems and references.

    Parameters
    ----------
    systems : mapping
        Name to captions, as `named` returns them.
    references : optional
        References in any of the same shapes, or None.
    fields : Fields
        How files name their columns.
    image_ids : path or collection, optional
        Only these images; a file is a JSON list, or has an id per line.

    Raises
    ------
    CaptionError
        If something cannot be read, or the references are what a system says.
    ImageIdError
        If an image of `image_ids` is not there.
    """
    read = [System(name, _results(name, source, fields)) for name, source in systems.items()]
    by_image = None if references is None else _references(references, fields)
    for system in read:
        if by_image == {image_id: [caption] for image_id, caption in system.captions.items()}:
            where = references if isinstance(references, str | os.PathLike) else "references"
            raise CaptionError(
                f"{where}: holds the captions of system {system.name!r} and no others; "
                "give captions that people wrote as references."
            )
    if image_ids is None:
        return read, by_image
    if isinstance(image_ids, str | os.PathLike):
        return only_images(read_image_ids(image_ids), read, by_image, str(image_ids))
    if not isinstance(image_ids, Iterable):
        raise ImageIdError(f"image_ids are a path or a list of ids, not {image_ids!r:.40}.")
    return only_images(list(dict.fromkeys(image_ids)), read, by_image)


def paths_in(source: Any) -> list[Path]:
    """Return the paths that a source is or, if it is a list, holds."""
    if isinstance(source, str | os.PathLike):
        return [Path(source)]
    members = source if isinstance(source, list | tuple) else ()
    return [path for member in members for path in paths_in(member)]


def _results(name: str, source: Captions, fields: Fields) -> dict[ImageId, str]:
    if isinstance(source, str | os.PathLike):
        return read_results(source, fields.id_field, fields.caption_field)
    where = f"system {name!r}"
    content = _in_memory(source, where)
    if isinstance(content, Mapping) and isinstance(content.get("annotations"), list):
        content = Records(where, content["annotations"])  # of pycocotools' loadRes
    return only_captions(
        captions_of(content, where, Wanted(False, fields.id_field, fields.caption_field))
    )


def _references(source: References, fields: Fields) -> dict[ImageId, list[str]]:
    if isinstance(source, str | os.PathLike):
        return read_references(source, fields.split, fields.id_field, fields.reference_field)
    wanted = Wanted(True, fields.id_field, fields.reference_field, fields.split)
    return captions_of(_in_memory(source, "references"), "references", wanted)


def _in_memory(source: Any, where: str) -> Records | Mapping[Any, Any]:
    """Return what is not a file as what is read from files."""
    dataset = getattr(source, "dataset", None)
    if isinstance(dataset, Mapping):  # a pycocotools COCO
        return dataset
    if isinstance(source, Mapping):
        return source
    if hasattr(source, "columns") and hasattr(source, "to_dict"):  # a DataFrame
        rows = source.to_dict("records")
        return Records(where, rows, range(len(rows)), "row")
    if isinstance(source, list | tuple):
        return Records(where, source)
    raise CaptionError(
        f"{where}: captions are a path, a mapping of image id to caption, a list of "
        f'{{"image_id": ..., "caption": ...}}, a pycocotools COCO or a DataFrame, not '
        f"{_kind(source)}."
    )


def _kind(value: Any) -> str:
    return f"{type(value).__name__} {value!r:.40}".replace("\n", " ")
