"""COCO and LVIS object files: gold instances and detection results.

Format: https://cocodataset.org/#format-data and #format-results. LVIS instances have the same
shape without ``iscrowd``; their category names carry underscores and senses.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from numbers import Integral
from typing import Any

from ..errors import AnnotationError, VifidelWarning
from ..image_ids import ImageId, from_json_value
from .objects import (
    DETECTION_THRESHOLD,
    NO_CATEGORY,
    ObjectLabels,
    check_score,
    clean_label,
    count,
)

#: COCO's 80 detection categories; the ids have gaps.
COCO_CATEGORIES: dict[Any, str] = dict(
    zip(
        [i for i in range(1, 91) if i not in (12, 26, 29, 30, 45, 66, 68, 69, 71, 83)],
        (
            "person, bicycle, car, motorcycle, airplane, bus, train, truck, boat, traffic light, "
            "fire hydrant, stop sign, parking meter, bench, bird, cat, dog, horse, sheep, cow, "
            "elephant, bear, zebra, giraffe, backpack, umbrella, handbag, tie, suitcase, frisbee, "
            "skis, snowboard, sports ball, kite, baseball bat, baseball glove, skateboard, "
            "surfboard, tennis racket, bottle, wine glass, cup, fork, knife, spoon, bowl, banana, "
            "apple, sandwich, orange, broccoli, carrot, hot dog, pizza, donut, cake, chair, "
            "couch, potted plant, bed, dining table, toilet, tv, laptop, mouse, remote, keyboard, "
            "cell phone, microwave, oven, toaster, sink, refrigerator, book, clock, vase, "
            "scissors, teddy bear, hair drier, toothbrush"
        ).split(", "),
        strict=True,
    )
)


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
    names = category_names(content.get("categories"), where)
    lowest = DETECTION_THRESHOLD if threshold is None else threshold
    any_scored = False
    labels, listed = listed_images(content, where)
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
        if listed and image_id not in listed:
            raise AnnotationError(
                f"{at}: image {image_id!r:.40} is not among the file's images; list it, or leave "
                "its annotations out."
            )
        name = category_name(annotation, names, at, "this file's")
        if "score" in annotation:
            any_scored = True
            if check_score(annotation["score"], f"{at} (image {image_id!r})") < lowest:
                continue
        count(labels.setdefault(image_id, {}), name, at=at)
        if type(category_id) is int and name != NO_CATEGORY:
            known[category_id] = clean_label(name)
    return ObjectLabels(
        labels,
        "coco-instances",
        where,
        lowest if any_scored else None,
        lists_every_image=bool(listed),
        categories=names.values(),
    )


def read_coco_results(
    content: list[Any],
    where: str,
    threshold: float | None = None,
    categories: Mapping[Any, str] | None = None,
) -> ObjectLabels:
    """Read detections in the COCO results format: ``[{"image_id", "category_id", "score"}]``.

    Detectron2, MMDetection and Ultralytics (``save_json``) write this format too.

    Parameters
    ----------
    content : list
        The parsed file.
    where : str
        The file, for messages.
    threshold : float, optional
        The lowest score that counts, `DETECTION_THRESHOLD` by default.
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
    threshold = DETECTION_THRESHOLD if threshold is None else threshold
    names = COCO_CATEGORIES if categories is None else categories
    whose = "COCO's" if categories is None else "the given"
    labels: dict[ImageId, dict[str, int]] = {}
    for number, detection in enumerate(entries(content, "", where)):
        at = f"{where}: [{number}]"
        if "score" not in detection:
            raise AnnotationError(f"{at} has no 'score': every detection needs one.")
        image_id = image_id_of(detection, "image_id", at)
        name = category_name(detection, names, at, whose)
        of_image = labels.setdefault(image_id, {})
        if check_score(detection["score"], f"{at} (image {image_id!r})") >= threshold:
            count(of_image, name, at=at)
    if categories is None:
        warnings.warn(
            f"{where}: the category ids are read as COCO's 80 (1 is person, 2 is bicycle); give "
            "the names (categories=..., --categories) if the detector was trained on others.",
            VifidelWarning,
            stacklevel=2,
        )
    return ObjectLabels(
        labels,
        "coco-results",
        where,
        threshold,
        lists_every_image=False,
        categories=names.values(),
    )


