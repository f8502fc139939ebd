"""Agreement of two sources, and what is judged by it."""

from __future__ import annotations

import json

import pytest

import vifidel_eval
from vifidel_eval.annotations import agreed, read_objects
from vifidel_eval.errors import AnnotationError, ImageIdError

FIRST = {"sub/a.jpg": {"dog": 2, "lamp": 1, "nut": 0, "bus": 0}, "b.jpg": {"cat": 1}}
SECOND = {"a": {"dog": 1, "lamp": 0, "nut": 0, "kite": 0}, "c": {"cat": 0}}


@pytest.fixture
def paths(tmp_path):
    for name, content in (("first", FIRST), ("second", SECOND)):
        (tmp_path / f"{name}.json").write_text(json.dumps(content))
    (tmp_path / "mine.json").write_text('{"a": "a dog and a lamp with a nut by a bus"}')
    return tmp_path


def test_a_list_within_a_list_is_read_as_one():
    assert read_objects([[{1: ["dog"]}, {1: ["cat"]}], {1: ["cat"]}]) == {1: {"dog": 1, "cat": 1}}


def test_where_two_sources_differ_nothing_is_said():
    both = agreed([read_objects(FIRST), read_objects(SECOND)])
    assert both == agreed([read_objects(FIRST), read_objects(SECOND)])
    assert {image: dict(labels) for image, labels in both.items()} == {"sub/a.jpg": {"dog": 1}}
    assert both.asked_of(["sub/a.jpg"]) == [{"dog", "nut"}]
    assert both.unsure == 1  # the lamp; of bus and kite only one source was asked
    assert both.signature().startswith("agreed(labels+labels)+asked:image#")


def test_three_sources_must_all_agree():
    third = {"a": {"dog": 1, "nut": 1, "lamp": 0}}
    both = agreed(map(read_objects, (SECOND, FIRST, third)))
    assert dict(both["a"]) == {"dog": 1}
    assert both.asked_of(["a"]) == [{"dog"}]
    assert both.unsure == 2


def test_what_is_judged(paths, run):
    result = run(
        "score", paths / "mine.json", "--no-references", "--metrics", "VIFIDEL-H",
        "--objects", paths / "first.json", "--objects", paths / "second.json",
        "--agree", "--format", "json",
    )  # fmt: skip
    assert result.exit_code == 0, result.stderr
    document = json.loads(result.stdout)["systems"]["mine"]
    # Of dog and nut one is not there; lamp and bus are not judged.
    assert document["overall"]["VIFIDEL-Hi"] == 0.5
    assert document["counts"]["VIFIDEL-Hi"]["unconfirmed"] == 2
    mine, *sources = (paths / f"{name}.json" for name in ("mine", "first", "second"))
    evaluated = vifidel_eval.evaluate(mine, objects=sources, agree=True, metrics="VIFIDEL-H")
    assert evaluated.scores["mine"]["VIFIDEL-Hi"] == 0.5


def test_what_cannot_agree(paths):
    with pytest.raises(AnnotationError, match="agreement needs at least two sources of objects"):
        read_objects(paths / "first.json", agree=True)
    with pytest.raises(AnnotationError, match="agreement needs at least two sources of objects"):
        read_objects([paths / "first.json"], agree=True)
    with pytest.raises(AnnotationError, match="does not say what was looked for"):
        read_objects([FIRST, {"a": ["dog"]}], agree=True)
    with pytest.raises(ImageIdError):
        agreed([read_objects(FIRST), read_objects({"z": {"dog": 0}})])
