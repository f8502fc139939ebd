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
from ..image_ids import ImageId
from .boxes import BoxCollector
from .carriers import places
from .coco import COCO_CATEGORIES, category_name, entries, image_id_of
from .objects import DETECTION_THRESHOLD, ObjectLabels, check_score, count
from .record import Format, ReadOptions, Way, refused


@named_if_wrong
def read_coco_results(
    content: list[Any],
    where: str,
    threshold: float | None = None,
    categories: Mapping[Any, str] | None = None,
    boxes: BoxCollector | None = None,
) -> ObjectLabels:
    """Read detections in the COCO results format: ``[{"image_id", "category_id", "score"}]``.

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
    boxes : BoxCollector, optional
        Keeps ``bbox``: x, y, width, height in pixels.

    Raises
    ------
    AnnotationError
        If a category id is unknown, a score is not a number or an entry has another shape.

    Warns
    -----
    VifidelWarning
        If COCO's categories are assumed; not where the boxes are kept, which are read after the
        labels.
    """
    threshold = DETECTION_THRESHOLD if threshold is None else threshold
    names = COCO_CATEGORIES if categories is None else categories
    whose = "COCO's" if categories is None else "the given"
    labels: dict[ImageId, dict[str, int]] = {}
    for detection, at in zip(entries(content, "", where), places(content, where), strict=True):
        if "score" not in detection:
            raise AnnotationError(f"{at} has no 'score': every detection needs one.")
        image_id = image_id_of(detection, "image_id", at)
        name = category_name(detection, names, at, whose)
        of_image = labels.setdefault(image_id, {})
        if check_score(detection["score"], f"{at} (image {image_id!r})") >= threshold:
            count(of_image, name, at=at)
            if boxes is not None:
                boxes.add(image_id, name, detection.get("bbox"), detection["score"])
    if categories is None and boxes is None:
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


def _read(content: list[Any], options: ReadOptions) -> ObjectLabels:
    if options.names.indices and not options.names.ids:
        raise AnnotationError(
            f"{options.where}: COCO results have category ids, and a list of class names does not "
            "say which id each has (Ultralytics counts from 1); give a COCO file with categories "
            "or {id: name}."
        )
    return read_coco_results(
        content, options.where, options.threshold, options.names.ids or None, options.boxes
    )


FORMAT = Format(
    "COCO detection results",
    "COCO detection results (Detectron2, MMDetection, Ultralytics `save_json`)",
    ".6",
    "`--categories FILE` unless the ids are COCO's 80",
    (
        refused(
            "list",
            ("[].caption", "![].objects"),
            "holds captions, not objects; give captions as results or references.",
        ),
        Way(
            "list",
            ("[].image_id", "![].objects", "![].thing", "![].entity_info"),
            _read,
        ),
    ),
)
