"""Instance numbers and several names in labels: CHAIR, H and P agree on what is there."""

import pytest

import vifidel_eval
from vifidel_eval.words.synonyms import class_names
from vifidel_eval.words.terms import unnumbered


@pytest.mark.parametrize(
    ("label", "name"),
    [("person-1", "person"), ("dog2", "dog"), ("car_03", "car"), ("red car 2", "red car"),
     ("type 2", "type 2"), ("h2o", "h2o"), ("mp3", "mp3")],
)  # fmt: skip
def test_a_number_of_an_instance_is_no_part_of_its_name(label, name):
    assert unnumbered(label, class_names().term) == name


@pytest.mark.parametrize(
    ("labels", "caption"),
    [
        (["person-1", "person-2", "car-1"], "Two people beside a car."),
        (["cat_0"], "A cat."),
        (["sofa;couch;lounge"], "A couch."),
        (["dog, couch"], "A dog on a couch."),
    ],
)
def test_what_labels_name_is_there(labels, caption):
    # All that the caption mentions is labelled: nothing is absent, P is 1.
    given = {"objects": {1: labels}, "looked_for": "coco"}
    run = vifidel_eval.evaluate({"x": {1: caption}}, metrics="VIFIDEL-PRF,VIFIDEL-H,CHAIR", **given)
    scores = run.scores["x"]
    assert (scores["CHAIRi"], scores["VIFIDEL-Hi"]) == (0, 0)
    assert scores["VIFIDEL-P"] == pytest.approx(1)
