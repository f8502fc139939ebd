"""Gold instances: COCO's and LVIS's ``instances_*.json``, or ``COCO(...).dataset``.

Format: https://cocodataset.org/#format-data. LVIS instances have the same shape without
``iscrowd``; their category names carry underscores and senses.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..arguments import named_if_wrong
from ..errors import AnnotationError
from ..image_ids import ImageId
from .boxes import BoxCollector
from .coco import (
    category_name,
    category_names,
    check_listed,
    entries,
    image_id_of,
    listed_images,
)
from .objects import (
    DETECTION_THRESHOLD,
    NO_CATEGORY,
    ObjectLabels,
    check_score,
    clean_label,
    count,
)
from .record import Format, Way, refused

# These tell a list of images from an image that is called *images*.
_OF_AN_IMAGE = "categories images[].id images[].imgid images[].file_name images[].filename"
_IMAGE_LIST = ("images[]", _OF_AN_IMAGE, "!annotations[]", "!images[].open_images_id")


@named_if_wrong
def read_coco_instances(
    content: Mapping[str, Any],
    where: str,
    threshold: float | None = None,
    boxes: BoxCollector | None = None,
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
    boxes : BoxCollector, optional
        Keeps ``bbox``: x, y, width, height in pixels.

    Raises
    ------
    AnnotationError
        If a category id is unknown, an annotation is of an image that ``images`` does not list,
        an image is listed twice in different ways, or an entry has another shape.
    """
    names = category_names(content.get("categories"), where)
    lowest = DETECTION_THRESHOLD if threshold is None else threshold
    any_scored = False
    labels, listed = listed_images(content, where)
    asked = _looked_for(listed, names, where)
    known: dict[int, str] = {}  # category id to label, of what was seen before
    annotations = entries(content.get("annotations"), "annotations", where)
    for number, annotation in enumerate(annotations):
        image_id, category_id = annotation.get("image_id"), annotation.get("category_id")
        if type(image_id) is int and type(category_id) is int and "score" not in annotation:
            of_image, label = labels.get(image_id), known.get(category_id)
            if of_image is not None and label is not None:
                of_image[label] = of_image.get(label, 0) + 1
                continue
        at = f"{where}: annotations[{number}]"
        image_id = image_id_of(annotation, "image_id", at)
        check_listed(image_id, listed, at)
        name = category_name(annotation, names, at, "this file's")
        if "score" in annotation:
            any_scored = True
            if check_score(annotation["score"], f"{at} (image {image_id!r})") < lowest:
                continue
        count(labels.setdefault(image_id, {}), name, at=at)
        if boxes is not None:
            image = listed.get(image_id, {})
            size = (image.get("width"), image.get("height"))
            boxes.add(image_id, name, annotation.get("bbox"), annotation.get("score"), size)
        elif type(category_id) is int and name != NO_CATEGORY:
            known[category_id] = clean_label(name)
    return ObjectLabels(
        labels,
        "coco-instances",
        where,
        lowest if any_scored else None,
        lists_every_image=bool(listed),
        categories=names.values() if asked is None else (),
        asked=asked,
    )


def _looked_for(
    listed: Mapping[ImageId, Mapping[str, Any]], names: Mapping[Any, str], where: str
) -> dict[ImageId, list[str]] | None:
    """Return what LVIS says is not in each image; None for files that do not say it.

    Annotators of LVIS verified that the categories of ``neg_category_ids`` are not in the image;
    of others than these and those annotated nobody knows, nor of ``not_exhaustive_category_ids``.
    """
    if not any("neg_category_ids" in image for image in listed.values()):
        return None
    asked: dict[ImageId, list[str]] = {}
    for image_id, image in listed.items():
        at = f"{where}: image {image_id!r:.40}"
        ids = {}
        for key in ("neg_category_ids", "not_exhaustive_category_ids"):
            given = image.get(key, [])
            if not isinstance(given, list) or not all(type(i) is int for i in given):
                raise AnnotationError(f"{at}: {key!r} is not a list of category ids.")
            ids[key] = given
        negative, unknown = ids.values()
        asked[image_id] = [
            clean_label(category_name({"category_id": category}, names, at, "this file's"))
            for category in negative
            if category not in unknown
        ]
    return asked


FORMAT = Format(
    "COCO or LVIS instances JSON",
    "COCO `instances_*.json`, LVIS `lvis_v1_*.json`, or a loaded pycocotools `COCO`",
    "",
    "every annotation is an instance, crowd regions included; LVIS's "
    "`bow_(decorative_ribbons)` becomes *bow*, and only its `neg_category_ids` can be absent",
    (
        Way(
            "object",
            ("annotations[]", "categories", "!annotations[].segments_info"),
            lambda found, options: read_coco_instances(
                found, options.where, options.threshold, options.boxes
            ),
        ),
        refused(
            "object",
            ("annotations[]", "!categories", "!images[].open_images_id"),
            "has 'annotations' but no 'categories': a caption file says nothing of objects; give "
            "the instances file of the same images.",
        ),
        refused("object", _IMAGE_LIST, "has no 'annotations'; give the instances file."),
    ),
)
