"""Folders with one JSON file per image, whose stem is the image's id.

Hugging Face's pipelines, Ultralytics and MMDetection's DetInferencer write such files; what is in
one is what `.listed` reads for an image.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..errors import AnnotationError
from ..files import read_json
from ..image_ids import ImageId, from_json_key
from ..pictures import SUFFIXES
from .format import Format, Way
from .instances import Instances, read_items
from .objects import ObjectLabels
from .yolo import label_files


def _images(folder: Path) -> dict[ImageId, Any]:
    """Return what each file of a folder holds, by image id."""
    images: dict[ImageId, Any] = {}
    for path in sorted(folder.glob("*.json")):
        found = read_json(path, AnnotationError)
        if isinstance(found, dict) and ("images" in found or "predictions" in found):
            raise AnnotationError(
                f"{path}: describes a whole dataset, not the detections in one image; give the "
                "file itself instead of its folder."
            )
        images[from_json_key(path.stem)] = found
    return images


def _refuse(folder: Path, found: Instances) -> ObjectLabels:
    """Say what is wrong with a folder of no known format."""
    files = label_files(folder)
    what = f"{found.where}: no XML or JSON file in this folder,"
    if files:
        raise AnnotationError(
            f"{what} and {files[0].name} is not YOLO labels "
            "('class x y w h' in each line); give a folder with one file of objects per image."
        )
    if any(path.suffix.lower() in SUFFIXES for path in folder.rglob("*")):
        raise AnnotationError(
            f"{what} but pictures; name a detector that looks at them "
            "(--detector FOLDER_OR_ID), as docs/detect.md says."
        )
    inside = " (folders in it are not read)" if any(map(Path.is_dir, folder.iterdir())) else ""
    raise AnnotationError(
        f"{what} nor a text file of YOLO labels{inside}; "
        "give a folder with one file of objects per image."
    )


FORMAT = Format(
    "a folder of JSON detections",
    'detections `[{"label", "score", "box"}]` (Hugging Face) or `[{"name", "confidence", '
    '"box"}]` (Ultralytics), as `{"id": [...]}` or a folder with one JSON file per image',
    ".6",
    "",
    (
        Way(
            "folder",
            lambda folder: any(folder.glob("*.json")),
            lambda folder, found: read_items(_images(folder), found),
        ),
        Way("folder", (), _refuse),
    ),
)
