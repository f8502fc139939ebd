"""Detections in the COCO results format, a list of ``{"image_id", "category_id", "score"}``.

Format: https://cocodataset.org/#format-results. Detectron2, MMDetection and Ultralytics
(``save_json``) write it too.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

from ..arguments import named_if_wrong
from ..errors import AnnotationError, VifidelWarning
from .categories import COCO_CATEGORIES, category_name
from .format import Format, Way, entries, image_id_of
from .instances import Instances
from .listed import CategoryNames
from .objects import ObjectLabels, check_score


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
    return _read(content, Instances(where, threshold, CategoryNames(ids=categories or {})))


def _read(content: list[Any], found: Instances) -> ObjectLabels:
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


FORMAT = Format(
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
        Way("list", ("[].image_id", "![].objects", "![].thing", "![].entity_info"), _read),
    ),
)
