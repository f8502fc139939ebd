"""Spans of what is made up: layouts, counts by hand, and the command."""

import json
import re

import numpy as np
import pytest
from conftest import done

from vifidel_eval.plugins.agreement.judgements import Judged
from vifidel_eval.plugins.agreement.spans import (
    Marked,
    Span,
    compare_spans,
    read_spans,
    read_tool_spans,
)
from vifidel_eval.plugins.agreement.trials import Trials

CAPTION = "A red dog chases two cats."
LAYOUTS = [
    {"caption": CAPTION, "spans": [{"start": 17, "end": 25, "kind": "object"}, [2, 5, "colour"]]},
    {"response": CAPTION, "annotations": [
        {"start": 0, "end": 1, "label": "ACCURATE"}, {"start": 2, "end": 5, "label": "colour"},
        {"start": 17, "end": 25, "label": "object"},
    ]},
    {"caption": CAPTION, "tokens": ["A", "red", "dog", "chases", "two", "cats", "."],
     "labels": ["O", "B-colour", "O", "O", "B-object", "I-object", "O"]},
]  # fmt: skip


def trials():
    return Trials(0, 0, ["all"], {}, {}, {}, {})


@pytest.mark.parametrize("entry", LAYOUTS)
def test_layouts(write, entry):
    marked = read_spans(write([{"image_id": 4, **entry}]))
    assert marked.judged == [Judged(4, (CAPTION,), ())]
    assert marked.spans == [(Span(2, 5, "colour"), Span(17, 25, "object"))]
    only = read_spans(write([{"image_id": 4, **entry}]), ["object"])
    assert only.spans == [(Span(17, 25, "object"),)]


def test_labels_and_grounding_without_kinds(write):
    row = {"tokens": ["a", "b", "c", "d"], "labels": [0, 1, 1, 0], "image_path": "x/y_1.jpg"}
    grounding = {"caption": "a b  c", "grounding": [["a", True], ["b", False], ["c", True]]}
    marked = read_spans(write([row, grounding]))
    assert marked.spans == [(Span(2, 5),), (Span(0, 1), Span(5, 6))]
    assert [judged.image_id for judged in marked.judged] == ["y_1", 1]


@pytest.mark.parametrize(
    ("entry", "says"),
    [
        ({"caption": "abc", "spans": [[1, 4]]}, "not within the caption, which has 3"),
        ({"caption": "abc", "spans": [[2, 2]]}, "not within"),
        ({"caption": "abc", "spans": [[0, 2], [1, 3]]}, "overlap"),
        ({"caption": "abc", "spans": [["a", 2]]}, "is no span"),
        ({"caption": "abc", "spans": "a"}, "a list of spans"),
        ({"caption": "abc"}, "'spans' is missing"),
        ({"spans": []}, "no caption"),
        ({"tokens": ["a"], "labels": []}, "0 labels for 1 tokens"),
        ({"caption": "b", "tokens": ["a"], "labels": [1]}, "not in the rest"),
        ({"caption": "abc", "spans": []}, "no span is marked"),
        ({"caption": "abc", "spans": [[0, 1, "all"]]}, "cannot be called 'all'"),
    ],
)
def test_refusals(write, refusal, entry, says):
    assert says in refusal(read_spans, write([{"image_id": 1, **entry}]))


def test_an_unknown_kind_is_refused(write, refusal):
    path = write([{"image_id": 1, **LAYOUTS[0]}])
    assert "colour, object" in refusal(read_spans, path, ["shape"])
    marked = read_spans(path)
    tool = write([{"id": "1.1", "spans": [[0, 1, "shape"]]}], "tool.json")
    assert "colour, object" in refusal(read_tool_spans, tool, marked)
    assert "1.1" in refusal(read_tool_spans, write([{"id": "9", "spans": []}], "t.json"), marked)


#: Tokens 1, 2 and 5 are made up; b is nowhere wrong.
MARKED = Marked(
    "made",
    [Judged("a", ("one two three four five six",), ()), Judged("b", ("seven eight",), ())],
    [(Span(4, 13, "x"), Span(24, 27, "y")), ()],
)


def test_counts_worked_out_by_hand():
    # "two" within the first marked span; "four" is wrong, and so is "eight".
    tool = [(Span(5, 6), Span(14, 18)), (Span(6, 11),)]
    result = compare_spans(MARKED, {"T": tool}, trials()).findings["spans"]
    by = {(f["kind"], f["level"]): f for f in result}
    values = {key: (f["precision"], f["recall"], f["f1"]) for key, f in by.items()}
    assert values["all", "tokens"] == pytest.approx((1 / 3, 1 / 3, 1 / 3))
    assert values["all", "spans"] == pytest.approx((1 / 3, 1 / 2, 2 / 5))
    assert values["all", "captions"] == pytest.approx((1 / 2, 1, 2 / 3))
    assert by["x", "spans"]["recall"] == 1
    assert by["y", "tokens"]["recall"] == 0
    assert np.isnan(by["x", "spans"]["precision"])  # the tool names no kinds


