import pytest

from vifidel_eval.annotations import read_labels
from vifidel_eval.errors import AnnotationError

BOX = {"xmin": 40, "ymin": 70, "xmax": 175, "ymax": 117}
CORNERS = {"x1": 40.0, "y1": 70.5, "x2": 175.3, "y2": 117.9}


@pytest.mark.parametrize(
    ("items", "labels", "threshold"),
    [
        (["dog", "dog", "Frisbee"], {"dog": 2, "frisbee": 1}, None),
        (("dog", "fire_hydrant"), {"dog": 1, "fire hydrant": 1}, None),
        ([["dog", 0.6], ["dog", 0.59], ("cat", 1)], {"dog": 1, "cat": 1}, 0.6),
        ([["dog", 0.1], "cat"], {"cat": 1}, 0.6),
        ({"dog": 2, "frisbee": 1, "cat": 0}, {"dog": 2, "frisbee": 1}, None),
        (
            [
                {"score": 0.9982, "label": "remote", "box": BOX},
                {"score": 0.5999, "label": "couch", "box": BOX},
                {"score": 0.9954, "label": "N/A", "box": BOX},
            ],
            {"remote": 1},
            0.6,
        ),
        (
            [
                {"name": "bus", "class": 5, "confidence": 0.87, "box": CORNERS},
                {"name": "person", "class": 0, "confidence": 0.6, "box": CORNERS},
                {"name": "person", "class": 0, "confidence": 0.25, "box": CORNERS},
            ],
            {"bus": 1, "person": 1},
            0.6,
        ),
        ([], {}, None),
        ({}, {}, None),
    ],
    ids=["plain", "tuple", "scored", "mixed", "counts", "hugging-face", "ultralytics", "[]", "{}"],
)
def test_shapes_of_items(items, labels, threshold):
    objects = read_labels({42: items}, "labels.json")
    assert objects == {42: labels}
    assert objects.threshold == threshold
    assert objects.lists_every_image


def test_another_threshold_counts_itself():
    scored = {"beach": [["dog", 0.3], ["cat", 0.29]]}
    assert read_labels(scored, "labels.json", threshold=0.3) == {"beach": {"dog": 1}}


@pytest.mark.parametrize(
    ("items", "message"),
    [
        ("dog", "expected a list of labels, found 'dog'"),
        (None, "expected a list of labels, found None"),
        (["dog", 17], "item 1: found 17; expected a label"),
        (["dog", None], "item 1: found None; expected a label"),
        (["dog", ""], "item 1: found ''; expected a label"),
        ([["dog"]], r"item 0: found \['dog'\]; expected a label"),
        ([["dog", "0.9"]], r"item 0: score '0\.9' is not a number"),
        ([["dog", True]], "item 0: score True is not a number"),
        ([["dog", float("nan")]], "item 0: score nan is not a number"),
        ([{"label": "dog", "score": "high", "box": BOX}], "item 0: score 'high' is not a number"),
        ([{"name": "dog", "confidence": float("nan")}], "item 0: score nan is not a number"),
        ([{"label": "dog", "box": BOX}], "item 0: a detection needs a 'score'"),
        ([{"score": 0.9, "box": BOX}], "item 0: found .*; expected a label"),
        ([{"label": 17, "score": 0.9}], "item 0: found .*; expected a label"),
        ({"dog": 1.5}, r"the count of 'dog' is 1\.5, not a whole number"),
        ({"dog": -1}, "the count of 'dog' is -1, not a whole number"),
        ({"dog": True}, "the count of 'dog' is True, not a whole number"),
    ],
)
def test_bad_items(items, message):
    with pytest.raises(AnnotationError, match=rf"labels\.json: image 42[:,] {message}"):
        read_labels({7: ["cat"], 42: items}, "labels.json")
