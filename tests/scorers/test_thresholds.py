"""Thresholds that are no scores, wherever one is taken."""

import warnings

import pytest

import vifidel_eval
from vifidel_eval.annotations import label_rows, read_objects
from vifidel_eval.errors import AnnotationError, VifidelWarning
from vifidel_eval.scorers import Chair, Vifidel, VifidelD, VifidelH, VifidelPRF
from vifidel_eval.tables import TableScorer

REFERENCES = {1: ["a dog on grass"]}


def evaluate(**settings):
    return vifidel_eval.evaluate({"a": {1: "a dog"}}, REFERENCES, metrics="BLEU", **settings)


@pytest.mark.parametrize(
    "taken",
    [
        *(Vifidel, VifidelPRF, VifidelH, VifidelD, Chair, TableScorer, evaluate),
        lambda threshold: read_objects({1: ["dog"]}, threshold),
        lambda threshold: label_rows([["dog"]], threshold),
    ],
)
@pytest.mark.parametrize(
    ("threshold", "message"),
    [
        (60, r"^threshold 60 is not a number between 0 and 1; divide a percentage by 100\.$"),
        (1.5, "between 0 and 1; divide a percentage by 100"),
        (-0.1, r"^threshold -0\.1 is not a number between 0 and 1\.$"),
        (float("nan"), r"^threshold nan is not a number between 0 and 1\.$"),
        (True, r"^threshold True is not a number"),
        ("0.5", r"^threshold '0\.5' is not a number"),
    ],
)
def test_a_threshold_that_is_no_score_is_refused_where_it_is_given(taken, threshold, message):
    with pytest.raises(AnnotationError, match=message):
        taken(threshold=threshold)


def test_what_is_uncertain_is_checked_without_a_source_too():
    with pytest.raises(AnnotationError, match="uncertain 40 is not a number between 0 and 1"):
        Chair(uncertain=40)
    with pytest.raises(AnnotationError, match=r"uncertain 0\.9 is above the threshold 0\.5"):
        VifidelPRF(threshold=0.5, uncertain=0.9)


@pytest.mark.parametrize(
    ("objects", "threshold", "sentence"),
    [
        ({1: ["dog"]}, 0.9, "objects: no label has a score, so the threshold leaves nothing"),
        ({1: [["dog", 0.8]]}, 0.7, "objects: no label has a score below 0.7, so the threshold"),
        ({1: [["dog", 0.8], ["cat", 0.1]]}, 0.7, ""),
        ([{1: [["dog", 0.8], ["cat", 0.1]]}, {1: ["dog"]}], 0.7, ""),
        ({1: {"labels": ["dog", "cat"], "scores": [0.5, 0.9]}}, 0.6, ""),
        ({1: ["dog"]}, None, ""),
        ({1: [["dog", 0.8]]}, 0.0, ""),
    ],
)  # fmt: skip
def test_a_threshold_that_leaves_nothing_out_says_so(objects, threshold, sentence):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", VifidelWarning)
        vifidel_eval.evaluate(
            {"mine": {1: "a dog"}}, objects=objects, threshold=threshold, metrics="VIFIDEL-R"
        )
    assert [str(warning.message)[: len(sentence)] for warning in caught] == [sentence] * bool(
        sentence
    )
