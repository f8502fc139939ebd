"""Caption files: references and result files, in the formats of the COCO caption task.

Format: https://cocodataset.org/#format-results (captioning) and the ``annotations`` of
``captions_*.json``. Both may also be one JSON object keyed by image id.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .errors import CaptionError
from .files import read_json
from .image_ids import ImageId, check_distinct, from_json_key, from_json_value


def read_references(path: str | os.PathLike[str]) -> dict[ImageId, list[str]]:
    """Read references: COCO ``captions_*.json`` or ``{"id": ["caption", ...]}``.

    Returns
    -------
    dict
        Image id to its captions, in the order of the file's ``images``; images without a
        caption have an empty list.

    Raises
    ------
    CaptionError
        If the file cannot be read, holds something else, a caption is not a string or is of an
        image that ``images`` does not list, or an image is listed twice in different ways.
    ImageIdError
        If two ids mean the same image, such as 1 and ``"1"``.
    """
    content = read_json(path, CaptionError)
    if isinstance(content, list):
        raise CaptionError(
            f"{path}: holds a list, as result files do; references are COCO captions JSON "
            '("images" and "annotations") or {image id: [captions]}.'
        )
    if not isinstance(content, dict):
        raise CaptionError(f"{path}: {content!r:.40} is not a caption file.")
    if "annotations" not in content:
        return _read_keyed_references(content, str(path))
    references: dict[ImageId, list[str]] = {}
    listed: dict[ImageId, Any] = {}
    for number, image in enumerate(_list(content.get("images", []), f"{path}: images")):
        at = f"{path}: images[{number}]"
        image_id = _image_id(image, "id", at)
        if listed.setdefault(image_id, image) != image:
            raise CaptionError(f"{at}: image {image_id!r} is listed twice; keep one entry.")
        references[image_id] = []
    annotations = _list(content["annotations"], f"{path}: annotations")
    for number, annotation in enumerate(annotations):
        at = f"{path}: annotations[{number}]"
        image_id = _image_id(annotation, "image_id", at)
        if listed and image_id not in listed:
            raise CaptionError(
                f"{at}: image {image_id!r:.40} is not among the file's images; list it, or leave "
                "its captions out."
            )
        caption = _caption(annotation, at, image_id)
        references.setdefault(image_id, []).append(caption)
    if not references:
        raise CaptionError(f"{path}: there is no image and no caption in it.")
    check_distinct(references, str(path))
    return references


def read_results(path: str | os.PathLike[str]) -> dict[ImageId, str]:
    """Read a result file: ``[{"image_id": 42, "caption": "..."}]`` or ``{"id": "caption"}``.

    Returns
    -------
    dict
        Image id to its caption, in the order of the file.

    Raises
    ------
    CaptionError
        If the file cannot be read, holds something else, has two captions for one image, or a
        caption is not a string.
    ImageIdError
        If two ids mean the same image, such as 1 and ``"1"``.
    """
    content = read_json(path, CaptionError)
    results: dict[ImageId, str] = {}
    if isinstance(content, dict):
        if "annotations" in content:
            raise CaptionError(
                f"{path}: holds a dataset's annotations; a result file is a list of "
                '{"image_id": ..., "caption": ...}.'
            )
        for key, caption in content.items():
            image_id = from_json_key(key)
            results[image_id] = _text(caption, f"{path}: image {image_id!r}")
    else:
        first_at: dict[ImageId, int] = {}
        for number, entry in enumerate(_list(content, str(path))):
            at = f"{path}: [{number}]"
            image_id = _image_id(entry, "image_id", at)
            if image_id in first_at:
                raise CaptionError(
                    f"{path}: two captions for image {image_id!r} (entries "
                    f"[{first_at[image_id]}] and [{number}]); keep one."
                )
            first_at[image_id] = number
            results[image_id] = _caption(entry, at, image_id)
    if not results:
        raise CaptionError(f"{path}: there is no caption in it.")
    check_distinct(results, str(path))
    return results


def system_names(paths: list[Path]) -> list[str]:
    """Return a name for the system of each result file.

    COCO names result files like ``captions_val2017_human_results.json``: that one's system is
    ``human``. Where two files would get the same name, all are named by their stems, or else by
    their paths.

    >>> system_names([Path("captions_val2014_att2in_results.json"), Path("beam.json")])
    ['att2in', 'beam']
    """
    resolved = [os.path.realpath(path) for path in paths]
    for path, same in zip(paths, resolved, strict=True):
        if resolved.count(same) > 1:
            raise CaptionError(f"{path}: given twice; give each result file once.")
    for name_of in (_algorithm, lambda path: path.stem, str):
        names = [name_of(path) for path in paths]
        if len(set(names)) == len(names):
            break
    return names


def _algorithm(path: Path) -> str:
    stem = path.stem.removesuffix("_results")
    parts = stem.split("_", 2)
    return parts[2] if len(parts) == 3 and parts[0] == "captions" and parts[2] else stem


def _read_keyed_references(content: Mapping[str, Any], where: str) -> dict[ImageId, list[str]]:
    references = {}
    for key, captions in content.items():
        image_id = from_json_key(key)
        at = f"{where}: image {image_id!r}"
        references[image_id] = [_text(caption, at) for caption in _list(captions, at)]
    if not references:
        raise CaptionError(f"{where}: there is no image and no caption in it.")
    check_distinct(references, where)
    return references


def _list(value: Any, at: str) -> list[Any]:
    if not isinstance(value, list):
        raise CaptionError(f"{at}: expected a list, found {value!r:.40}.")
    return value


def _image_id(entry: Any, key: str, at: str) -> ImageId:
    if not isinstance(entry, dict):
        raise CaptionError(f"{at}: expected an object with '{key}', found {entry!r:.40}.")
    image_id = from_json_value(entry.get(key))
    if image_id is None:
        raise CaptionError(
            f"{at}: '{key}' is {entry.get(key)!r:.40}; an image id is an integer or a string."
        )
    return image_id


def _caption(entry: Mapping[str, Any], at: str, image_id: ImageId) -> str:
    if "caption" not in entry:
        keys = ", ".join(map(repr, entry))
        holds = "object annotations" if "category_id" in entry else f"only {keys:.60}"
        raise CaptionError(
            f"{at} (image {image_id!r}): no 'caption', but {holds}; is it a caption file?"
        )
    return _text(entry["caption"], f"{at} (image {image_id!r})")


def _text(caption: Any, at: str) -> str:
    if not isinstance(caption, str):
        found = "null" if caption is None else repr(caption)[:40]
        raise CaptionError(f"{at}: the caption is {found}, not a string.")
    return caption
