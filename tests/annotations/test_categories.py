import pytest

from vifidel_eval.annotations import read_categories, read_objects
from vifidel_eval.errors import AnnotationError

INDICES = {0: "person", 1: "traffic light", 2: "dog"}
ULTRALYTICS = """# Ultralytics
path: coco8 # dataset root dir
train:
  - images/train2017
test: # test images (optional)

# Classes
names:
  0: person
  1: traffic light
  2: dog

download: |
  import yaml
  names: [1, 2]
"""


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("classes.txt", "person\ntraffic light\ndog\n\n"),
        ("obj.names", "person\r\ntraffic light\r\ndog"),
        ("data.yaml", ULTRALYTICS),
        ("data.yaml", "train: ../train/images\nnc: 3\nnames: ['person', \"traffic light\", dog]\n"),
        ("data.yaml", "names:\n- person\n- traffic light\n- &d dog\nother: *d\n"),
        ("config.json", {"id2label": {"0": "person", "1": "traffic light", "2": "dog"}}),
        ("names.json", ["person", "traffic light", "dog"]),
    ],
)
def test_class_indices(name, content, write):
    names = read_categories(write(content, name))
    assert names.indices == INDICES
    assert names.by_index() == INDICES
    assert not names.ids


def test_ids(write):
    assert read_categories(write({"1": "dog", "/m/1": "Cat"}, "ids.json")).ids == {1: "dog"}
    assert not read_categories({1: "dog"}).by_index()
    assert read_categories({0: "dog", 1: "cat"}).by_index() == {0: "dog", 1: "cat"}


def test_words_that_yaml_takes_for_something_else(write):
    names = read_categories(write("names: [yes, no, off, 3D printer]\n", "data.yaml"))
    assert list(names.indices.values()) == ["yes", "no", "off", "3D printer"]


def test_a_list_of_names_says_nothing_of_category_ids(write):
    # Ultralytics' save_json counts the ids of a model of one's own from 1.
    classes = write("person\ncar\n", "classes.txt")
    result = write([{"image_id": 1, "category_id": 1, "score": 0.9}], "results.json")
    with pytest.raises(
        AnnotationError, match="a list of class names does not say which id each has"
    ):
        read_objects(result, categories=classes)


def test_several_files_serve_several_sources(write):
    classes = write("person\ndog\n", "classes.txt")
    ids = write({"1": "cat"}, "ids.json")
    result = write([{"image_id": 1, "category_id": 1, "score": 0.9}], "results.json")
    arrays = {1: {"labels": [1], "scores": [0.9]}}
    assert read_objects([result, arrays], categories=[classes, ids]) == {1: {"cat": 1, "dog": 1}}


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("classes.txt", "person\n\ndog\n", "line 2 is '' instead of the name of a class"),
        ("classes.txt", "person\n0 0.5 0.5 0.2 0.3\n", "line 2 is '0 0.5 0.5 0.2 0.3' instead of"),
        ("classes.txt", " \n", "the file is empty"),
        ("obj.data", "classes = 2\nnames = data/obj.names\n", "a data file of Darknet"),
        ("data.yaml", "names: [dog, [cat]]\n", "class 1 is None instead of"),
        ("data.yaml", "names:\n  0: dog\n  2: cat\n", "not 0 to 1, each once"),
        ("data.yaml", "names:\n  0: dog\n  0: cat\n", "not 0 to 1, each once"),
        ("data.yaml", "names:\n  a: dog\n", "not 0 to 0, each once"),
        ("data.yaml", "names: dog\n", "'names' must appear once, as a list"),
        ("data.yaml", "names:\n", "'names' must appear once, as a list"),
        ("data.yaml", "names: []\n", "has no categories"),
        ("data.yaml", "names: [a]\nnames: [b]\n", "'names' must appear once"),
        ("data.yaml", "names: [dog\n", "not YAML"),
        ("data.yaml", "names: [*a]\n", "not YAML"),
        ("data.yaml", "names: " + "[" * 2000, "YAML"),
        ("data.yaml", "names: [dog]\n" + "# much\n" * 40_000, "more than 256 KiB"),
        ("config.json", {"id2label": {"0": "dog", "2": "cat"}},
         "id2label: the class indices are not"),
        ("config.json", {"id2label": {"0": 7}}, "id2label: class 0 is 7 instead"),
        ("config.json", {"label2id": {"dog": 0}}, "'categories' is missing"),
        ("names.json", ["dog", ""], "class 1 is '' instead"),
        ("instances.json", {"categories": []}, "has no categories"),
        ("names.json", [], "has no categories"),
    ],
)  # fmt: skip
def test_broken(name, content, message, write):
    path = write(content, name)
    with pytest.raises(AnnotationError) as problem:
        read_categories(path)
    assert str(problem.value).startswith(str(path))
    assert message in str(problem.value)
    assert "\n" not in str(problem.value)


def test_aliases_do_not_grow(write):
    lines = ["a0: &a0 [dog]"] + [
        f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]" for i in range(1, 30)
    ]
    path = write("\n".join([*lines, "names: *a29"]), "data.yaml")
    with pytest.raises(AnnotationError, match="class 0 is None instead"):
        read_categories(path)
