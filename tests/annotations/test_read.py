import json
import pickle

import numpy as np
import pytest

import vifidel_eval
from vifidel_eval.annotations import read_categories, read_objects
from vifidel_eval.errors import AnnotationError

# Bare category ids are COCO's here; tests/hostile/test_sentences.py tests the note.
pytestmark = pytest.mark.filterwarnings("ignore:.*category ids are read as COCO's 80")

CAPTIONS = {"images": [{"id": 42}], "annotations": [{"id": 1, "image_id": 42, "caption": "A dog."}]}
DETECTIONS = [
    {"image_id": 42, "category_id": 18, "bbox": [1, 2, 3, 4], "score": 0.7},
    {"image_id": 42, "category_id": 1, "bbox": [1, 2, 3, 4], "score": 0.5},
]
OPEN_IMAGES = (
    "ImageID,Source,LabelName,Confidence,XMin,XMax,YMin,YMax\n"
    "0001eeaf4aed83f9,xclick,/m/0cmf2,0.4,0,1,0,1\n"
)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("instances.json", {"categories": [{"id": 18, "name": "hound"}, {"id": 1, "name": "man"}]}),
        ("categories.json", [{"id": 18, "name": "hound"}, {"id": 1, "name": "man"}]),
    ],
)
def test_detections_with_categories_of_a_file(name, content, write):
    categories = write(content, name)
    path = write(DETECTIONS, "detections.json")
    assert read_objects(path, categories=categories) == {42: {"hound": 1}}
    assert read_objects(path, categories={18: "hound", 1: "man"}) == {42: {"hound": 1}}


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("captions.json", CAPTIONS, "'categories' is missing"),
        ("names.json", [["dog"]], r"\[0\]: expected an object, found \['dog'\]"),
        ("classes.csv", "dog,cat\n", "has no categories"),
        ("cut.json", '{"categories": [{"id": 18', "the JSON ends too early"),
    ],
)
def test_file_without_categories(name, content, message, write):
    path = write(content, name)
    with pytest.raises(AnnotationError, match=rf"{name}: {message}"):
        read_categories(path)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("notes.txt", "two dogs and a frisbee", "not a source of objects: no known layout begins"),
        ("captions.json", CAPTIONS, ".*a caption file says nothing about objects"),
        ("results.json", [{"image_id": 42, "caption": "A dog."}], "holds captions, not objects"),
        ("keyed.json", {"42": "A dog in the snow."}, "image 42: 'A dog in the snow.' is one text"),
        ("pipeline.json", [{"score": 0.9, "label": "dog"}],
         "a list whose entries have no 'image_id'"),
        ("boxes.csv", OPEN_IMAGES, "line 2: class /m/0cmf2 has no name"),
        ("image_info.json", {"images": [{"id": 42}], "categories": []}, ".*no 'annotations'"),
    ],
)  # fmt: skip
def test_bad_file(name, content, message, write):
    path = write(content, name)
    with pytest.raises(AnnotationError, match=rf"{name}: {message}") as problem:
        read_objects(path)
    assert str(problem.value).startswith(str(path))
    assert "\n" not in str(problem.value)


@pytest.mark.parametrize("source", [42, None, b"instances.json", {"dog"}, object()])
def test_unknown_type_of_source(source):
    with pytest.raises(AnnotationError, match=f"from {type(source).__name__} .*accepted: a path"):
        read_objects(source)


def test_a_folder_of_photographs_needs_a_detector(tmp_path):
    (tmp_path / "photos/sub").mkdir(parents=True)
    (tmp_path / "photos/sub/a.JPG").touch()
    with pytest.raises(AnnotationError, match=r"--detector .*docs/objects\.md"):
        read_objects(tmp_path / "photos")


# Labels of rows


ROWS = [["dog", "dog"], ["cat"], []]
OF_ROWS = {0: {"dog": 2}, 1: {"cat": 1}, 2: {}}


@pytest.mark.parametrize(
    "rows",
    [
        ROWS,
        tuple(map(tuple, ROWS)),
        [np.array(labels, dtype=object) for labels in ROWS],
        [{"dog": 2}, ["cat"], []],
        [[["dog", 0.9], ["dog", 0.8]], [["cat", 1]], [["bird", 0.1]]],
        [[{"label": "dog", "score": 0.9}] * 2, [{"label": "cat", "score": 1}], []],
    ],
)
def test_lists_of_labels_in_a_list_are_those_of_rows(rows):
    assert read_objects(rows) == OF_ROWS
    assert pickle.loads(pickle.dumps(read_objects(rows))) == OF_ROWS


def test_a_list_of_anything_else_is_a_union(tmp_path):
    paths = [tmp_path / "dog", tmp_path / "cat"]
    for path in paths:
        path.write_text(json.dumps({0: [path.name]}))
    both = {0: {"dog": 1, "cat": 1}}
    assert read_objects(list(map(str, paths))) == both
    assert read_objects(paths) == both
    assert read_objects([{0: ["dog"]}, {0: ["cat"]}]) == both
    assert read_objects([[["dog"]], {0: ["cat"]}]) == both  # rows as one of its members


@pytest.mark.parametrize("other", ["a.json", 5, None, read_objects({1: ["dog"]})])
def test_labels_of_rows_beside_sources_are_refused(other):
    with pytest.raises(AnnotationError, match="objects: image 1: "):
        read_objects([["dog"], other])


def test_evaluate_takes_labels_of_rows():
    captions = {"x": {0: "a dog", 1: "a cat"}}
    run = vifidel_eval.evaluate(captions, objects=[["dog"], ["cat"]])
    assert run.scores == vifidel_eval.evaluate(captions, objects={0: ["dog"], 1: ["cat"]}).scores
    assert run.inventions() == []
    assert run.plan.files["objects"] == []
