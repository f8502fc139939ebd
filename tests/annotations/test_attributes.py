import json

import pytest

from vifidel_eval.annotations import read_objects
from vifidel_eval.errors import AnnotationError

# Image 1 has two cars and a dog: its attributes by each way of writing them.
OBJECTS = {1: ["car", "car", "dog"]}
RED_AND_SUNNY = ({"car": {"red": 1}}, {"sunny": 1}, frozenset())
GRAPH = [
    {"names": ["car"], "attributes": ["red", " "]},
    {"names": ["car"], "attributes": None},
    {"names": ["dog"]},
]


def attributes_of(source, objects=OBJECTS, **options):
    labels = read_objects(objects, attributes=source, **options)
    return [tuple(result) for result in labels.attributes_of(list(labels))]


@pytest.mark.parametrize(
    "listed",
    [
        ["red car", "Sunny"],
        ["a red car", "dog", "sunny"],  # a tag that only names an object describes none
        "red cars, sunny, no rain",
        {"car": "red", "scene": ["sunny"]},
        {"car": ["red"], "scene": "sunny", "dog": []},
    ],
)
def test_tags_and_mappings(listed, write):
    assert attributes_of({1: listed}) == [RED_AND_SUNNY]
    assert attributes_of(write({"1": listed})) == [RED_AND_SUNNY]
    line = json.dumps({"image_id": 1, "attributes": listed}) + "\n"
    assert attributes_of([write(line)]) == [RED_AND_SUNNY]


@pytest.mark.parametrize(
    ("content", "scene"),
    [
        ([{"image_id": 1, "attributes": GRAPH}], {}),  # Visual Genome's attributes.json
        ([{"id": 1, "attributes": [{"object_names": o["names"], **o} for o in GRAPH]}], {}),
        ([{"image_id": 1, "objects": GRAPH, "relationships": []}], {}),  # its scene graphs
        (
            {"1": {"weather": "sunny", "objects": {str(n): o for n, o in enumerate(GRAPH)}}},  # GQA
            {"sunny": 1},
        ),
    ],
)
def test_graphs(content, scene, write):
    path = write(content)
    keyed = {int(i): of_image for i, of_image in content.items()} if scene else content
    assert attributes_of(keyed) == attributes_of(path)
    assert attributes_of(path) == [({"car": {"red": 1}}, scene, {"car"})]  # of two cars one


def test_descriptions_of_objects(write):
    """CompreCap's: what stands before the category describes it, and nothing else does."""
    described = "A big, black and white dog beside a red car."
    info = [{"category": "dog", "short_description": described}]
    path = write([{"image": "1.jpg", "info": info}])
    result = attributes_of(path, {"1.jpg": ["dog", "car"]})
    assert result == [({"dog": {"big": 1, "black": 1, "white": 1}}, {}, frozenset())]


def test_open_images_relationships(write):
    path = write(
        "ImageID,LabelName1,LabelName2,RelationLabel\n"
        "a,/m/01mzpv,/m/083vt,is\na,/m/01mzpv,/m/04bcr3,at\n",
        "vrd.csv",
    )
    names = {"/m/01mzpv": "Chair", "/m/083vt": "Wooden", "/m/04bcr3": "Table"}
    boxes = "ImageID,LabelName,Confidence,XMin,XMax,YMin,YMax\na,/m/01mzpv,1,0,1,0,1\n"
    boxes = write(boxes, "boxes.csv")
    assert attributes_of(path, boxes, categories=names) == [
        ({"chair": {"wooden": 1}}, {}, frozenset())
    ]
    with pytest.raises(AnnotationError, match=r"line 2.*/m/083vt has no name"):
        attributes_of(path, boxes, categories={"/m/01mzpv": "Chair"})


def test_tables(write):
    path = write("image_id,object,attribute\n1,car,red\n1,,sunny\n", "attributes.csv")
    assert attributes_of(path) == [RED_AND_SUNNY]


@pytest.mark.parametrize(
    ("source", "sentence"),
    [
        ({2: ["red car"]}, "1 of 1 images with attributes, such as 2, are not among the objects"),
        ({1: {"bus": ["red"]}}, "attributes of 'bus', which is not among its object labels"),
        ({1: 5}, "image 1: found 5; expected tags"),
        ({1: {"car": [3]}}, "image 1: found 3 where text is expected"),
        ({1: "It is a very red car that is not blue."}, "image 1: the label 'It is .* sentence"),
        ([{"image_id": 1}], r"attributes: \[0\] \(image 1\): 'attributes' is missing"),
        ({}, "attributes: there is no image and no attribute in it"),
        (5, "a path of attributes, or"),
        ("nowhere.json", "nowhere.json: no such file"),
    ],
)
def test_what_is_wrong_is_one_sentence(source, sentence):
    with pytest.raises(AnnotationError, match=sentence):
        read_objects(OBJECTS, attributes=source)
