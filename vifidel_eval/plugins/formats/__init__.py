"""Objects as datasets, benchmarks and annotation tools write them, and attributes of objects.

Panoptic COCO, Visual Genome and FiftyOne are read here; the other files have a kind of file each.

A panoptic annotation is an image with ``segments_info``.

Visual Genome's ``objects.json`` and ``scene_graphs.json`` list ``{"image_id": 1, "objects":
[{"names": ["tree"], ...}]}``; version 1.0 calls ``image_id`` ``id``. An object is called by the
first of its names, as the ``visual_genome`` package prints it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Any

from ...annotations.categories import category_name, names_by_id
from ...annotations.coco import file_names, size_of
from ...annotations.instances import Format, Instances, Variant
from ...annotations.labels import check_score
from ...annotations.objects import ObjectLabels
from ...errors import AnnotationError
from ...io.entries import Entries, Entry, listed_image, listed_images
from ...io.image_ids import from_json_key
from . import answers, folders, tables

# What COCO appends to the names of stuff: sky-other-merged, tree-merged, door-stuff.
_MERGED = re.compile(r"(?:-other)?(?:-merged|-stuff)?$")


def _read_panoptic(content: Entry, instances: Instances) -> ObjectLabels:
    """Read segments: those of stuff are one per category, so that it counts once per image."""
    names = {
        category_id: _MERGED.sub("", name).replace("-", " ")
        for category_id, name in names_by_id(content.entries("categories")).items()
    }
    listed = listed_images(content)
    instances.images.update({image_id: {} for image_id in listed})
    instances.file_names = list(file_names(listed))
    instances.tells_objects_apart = True  # segments share no pixel
    annotated: set[Any] = set()
    for annotation in content.entries("annotations"):
        image_id = listed_image(annotation, listed, "annotations")
        if image_id in annotated:
            raise annotation.listed_twice()
        annotated.add(image_id)
        instances.image(image_id)
        size = size_of(listed, image_id)
        for segment in annotation.entries("segments_info"):
            name = category_name(segment["category_id"], names, segment, "this file's")
            instances.add(image_id, name, segment, sides=segment.get("bbox"), size=size)
    return instances.object_labels(
        "coco-panoptic", lists_every_image=bool(listed), categories=names.values()
    )


PANOPTIC = Format(
    "COCO panoptic",
    "COCO `panoptic_*.json`",
    "",
    "things by instance, stuff once per image; `sky-other-merged` becomes *sky*",
    (Variant("object", ("categories", "annotations[].segments_info"), _read_panoptic),),
    example='{"images": [{"id": 1}], "annotations": [{"image_id": 1, "segments_info": '
    '[{"id": 7, "category_id": 18}]}], "categories": [{"id": 18, "name": "dog", "isthing": 1}]}',
)


def _read_visual_genome(images: Entries, instances: Instances) -> ObjectLabels:
    """Read the objects of each image; a box is ``x``, ``y``, ``w`` and ``h``, in pixels."""
    instances.tells_objects_apart = True  # by their object_id
    for image in images:
        key = "id" if "id" in image and "image_id" not in image else "image_id"
        image_id = instances.image_once(image, key)
        for box in image.entries("objects"):
            name, *_ = box.texts("names")
            instances.add(image_id, name, box, sides=[box.get(side) for side in "xywh"])
    return instances.object_labels("visual-genome")


VISUAL_GENOME = Format(
    "Visual Genome",
    "Visual Genome `objects.json` or `scene_graphs.json`",
    "",
    "the first name of each object",
    (Variant("list", ("[].objects[]",), _read_visual_genome),),
    example='[{"image_id": 1, "objects": [{"names": ["dog"]}]}]',
)


def _read_samples(content: Entry, instances: Instances) -> ObjectLabels:
    """Read FiftyOne's samples, of which one field has detections."""
    images: dict[Any, Any] = {}
    fields: set[str] = set()
    for sample in content.entries("samples"):
        detections = {
            name: value["detections"]
            for name, value in sample.content.items()
            if isinstance(value, Mapping) and "detections" in value
        }
        fields |= detections.keys()
        if len(fields) > 1:
            raise AnnotationError(
                f"{sample}: {' and '.join(map(repr, sorted(fields)))} have detections; export one "
                "of them (select_fields)."
            )
        images[instances.image_once(sample, "filepath")] = next(iter(detections.values()), [])
    return _read_detections(images, [], instances)


def _read_detections(
    images: Mapping[Any, Any], classes: Collection[str], instances: Instances
) -> ObjectLabels:
    """Read FiftyOne's detections of each image, whose labels may be places in a list of classes."""
    names = dict(enumerate(classes))
    for image_id, detections in images.items():
        instances.image(image_id)
        for number, detection in enumerate(detections):
            at = f"{instances.where}: image {image_id!r:.60}: detection {number}"
            score = detection.get("confidence")
            score = None if score is None else check_score(score, at)
            name = names.get(detection["label"], detection["label"])
            instances.add(image_id, name, at, 1, score, detection["bounding_box"], (1.0, 1.0))
    return instances.object_labels("fiftyone", categories=classes)


FIFTYONE = Format(
    "FiftyOne",
    "FiftyOne's detections: `samples.json`, or the `labels.json` of one field",
    ".6, if there are scores",
    "the image is `filepath`, or the key under `labels`; if the samples have several fields of "
    "labels, export one of them",
    (
        Variant("object", ("samples[].filepath",), _read_samples),
        Variant(
            "object",
            ("classes[]", "labels{}"),
            lambda content, found: _read_detections(
                {from_json_key(i): of_image for i, of_image in content["labels"].items()},
                content["classes"],
                found,
            ),
        ),
    ),
    example='{"samples": [{"filepath": "1.jpg", "found": {"detections": '
    '[{"label": "dog", "bounding_box": [0, 0, 1, 1]}]}}]}',
)


#: In this order: the first variant of a format that recognises content reads it.
FORMATS: tuple[Format, ...] = (
    PANOPTIC,
    folders.VOC,
    tables.IMAGE_LABELS,
    tables.BOXES,
    VISUAL_GENOME,
    folders.YOLO,
    tables.TABLE,
    FIFTYONE,
    answers.ANSWERS,
    answers.POPE,
    answers.AMBER,
    answers.WOODPECKER,
    folders.LABELME,
    folders.JSON,
)
