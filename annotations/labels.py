"""Labels keyed by image id: the plain format for everything that has no reader of its own.

The value of an image is a list. Each item is a label (``"dog"``), a label with a score
(``["dog", 0.9]``), or a detection as Hugging Face pipelines (``{"label", "score", "box"}``) and
Ultralytics (``{"name", "confidence", "box"}``) write it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from numbers import Integral
from typing import Any

from ..errors import AnnotationError
from ..image_ids import ImageId
from .objects import DETECTION_THRESHOLD, ObjectLabels, check_score

# The name DETR's COCO models give to category ids that COCO does not use.
_NO_CATEGORY = "N/A"


def read_labels(
    content: Mapping[ImageId, Any], where: str, threshold: float | None = None
) -> ObjectLabels:
    """Read ``{image id: [label, ...]}`` in any of the item shapes above.

    A ``Counter`` or other mapping of label to count serves as a value too. Detections of DETR's
    ``N/A`` are no objects.

    Parameters
    ----------
    content : mapping
        Image id to items.
    where : str
        The file, for messages.
    threshold : float, optional
        The lowest score that counts, `DETECTION_THRESHOLD` by default; labels without a score
        always count.

    Raises
    ------
    AnnotationError
        If an item has another shape or a score is not a number.
    """
    threshold = DETECTION_THRESHOLD if threshold is None else threshold
    objects = ObjectLabels("labels", where)
    for image_id, items in content.items():
        at = f"{where}: image {image_id!r}"
        objects[image_id] = Counter()
        listed = _repeated(items, at) if isinstance(items, Mapping) else items
        if not isinstance(listed, list | tuple | set | frozenset):
            raise AnnotationError(f"{at}: expected a list of labels, found {items!r:.40}.")
        for number, item in enumerate(listed):
            label, score = _label_and_score(item, f"{at}, item {number}")
            if score is not None:
                objects.threshold = threshold
            if label != _NO_CATEGORY and (score is None or score >= threshold):
                objects.add(image_id, label)
    return objects


def _repeated(counts: Mapping[Any, Any], at: str) -> list[str]:
    for label, count in counts.items():
        if isinstance(count, bool) or not isinstance(count, Integral) or count < 0:
            raise AnnotationError(
                f"{at}: the count of {label!r} is {count!r:.40}, not a whole number; give a list "
                "of labels, or a count each."
            )
    return [label for label, count in counts.items() for _ in range(count)]


def _label_and_score(item: Any, at: str) -> tuple[str, float | None]:
    score: Any = None
    label: Any = item
    if isinstance(item, Mapping):
        label = item.get("label", item.get("name"))
        score = item.get("score", item.get("confidence"))
        if score is None:
            raise AnnotationError(f"{at}: a detection needs a 'score' or a 'confidence'.")
    elif isinstance(item, list | tuple) and len(item) == 2:
        label, score = item
        score = check_score(score, at)
    if not isinstance(label, str) or not label.strip():
        raise AnnotationError(
            f"{at}: found {item!r:.60}; expected a label, [label, score], or a detection with "
            "'label' and 'score' or 'name' and 'confidence'."
        )
    return label, None if score is None else check_score(score, at)


class LabelRows(list[Counter[str]]):
    """The object labels of rows (a stand-in until annotations/ has its own)."""

    @property
    def counts(self) -> list[Counter[str]]:
        return list(self)

    def signature(self) -> str:
        return "rows"


def label_rows(objects: Any, threshold: float | None = None) -> LabelRows:
    """Return the labels of each row."""
    return LabelRows(read_labels(dict(enumerate(objects)), "objects", threshold).values())