def test_a_tool_that_names_kinds_is_right_by_kind():
    tool = [(Span(4, 7, "y"), Span(24, 27, "y")), ()]
    result = compare_spans(MARKED, {"T": tool}, trials()).findings["spans"]
    by = {(f["kind"], f["level"]): f for f in result}
    assert by["all", "spans"]["f1"] == 1
    assert (by["y", "spans"]["precision"], by["y", "spans"]["recall"]) == (0.5, 1)
    assert by["x", "spans"]["recall"] == by["x", "spans"]["f1"] == 0


def test_spans_that_touch_agree_with_sets_of_characters():
    random = np.random.default_rng(0)
    marked, tool = [], []
    for _ in range(300):
        sides = []
        for _ in range(2):
            ends = np.sort(random.choice(31, 2 * random.integers(3), replace=False)).tolist()
            sides.append(tuple(Span(*pair) for pair in zip(ends[::2], ends[1::2], strict=True)))
        marked.append(sides[0])
        tool.append(sides[1])
    caption = "ab cde f ghij kl mnopq rs t uvw"
    data = Marked("made", [Judged(n, (caption,), ()) for n in range(300)], marked)
    result = compare_spans(data, {"T": tool}, trials()).findings["spans"]
    gold, predicted = ([[set(range(s.start, s.end)) for s in of] for of in side]
                       for side in (marked, tool))  # fmt: skip
    right = sum(any(p & g for g in gs) for gs, ps in zip(gold, predicted, strict=True) for p in ps)
    hit = sum(any(p & g for p in ps) for gs, ps in zip(gold, predicted, strict=True) for g in gs)
    of_spans = result[1]
    assert of_spans["precision"] == pytest.approx(right / sum(map(len, predicted)))
    assert of_spans["recall"] == pytest.approx(hit / sum(map(len, gold)))
    pieces = [set(range(*word.span())) for word in re.finditer(r"\w+", caption)]
    touched = [
        [[any(w & s for s in of) for w in pieces] for of in side] for side in (gold, predicted)
    ]
    g, p = (np.array(side) for side in touched)
    assert result[0]["f1"] == pytest.approx(2 * (g & p).sum() / (g.sum() + p.sum()))


def test_a_better_tool_is_told_from_a_worse_one():
    marked = [(Span(0, 3),) if n % 2 else () for n in range(60)]
    data = Marked("made", [Judged(n, ("abc def",), ()) for n in range(60)], marked)
    worse = [(Span(4, 7),) if n % 3 else spans for n, spans in enumerate(marked)]
    tests = compare_spans(data, {"good": marked, "bad": worse}, trials()).findings["tests"]
    assert [test["level"] for test in tests] == ["tokens", "spans", "captions"]
    assert tests[0]["difference"] > 0.3
    assert tests[0]["p"] < 0.01
    same = compare_spans(data, {"one": worse, "two": worse}, trials()).findings["tests"]
    assert [test["p"] for test in same] == [1, 1, 1]


def test_the_command(write, run, tmp_path):
    rows = [
        {"image_id": 1, "caption": "A dog and a zebra.", "spans": [[12, 17, "object"]]},
        {"image_id": 2, "caption": "A red cat.", "spans": [[2, 5, "colour"]]},
    ]
    path, output = write(rows), tmp_path / "out.json"
    objects = write({"1": {"dog": 1, "zebra": 0}, "2": {"cat": 1, "dog": 0}}, "objects.json")
    tool = write([{"id": "1.1", "spans": []}, {"id": "2.1", "spans": [[0, 9]]}], "tool.json")
    command = ("agreement", "spans", path, "--scores", f"other={tool}")
    done(*command, "--metrics", "VIFIDEL-H", "--objects", objects, "--output", output)
    result = json.loads(output.read_text())["spans"]
    recalls = {(f["metric"], f["kind"]): f["recall"] for f in result if f["level"] == "spans"}
    kinds = ("all", "object", "colour")
    assert [recalls["VIFIDEL-H", kind] for kind in kinds] == [0.5, 1, 0]
    assert [recalls["other", kind] for kind in kinds] == [0.5, 0, 1]
    assert run(*command, "--figure", tmp_path / "f.svg").exit_code == 0
    refused = run(*command, "--metrics", "CIDEr", "--references", "0")
    assert refused.exit_code == 2
    assert "references" in refused.stderr
    assert "--objects" in run("agreement", "spans", path).stderr
    twice = run(*command, "--scores", f"other={tool}")
    assert "the same name" in twice.stderr
