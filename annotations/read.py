"""`read_objects`: any source of object labels, recognised by its content."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Protocol, TypeAlias

from ..errors import AnnotationError
from ..files import as_text, parse_json, read_bytes, read_json, read_text
from ..image_ids import from_json_key
from .coco import category_names, read_coco_instances, read_coco_results
from .labels import LabelList, read_labels
from .objects import ObjectLabels, check_threshold, union
from .open_images import read_class_descriptions, read_open_images
from .voc import read_voc


class HasDataset(Protocol):
    """A pycocotools ``COCO``, or what looks like one."""

    @property
    def dataset(self) -> Any:
        """The parsed annotation file."""


#: Everything that `read_objects` takes.
ObjectSource: TypeAlias = (
    str
    | os.PathLike[str]
    | ObjectLabels
    | HasDataset
    | Mapping[Any, LabelList]
    | Sequence["ObjectSource"]
)
#: Everything that `read_categories` takes.
CategorySource: TypeAlias = (
    str | os.PathLike[str] | Sequence[str | os.PathLike[str]] | Mapping[Any, str] | None
)

_ACCEPTED = (
    "COCO or LVIS instances JSON, COCO detection results JSON, a folder of PASCAL VOC XML files "
    "or one such file, Open Images boxes CSV, {image id: [label, ...]} JSON, or a folder of "
    "detector output with one JSON file per image"
)


def read_objects(
    source: ObjectSource,
    threshold: float | None = None,
    categories: CategorySource = None,
) -> ObjectLabels:
    """Read the object labels of images from any accepted source.

    Parameters
    ----------
    source : path, pycocotools COCO, mapping, or list of these
        A file or folder, recognised by its content: COCO or LVIS instances, COCO detection
        results, PASCAL VOC XML (a folder or one file), Open Images boxes, labels keyed by image
        id, or a folder with one JSON file of Hugging Face or Ultralytics detections per image. A
        mapping has the shape of the labels file; it is copied. A list is the union of its
        members.
    threshold : float, optional
        The lowest score that counts where there are scores, from 0 to 1; by default .6, and .4
        for Open Images (VIFIDEL paper, section 4.1).
    categories : path, mapping, or list of paths, optional
        Names of category ids, where the source has only ids: a COCO file with ``categories``,
        Open Images class descriptions, or ``{id: name}``.

    Returns
    -------
    ObjectLabels
        ``{image id: {label: count}}``, read-only. It pickles as paths if it was read from paths.

    Raises
    ------
    AnnotationError
        If the source cannot be read or is none of these.
    ImageIdError
        If members of a list have no image in common.
    """
    check_threshold(threshold)
    if isinstance(source, ObjectLabels):
        if threshold is not None:
            raise AnnotationError(
                "a threshold has no effect on objects that have already been read; give it to "
                "read_objects when reading them."
            )
        return source
    if isinstance(source, list | tuple):
        united = union([read_objects(member, threshold, categories) for member in source])
        return _pickled_as_paths(united, source, threshold, categories)
    if isinstance(source, str | os.PathLike):
        if source == "":
            raise AnnotationError("objects: the path is empty.")
        objects = _read_path(Path(source), threshold, read_categories(categories))
        return _pickled_as_paths(objects, source, threshold, categories)
    dataset = getattr(source, "dataset", None)
    if isinstance(dataset, Mapping):  # a pycocotools COCO
        return _read_mapping(dataset, "the COCO object", threshold)
    if isinstance(source, Mapping):
        return _read_mapping(source, "objects", threshold)
    raise AnnotationError(
        f"objects cannot be read from {type(source).__name__} {source!r:.40}; accepted: a path, a "
        "pycocotools COCO, a mapping {image id: [label, ...]}, or a list of these."
    )


def read_categories(source: CategorySource) -> dict[Any, str] | None:
    """Return ``{category id: name}`` from what `read_objects` accepts as `categories`.

    Raises
    ------
    AnnotationError
        If a file lists no categories.
    """
    if source is None:
        return None
    if isinstance(source, Mapping):
        return category_names(
            [
                {"id": from_json_key(k) if isinstance(k, str) else k, "name": source[k]}
                for k in source
            ],
            "categories",
        )
    names: dict[Any, str] = {}
    for path in source if isinstance(source, list | tuple) else [source]:
        if not isinstance(path, str | os.PathLike):
            raise AnnotationError(
                f"categories cannot be {type(path).__name__}; accepted: a path, a list of paths, "
                "or a mapping {id: name}."
            )
        text, where = read_text(path, AnnotationError), str(path)
        if text.lstrip()[:1] not in ("{", "["):
            found = read_class_descriptions(text, where)
        else:
            content = parse_json(text, where, AnnotationError)
            listed = content.get("categories") if isinstance(content, dict) else content
            found = category_names(listed, where)
        for category_id, name in found.items():
            if names.setdefault(category_id, name) != name:
                raise AnnotationError(
                    f"{where}: category {category_id!r:.40} is called {name!r:.40}, and "
                    f"{names[category_id]!r:.40} in another file; give the one that the detector "
                    "used."
                )
    return names


def _pickled_as_paths(
    objects: ObjectLabels,
    source: ObjectSource,
    threshold: float | None,
    categories: CategorySource,
) -> ObjectLabels:
    paths = _absolute(source)
    if paths is None:
        return objects
    names = dict(categories) if isinstance(categories, Mapping) else _absolute(categories)
    return objects.pickled_as(partial(read_objects, paths, threshold, names))


def _absolute(source: Any) -> Any:
    """Return a path, or all paths of a list, for any working directory; None if it has others."""
    if isinstance(source, str | os.PathLike):
        return os.path.abspath(source)
    if not isinstance(source, list | tuple):
        return None
    paths = [_absolute(member) for member in source]
    return None if None in paths else paths


def _read_path(
    path: Path, threshold: float | None, categories: dict[Any, str] | None
) -> ObjectLabels:
    where = str(path)
    if os.path.isdir(path):
        return _read_folder(path, threshold)
    raw = read_bytes(path, AnnotationError)  # opened once: it may be a pipe
    if raw[:64].removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"<"):
        return read_voc([path], where, {path: raw})  # the file itself declares its encoding
    text = as_text(raw, where, AnnotationError)
    if not text.strip():
        raise AnnotationError(f"{where}: the file is empty; write it again.")
    numbered, machine = _split_ids(categories)
    start = text.lstrip()[:1]
    if start not in ("{", "["):
        if "ImageID" in text.partition("\n")[0]:
            return read_open_images(text, where, threshold, machine)
        if path.suffix.lower() != ".json":
            raise AnnotationError(f"{where}: not a source of objects; accepted: {_ACCEPTED}.")
    content = parse_json(text, where, AnnotationError)
    if isinstance(content, list):
        return _read_list(content, where, threshold, numbered)
    if isinstance(content, dict) and content:
        keyed = {from_json_key(key): value for key, value in content.items()}
        return _read_mapping(keyed, where, threshold)
    raise AnnotationError(f"{where}: not a source of objects; accepted: {_ACCEPTED}.")


def _read_folder(folder: Path, threshold: float | None) -> ObjectLabels:
    xml, json_files = sorted(folder.glob("*.xml")), sorted(folder.glob("*.json"))
    if xml:
        return read_voc(xml, str(folder))
    if not json_files:
        raise AnnotationError(
            f"{folder}: no XML or JSON file in this folder; give a folder of PASCAL VOC "
            "annotations or of detections, with one file per image."
        )
    images: dict[Any, Any] = {}
    for path in json_files:
        detections = read_json(path, AnnotationError)
        if isinstance(detections, dict) and "images" in detections:
            raise AnnotationError(
                f"{path}: describes a whole dataset, not the detections in one image; give the "
                "file itself instead of its folder."
            )
        images[from_json_key(path.stem)] = detections
    return read_labels(images, str(folder), threshold)


def _read_list(
    content: list[Any], where: str, threshold: float | None, categories: dict[Any, str]
) -> ObjectLabels:
    first = content[0] if content else None
    if isinstance(first, dict) and "caption" in first:
        raise AnnotationError(
            f"{where}: holds captions, not objects; give captions as results or references."
        )
    if isinstance(first, dict) and "image_id" in first:
        return read_coco_results(content, where, threshold, categories or None)
    if first is None:
        raise AnnotationError(f"{where}: an empty list; there is no detection in it.")
    raise AnnotationError(
        f"{where}: a list whose entries have no 'image_id', so nothing says which image each "
        "belongs to; write {image id: [detections]} instead."
    )


def _read_mapping(content: Mapping[Any, Any], where: str, threshold: float | None) -> ObjectLabels:
    annotations = content.get("annotations")
    if isinstance(annotations, list):
        if "categories" in content:
            return read_coco_instances(content, where, threshold)
        raise AnnotationError(
            f"{where}: has 'annotations' but no 'categories': a caption file says nothing of "
            "objects; give the instances file of the same images."
        )
    if isinstance(content.get("images"), list) and "categories" in content:
        raise AnnotationError(f"{where}: has no 'annotations'; give the instances file.")
    return read_labels(content, where, threshold)


def _split_ids(categories: dict[Any, str] | None) -> tuple[dict[Any, str], dict[Any, str]]:
    """Separate the names of COCO category ids from those of Open Images machine ids."""
    numbered: dict[Any, str] = {}
    machine: dict[Any, str] = {}
    for key, name in (categories or {}).items():
        (machine if isinstance(key, str) and key.startswith("/") else numbered)[key] = name
    return numbered, machine
