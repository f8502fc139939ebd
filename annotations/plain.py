"""Labels by image id: the plain format for everything else."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..arguments import named_if_wrong
from .format import Format, Way
from .instances import Instances, LabelList, read_items
from .listed import NO_NAMES, CategoryNames
from .objects import ObjectLabels


@named_if_wrong
def read_labels(
    content: Mapping[Any, LabelList],
    where: str,
    threshold: float | None = None,
    names: CategoryNames | None = None,
    uncertain: float | None = None,
) -> ObjectLabels:
    """Read ``{image id: [label, ...]}``; an image may have any of the shapes of `label_rows`.

    Detections of DETR's ``N/A`` are not objects.

    Parameters
    ----------
    content : mapping
        Image id to items, to a mapping of label to count, or to parallel arrays. Where a count is
        0, the labels of all such mappings were looked for in their images.
    where : str
        The file, for messages.
    threshold : float, optional
        The lowest score that counts, `DETECTION_THRESHOLD` by default; labels without a score
        always count.
    names : CategoryNames, optional
        Names of the class indices in parallel arrays.
    uncertain : float, optional
        As for `label_rows`.

    Raises
    ------
    AnnotationError
        If an item has another shape, a score is not a number or a class has no name.
    """
    return read_items(content, Instances(where, threshold, names or NO_NAMES, uncertain))


FORMAT = Format(
    "{image id: [label, ...]} JSON",
    '`{"id": ["dog", "dog", "frisbee"]}`, `{"id": [["dog", 0.9]]}`, `{"id": {"dog": 2, "nut": 0}}` '
    'or `{"id": "dog \\| frisbee"}` JSON, or a Python mapping',
    ".6, if there are scores",
    "the plain format for everything else; a count of 0 was looked for and is not there; tags with "
    "bars between them are RAM's",
    (
        Way("object", (), read_items),
        Way("list", lambda found: not found, "an empty list; there is no detection in it."),
        Way(
            "list",
            ("![].image_id", "![].objects"),
            "a list whose entries have no 'image_id', so nothing says which image each belongs to; "
            "write {image id: [detections]} instead.",
        ),
    ),
)
