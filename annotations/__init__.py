"""Object labels of images from the files that datasets and detectors write.

>>> from vifidel_eval.annotations import read_objects
>>> objects = read_objects({42: ["dog", "dog", "frisbee"]})
>>> objects
<ObjectLabels labels: 1 image, 2 labels, objects>
>>> dict(objects[42])
{'dog': 2, 'frisbee': 1}
"""

from .categories import (
    COCO_CATEGORIES,
    CategoryNames,
    CategorySource,
    read_categories,
)
from .instances import LabelItem, LabelList, LabelRows, label_rows
from .labels import DETECTION_THRESHOLD, OPEN_IMAGES_THRESHOLD, clean_label
from .objects import Box, ImageBoxes, ObjectLabels
from .read import ObjectSource, agreed, read_boxes, read_objects, union

__all__ = [
    "COCO_CATEGORIES",
    "DETECTION_THRESHOLD",
    "OPEN_IMAGES_THRESHOLD",
    "Box",
    "CategoryNames",
    "CategorySource",
    "ImageBoxes",
    "LabelItem",
    "LabelList",
    "LabelRows",
    "ObjectLabels",
    "ObjectSource",
    "agreed",
    "clean_label",
    "label_rows",
    "read_boxes",
    "read_categories",
    "read_objects",
    "union",
]
