from collections import Counter

import numpy as np
import pytest

from vifidel_eval.annotations import label_rows, read_objects
from vifidel_eval.annotations.instances import judged_rows
from vifidel_eval.errors import AnnotationError

BOX = {"xmin": 40, "ymin": 70, "xmax": 175, "ymax": 117}
CORNERS = {"x1": 40.0, "y1": 70.5, "x2": 175.3, "y2": 117.9}
PIPELINE = [
    {"score": score, "label": label, "box": BOX}
    for label, score in (("remote", 0.9982), ("couch", 0.5999), ("N/A", 0.9954))
]
ULTRALYTICS = [
    {"name": name, "class": 5, "confidence": confidence, "box": CORNERS}
    for name, confidence in (("bus", 0.87), ("person", 0.6), ("person", 0.25))
]

SHAPES = pytest.mark.parametrize(
    ("items", "labels", "threshold"),
    [
        (["dog", "dog", "Frisbee"], {"dog": 2, "frisbee": 1}, None),
        (("dog", "fire_hydrant"), {"dog": 1, "fire hydrant": 1}, None),
        ([["dog", 0.6], ["dog", 0.59], ("cat", 1)], {"dog": 1, "cat": 1}, 0.6),
        ([["dog", 0.1], "cat"], {"cat": 1}, 0.6),
        ({"dog": 2, "frisbee": 1, "cat": 0}, {"dog": 2, "frisbee": 1}, None),
        (PIPELINE, {"remote": 1}, 0.6),
        (ULTRALYTICS, {"bus": 1, "person": 1}, 0.6),
        ([], {}, None),
        ({}, {}, None),
        ({"dog": 1_000_000_000}, {"dog": 1_000_000_000}, None),
        (Counter({"Hot dog": 1, "hot_dog": np.int64(2)}), {"hot dog": 3}, None),
        ({"dog", "Dog", "cat"}, {"cat": 1, "dog": 2}, None),
        (np.array(["dog", "cat", "dog"]), {"dog": 2, "cat": 1}, None),
        (np.array([["dog", 0.7], ["cat", 0.1]], dtype=object), {"dog": 1}, 0.6),
        ([np.array(["dog", 0.7], dtype=object), np.str_("cat")], {"dog": 1, "cat": 1}, 0.6),
        ([["dog", np.float32(0.7)]], {"dog": 1}, 0.6),
    ],
)


@SHAPES
def test_shapes_of_items(items, labels, threshold):
    objects = read_objects({42: items})
    assert objects == {42: labels}
    assert objects.threshold == threshold
    assert objects.lists_every_image


@SHAPES
def test_shapes_of_rows(items, labels, threshold):
    rows = label_rows([items, ["cat"], items])
    assert list(rows.counts) == [labels, {"cat": 1}, labels]
    assert [{type(count) for count in row.values()} <= {int} for row in rows.counts] == [True] * 3
    assert rows.threshold == threshold
    asked = isinstance(items, dict) and items.get("cat") == 0
    scored = "rows" if threshold is None else "rows>=0.6"
    assert rows.signature() == scored + "+asked:image" * asked
    assert rows.asked == ((frozenset(items), None, frozenset(items)) if asked else None)
    assert len(rows) == 3


def test_what_is_uncertain_is_not_above_the_threshold():
    row = {"labels": ["dog", "nut"], "scores": [0.7, 0.5], "asked": ["dog", "nut", "cat"]}
    assert label_rows([row], 0.6, uncertain=0.4).asked == ({"dog", "cat"},)
    assert label_rows([row], 0.6, uncertain=0.6).asked == ({"dog", "nut", "cat"},)
    with pytest.raises(AnnotationError, match=r"uncertain 0\.61 is above the threshold 0\.6"):
        label_rows([row], 0.6, uncertain=0.61)
    with pytest.raises(AnnotationError, match=r"uncertain 0\.61 is above the threshold 0\.6"):
        read_objects({1: [{"label": "dog", "score": 0.7}]}, uncertain=0.61)  # a threshold of ours


def test_the_largest_count_and_the_longest_name():
    assert label_rows([{"dog": 2**53}]).counts == ({"dog": 2**53},)
    with pytest.raises(AnnotationError, match=r"the count of 'dog' is above 2\*\*53"):
        label_rows([{"dog": 2**53 + 1}])
    longest = "x" * 1000
    for shape in ([longest], [[longest, 0.9]], {longest: 1}, {"labels": [longest]}):
        assert label_rows([shape]).counts == ({longest: 1},)
    for shape in ([longest + "x"], [[longest + "x", 0.9]], {"labels": [longest + "x"]}):
        with pytest.raises(AnnotationError, match=r"has 1001 characters, and at most 1000 are"):
            label_rows([shape])


BAD = pytest.mark.parametrize(
    ("items", "message"),
    [
        ("17", "the label is '17'; write the name of the class, not a number"),
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
        ([{"label": "dog", "box": BOX}], "item 0: score None is not a number"),
        ([{"score": 0.9, "box": BOX}], "item 0: found .*; expected a label"),
        ([{"label": 17, "score": 0.9}], "item 0: found .*; expected a label"),
        ({"dog": 1.5}, r"the count of 'dog' is 1\.5, not a whole number"),
        ({"dog": -1}, "the count of 'dog' is negative"),
        ({"dog": True}, "the count of 'dog' is True, not a whole number"),
        ({"dog": 10**400}, r"the count of 'dog' is above 2\*\*53"),
        ({17: 1}, "found 17 with a count; expected a label"),
        ({" ": 1}, "found ' ' with a count; expected a label"),
        (np.array(7), "expected a list of labels, found array"),
    ],
)


@BAD
def test_bad_rows(items, message):
    with pytest.raises(AnnotationError, match=rf"^row 1: {message}"):
        label_rows([["cat"], items])


def test_rows_that_cannot_be_read_have_no_labels():
    rows = judged_rows([["dog"], [7], {"nut": 0}, "7"])
    assert list(rows.counts) == [{"dog": 1}, {}, {}, {}]
    assert rows.asked == (None, None, frozenset({"nut"}), None)
    assert rows.problems.keys() == {1, 3}
    assert rows.problems[1].startswith("item 0: found 7")
