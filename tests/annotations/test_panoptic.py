"""COCO panoptic segmentation, in the layout of the panopticapi's sample data."""

import json

import pytest

from vifidel_eval.annotations import read_objects
from vifidel_eval.errors import AnnotationError


def segment(number, category_id, iscrowd=0):
    return {"id": number, "category_id": category_id, "iscrowd": iscrowd, "area": 9,
            "bbox": [0, 0, 3, 3]}  # fmt: skip


CATEGORIES = [
    {"supercategory": "person", "isthing": 1, "id": 1, "name": "person"},
    {"supercategory": "sky", "isthing": 0, "id": 187, "name": "sky-other-merged"},
    {"supercategory": "plant", "isthing": 0, "id": 184, "name": "tree-merged"},
    {"supercategory": "wall", "isthing": 0, "id": 171, "name": "wall-brick"},
    {"supercategory": "furniture-stuff", "isthing": 0, "id": 112, "name": "door-stuff"},
]
PANOPTIC = {
    "images": [{"id": 42, "file_name": "000000000042.jpg"}, {"id": 73}],
    "annotations": [
        {
            "image_id": 42,
            "file_name": "000000000042.png",
            "segments_info": [
                *(segment(1, 1), segment(2, 1), segment(3, 1, iscrowd=1)),
                *(segment(4, 187), segment(5, 184), segment(6, 171), segment(7, 112)),
            ],
        }
    ],
    "categories": CATEGORIES,
}


def read(tmp_path, **changes):
    path = tmp_path / "panoptic_val2017.json"
    path.write_text(json.dumps({**PANOPTIC, **changes}))
    return read_objects(path)


def test_things_and_stuff(tmp_path):
    objects = read(tmp_path)
    content = {"person": 3, "sky": 1, "tree": 1, "wall brick": 1, "door": 1}
    assert objects == {42: content, 73: {}}
    assert (objects.kind, objects.lists_every_image) == ("coco-panoptic", True)
    assert objects.categories == set(content)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"image_id": 7}, "image 7 is not among the file's images"),
        ({"image_id": 42}, "image 42 is listed twice"),
        ({"image_id": 73, "segments_info": [segment(1, 5)]}, "category_id 5 is not one of this"),
    ],
)
def test_broken(tmp_path, changes, message):
    annotations = [PANOPTIC["annotations"][0], {**PANOPTIC["annotations"][0], **changes}]
    with pytest.raises(AnnotationError, match=rf"annotations\[1\].*{message}"):
        read(tmp_path, annotations=annotations)
