"""Rates corrected for wrong answers, against simulated answers whose errors are known."""

import json
import math
import random

import numpy as np
import pytest
from conftest import done

import vifidel_eval
from vifidel_eval.errors import ImageIdError, VifidelError
from vifidel_eval.plugins.detect.calibration import AnswerCounts, calibrate, calibrated
from vifidel_eval.plugins.detect.questions import read_controls


def counts(*columns):
    return AnswerCounts(*(np.array(column) for column in columns))


def simulated(images, invented, recall, false_alarms, seed=0, mentions=4):
    """Return counts of answers of which a known share is wrong."""
    source = np.random.default_rng(seed)
    made_up = source.binomial(mentions, invented, images)
    there = mentions - made_up
    said_absent = source.binomial(there, 1 - recall) + source.binomial(made_up, 1 - false_alarms)
    controls, named = np.full(images, 2), np.full(images, 3)
    said_yes, said_no = source.binomial(controls, false_alarms), source.binomial(named, 1 - recall)
    return counts(np.full(images, mentions), said_absent, controls, said_yes, named, said_no)


def test_the_formula_by_hand():
    """200 mentions, 50 denied; 1 of 10 controls said yes; 4 of 20 things said no.

    (0.25 - 0.2) / (1 - 0.1 - 0.2) = 0.0714.
    """
    result = calibrate(counts([120, 80], [30, 20], [6, 4], [1, 0], [12, 8], [2, 2]))
    assert result.measured == 0.25
    assert (result.false_yes, result.false_no) == (0.1, 0.2)
    assert result.corrected == pytest.approx(0.05 / 0.7)
    assert (result.controls, result.named) == (10, 20)


@pytest.mark.parametrize("invented", [0.03, 0.15, 0.4])
@pytest.mark.parametrize(("recall", "false_alarms"), [(0.8, 0.1), (0.95, 0.02), (0.6, 0.25)])
def test_simulated_errors_are_taken_away(invented, recall, false_alarms):
    result = calibrate(simulated(20000, invented, recall, false_alarms))
    wrong = invented * (1 - false_alarms) + (1 - invented) * (1 - recall)
    assert result.measured == pytest.approx(wrong, abs=0.01)
    assert result.corrected == pytest.approx(invented, abs=0.02)
    low, high = result.interval
    assert low < result.corrected < high
    assert high - low < 0.06


def test_the_interval_covers_the_truth():
    """In 95 of 100 simulations, more or less."""
    covered = 0
    for seed in range(100):
        low, high = calibrate(simulated(300, 0.2, 0.8, 0.1, seed), resamples=300).interval
        covered += low <= 0.2 <= high
    assert 88 <= covered <= 99


@pytest.mark.parametrize(
    "given",
    [
        ([10], [1], [0], [0], [10], [1]),  # no control
        ([10], [1], [10], [1], [0], [0]),  # nothing that several references name
        ([0], [0], [10], [1], [10], [1]),  # nothing judged
        ([10], [1], [10], [6], [10], [5]),  # answers that are no better than chance
        ([], [], [], [], [], []),
    ],
)
def test_what_cannot_be_estimated_is_undefined(given):
    result = calibrate(counts(*given))
    assert math.isnan(result.corrected)
    assert all(map(math.isnan, result.interval))


def test_the_same_digits_for_a_seed_and_none_for_impossible_counts():
    given = simulated(50, 0.2, 0.8, 0.1)
    assert calibrate(given, seed=1) == calibrate(given, seed=1)
    assert calibrate(given, seed=1).interval != calibrate(given, seed=2).interval
    with pytest.raises(VifidelError, match="counts of answers: absent, said_yes and said_no"):
        calibrate(counts([1], [2], [1], [0], [1], [0]))
    for uneven in (([5, 5], [1], [1, 1], [0, 0], [1, 1], [0, 0]), ([5], ["1"], [1], [0], [1], [0])):
        with pytest.raises(VifidelError, match="six arrays of whole numbers"):
            calibrate(counts(*uneven))


# Whole runs


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
    result = calibrated(run, tmp_path / "answers.jsonl").detail.calibrated["mine"]
    answers = [line["answer"] for line in lines if "control" not in line]
    controls = [line["answer"] for line in lines if "control" in line]
    assert result.measured == pytest.approx(answers.count("no") / len(answers))
    assert result.false_yes == pytest.approx(controls.count("yes") / len(controls))
    assert (result.controls, result.named) == (300, 600)
    assert result.measured > 0.4
    assert result.corrected == pytest.approx(1 / 3, abs=0.03)
    assert result.interval[0] < 1 / 3 < result.interval[1]
    assert run.detail.calibrated == {}  # a run does not change


def test_table_json_and_report_say_the_same(tmp_path, run, monkeypatch):
    world(tmp_path, images=40)
    monkeypatch.chdir(tmp_path)
    result = done(
        "score", "captions.json", "--metrics", "VIFIDEL-H", "--references", "references.json",
        "--objects", "answers.jsonl", "--calibrate", "answers.jsonl", "--resamples", "100",
        "--output", "scores.json", "--report", "page.html",
    )  # fmt: skip
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
    result = calibrated(run, {1: ["lamp", "bus"], 2: ["bench"]}).detail.calibrated["mine"]
    assert (result.controls, result.named, result.false_yes, result.corrected) == (2, 1, 0.0, 0.0)
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
