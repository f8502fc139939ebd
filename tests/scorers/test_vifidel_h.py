"""VIFIDEL-H against hand-worked examples, docs/metrics.md's table, and plain loops."""

import math

import pytest

from vifidel_eval.annotations import COCO_CATEGORIES
from vifidel_eval.captions.rows import coco_rows, make_rows
from vifidel_eval.scorers import VifidelH
from vifidel_eval.words.settings import Thresholds
from vifidel_eval.words.synonyms import ClassList

# Cosines: puppy .9 to dog, wolf .3 to dog, child 0 to person, traffic .8 to light.
VECTORS = {
    "dog": [1, 0, 0, 0, 0],
    "puppy": [0.9, math.sqrt(0.19), 0, 0, 0],
    "wolf": [0.3, math.sqrt(0.91), 0, 0, 0],
    "person": [0, 0, 1, 0, 0],
    "child": [0, 0, 0, 1, 0],
    "light": [0, 0, 0, 0, 1],
    "traffic": [0, 0, 0, 0.6, 0.8],
    "large": [0, -1, 0, 0, 0],
}
THINGS = ClassList(
    "small", (("dog", "puppy"), ("wolf",), ("person", "child"), ("traffic light",), ("light",))
)


@pytest.fixture
def scorer(make_vectors):
    return VifidelH(vectors=make_vectors(VECTORS), only_things=THINGS)


def test_an_explanation_has_the_metric_s_threshold(make_vectors):
    strict = VifidelH(vectors=make_vectors(VECTORS), only_things=THINGS, support=0.2)
    assert strict.explain(1, "a wolf", ["a dog"]).hallucinated == ()
    assert strict.explain(1, "a wolf", ["a dog"], Thresholds(0.4)).hallucinated == ("wolf",)


def columns(evaluations):
    return {name: evaluation.scores.tolist() for name, evaluation in evaluations.items()}


def mentions(scorer, caption, objects=None, references=None):
    rows = make_rows(
        [caption],
        None,
        None if references is None else [references],
        None if objects is None else [dict.fromkeys(objects, 1)],
        "rows",
    )
    [of_row] = scorer.evaluate(rows)["VIFIDEL-T"].details["VIFIDEL-H"]
    return [(m["words"], m["verdict"], m["by"]) for m in of_row["mentions"]]


def test_numbers_worked_by_hand(scorer):
    rows = make_rows(
        ["a puppy and a wolf", "a child", "large", "a dog, a dog, a wolf", "a dog"],
        references=[["a dog"], ["a person"], ["a dog"], ["a large person"], []],
    )
    result = scorer.evaluate(rows)
    # T: (.95 + .3) / 2, as the puppy is there; a child, which is there, has 0, so half; no mention;
    # (0 + 0 + 0) / 3; nothing is known.
    assert columns(result)["VIFIDEL-T"] == pytest.approx(
        [0.625, 0.5, math.nan, 0.0, math.nan], nan_ok=True, abs=1e-7
    )
    assert columns(result)["VIFIDEL-Hi"] == pytest.approx(
        [0.5, 0.0, math.nan, 1.0, math.nan], nan_ok=True
    )
    assert columns(result)["VIFIDEL-Hs"] == pytest.approx([1, 0, 0, 1, math.nan], nan_ok=True)
    # A wolf; a dog and a wolf, since both dogs are one.
    assert columns(result)["VIFIDEL-Hn"] == pytest.approx([1, 0, 0, 2, math.nan], nan_ok=True)
    # Over the run: four of six mentions, two of four captions, three things in four captions.
    assert result["VIFIDEL-Hn"].score == pytest.approx(3 / 4)
    assert result["VIFIDEL-Hi"].score == pytest.approx(4 / 6)
    assert result["VIFIDEL-Hs"].score == pytest.approx(2 / 4)
    assert result["VIFIDEL-T"].score == pytest.approx(1.125 / 3, abs=1e-7)
    assert all(e.counts["unconfirmed"] == 1 for e in result.values())  # of the last caption
    lower = {name for name, evaluation in result.items() if evaluation.lower_is_better}
    assert lower == {"VIFIDEL-Hs", "VIFIDEL-Hi", "VIFIDEL-Hn"}
    # As one number it is T.
    assert (scorer.main, scorer.method()) == ("VIFIDEL-T", "VIFIDEL-H")


def test_mentions_without_a_vector(scorer):
    # "unheard" is a thing of this list that the vectors lack.
    things = ClassList("mine", (("unheard", "unread"), ("dog",)))
    scorer = VifidelH(vectors=scorer._space.vectors, only_things=things)
    rows = make_rows(["an unheard and a dog", "unheard"], references=[["a dog"], ["an unread"]])
    result = scorer.evaluate(rows)
    assert columns(result)["VIFIDEL-T"] == pytest.approx([1.0, math.nan], nan_ok=True)
    assert columns(result)["VIFIDEL-Hi"] == [0.0, 0.0]
    assert result["VIFIDEL-Hi"].counts["unconfirmed"] == 1
    assert mentions(scorer, "unheard", references=["unheard"]) == [("unheard", "there", "unheard")]