def category_names(categories: Any, where: str) -> dict[Any, str]:
    """Return ``{category id: name}`` from a COCO ``categories`` list.

    Raises
    ------
    AnnotationError
        If it has another shape, or an id has two names.
    """
    names: dict[Any, str] = {}
    for number, category in enumerate(entries(categories, "categories", where)):
        category_id, name = category.get("id"), category.get("name")
        if (
            isinstance(category_id, bool)
            or not isinstance(category_id, Integral | str)
            or not isinstance(name, str)
            or not clean_label(name)
        ):
            raise AnnotationError(f"{where}: categories[{number}] needs an 'id' and a 'name'.")
        if names.setdefault(category_id, name) != name:
            raise AnnotationError(
                f"{where}: categories[{number}]: category {category_id!r:.40} is called "
                f"{names[category_id]!r:.40} and {name!r:.40}; keep one."
            )
    return names


def listed_images(
    content: Mapping[str, Any], where: str
) -> tuple[dict[ImageId, dict[str, int]], dict[ImageId, dict[str, Any]]]:
    """Return the images that a COCO file lists: without a label yet, and their entries.

    Raises
    ------
    AnnotationError
        If an image is listed twice in different ways, or an entry has another shape.
    """
    listed: dict[ImageId, dict[str, Any]] = {}
    for number, image in enumerate(entries(content.get("images") or [], "images", where)):
        image_id = image.get("id")
        if type(image_id) is not int:
            image_id = image_id_of(image, "id", f"{where}: images[{number}]")
        first = listed.setdefault(image_id, image)
        if first is not image and first != image:
            raise AnnotationError(
                f"{where}: images[{number}]: image {image_id!r} is listed twice; keep one entry."
            )
    return {image_id: {} for image_id in listed}, listed


def entries(content: Any, key: str, where: str) -> list[dict[str, Any]]:
    """Return a list of a COCO file once it is certain that its entries are objects.

    Raises
    ------
    AnnotationError
        If it is not a list, or an entry is something else.
    """
    if not isinstance(content, list):
        raise AnnotationError(f"{where}: '{key}' is not a list; is it the right file?")
    if not set(map(type, content)) <= {dict}:
        for number, entry in enumerate(content):
            if not isinstance(entry, dict):
                raise AnnotationError(f"{where}: {key}[{number}] is {entry!r:.40}, not an object.")
    return content


def image_id_of(entry: Mapping[str, Any], key: str, at: str) -> ImageId:
    """Return the image id of an entry.

    Raises
    ------
    AnnotationError
        If it is missing, or neither an integer nor a string.
    """
    image_id = from_json_value(entry.get(key))
    if image_id is None:
        what = f"'{key}' is {entry[key]!r:.40}" if key in entry else f"'{key}' is missing"
        raise AnnotationError(f"{at}: {what}; an image id is an integer or a string.")
    return image_id


def category_name(entry: Mapping[str, Any], names: Mapping[Any, str], at: str, whose: str) -> str:
    """Return the name of an entry's category; `whose` says in messages who lists the categories.

    Raises
    ------
    AnnotationError
        If the id is missing, or is not one of `names`.
    """
    category_id = entry.get("category_id")
    try:
        if not isinstance(category_id, bool):
            return names[category_id]
    except (KeyError, TypeError):
        pass
    at = f"{at} (image {entry['image_id']!r:.40})" if "image_id" in entry else at
    if "category_id" not in entry:
        raise AnnotationError(f"{at}: 'category_id' is missing; every object needs one.")
    raise AnnotationError(
        f"{at}: category_id {category_id!r:.40} is not one of {whose} {len(names)} categories; "
        "give the file that lists the categories."
    )
