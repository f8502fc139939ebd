"""Objects in the shapes that `.labels` reads: by image id, as records, or by row.

Records are ``{"image": "beach.jpg", "objects": ["dog", "dog", "frisbee"]}``; ``"asked": ["dog",
"nut"]`` in one says what was looked for in its image, and ``{"classes": ["dog", ...]}`` as the
first record what was looked for in all.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from numbers import Real
from typing import Any

from ..doors.arguments import is_listed
from ..errors import AnnotationError
from ..io.entries import Entries, Entry, keyed_by_image, shows
from ..io.image_ids import ImageId
from .instances import Format, Instances, LabelList, Variant
from .labels import BESIDE, has_indices, is_arrays, lists_labels
from .labels import LABELS as ARRAY_LABELS
from .objects import ObjectLabels
from .tags import are_answers

_IMAGE = ("image_id", "image", "file_name", "filename", "id")  # the names of image ids
# These tell a record of an image from an image that is called *objects*.
_RECORD = (
    " ".join(["objects", "tags", *(f"{key}[] {key}=" for key in ARRAY_LABELS)]),
    " ".join(f"{key}=" for key in _IMAGE),
)


def read_items(
    images: Mapping[Any, LabelList], instances: Instances, classes: Collection[str] | None = None
) -> ObjectLabels:
    """Read what is listed for each image; `classes` were looked for in all, if that is said."""
    for image_id, items in images.items():
        try:
            instances.add_listed(image_id, items)
        except AnnotationError as problem:
            raise AnnotationError(f"{instances.where}: image {image_id!r}: {problem}") from None
    mappings = {i: items for i, items in images.items() if isinstance(items, Mapping)}
    if instances.asked:  # a count of 0 says that counts tell what was looked for
        for image_id, items in mappings.items():
            if items and not is_arrays(items):
                instances.asked_in(image_id)
    indexed = any(map(has_indices, mappings.values()))
    return instances.object_labels(
        "labels",
        categories=classes or (instances.names.by_index().values() if indexed else ()),
        says_asked=classes is not None,
    )


def below_header(records: Entries) -> tuple[Entry | None, Entries]:
    """Return the first record if it says something of all others, else nothing, and the others."""
    header = ["[].classes [].vifidel_eval", "![].objects", "![].image_id"]
    if not shows(records.values[:1], header):
        return None, records
    return records[0], records.after_header()


def classes_of(header: Entry | None) -> list[str] | None:
    """Return the classes that a header declares; None if it does not."""
    if header is None or header.get("classes") is None:
        return None
    return header.texts("classes")


def _read_records(records: Entries, instances: Instances) -> ObjectLabels:
    """Read one object per image, with its id and its ``objects``."""
    header, records = below_header(records)
    classes = classes_of(header)
    key = records.first_key(_IMAGE)
    images: dict[ImageId, LabelList] = {}
    for record in records:
        if instances.left_out.flagged(record):
            continue
        image_id = instances.image_once(record, key)
        arrays = {key: record[key] for key in (*ARRAY_LABELS, *BESIDE) if key in record}
        tags = record.get("tags", arrays or None)
        objects = record["objects"] if "objects" in record or tags is None else tags
        images[image_id] = (
            {"objects": objects, "asked": record["asked"]} if "asked" in record else objects
        )
    return read_items(images, instances, classes)


def _are_records(records: Entries) -> bool:
    """Tell records from detections, and from Visual Genome's, whose objects have ``names``."""
    header, records = below_header(records)
    first = next((record for record in records.first if shows(record, _RECORD)), None)
    if first is None or (header and "vifidel_eval" in header):
        return False
    mappings = [record for record in records.values if isinstance(record, dict)]
    if header or any("asked" in record for record in mappings):
        return True
    if isinstance(first.get("objects", ""), str):
        return True
    objects = next(filter(None, (record.get("objects") for record in mappings)), None)
    if isinstance(objects, list):
        return not isinstance(objects[0], Mapping) or bool({"label", "name"} & objects[0].keys())
    return objects is not None or not {"image_id", "id"} & first.keys()