def coco(labels):
    """Return COCO instances of one image, which list all 80 categories."""
    number = {name: i for i, name in COCO_CATEGORIES.items()}
    return {
        "images": [{"id": 1}],
        "annotations": [{"image_id": 1, "category_id": number[label]} for label in labels],
        "categories": [{"id": i, "name": name} for i, name in COCO_CATEGORIES.items()],
    }


# "These verdicts were wrong in an earlier version" of docs/metrics.md.
@pytest.mark.parametrize(
    ("caption", "labels", "source", "expected"),
    [
        ("Two hot dogs on a plate", "hot dog", "COCO", "hot dogs: there 1.00; plate: - 0.08"),
        ("A dog on a plate", "hot dog", "COCO", "dog: absent 0.69; plate: - 0.08"),
        ("People on a sofa with a puppy", "oven, sink", "COCO",
         "people: absent 0.03; sofa: absent 0.00; puppy: absent 0.00"),
        ("A bike next to a monitor", "oven, sink", "COCO",
         "bike: absent 0.02; monitor: absent 0.10"),
        ("People on a sofa with a puppy", "person, couch, dog", "COCO",
         "people: there 0.38; sofa: there 0.51; puppy: there 0.56"),
        ("A bike next to a monitor", "bicycle, tv", "COCO",
         "bike: fits: bicycle 0.76; monitor: there 0.15"),
        ("Two kids, children or men and a woman", "person", "COCO",
         "kids: there 0.00; children: there 0.00; men: there 0.03; woman: there 0.24"),
        ("An apple, an umbrella and a person", "oven, sink", "COCO",
         "apple: absent 0.02; umbrella: absent 0.03; person: absent 0.06"),
        ("A fire hydrant under a traffic light", "car, truck", "COCO",
         "fire hydrant: absent 0.02; traffic light: absent 0.20"),
        ("a dog on a couch", "oven, sink, refrigerator", "labels file",
         "dog: absent 0.07; couch: absent 0.15"),
        ("a plate on the counter", "oven, sink, refrigerator", "COCO", "plate: - 0.15"),
        ("An orange cat can watch the train station", "cat", "COCO", "cat: there 1.00"),
    ],
)  # fmt: skip
def test_verdicts_that_an_earlier_version_missed(caption, labels, source, expected):
    labels = labels.split(", ")
    scorer = VifidelH(coco(labels) if source == "COCO" else {1: labels}, references=False)
    evaluation = scorer.evaluate(coco_rows({1: []}, {1: [caption]}))["VIFIDEL-T"]
    short = {"unconfirmed": "-", "made up": "absent", "there": "there"}
    [result] = evaluation.details["VIFIDEL-H"]
    assert expected == "; ".join(
        f"{m['words']}: {short.get(m['verdict'], m['verdict'])} {m['support']:.2f}"
        for m in result["mentions"]
    )


def test_the_signature_pins_what_changes_the_number(make_vectors):
    vectors = make_vectors(VECTORS)
    signatures = {
        scorer.signature()
        for scorer in (
            VifidelH(vectors=vectors),
            VifidelH(vectors=vectors, only_things=THINGS),
            VifidelH(vectors=vectors, support=0.3),
            VifidelH(vectors=vectors, references=False),
            VifidelH({1: ["dog"]}, vectors),
            VifidelH({1: ["dog", "dog"]}, vectors),
            VifidelH(vectors=vectors, stop_words=["dog"]),
        )
    }
    assert len(signatures) == 7
    assert "|things:things#" in VifidelH(vectors=vectors).signature()
    assert "|textblob:" in VifidelH(vectors=vectors).signature()


def test_what_is_only_likely_is_made_up_as_well(scorer):
    rows = make_rows(
        ["a dog, perhaps a wolf", "a dog. It is as if a wolf were near.", "a dog and no wolf"],
        references=[["a dog"]] * 3,
    )
    result = scorer.evaluate(rows)
    assert result["VIFIDEL-Hn"].scores.tolist() == [1, 1, 0]
    assert result["VIFIDEL-Hs"].scores.tolist() == [1, 1, 0]


def test_what_is_made_up_is_counted_in_the_order_of_the_captions():
    # Sets of text have another order in each process.
    things = ["zebra", "bus", "oven", "kite", "banana", "horse", "toaster", "cat"]
    caption = ", ".join(f"a {thing}" for thing in things)
    result = VifidelH({1: ["person"]}).evaluate(coco_rows({1: []}, {1: [caption]}))
    assert [list(e.made_up) for e in result.values() if e.made_up] == [things]
