"""Objects as JSON Lines and as lists of records."""

import json

import pytest

from vifidel_eval.annotations import read_objects

RECORDS = [
    {"image": "val2017/000000000042.jpg", "objects": ["dog", "dog", "fire_hydrant"], "model": "m"},
    {"image": "b.jpg", "objects": []},
    {"image": "c.jpg", "objects": {"cat": 2}},
    {"image": "d.jpg", "objects": [["cat", 0.9], ["dog", 0.2]]},
    {"image": "e.jpg", "objects": [{"label": "cat", "score": 0.7, "box": {}}]},
    {"image": "f.jpg", "objects": {"labels": ["a dog"], "scores": [0.9], "boxes": [[0, 0, 1, 1]]}},
]
LABELS = {
    "val2017/000000000042.jpg": {"dog": 2, "fire hydrant": 1},
    "b.jpg": {},
    "c.jpg": {"cat": 2},
    "d.jpg": {"cat": 1},
    "e.jpg": {"cat": 1},
    "f.jpg": {"dog": 1},
}


@pytest.fixture
def write_entries(write):
    def write_entries(*entries, lines=True):
        return write("\n\n".join(map(json.dumps, entries)) + "\n" if lines else entries)

    return write_entries


@pytest.mark.parametrize("lines", [True, False])
def test_labels(write_entries, lines):
    objects = read_objects(write_entries(*RECORDS, lines=lines))
    assert objects == LABELS
    plain = read_objects({record["image"]: record["objects"] for record in RECORDS})
    assert objects.signature() == plain.signature()
    assert objects.lists_every_image
    assert objects.of_images([42]) == [{"dog": 2, "fire hydrant": 1}]


@pytest.mark.parametrize("key", ["image_id", "image", "file_name", "filename", "id"])
@pytest.mark.parametrize("lines", [True, False])
def test_names_of_the_image(write_entries, key, lines):
    path = write_entries({key: 42, "objects": ["dog"]}, lines=lines)
    assert read_objects(path) == {42: {"dog": 1}}


def test_the_other_lists_may_be_lines_too(write_entries):
    genome = {"image_id": 1, "objects": [{"object_id": 5, "names": ["tree"]}]}
    assert read_objects(write_entries(genome, {**genome, "image_id": 2})).kind == "visual-genome"
    content = {"image_id": 1, "category_id": 18, "score": 0.9}
    objects = read_objects(write_entries(content, content), categories={18: "dog"})
    assert (objects.kind, dict(objects[1])) == ("coco-results", {"dog": 2})


def test_an_image_may_be_called_objects(write_entries):
    result = read_objects(write_entries({"objects": ["dog"], "image": ["cat"]}))
    assert result == {"objects": {"dog": 1}, "image": {"cat": 1}}
