"""Parallel arrays, in the layouts of transformers 5.23, torchvision and MMDetection 3.3."""

import numpy as np
import pytest

from vifidel_eval.annotations import read_objects
from vifidel_eval.errors import AnnotationError

BOX = [10.5, 20.0, 30.25, 40.0]
CLASSES = {0: "person", 1: "bicycle", 2: "dog"}
# MMDetection's DetInferencer: preds/000000000042.json
MMDETECTION = {"labels": [2, 2, 0, 1], "scores": [0.91, 0.6, 0.88, 0.59], "bboxes": [BOX] * 4}
# post_process_grounded_object_detection: 'labels' repeats the phrases
GROUNDED = {
    "scores": [0.7, 0.62, 0.61, 0.4],
    "boxes": [BOX] * 4,
    "text_labels": ["a dog", "red fire hydrant", "The Dog", ""],
    "labels": ["a dog", "red fire hydrant", "The Dog", ""],
}


class Tensor:
    """What a PyTorch tensor offers to those who do not import PyTorch."""

    def __init__(self, values):
        self.values = values

    def __len__(self):
        return len(self.values)

    def tolist(self):
        return self.values


@pytest.mark.parametrize(
    ("arrays", "labels"),
    [
        (MMDETECTION, {"dog": 2, "person": 1}),
        ({**MMDETECTION, "masks": [{"size": [4, 4], "counts": "04L0"}] * 4},
         {"dog": 2, "person": 1}),
        (GROUNDED, {"dog": 2, "red fire hydrant": 1}),
        ({**GROUNDED, "labels": [0, 1, 0, 2]}, {"dog": 2, "red fire hydrant": 1}),
        # OWLv2: without the text labels there are only numbers
        ({"scores": [0.9], "labels": [2], "boxes": [BOX], "text_labels": None}, {"dog": 1}),
        # post_process_object_detection and torchvision return tensors
        ({"scores": Tensor([0.9, 0.5]), "labels": Tensor([2, 0]), "boxes": Tensor([BOX, BOX])},
         {"dog": 1}),
        ({"scores": np.float32([0.9, 0.7]), "labels": np.array([2, 1]), "boxes": np.ones((2, 4))},
         {"dog": 1, "bicycle": 1}),
        # targets have no scores
        ({"labels": [1, 1], "boxes": [BOX, [0, 0, 5, 5]]}, {"bicycle": 2}),
        ({"labels": ["dog", "hot_dog"]}, {"dog": 1, "hot dog": 1}),
        ({"labels": [], "scores": [], "bboxes": []}, {}),
    ],
)  # fmt: skip
def test_layouts(arrays, labels):
    objects = read_objects({42: arrays, "val2017/000000000073.jpg": ["cat"]}, categories=CLASSES)
    assert objects == {42: labels, "val2017/000000000073.jpg": {"cat": 1}}
    assert objects.threshold == (0.6 if len(arrays["labels"]) and "scores" in arrays else None)


def test_class_names_are_what_was_looked_for_only_where_labels_are_their_indices():
    classes = frozenset(CLASSES.values())
    for arrays, looked_for in ((MMDETECTION, classes), (GROUNDED, frozenset())):
        assert read_objects({42: arrays}, categories=CLASSES).categories == looked_for
    # Where images differ, one with indices is enough.
    both = {42: GROUNDED, 43: {"labels": []}, 44: MMDETECTION}
    assert read_objects(both, categories=CLASSES).categories == classes


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"scores": [0.9]}, "'labels' has 4 entries and 'scores' has 1"),
        ({"bboxes": [BOX]}, "'labels' has 4 entries and 'bboxes' has 1"),
        ({"labels": None}, "'labels' is None, not a list"),
        ({"labels": "dog"}, "'labels' is 'dog', not a list"),
        ({"scores": 0.9}, "'scores' is 0.9, not a list"),
        ({"labels": [2, 2, 3, 1]},
         r"detection 2: class 3 is not one of the 3 given classes .*\(0 to 2\)"),
        ({"labels": [-1, 2, 0, 1]}, "detection 0: class -1 is not one of"),
        ({"labels": [True, 2, 0, 1]},
         "detection 0: label True is neither a name nor a class index"),
        ({"labels": [2, 2.5, 0, 1]}, "detection 1: label 2.5 is neither"),
        ({"labels": [["dog"], 2, 0, 1]}, r"detection 0: label \['dog'\] is neither"),
        ({"labels": [" ", 2, 0, 1]}, "the label ' ' has no word"),
        ({"scores": [0.9, float("nan"), 0.8, 0.7]}, "detection 1: score nan is not a number"),
        ({"scores": [0.9, 0.8, 80, 0.7]}, "detection 2: score 80 is above 1"),
        ({"scores": [0.9, 0.8, "x", 0.7]}, "detection 2: score 'x' is not a number"),
    ],
)  # fmt: skip
def test_broken(changes, message):
    with pytest.raises(AnnotationError, match=rf"objects: image 42: {message}"):
        read_objects({7: ["cat"], 42: {**MMDETECTION, **changes}}, categories=CLASSES)


def test_coco_ids_are_not_class_indices():
    # Read as COCO's ids, MMDetection's 1 (bicycle) would be a person.
    for categories in ({1: "person", 2: "bicycle", 3: "car"}, {0: "person", 2: "dog"}):
        with pytest.raises(
            AnnotationError,
            match="counted from 0, into the model's list of classes, whose names are not given",
        ):
            read_objects({42: MMDETECTION}, categories=categories)
    with pytest.raises(
        AnnotationError, match="class 2 is an index, counted from 0, into the model"
    ):
        read_objects({42: MMDETECTION})


@pytest.mark.parametrize("content", [MMDETECTION, {"predictions": [MMDETECTION]}, [GROUNDED]])
def test_detections_without_an_image(write, content):
    with pytest.raises(AnnotationError, match=r"nothing says which image .* \{image id: detect"):
        read_objects(write(content, "42.json"))


def test_asked_says_so_even_if_all_of_it_is_left_open():
    open_only = {"labels": ["dog"], "scores": [0.4], "asked": ["a dog"]}
    objects = read_objects({7: open_only, 8: {"labels": ["cat"], "asked": []}}, uncertain=0.3)
    assert objects == {7: {}, 8: {"cat": 1}}
    assert objects.asked_of([7, 8]) == [frozenset(), {"cat"}]
