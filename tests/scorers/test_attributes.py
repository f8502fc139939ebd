"""Attributes and scenes beside object names, worked out by hand."""

import json
import math

import pytest

import vifidel_eval
from vifidel_eval import Vifidel, VifidelError
from vifidel_eval.scorers import VifidelPRF


def columns(caption, attributes, objects=("car",), references=()):
    scorer = VifidelPRF({1: list(objects)}, attributes={1: attributes})
    result = scorer.score_columns([caption], image_ids=[1], references=[references])
    return [float(result[f"VIFIDEL-{column}"][0]) for column in "PRF"]


def test_they_join_the_bag(make_vectors):
    vectors = make_vectors({"car": [1, 0], "red": [0, 1], "blue": [0, -1]})

    def score(caption, attributes):
        scorer = Vifidel({1: ["car"]}, vectors, attributes=attributes)
        return scorer.score([caption], image_ids=[1])[0]

    # Half of *red car* moves by |(0, 1) - (1, 0)|^2 = 2; with the attribute nothing moves.
    assert score("a red car", None) == pytest.approx(math.exp(-1))
    assert score("a red car", {1: ["red car"]}) == pytest.approx(1)
    assert score("a red car", {1: {"scene": ["red"]}}) == pytest.approx(1)
    # Half of *blue car* moves from red by 4.
    assert score("a blue car", {1: ["red car"]}) == pytest.approx(math.exp(-2))


# A word that is listed and the thing weigh 1 each; a contradicted one leaves 1 / (1 + ln 2) of P,
# and .8 of P and F as half an invention. R is 1: the only label is mentioned.
CONTRADICTED = 0.8 / (1 + math.log(2))


@pytest.mark.parametrize(
    ("caption", "p"),
    [
        ("a red car", 1),
        ("a scarlet car", 1),
        ("a blue car", CONTRADICTED),
        ("the car is blue", CONTRADICTED),
        ("A car. It is blue.", CONTRADICTED),
        ("a car that is not red", CONTRADICTED),
        ("a car that is not blue", 1),
        ("a blue vehicle", CONTRADICTED),
        ("an old car", 1),  # nothing is listed of its age
        ("a red or blue car", 1),
        ("a sunny street with a car", 1),
        ("a rainy street with a car", CONTRADICTED),
    ],
)
def test_words_are_supported_and_contradicted(caption, p):
    result = columns(caption, ["red car", "sunny"])
    assert result[0] == pytest.approx(p)
    assert result[2] == pytest.approx(math.sqrt(result[1]) * (1 if p == 1 else 0.8))


@pytest.mark.parametrize(
    ("caption", "attributes"),
    [
        ("a blue car", ["sunny"]),  # nothing is listed of the car
        ("a black dog", ["red car"]),
        ("a blue car", [{"name": "car", "attributes": ["red"]}, {"name": "car"}]),  # or of one
        ("a blue vehicle", ["red car"]),  # which may be the bus
    ],
)
def test_silence_where_none_are_listed(caption, attributes):
    objects = ["car", "car", "dog", "bus"]
    without = VifidelPRF({1: objects}).score_columns([caption], image_ids=[1])
    assert columns(caption, attributes, objects) == [float(x[0]) for x in without.values()]


def test_runs_and_the_command_take_them(run, tmp_path):
    for name, content in {
        "captions": {"1": "a blue car"},
        "objects": {"1": ["car"]},
        "attributes": {"1": ["red car"]},
    }.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(content))
    paths = [str(tmp_path / f"{name}.json") for name in ("captions", "objects", "attributes")]
    scored = vifidel_eval.evaluate(
        {"mine": paths[0]}, objects=paths[1], attributes=paths[2], metrics="VIFIDEL-PRF,VIFIDEL"
    )
    assert scored.scores["mine"]["VIFIDEL-P"] == pytest.approx(CONTRADICTED)
    scored.save(tmp_path / "run.json")
    (again,) = vifidel_eval.load(tmp_path / "run.json").sentences("mine").values()
    assert again[0].p == pytest.approx(CONTRADICTED)
    scored.report(tmp_path / "report.html")  # whose plan has attributes beside objects
    assert '"red"' in (tmp_path / "report.html").read_text("utf-8")
    options = "--objects", paths[1], "--attributes", paths[2], "--image", "1"
    assert "contradicted: red car" in run("explain", paths[0], *options).output
    with pytest.raises(VifidelError, match="attributes describe objects"):
        vifidel_eval.evaluate({"mine": paths[0]}, {1: ["a car"]}, attributes=paths[2])
