import contextlib
import io
from copy import deepcopy

import pytest
from pycocotools.coco import COCO

from vifidel_eval.annotations import (
    COCO_CATEGORIES,
    read_coco_instances,
    read_coco_results,
    read_objects,
)
from vifidel_eval.errors import AnnotationError

# Bare category ids are COCO's here; tests/hostile/test_readers.py tests the note.
pytestmark = pytest.mark.filterwarnings("ignore:.*category ids are read as COCO's 80")

INSTANCES = {
    "info": {"description": "COCO 2017 Dataset", "year": 2017},
    "licenses": [{"id": 1, "name": "Attribution License", "url": "http://example.org/"}],
    "images": [
        {"id": 724, "file_name": "000000000724.jpg", "height": 500, "width": 375, "license": 1},
        {"id": 42, "file_name": "000000000042.jpg", "height": 478, "width": 640, "license": 1},
        {"id": 58636, "file_name": "000000058636.jpg", "height": 427, "width": 640, "license": 1},
    ],
    "annotations": [
        {
            "id": 1,
            "image_id": 42,
            "category_id": 18,
            "bbox": [10.0, 10.0, 20.0, 20.0],
            "area": 400.0,
            "iscrowd": 0,
            "segmentation": [[10.0, 10.0, 30.0, 10.0, 30.0, 30.0]],
        },
        {
            "id": 2,
            "image_id": 42,
            "category_id": 18,
            "bbox": [50.0, 10.0, 20.0, 20.0],
            "area": 400.0,
            "iscrowd": 0,
            "segmentation": [[50.0, 10.0, 70.0, 10.0, 70.0, 30.0]],
        },
        {
            "id": 900100000724,
            "image_id": 724,
            "category_id": 1,
            "bbox": [0.0, 0.0, 375.0, 100.0],
            "area": 37500.0,
            "iscrowd": 1,
            "segmentation": {"counts": [0, 37500, 150000], "size": [500, 375]},
        },
        {
            "id": 3,
            "image_id": 724,
            "category_id": 13,
            "bbox": [100.0, 100.0, 20.0, 20.0],
            "area": 400.0,
            "iscrowd": 0,
            "segmentation": [[100.0, 100.0, 120.0, 100.0, 120.0, 120.0]],
        },
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
    objects = read_coco_instances(INSTANCES, "instances.json")
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


def test_lvis_instances():
    lvis = {
        "images": [{"id": 155379, "coco_url": "http://images.cocodataset.org/000000155379.jpg"}],
        "annotations": [
            {"id": 1, "image_id": 155379, "category_id": 156, "bbox": [1, 1, 5, 5], "area": 25},
            {"id": 2, "image_id": 155379, "category_id": 58, "bbox": [1, 1, 5, 5], "area": 25},
        ],
        "categories": [
            {
                "id": 156,
                "name": "bow_(decorative_ribbons)",
                "synonyms": ["bow_(decorative_ribbons)"],
                "synset": "bow.n.08",
                "frequency": "f",
            },
            {
                "id": 58,
                "name": "baseball_bat",
                "synonyms": ["baseball_bat"],
                "synset": "baseball_bat.n.01",
                "frequency": "f",
            },
        ],
    }
    assert read_coco_instances(lvis, "lvis.json") == {155379: {"bow": 1, "baseball bat": 1}}


def test_images_that_are_not_listed_are_met_after_their_categories_are_known():
    # A known category with an unknown image, an unknown category with a known one, both known.
    names = {18: "dog", 1: "person"}
    pairs = [(42, 18), (73, 18), (73, 1), (73, 18), ("a", 1), (42, 1)]
    content = {
        "annotations": [{"image_id": i, "category_id": c} for i, c in pairs],
        "categories": [{"id": i, "name": name} for i, name in names.items()],
    }
    expected = {
        image: {names[c]: pairs.count((image, c)) for i, c in pairs if i == image}
        for image in (42, 73, "a")
    }
    assert read_coco_instances(content, "instances") == expected


def test_annotations_without_a_list_of_images():
    objects = read_coco_instances(INSTANCES | {"images": []}, "instances.json")
    assert objects == {42: {"dog": 2}, 724: {"person": 1, "stop sign": 1}}
    assert not objects.lists_every_image


@pytest.mark.parametrize(
    ("key", "entry", "message"),
    [
        ("annotations", {"image_id": 42, "category_id": 99}, r"\[0\] \(image 42\): category_id 99"),
        ("annotations", {"image_id": 42}, r"\[0\] \(image 42\): 'category_id' is missing"),
        ("annotations", {"image_id": 42, "category_id": [18]}, r"\[0\] .*category_id \[18\]"),
        ("annotations", {"image_id": None, "category_id": 18}, r"\[0\]: 'image_id' is null"),
        ("annotations", {"image_id": 4.5, "category_id": 18}, r"\[0\]: 'image_id' is 4\.5"),
        ("annotations", {"image_id": True, "category_id": 18}, r"\[0\]: 'image_id' is True"),
        ("annotations", {"image_id": "", "category_id": 18}, r"\[0\]: 'image_id' is empty"),
        ("annotations", "dog", r"\[0\]: expected an object, found 'dog'"),
        ("images", {"file_name": "000000000042.jpg"}, r"\[0\]: 'id' is missing"),
        ("images", {"id": [42]}, r"\[0\]: 'id' is \[42\]"),
        ("images", 42, r"\[0\]: expected an object, found 42"),
        ("categories", {"id": 18}, r"\[0\] needs an 'id' and a 'name'"),
        ("categories", {"name": "dog"}, r"\[0\] needs an 'id' and a 'name'"),
    ],
)
def test_bad_entry_of_an_instances_file(key, entry, message):
    with pytest.raises(AnnotationError, match=rf"instances\.json: {key}{message}"):
        read_coco_instances(INSTANCES | {key: [entry]}, "instances.json")


@pytest.mark.parametrize("key", ["images", "annotations", "categories"])
def test_part_of_an_instances_file_that_is_no_list(key):
    with pytest.raises(AnnotationError, match=rf"instances\.json: '{key}' is .*; expected a list"):
        read_coco_instances(INSTANCES | {key: {"42": {}}}, "instances.json")


def test_detections_count_from_the_papers_threshold_on():
    results = [
        detection(score=0.6),
        detection(score=0.5999, category_id=1),
        detection(score=0.61, category_id=90),
        detection(score=1, image_id=73),
        detection(score=0.1, image_id=74),
    ]
    objects = read_coco_results(results, "detections.json")
    assert objects == {42: {"dog": 1, "toothbrush": 1}, 73: {"dog": 1}, 74: {}}
    assert objects.threshold == 0.6
    assert not objects.lists_every_image


def test_detections_with_another_threshold():
    results = [detection(score=0.1), detection(score=0.09)]
    assert read_coco_results(results, "detections.json", threshold=0.1) == {42: {"dog": 1}}


def test_detections_with_other_categories():
    results = [detection(category_id=0), detection(category_id=1)]
    names = {0: "Wind_Turbine", 1: "solar panel"}
    objects = read_coco_results(results, "detections.json", categories=names)
    assert objects == {42: {"wind turbine": 1, "solar panel": 1}}


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        (detection(category_id=12), r"\(image 42\): category_id 12 is not one of COCO's 80"),
        (detection(category_id="dog"), r"\(image 42\): category_id 'dog' is not one of COCO's 80"),
        (detection(score="0.9"), r"\(image 42\): score '0\.9' is not a number"),
        (detection(score=None), r"\(image 42\): score None is not a number"),
        (detection(score=True), r"\(image 42\): score True is not a number"),
        (detection(score=float("nan")), r"\(image 42\): score nan is not a number"),
        (detection(score=float("inf")), r"\(image 42\): score inf is not a number"),
        (detection(score=10**400), r"\(image 42\): score 1000.* is not a number"),
        ({"image_id": 42, "category_id": 18}, "has no 'score'"),
        ({"category_id": 18, "score": 0.9}, "'image_id' is missing; an image id is"),
        ({"image_id": 42, "score": 0.9}, r"\(image 42\): 'category_id' is missing"),
        (detection(image_id=None), "'image_id' is null; an image id is"),
        (detection(image_id=[42]), r"'image_id' is \[42\]; an image id is"),
        (["dog", 0.9], r"expected an object, found"),
    ],
)
def test_bad_detection(entry, message):
    with pytest.raises(AnnotationError, match=r"detections\.json: ?\[1\]:? ?" + message):
        read_coco_results([detection(), entry], "detections.json")


def test_unknown_id_of_given_categories():
    with pytest.raises(AnnotationError, match=r"\[0\] .*category_id 18 is not one of the given 1"):
        read_coco_results([detection()], "detections.json", categories={0: "dog"})


def test_coco_categories_have_the_published_gaps():
    gaps = {12, 26, 29, 30, 45, 66, 68, 69, 71, 83}
    assert set(COCO_CATEGORIES) == set(range(1, 91)) - gaps
    assert COCO_CATEGORIES[1] == "person"
    assert COCO_CATEGORIES[11] == "fire hydrant"
    assert COCO_CATEGORIES[13] == "stop sign"
    assert COCO_CATEGORIES[27] == "backpack"
    assert COCO_CATEGORIES[44] == "bottle"
    assert COCO_CATEGORIES[67] == "dining table"
    assert COCO_CATEGORIES[84] == "book"
    assert COCO_CATEGORIES[90] == "toothbrush"
