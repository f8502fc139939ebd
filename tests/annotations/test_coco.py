import contextlib
import io
from copy import deepcopy

import pytest
from pycocotools.coco import COCO

from vifidel_eval.annotations import (
    COCO_CATEGORIES,
    read_objects,
)

# Bare category ids are COCO's here; tests/hostile/test_sentences.py tests the note.
pytestmark = pytest.mark.filterwarnings("ignore:.*category ids are read as COCO's 80")

INSTANCES = {
    "images": [
        {"id": 724, "file_name": "000000000724.jpg", "height": 500, "width": 375},
        {"id": 42, "file_name": "000000000042.jpg", "height": 478, "width": 640},
        {"id": 58636, "file_name": "000000058636.jpg", "height": 427, "width": 640},
    ],
    "annotations": [
        {"id": 1, "image_id": 42, "category_id": 18, "iscrowd": 0},
        {"id": 2, "image_id": 42, "category_id": 18, "iscrowd": 0},
        {"id": 900100000724, "image_id": 724, "category_id": 1, "iscrowd": 1},
        {"id": 3, "image_id": 724, "category_id": 13, "iscrowd": 0},
    ],
    "categories": [
        {"supercategory": "person", "id": 1, "name": "person"},
        {"supercategory": "outdoor", "id": 13, "name": "stop sign"},
        {"supercategory": "animal", "id": 18, "name": "dog"},
    ],
}
# A crowd of persons is one person; image 58636 has no annotation.
LABELS = {724: {"person": 1, "stop sign": 1}, 42: {"dog": 2}, 58636: {}}


def coco_object(dataset):
    coco = COCO()
    coco.dataset = deepcopy(dataset)
    with contextlib.redirect_stdout(io.StringIO()):
        coco.createIndex()
    return coco


def detection(**changed):
    box = {"image_id": 42, "category_id": 18, "bbox": [258.15, 41.29, 348.26, 243.78]}
    return box | {"score": 0.9} | changed


def test_instances():
    objects = read_objects(INSTANCES)
    assert objects == LABELS
    assert objects.kind == "coco-instances"
    assert objects.threshold is None
    assert objects.lists_every_image


def test_pycocotools_object():
    assert read_objects(coco_object(INSTANCES)) == LABELS


def test_pycocotools_object_of_detections_keeps_to_the_threshold():
    coco = coco_object(INSTANCES)
    results = [detection(score=0.7), detection(category_id=1, score=0.3)]
    with contextlib.redirect_stdout(io.StringIO()):
        detections = coco.loadRes(results)
    assert read_objects(detections).of_images([42]) == [{"dog": 1}]


def test_annotations_without_a_list_of_images():
    objects = read_objects(INSTANCES | {"images": []})
    assert objects == {42: {"dog": 2}, 724: {"person": 1, "stop sign": 1}}
    assert not objects.lists_every_image


def test_detections_count_from_the_papers_threshold_on(write):
    results = [
        detection(score=0.6),
        detection(score=0.5999, category_id=1),
        detection(score=0.61, category_id=90),
        detection(score=1, image_id=73),
        detection(score=0.1, image_id=74),
    ]
    objects = read_objects(write(results, "detections.json"))
    assert objects == {42: {"dog": 1, "toothbrush": 1}, 73: {"dog": 1}, 74: {}}
    assert objects.threshold == 0.6
    assert not objects.lists_every_image


def test_coco_categories_have_the_published_gaps():
    gaps = {12, 26, 29, 30, 45, 66, 68, 69, 71, 83}
    assert set(COCO_CATEGORIES) == set(range(1, 91)) - gaps
    assert COCO_CATEGORIES[90] == "toothbrush"
