"""Parts that COCO's and LVIS's JSON files share: categories, listed images, entries.

Format: https://cocodataset.org/#format-data and #format-results.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from numbers import Integral
from typing import Any

from ..errors import AnnotationError
from ..image_ids import ImageId, from_json_value
from .carriers import places
from .objects import clean_label

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


def check_listed(image_id: ImageId, listed: Collection[ImageId], at: str) -> None:
    """Check that an annotation is of one of the images that a file lists, if it lists any.

    Raises
    ------
    AnnotationError
        If it is not; `at` names the file and the annotation.
    """
    if listed and image_id not in listed:
        raise AnnotationError(
            f"{at}: image {image_id!r:.40} is not among the file's images; list it, or leave "
            "its annotations out."
        )


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
        for at, entry in zip(places(content, where, key), content, strict=True):
            if not isinstance(entry, dict):
                raise AnnotationError(f"{at} is {entry!r:.40}, not an object.")
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
