"""Objects in the shapes that `.listed` reads: by image id, as records, or one file per image.

``{image id: ["dog", "dog", "frisbee"]}`` is the plain format for everything else. Records, in JSON
Lines or a list, are ``{"image": "beach.jpg", "objects": ["dog", "dog", "frisbee"]}``; ``"asked":
["dog", "nut"]`` in one says what was looked for in its image, and ``{"classes": ["dog", ...]}`` as
the first record what was looked for in all. Hugging Face's pipelines, Ultralytics and MMDetection's
DetInferencer write folders with one JSON file per image, whose stem is the image's id.
"""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Real
from pathlib import Path
from typing import Any

from ..errors import AnnotationError
from ..io.arguments import is_listed, named_if_wrong, shows
from ..io.files import read_json
from ..io.image_ids import ImageId, from_json_key
from ..io.pictures import SUFFIXES
from .format import (
    Format,
    Way,
    below_header,
    classes_of,
    entries,
    first_key,
    image_id_of,
)
from .instances import Instances, LabelList, read_items
from .listed import BESIDE, NO_NAMES, CategoryNames
from .listed import LABELS as ARRAY_LABELS
from .objects import ObjectLabels
from .yolo import label_files

# The names of image ids; of several in the first record, the first of these counts.
_IMAGE = ("image_id", "image", "file_name", "filename", "id")
# These tell a record of an image from an image that is called *objects*.
_RECORD = ("objects", " ".join(f"{key}=" for key in _IMAGE))


def read_records(records: list[Any], found: Instances) -> ObjectLabels:
    """Read one object per image, with its id and its ``objects``."""
    header, records = below_header(records)
    classes = classes_of(header, found.where)
    key = first_key(records, _IMAGE)
    images: dict[ImageId, LabelList] = {}
    for at, record in entries(records, found.where):
        image_id = image_id_of(record, key, at)
        found.image_once(image_id, at)
        if "objects" not in record:
            raise AnnotationError(
                f"{at} (image {image_id!r:.40}): 'objects' is missing; every image needs a list of "
                "them."
            )
        images[image_id] = (
            {"objects": record["objects"], "asked": record["asked"]}
            if "asked" in record
            else record["objects"]
        )
    return read_items(images, found, classes)


def _are_records(found: list[Any]) -> bool:
    """Tell records from Visual Genome's, whose objects have ``names``; it lists image ids only."""
    header, found = below_header(found)
    if not found or not shows(found[0], _RECORD):
        return False
    if header or any(isinstance(entry, dict) and "asked" in entry for entry in found):
        return True
    given = [entry["objects"] for entry in found if isinstance(entry, dict) and "objects" in entry]
    first = next(filter(None, given), None)
    if isinstance(first, list):
        return not isinstance(first[0], Mapping) or bool({"label", "name"} & first[0].keys())
    return first is not None or not {"image_id", "id"} & found[0].keys()


RECORDS = Format(
    "JSON Lines of objects",
    'JSON Lines `{"image": "beach.jpg", "objects": ["dog", "dog"]}`, one image a line, or a list '
    "of such records",
    ".6, if there are scores",
    "the image is `image_id`, `image`, `file_name`, `filename` or `id`; its objects are as in the "
    'rows below; with `"asked": ["dog", "nut"]` per image, or `{"classes": [...]}` as the first '
    "line, what was looked for can be absent",
    (Way("list", _are_records, read_records),),
)


# One of these is a list in parallel arrays.
_ARRAY = " ".join(f"%s{key}[]" for key in ARRAY_LABELS + BESIDE)


ARRAYS = Format(
    "parallel arrays",
    'parallel arrays `{"labels", "scores", "boxes"}` (Hugging Face `post_process_...`, '
    'Grounding DINO, MMDetection `preds/*.json`), as `{"id": {...}}` or a folder with one JSON '
    "file per image",
    ".6",
    '`"asked": [...]` beside them says what was looked for; labels that are numbers need the '
    "model's class names, counted from 0: `--categories` with one name per line, or Hugging Face's "
    "`config.json`; *a dog* becomes *dog*",
    (  # an image's detections come in several shapes, which `.listed` reads side by side
        Way(
            "object",
            (" ".join(ARRAY_LABELS), " ".join(BESIDE), _ARRAY.replace("%s", "")),
            "the detections in one image as parallel arrays, and nothing says which image; give "
            "the folder with one such file per image, or {image id: detections}.",
        ),
        Way(
            "object",
            (_ARRAY.replace("%s", "predictions[]."),),
            "what MMDetection's DetInferencer returns, where nothing says which image each "
            "prediction is of; give the folder preds/ that it writes, or {image id: prediction}.",
        ),
        Way(
            "list",
            (_ARRAY.replace("%s", "[]."),),
            "a list of detections as parallel arrays (Hugging Face's post_process_... or "
            "torchvision), where nothing says which image each is of; write {image id: "
            "detections}.",
        ),
    ),
)


