"""Visual Genome: objects.json in versions 1.4 and 1.0, and scene_graphs.json."""

import pytest

from vifidel_eval.annotations import read_objects


def thing(number, *names):
    box = {"x": 0, "y": 0, "w": 799, "h": 557}
    return {"object_id": number, "names": list(names), "synsets": [], **box}


OBJECTS = [
    {"image_id": 1, "objects": [thing(1, "trees", "tree"), thing(2, "Trees"), thing(3, "clock")],
     "image_url": "http://example.org/1.jpg"},
    {"image_id": 2, "objects": [], "image_url": "http://example.org/2.jpg"},
]  # fmt: skip
GRAPHS = [{**image, "id": 7, "relationships": [], "attributes": []} for image in OBJECTS]
OLD = [{"id": image["image_id"], "objects": image["objects"]} for image in OBJECTS]


@pytest.mark.parametrize("content", [OBJECTS, GRAPHS, OLD])
def test_first_names(content, write):
    objects = read_objects(write(content, "objects.json"))
    assert objects == {1: {"trees": 2, "clock": 1}, 2: {}}
    assert (objects.kind, objects.lists_every_image) == ("visual-genome", True)
