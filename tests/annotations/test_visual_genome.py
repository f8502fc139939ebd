"""Visual Genome: objects.json in versions 1.4 and 1.0, and scene_graphs.json."""

import pytest

from vifidel_eval.annotations import read_objects
from vifidel_eval.errors import AnnotationError


def thing(number, *names):
    box = {"x": 0, "y": 0, "w": 799, "h": 557}
    return {
        "object_id": number,
        "names": list(names),
        "synsets": [],
        "merged_object_ids": [],
        **box,
    }


OBJECTS = [
    {"image_id": 1, "objects": [thing(1, "trees", "tree"), thing(2, "Trees"), thing(3, "clock")],
     "image_url": "http://example.org/1.jpg"},
    {"image_id": 2, "objects": [], "image_url": "http://example.org/2.jpg"},
]  # fmt: skip
GRAPHS = [{**image, "relationships": [], "attributes": []} for image in OBJECTS]
OLD = [{"id": image["image_id"], "objects": image["objects"]} for image in OBJECTS]


@pytest.mark.parametrize("content", [OBJECTS, GRAPHS, OLD])
def test_first_names(content, write):
    objects = read_objects(write(content, "objects.json"))
    assert objects == {1: {"trees": 2, "clock": 1}, 2: {}}
    assert (objects.kind, objects.lists_every_image) == ("visual-genome", True)


@pytest.mark.parametrize(
    ("image", "message"),
    [
        ({"image_id": 2, "objects": []}, r"\[2\]: image 2 is listed twice"),
        ({"image_id": 3}, r"\[2\] \(image 3\): 'objects' is missing"),
        ({"image_id": 3, "objects": [thing(4)]}, r"objects\[0\]: cannot be read as Visual"),
        ({"image_id": 3, "objects": [thing(4, 7)]}, r"objects\[0\]: 'names' is \[7\]"),
        ({"image_id": 3, "objects": [thing(4, "_")]}, r"objects\[0\]: the label '_' has no word"),
    ],
)
def test_broken(image, message, write):
    with pytest.raises(AnnotationError, match=message):
        read_objects(write([*OBJECTS, image], "objects.json"))
