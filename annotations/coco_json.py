"""COCO's files: instances, which LVIS has too, detection results, and panoptic segmentation.

Formats: https://cocodataset.org/#format-data and #format-results. LVIS instances have the same
shape without ``iscrowd``; their category names carry underscores and senses. Detectron2,
MMDetection and Ultralytics (``save_json``) write results too, a list of ``{"image_id",
"category_id", "score"}``. A panoptic annotation is an image with its ``segments_info``; ``isthing``
of a category tells things, which can be counted, from stuff.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Collection, Mapping
from typing import Any

from ..errors import AnnotationError, VifidelWarning
from ..io.arguments import named_if_wrong
from ..io.image_ids import ImageId
from .categories import COCO_CATEGORIES, category_name, category_names
from .format import Format, Way, entries, image_id_of
from .instances import Instances
from .listed import CategoryNames
from .objects import ObjectLabels, clean_label
from .scores import check_score

# These tell a list of images from an image that is called *images*.
_OF_AN_IMAGE = "categories images[].id images[].imgid images[].file_name images[].filename"
_IMAGE_LIST = ("images[]", _OF_AN_IMAGE, "!annotations[]", "!images[].open_images_id")


@named_if_wrong
def read_coco_instances(
    content: Mapping[str, Any], where: str, threshold: float | None = None
) -> ObjectLabels:
    """Read gold instances: COCO's or LVIS's ``instances_*.json``, or ``COCO(...).dataset``.

    Every annotation is one instance, and so is a crowd region. Images that are listed without
    an annotation are known and empty.

    Parameters
    ----------
    content : mapping
        The parsed file: ``images``, ``annotations``, ``categories``.
    where : str
        The file, for messages.
    threshold : float, optional
        The lowest score that counts, `DETECTION_THRESHOLD` by default. Only annotations from
        ``COCO(...).loadRes(...)`` have scores.

    Raises
    ------
    AnnotationError
        If a category id is unknown, an annotation is of an image that ``images`` does not list,
        an image is listed twice in different ways, or an entry has another shape.
    """
    return _read_instances(content, Instances(where, threshold))


def _read_instances(content: Mapping[str, Any], found: Instances) -> ObjectLabels:
    """Read instances as `read_coco_instances` does; a box is ``bbox``, in pixels."""
    names = category_names(content.get("categories"), found.where)
    listed = listed_images(content, found)
    _ask(listed, names, found)
    known: dict[int, str] = {}  # the label of each category id that has been counted
    for at, annotation in entries(content.get("annotations"), found.where, "annotations"):
        image_id, category_id = annotation.get("image_id"), annotation.get("category_id")
        if type(image_id) is type(category_id) is int and "score" not in annotation:
            # Most of a file, which has hundreds of thousands of annotations.
            labels, label = found.images.get(image_id), known.get(category_id)
            if labels is not None and label is not None:
                labels[label] = labels.get(label, 0) + 1
                continue
        image_id = image_of(annotation, listed, at)
        name = category_name(annotation, names, at, "this file's")
        score = annotation.get("score")
        if "score" in annotation:
            score = check_score(score, f"{at} (image {image_id!r})")
        size = size_of(listed.get(image_id, {}))
        label = found.add(image_id, name, at, score=score, sides=annotation.get("bbox"), size=size)
        if label and type(category_id) is int and found.boxes is None:
            known[category_id] = label
    return found.object_labels(
        "coco-instances",
        lists_every_image=bool(listed),
        categories=() if found.asked else names.values(),
    )


def listed_images(content: Mapping[str, Any], found: Instances) -> dict[ImageId, dict[str, Any]]:
    """Return the entries of the images that a COCO file lists, all of which are known."""
    listed: dict[ImageId, dict[str, Any]] = {}
    for at, image in entries(content.get("images") or [], found.where, "images"):
        image_id = image_id_of(image, "id", at)
        if listed.setdefault(image_id, image) != image:
            raise AnnotationError(f"{at}: image {image_id!r} is listed twice; keep one entry.")
        found.image(image_id)
    return listed


def image_of(annotation: Mapping[str, Any], listed: Collection[ImageId], at: str) -> ImageId:
    """Return the image of an annotation: one that the file lists, if it lists any."""
    image_id = image_id_of(annotation, "image_id", at)
    if listed and image_id not in listed:
        raise AnnotationError(
            f"{at}: image {image_id!r:.40} is not among the file's images; list it, or leave "
            "its annotations out."
        )
    return image_id


def size_of(image: Mapping[str, Any]) -> tuple[Any, Any]:
    """Return the width and height that an image is listed with, if it has them."""
    return image.get("width"), image.get("height")


def _ask(
    listed: Mapping[ImageId, Mapping[str, Any]], names: Mapping[Any, str], found: Instances
) -> None:
    """Take note of what LVIS says is not in each image; other files do not say it.

    Annotators of LVIS verified that the categories of ``neg_category_ids`` are not in the image;
    of others than these and those annotated nobody knows, nor of ``not_exhaustive_category_ids``.
    """
    if not any("neg_category_ids" in image for image in listed.values()):
        return
    keys = ("neg_category_ids", "not_exhaustive_category_ids")
    for image_id, image in listed.items():
        at = f"{found.where}: image {image_id!r:.40}"
        for key in keys:
            ids = image.get(key, [])
            if not isinstance(ids, list) or not all(type(i) is int for i in ids):
                raise AnnotationError(f"{at}: {key!r} is not a list of category ids.")
        negative, unknown = (image.get(key, []) for key in keys)
        asked = found.asked_in(image_id)
        for category in negative:
            if category not in unknown:
                name = category_name({"category_id": category}, names, at, "this file's")
                asked[clean_label(name)] = at


INSTANCES = Format(
    "COCO or LVIS instances JSON",
    "COCO `instances_*.json`, LVIS `lvis_v1_*.json`, or a loaded pycocotools `COCO`",
    "",
    "every annotation is an instance, crowd regions included; LVIS's "
    "`bow_(decorative_ribbons)` becomes *bow*, and only its `neg_category_ids` can be absent",
    (
        Way(
            "object",
            ("annotations[]", "categories", "!annotations[].segments_info"),
            _read_instances,
        ),
        Way(
            "object",
            ("annotations[]", "!categories", "!images[].open_images_id"),
            "has 'annotations' but no 'categories': a caption file says nothing of objects; give "
            "the instances file of the same images.",
        ),
        Way("object", _IMAGE_LIST, "has no 'annotations'; give the instances file."),
    ),
)


@named_if_wrong
def read_coco_results(
    content: list[Any],
    where: str,
    threshold: float | None = None,
    categories: Mapping[Any, str] | None = None,
) -> ObjectLabels:
    """Read detections in the COCO results format: ``[{"image_id", "category_id", "score"}]``.

    Parameters
    ----------
    content, where, threshold
        As for `read_coco_instances`; every detection has a score.
    categories : mapping, optional
        Category id to name; COCO's 80 by default.

    Raises
    ------
    AnnotationError
        If a category id is unknown, a score is not a number or an entry has another shape.

    Warns
    -----
    VifidelWarning
        If COCO's categories are assumed.
    """
    return _read_results(content, Instances(where, threshold, CategoryNames(ids=categories or {})))


def _read_results(content: list[Any], found: Instances) -> ObjectLabels:
    """Read results as `read_coco_results` does; a box is ``bbox``, in pixels."""
    if found.names.indices and not found.names.ids:
        raise AnnotationError(
            f"{found.where}: COCO results have category ids, and a list of class names does not "
            "say which id each has (Ultralytics counts from 1); give a COCO file with categories "
            "or {id: name}."
        )
    names, whose = found.names.ids or COCO_CATEGORIES, "the given" if found.names.ids else "COCO's"
    found.scored = True
    for at, detection in entries(content, found.where):
        if "score" not in detection:
            raise AnnotationError(f"{at} has no 'score': every detection needs one.")
        image_id = image_id_of(detection, "image_id", at)
        name = category_name(detection, names, at, whose)
        score = check_score(detection["score"], f"{at} (image {image_id!r})")
        found.image(image_id)
        found.add(image_id, name, at, score=score, sides=detection.get("bbox"))
    if not found.names.ids and found.boxes is None:  # boxes are read after the labels
        warnings.warn(
            f"{found.where}: the category ids are read as COCO's 80 (1 is person, 2 is bicycle); "
            "give the names (categories=..., --categories) if the detector was trained on others.",
            VifidelWarning,
            stacklevel=3,
        )
    return found.object_labels("coco-results", lists_every_image=False, categories=names.values())


RESULTS = Format(
    "COCO detection results",
    "COCO detection results (Detectron2, MMDetection, Ultralytics `save_json`)",
    ".6",
    "`--categories FILE` unless the ids are COCO's 80",
    (
        Way(
            "list",
            ("[].caption", "![].objects"),
            "holds captions, not objects; give captions as results or references.",
        ),
        Way("list", ("[].image_id", "![].objects", "![].thing", "![].entity_info"), _read_results),
    ),
)


# What COCO appends to the names of stuff: sky-other-merged, tree-merged, door-stuff.
_MERGED = re.compile(r"(?:-other)?(?:-merged|-stuff)?$")


def read_coco_panoptic(content: Mapping[str, Any], found: Instances) -> ObjectLabels:
    """Read a panoptic annotation file.

    Every segment of a thing is one instance, and so is a crowd. Stuff counts once per image, since
    its segments are one per category. ``sky-other-merged`` becomes *sky*, and ``wall-brick``
    *wall brick*. A box is ``bbox``: x, y, width, height in pixels.
    """
    names = {
        category_id: _MERGED.sub("", name).replace("-", " ")
        for category_id, name in category_names(content.get("categories"), found.where).items()
    }
    listed = listed_images(content, found)
    annotated: set[Any] = set()
    for at, annotation in entries(content.get("annotations"), found.where, "annotations"):
        image_id = image_of(annotation, listed, at)
        if image_id in annotated:
            raise AnnotationError(f"{at}: image {image_id!r:.40} is annotated twice; keep one.")
        annotated.add(image_id)
        found.image(image_id)
        if "segments_info" not in annotation:
            raise AnnotationError(
                f"{at} (image {image_id!r:.40}): 'segments_info' is missing; every annotation of a "
                "panoptic file has it."
            )
        size = size_of(listed.get(image_id, {}))
        for _, segment in entries(annotation["segments_info"], at, "segments_info"):
            name = category_name(segment, names, at, "this file's")
            found.add(image_id, name, at, sides=segment.get("bbox"), size=size)
    return found.object_labels(
        "coco-panoptic", lists_every_image=bool(listed), categories=names.values()
    )


PANOPTIC = Format(
    "COCO panoptic",
    "COCO `panoptic_*.json`",
    "",
    "things by instance, stuff once per image; `sky-other-merged` becomes *sky*",
    (Way("object", ("categories", "annotations[].segments_info"), read_coco_panoptic),),
)