def _of_files(folder: Path) -> dict[ImageId, Any]:
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


def _refuse_folder(folder: Path, found: Instances) -> ObjectLabels:
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


FOLDER = Format(
    "a folder of JSON detections",
    'detections `[{"label", "score", "box"}]` (Hugging Face) or `[{"name", "confidence", '
    '"box"}]` (Ultralytics), as `{"id": [...]}` or a folder with one JSON file per image',
    ".6",
    "",
    (
        Way(
            "folder",
            lambda folder: any(folder.glob("*.json")),
            lambda folder, found: read_items(_of_files(folder), found),
        ),
        Way("folder", (), _refuse_folder),
    ),
)


@named_if_wrong
def read_labels(
    content: Mapping[Any, LabelList],
    where: str,
    threshold: float | None = None,
    names: CategoryNames | None = None,
    uncertain: float | None = None,
) -> ObjectLabels:
    """Read ``{image id: [label, ...]}``; an image may have any of the shapes of `label_rows`.

    Detections of DETR's ``N/A`` are not objects.

    Parameters
    ----------
    content : mapping
        Image id to items, to a mapping of label to count, or to parallel arrays. Where a count is
        0, the labels of all such mappings were looked for in their images.
    where : str
        The file, for messages.
    threshold, uncertain : float, optional
        As for `label_rows`.
    names : CategoryNames, optional
        Names of the class indices in parallel arrays.

    Raises
    ------
    AnnotationError
        If an item has another shape, a score is not a number or a class has no name.
    """
    return read_items(content, Instances(where, threshold, names or NO_NAMES, uncertain))


def are_rows(source: Any) -> bool:
    """Return whether a source is the labels of rows: a list with lists of texts in it.

    Such a list holds labels, with scores or without, and never paths.

    >>> are_rows([["dog"], [], {"cat": 2}]), are_rows(["a.json"]), are_rows([{1: ["dog"]}])
    (True, False, False)
    """
    return isinstance(source, list | tuple) and any(
        is_listed(row)
        and all(
            isinstance(label, str)
            or (is_listed(label) and len(label) == 2 and isinstance(label[1], Real))
            for label in row
        )
        for row in source
    )


def _read_rows(rows: list[Any], found: Instances) -> ObjectLabels:
    for number, row in enumerate(rows):
        if isinstance(row, ObjectLabels) or not (is_listed(row) or isinstance(row, Mapping)):
            raise AnnotationError(
                f"{found.where}: entry {number} is {row!r:.40}, and others are lists of labels; a "
                "list holds the labels of each row, or sources whose union counts, and not both."
            )
    return read_items(dict(enumerate(rows)), found)


LABELS = Format(
    "{image id: [label, ...]} JSON",
    '`{"id": ["dog", "dog", "frisbee"]}`, `{"id": [["dog", 0.9]]}`, `{"id": {"dog": 2, "nut": 0}}` '
    'or `{"id": "dog \\| frisbee"}` JSON, or a Python mapping; a list per row, `[["dog"], []]`',
    ".6, if there are scores",
    "the plain format for everything else; a count of 0 was looked for and is not there; tags with "
    "bars between them are RAM's; rows are images 0, 1, 2, ...",
    (
        Way("object", (), read_items),
        Way("list", are_rows, _read_rows),
        Way("list", lambda found: not found, "an empty list; there is no detection in it."),
        Way(
            "list",
            ("![].image_id", "![].objects"),
            "a list whose entries have no 'image_id', so nothing says which image each belongs to; "
            "write {image id: [detections]} instead.",
        ),
    ),
)