RECORDS = Format(
    "JSON Lines of objects",
    'JSON Lines `{"image": "beach.jpg", "objects": ["dog", "dog"]}`, one image per line, or a '
    'list of such records; instead of `objects`, `"tags": "dog | couch"` or a detector\'s '
    '`"labels"`, `"scores"`, `"boxes"`',
    ".6, if there are scores",
    "the image is `image_id`, `image`, `file_name`, `filename` or `id`; its objects are written "
    'as in the rows below; `"asked": ["dog", "nut"]` per image, or `{"classes": [...]}` as the '
    "first line, says what was looked for and can be absent",
    (Variant("list", _are_records, _read_records),),
    example='{"image": "beach.jpg", "objects": ["dog", "dog"]}',
    is_general=True,
)


# One of these is a list in parallel arrays.
_ARRAY = " ".join(f"%s{key}[]" for key in ARRAY_LABELS + BESIDE)
_NO_IMAGE = (
    "detections as parallel arrays, and nothing says which image each is of; give the folder with "
    "one such file per image (MMDetection's preds/), or {image id: detections}."
)

ARRAYS = Format(
    "parallel arrays",
    'parallel arrays `{"labels", "scores", "boxes"}` (Hugging Face `post_process_...`, '
    'Grounding DINO, MMDetection `preds/*.json`, Florence-2\'s `{"<OD>": {...}}`), as '
    '`{"id": {...}}` or a folder with one JSON file per image',
    ".6",
    '`"asked": [...]` in the same object says what was looked for; labels that are numbers need '
    "the model's class names, counted from 0: `--categories` with one name per line, or Hugging "
    "Face's `config.json`; *a dog* becomes *dog*",
    (  # an image's detections come in several shapes, which `.labels` reads side by side
        Variant(
            "object",
            (" ".join(ARRAY_LABELS), " ".join(BESIDE), _ARRAY.replace("%s", "")),
            _NO_IMAGE,
        ),
        Variant("object", (_ARRAY.replace("%s", "predictions[]."),), _NO_IMAGE),
        Variant("object", (_ARRAY.replace("%s", "<OD>."),), _NO_IMAGE),
        Variant("list", (_ARRAY.replace("%s", "[]."),), _NO_IMAGE),
    ),
    example='{"1": {"labels": ["dog"], "scores": [0.9]}}',
)


def are_rows(source: Any) -> bool:
    """Return whether a source is the labels of rows: a list with lists of texts in it, no paths."""
    return isinstance(source, list | tuple) and any(
        is_listed(row)
        and all(
            isinstance(label, str)
            or (is_listed(label) and len(label) == 2 and isinstance(label[1], Real))
            for label in row
        )
        for row in source
    )


def _is_by_image(content: Mapping[Any, Any]) -> bool:
    """Return whether what is under keys that may be image ids lists labels."""
    mappings = [x for x in content.values() if isinstance(x, Mapping)]
    unlike = any(mappings) and not any(lists_labels(x) for x in mappings if x)
    answers = are_answers(value for value in content.values() if isinstance(value, str))
    return keyed_by_image(
        content,
        lambda value: (
            is_listed(value) or isinstance(value, Mapping) or (answers and isinstance(value, str))
        ),
    ) and (not unlike or len(mappings) < len(content))


LABELS = Format(
    "{image id: [label, ...]} JSON",
    '`{"id": ["dog", "dog", "frisbee"]}`, `{"id": [["dog", 0.9]]}`, `{"id": {"dog": 2, "nut": 0}}` '
    'or `{"id": "dog | frisbee"}` JSON, or a Python mapping; a list per row, `[["dog"], []]`',
    ".6, if there are scores",
    "the plain format for everything else; a thing with a count of 0 was looked for and is not "
    "there; tags separated by bars are RAM's; the rows of a list are images 0, 1, 2, ...",
    (
        Variant(
            "object",
            lambda content: _is_by_image(content.content),
            lambda content, found: read_items(content.content, found),
        ),
        Variant(
            "list",
            lambda entries: are_rows(entries.values),
            lambda entries, found: read_items(dict(enumerate(entries.values)), found),
        ),
        Variant("list", lambda entries: not entries, "an empty list; there is no detection in it."),
        Variant(
            "list",
            ("![].image_id", "[].label [].name [].bbox [].box [].category_id"),
            "a list whose entries have no 'image_id', so nothing says which image each belongs to; "
            "write {image id: [detections]} instead.",
        ),
    ),
    example='{"1": ["dog", "dog", "frisbee"]}',
    is_general=True,
)
