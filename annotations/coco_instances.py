"""Gold instances: COCO's and LVIS's ``instances_*.json``, or ``COCO(...).dataset``.

Format: https://cocodataset.org/#format-data. LVIS instances have the same shape without
``iscrowd``; their category names carry underscores and senses.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from ..arguments import named_if_wrong
from ..errors import AnnotationError
from ..image_ids import ImageId
from .categories import category_name, category_names
from .format import Format, Way, entries, image_id_of
from .instances import Instances
from .objects import ObjectLabels, check_score, clean_label

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
    return _read(content, Instances(where, threshold))


def _read(content: Mapping[str, Any], found: Instances) -> ObjectLabels:
    """Read instances as `read_coco_instances` does; a box is ``bbox``, in pixels."""
    names = category_names(content.get("categories"), found.where)
    listed = listed_images(content, found)
    _ask(listed, names, found)
    for at, annotation in entries(content.get("annotations"), found.where, "annotations"):
        image_id = image_of(annotation, listed, at)
        name = category_name(annotation, names, at, "this file's")
        score = annotation.get("score")
        if "score" in annotation:
            score = check_score(score, f"{at} (image {image_id!r})")
        size = size_of(listed.get(image_id, {}))
        found.add(image_id, name, at, score=score, sides=annotation.get("bbox"), size=size)
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
    for image_id, image in listed.items():
        at = f"{found.where}: image {image_id!r:.40}"
        found.asked_in(image_id)
        ids = {}
        for key in ("neg_category_ids", "not_exhaustive_category_ids"):
            given = image.get(key, [])
            if not isinstance(given, list) or not all(type(i) is int for i in given):
                raise AnnotationError(f"{at}: {key!r} is not a list of category ids.")
            ids[key] = given
        negative, unknown = ids.values()
        for category in negative:
            if category not in unknown:
                name = category_name({"category_id": category}, names, at, "this file's")
                found.asked_in(image_id)[clean_label(name)] = at


FORMAT = Format(
    "COCO or LVIS instances JSON",
    "COCO `instances_*.json`, LVIS `lvis_v1_*.json`, or a loaded pycocotools `COCO`",
    "",
    "every annotation is an instance, crowd regions included; LVIS's "
    "`bow_(decorative_ribbons)` becomes *bow*, and only its `neg_category_ids` can be absent",
    (
        Way("object", ("annotations[]", "categories", "!annotations[].segments_info"), _read),
        Way(
            "object",
            ("annotations[]", "!categories", "!images[].open_images_id"),
            "has 'annotations' but no 'categories': a caption file says nothing of objects; give "
            "the instances file of the same images.",
        ),
        Way("object", _IMAGE_LIST, "has no 'annotations'; give the instances file."),
    ),
)
