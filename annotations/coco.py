"""COCO's files and those of its kind: LVIS, detection results, nocaps.

COCO: https://cocodataset.org/#format-data and #format-results. LVIS instances have no ``iscrowd``,
and names with underscores and senses.

nocaps (https://nocaps.org/download) has Open Images' pictures under other ids: ``images`` have an
``id``, which captions and results use, and an ``open_images_id``, which Open Images' boxes use.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ..errors import AnnotationError, warn
from ..io.entries import Entries, Entry, listed_image, listed_images
from ..io.image_ids import ImageId, mismatch
from .categories import COCO_CATEGORIES, category_name, names_by_id, supercategories
from .instances import Format, Instances, Variant
from .labels import check_score, clean_label
from .objects import ObjectLabels

# These tell a list of images from an image that is called *images*.
_OF_AN_IMAGE = "categories images[].id images[].imgid images[].file_name images[].filename"
_IMAGE_LIST = ("images[]", _OF_AN_IMAGE, "!annotations[]", "!images[].open_images_id")


def _read_instances(content: Entry, instances: Instances) -> ObjectLabels:
    """Read instances: every annotation, of a crowd too, is one; an image without any is known."""
    categories = content.entries("categories")
    names, parents = names_by_id(categories), supercategories(categories)
    listed = listed_images(content)
    instances.images.update({image_id: {} for image_id in listed})
    instances.file_names = list(file_names(listed))
    _ask(listed, names, instances)
    label_of: dict[int, str] = {}  # the label of each category id that has been counted
    for annotation in content.entries("annotations"):
        fields = annotation.content
        if instances.left_out.flagged(annotation):
            continue
        image_id, category_id = fields.get("image_id"), fields.get("category_id")
        if type(image_id) is type(category_id) is int and "score" not in fields:
            # Most of a file, which has hundreds of thousands of annotations.
            labels, label = instances.images.get(image_id), label_of.get(category_id)
            if labels is not None and label is not None:
                if not instances.repeats(image_id, label, fields.get("bbox")):
                    labels[label] = labels.get(label, 0) + 1
                continue
        image_id = listed_image(annotation, listed, "annotations")
        name = category_name(annotation["category_id"], names, annotation, "this file's")
        score = check_score(fields["score"], annotation) if "score" in fields else None
        size = size_of(listed, image_id)
        label = instances.add(
            image_id, name, annotation, score=score, sides=fields.get("bbox"), size=size
        )
        if label and type(category_id) is int and not instances.keeps_boxes:
            label_of[category_id] = label
    return instances.object_labels(
        "coco-instances",
        lists_every_image=bool(listed),
        categories=() if instances.asked else _without_groups(names, parents, instances),
    )


def file_names(listed: Mapping[ImageId, Entry]) -> Iterator[tuple[str, ImageId]]:
    """Yield each file name, and what it was before Roboflow's export (``extra.name``)."""
    for image_id, image in listed.items():
        extra = image.get("extra")
        original = extra.get("name") if isinstance(extra, Mapping) else None
        for name in (image.get("file_name"), original):
            if isinstance(name, str) and name:
                yield name, image_id


def _without_groups(
    names: Mapping[Any, str], parents: Mapping[str, str], instances: Instances
) -> set[str]:
    """Return the categories that can be absent; categories that only group others cannot.

    An export may begin with a root, such as Roboflow's category 0, that is the supercategory of
    others and that nothing is labelled with: it is there where they are.
    """
    categories = {clean_label(name) for name in names.values()}
    groups = {parent for label, parent in parents.items() if label != parent} & categories
    return categories - groups.difference(*instances.images.values())


def size_of(listed: Mapping[ImageId, Entry], image_id: ImageId) -> tuple[Any, Any]:
    """Return the width and height that an image is listed with, if it has them."""
    image = listed.get(image_id)
    return (None, None) if image is None else (image.get("width"), image.get("height"))


def _ask(listed: Mapping[ImageId, Entry], names: Mapping[Any, str], instances: Instances) -> None:
    """Take note of what is not in each image: LVIS's annotators verified ``neg_category_ids``."""
    if not any("neg_category_ids" in image for image in listed.values()):
        return
    keys = ("neg_category_ids", "not_exhaustive_category_ids")
    for image_id, image in listed.items():
        negative, unknown = (
            image.members(key, int, "a list of category ids") if key in image else []
            for key in keys
        )
        asked = instances.asked_in(image_id)
        for category in negative:
            if category not in unknown:
                name = category_name(category, names, image, "this file's")
                asked[clean_label(name)] = str(image)


