"""YOLO text labels, as Ultralytics 8.4 (Results.save_txt) and labelImg write them."""

import pytest

from vifidel_eval.annotations import read_objects
from vifidel_eval.errors import AnnotationError

NAMES = "person\nfire_hydrant\ndog\n"


def folder(tmp_path, **files):
    labels = tmp_path / "labels"
    labels.mkdir()
    for name, content in files.items():
        (labels / f"{name}.txt").write_text(content)
    return labels


def names(tmp_path, content=NAMES, name="obj.names"):
    path = tmp_path / name
    path.write_text(content)
    return path


def test_boxes(tmp_path):
    boxes = "2 0.5 0.5 0.2 0.3\n2 0.1 0.2 0.05 1e-05\n1 0.3 0.3 0.1 0.1\n"
    labels = folder(tmp_path, **{"000000000042": boxes, "7": "", "beach": "0 0.5 0.5 1 1"})
    objects = read_objects(labels, categories=names(tmp_path))
    assert objects == {"000000000042": {"dog": 2, "fire hydrant": 1}, 7: {}, "beach": {"person": 1}}
    assert (objects.kind, objects.threshold) == ("yolo", None)
    assert objects.categories == {"person", "fire hydrant", "dog"}
    assert objects.of_images([42, "unlisted"]) == [{"dog": 2, "fire hydrant": 1}, {}]


def test_confidences(tmp_path):
    labels = folder(tmp_path, a="2 0.5 0.5 0.2 0.3 0.6\n0 0.5 0.5 0.2 0.3 0.59\n")
    classes = names(tmp_path)
    assert read_objects(labels, categories=classes) == {"a": {"dog": 1}}
    assert read_objects(labels, 0.5, classes) == {"a": {"dog": 1, "person": 1}}
    assert read_objects(labels, categories=classes).signature().startswith("yolo>=0.6#")


def test_outlines(tmp_path):
    triangle, square = "0 0.1 0.1 0.5 0.1 0.3 0.9", "2 0.1 0.1 0.5 0.1 0.5 0.5 0.1 0.5"
    labels = folder(tmp_path, a=f"{triangle}\n{square}\n")
    assert read_objects(labels, categories=names(tmp_path)) == {"a": {"person": 1, "dog": 1}}


def test_classes_beside_the_labels(tmp_path):
    labels = folder(tmp_path, a="2 0.5 0.5 0.2 0.3", classes=NAMES)
    assert read_objects(labels) == {"a": {"dog": 1}}
    other = names(tmp_path, "names:\n  0: man\n  1: cat\n  2: 'hound'\n", "data.yaml")
    assert read_objects(labels, categories=other) == {"a": {"hound": 1}}


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("3 0.5 0.5 0.2 0.3", "class 3 is not one of the 3 given classes"),
        ("-1 0.5 0.5 0.2 0.3", "is not an object; YOLO's lines are"),
        ("2.0 0.5 0.5 0.2 0.3", "is not an object"),
        ("dog 0.5 0.5 0.2 0.3", "'dog 0.5 0.5 0.2 0.3' is not an object"),
        ("0.87 dog", "is not an object"),
        ("2 0.5 0.5 nan 0.3", "is not an object"),
        ("2 0.5 0.5 0.2", "has 4 fields"),
        ("2 0.5 0.5 0.2 0.3 1.5", "field 6: score 1.5 is above 1"),
        ("2 0.5 0.5 0.2 0.3 -0.5", "field 6: score -0.5 is negative"),
        ("2 0.5 0.5 0.2 0.3 0.9 12", "has 7 fields; accepted are 'class x y w h'"),
        ("2 0.1 0.1 0.5 0.1 0.3 0.9 0.8", "has 8 fields"),
    ],
)
def test_broken_line(tmp_path, line, message):
    labels = folder(tmp_path, a="0 0.5 0.5 0.2 0.3\n", b=f"0 0.5 0.5 0.2 0.3\n\n{line}\n")
    with pytest.raises(AnnotationError) as problem:
        read_objects(labels, categories=names(tmp_path))
    assert str(problem.value).startswith(f"{labels / 'b.txt'}: line 3")
    assert message in str(problem.value)


def test_no_names(tmp_path):
    labels = folder(tmp_path, a="0 0.5 0.5 0.2 0.3\n")
    with pytest.raises(
        AnnotationError,
        match=r"a\.txt: line 1: class 0 is an index, counted from 0, into the model",
    ):
        read_objects(labels)


def test_a_file_instead_of_its_folder(tmp_path):
    labels = folder(tmp_path, a="0 0.5 0.5 0.2 0.3\n")
    with pytest.raises(AnnotationError, match="looks like YOLO labels of one image"):
        read_objects(labels / "a.txt")
