"""Calibrated rates of whole runs: errors of a known size go in, the truth comes out."""

from __future__ import annotations

import json
import random

import pytest

import vifidel_eval
from vifidel_eval.errors import ImageIdError, VifidelError
from vifidel_eval.plugins.detect.calibration import calibrated
from vifidel_eval.plugins.detect.questions import read_controls

NAMES = ("dog", "lamp", "bench", "boat", "horse", "clock", "kite", "bus")


def world(folder, images=300, recall=0.8, false_alarms=0.1):
    """Write captions of which a third of all mentions is invented, answers, and references."""
    source = random.Random(3)
    captions, references, lines = {}, {}, []
    for number in range(images):
        image_id = f"sub/{number}.jpg"
        *there, invented, control = source.sample(NAMES, 4)
        captions[image_id] = f"a {there[0]} and a {there[1]} with a {invented}"
        references[image_id] = [f"a {there[0]} by a {there[1]}"] * 3
        for thing in (*there, invented, control):
            yes = source.random() < (recall if thing in there else false_alarms)
            line = {"image_id": image_id, "thing": thing, "answer": "yes" if yes else "no"}
            lines.append({**line, "control": True} if thing == control else line)
    answers = folder / "answers.jsonl"
    answers.write_text("".join(json.dumps(line) + "\n" for line in lines))
    for name, content in (("captions", captions), ("references", references)):
        (folder / f"{name}.json").write_text(json.dumps(content))
    return captions, references, lines


def test_errors_of_a_known_size_are_taken_away(tmp_path):
    captions, references, lines = world(tmp_path)
    run = vifidel_eval.evaluate(
        {"mine": captions}, references, tmp_path / "answers.jsonl", metrics="VIFIDEL-H"
    )
    found = calibrated(run, tmp_path / "answers.jsonl").detail.calibrated["mine"]
    answers = [line["answer"] for line in lines if "control" not in line]
    controls = [line["answer"] for line in lines if "control" in line]
    assert found.measured == pytest.approx(answers.count("no") / len(answers))
    assert found.false_yes == pytest.approx(controls.count("yes") / len(controls))
    assert (found.controls, found.named) == (300, 600)
    assert found.measured > 0.4
    assert found.corrected == pytest.approx(1 / 3, abs=0.03)
    assert found.interval[0] < 1 / 3 < found.interval[1]
    assert run.detail.calibrated == {}  # a run does not change


def test_table_json_and_report_say_the_same(tmp_path, run):
    world(tmp_path, images=40)
    result = run(
        "score", tmp_path / "captions.json", "--metrics", "VIFIDEL-H",
        "--references", tmp_path / "references.json",
        "--objects", tmp_path / "answers.jsonl",
        "--calibrate", tmp_path / "answers.jsonl",
        "--output", tmp_path / "scores.json", "--report", tmp_path / "page.html",
        "--resamples", "100",
    )  # fmt: skip
    assert result.exit_code == 0, result.stderr
    saved = json.loads((tmp_path / "scores.json").read_text())["calibrated"]["captions"]
    page = (tmp_path / "page.html").read_text()
    text = " ".join(result.stdout.split())
    shares = saved["measured"], saved["corrected"]
    measured, corrected = (f"{share:.3f}".removeprefix("0") for share in shares)
    assert f"VIFIDEL-Hi by the answers alone is {measured} as measured and {corrected} (" in text
    assert "of controls (40)" in text
    assert "{:.4f} as measured and {:.4f} (".format(*shares) in page
    # The file is read, and written again as it was.
    loaded = vifidel_eval.load(tmp_path / "scores.json")
    assert loaded.detail.calibrated["captions"].corrected == saved["corrected"]
    loaded.save(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == (tmp_path / "scores.json").read_bytes()


def test_a_control_that_a_reference_names_is_none(tmp_path):
    answers = {1: {"dog": 1, "lamp": 1, "bus": 0}, 2: {"dog": 1, "bench": 0}}
    run = vifidel_eval.evaluate(
        {"mine": {1: "a dog", 2: "a puppy"}},
        {1: ["a dog by a lamp", "a dog", "a dog"], 2: ["a dog"]},
        answers,
        metrics="VIFIDEL-H",
    )
    found = calibrated(run, {1: ["lamp", "bus"], 2: ["bench"]}).detail.calibrated["mine"]
    assert (found.controls, found.named, found.false_yes, found.corrected) == (2, 1, 0.0, 0.0)
    none = calibrated(run, {1: ["lamp"]}).detail.calibrated["mine"]
    assert none.note("mine") == (
        "Estimate for mine: VIFIDEL-Hi by the answers alone is 0.0000 as measured, and cannot be "
        "corrected: no control was answered."
    )
    with pytest.raises(ImageIdError, match="the controls"):
        calibrated(run, {7: ["lamp"]})


def test_what_is_lacking(tmp_path, run):
    evaluated = vifidel_eval.evaluate({"mine": {1: "a dog"}}, objects={1: {"dog": 1, "cat": 0}})
    with pytest.raises(VifidelError, match="calibration needs answers as objects"):
        calibrated(evaluated, {1: ["cat"]})
    path = tmp_path / "q.jsonl"
    path.write_text('{"image_id": 1, "thing": "dog"}\n')
    with pytest.raises(VifidelError, match=r'no line has "control": true; .* --controls N'):
        read_controls(path)
    captions = tmp_path / "mine.json"
    captions.write_text('{"1": "a dog"}')
    result = run("score", captions, "--no-references", "--calibrate", path)
    assert result.exit_code == 2
    assert "--calibrate needs --objects (the answers) and --references" in result.stderr