INSTANCES = Format(
    "COCO or LVIS instances JSON",
    "COCO `instances_*.json`, LVIS `lvis_v1_*.json`, or a loaded pycocotools `COCO`",
    "",
    "every annotation is an instance, crowd regions included; LVIS's "
    "`bow_(decorative_ribbons)` becomes *bow*, and only its `neg_category_ids` can be absent",
    (
        Variant(
            "object",
            ("annotations[]", "categories", "!annotations[].segments_info"),
            _read_instances,
        ),
        Variant(
            "object",
            ("annotations[]", "!categories", "!images[].open_images_id"),
            "has 'annotations' but no 'categories': a caption file says nothing about objects; "
            "give the instances file of the same images.",
        ),
        Variant("object", _IMAGE_LIST, "has no 'annotations'; give the instances file."),
    ),
    example='{"images": [{"id": 1}], "annotations": [{"image_id": 1, "category_id": 18}], '
    '"categories": [{"id": 18, "name": "dog"}]}',
)


def _read_results(detections: Entries, instances: Instances) -> ObjectLabels:
    """Read detections, whose category ids are COCO's where no names are given."""
    ids = instances.names.ids
    if instances.names.indices and not ids:
        raise AnnotationError(
            f"{instances.where}: COCO results have category ids, and a list of class names does "
            "not say which id each has (Ultralytics counts from 1); give a COCO file with "
            "categories or {id: name}."
        )
    names, whose = ids or COCO_CATEGORIES, "the given" if ids else "COCO's"
    instances.scored = True
    for detection in detections:
        image_id = detection.image_id()
        instances.image(image_id)
        if instances.left_out.flagged(detection):
            continue
        name = category_name(detection["category_id"], names, detection, whose)
        score = check_score(detection["score"], detection)
        instances.add(image_id, name, detection, score=score, sides=detection.get("bbox"))
    if not ids and not instances.keeps_boxes:  # boxes are read after the labels
        warn(
            f"{instances.where}: the category ids are read as COCO's 80 (1 is person, 2 is "
            "bicycle); give the names (categories=..., --categories) if the detector was trained "
            "on others."
        )
    return instances.object_labels(
        "coco-results",
        lists_every_image=False,
        categories=_without_groups(names, instances.names.parents, instances),
    )


RESULTS = Format(
    "COCO detection results",
    "COCO detection results (Detectron2, MMDetection, Ultralytics `save_json`)",
    ".6",
    "`--categories FILE` unless the ids are COCO's 80",
    (
        Variant(
            "list",
            ("[].caption", "![].objects"),
            "holds captions, not objects; give captions as results or references.",
        ),
        Variant(
            "list",
            ("[].image_id", "[].category_id", "![].objects", "![].vifidel_eval"),
            _read_results,
        ),
    ),
    example='[{"image_id": 1, "category_id": 18, "bbox": [0, 0, 9, 9], "score": 0.9}]',
)


NOCAPS_KIND = "nocaps"  #: the `kind` of labels that only say what images are called elsewhere


def renamed_for_nocaps(objects: ObjectLabels, nocaps: ObjectLabels) -> ObjectLabels:
    """Return objects of Open Images under nocaps' ids, unless they have these already."""
    ids = nocaps.other_ids
    own_ids = [image_id for image_id in ids if image_id in objects]
    if not own_ids and any(image_id in objects for image_id in nocaps):
        return objects
    if 2 * len(own_ids) < len(ids):
        missing = [image_id for image_id in ids if image_id not in objects]
        raise mismatch(missing, objects, f"nocaps' images ({nocaps.where})", objects.where)
    return objects.renamed(ids)


def _read_nocaps(content: Entry, instances: Instances) -> ObjectLabels:
    """Read which image of nocaps each of Open Images is."""
    ids: dict[ImageId, ImageId] = {}
    for image in content.entries("images"):
        image_id, open_images_id = instances.image_once(image, "id"), image.text("open_images_id")
        if open_images_id in ids:
            raise AnnotationError(
                f"{image.at}: {open_images_id!r:.40} is listed twice; keep one entry."
            )
        ids[open_images_id] = image_id
    return ObjectLabels(instances.images, NOCAPS_KIND, instances.where, other_ids=ids)


NOCAPS = Format(
    "nocaps JSON",
    "nocaps JSON (its images have `open_images_id`) beside Open Images boxes",
    "",
    "give both: `--objects nocaps.json --objects boxes.csv`; the boxes get nocaps' image ids",
    (Variant("object", ("images[].open_images_id",), _read_nocaps),),
    example='{"images": [{"id": 1, "open_images_id": "0013ea2087020901"}]}',
)
