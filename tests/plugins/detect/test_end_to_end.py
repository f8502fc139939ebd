"""From pictures and captions to a rate, without an annotation: answers that mean something.

A tiny OWL is trained for some seconds on drawn shapes, saved, and used as any model is.
"""

from __future__ import annotations

import json
import random

import pytest
from click.testing import CliRunner
from drawn_pictures import read_lines

import vifidel_eval
from vifidel_eval.annotations import read_objects
from vifidel_eval.commands.main import main
from vifidel_eval.plugins.detect.questions import read_asked

pytest.importorskip("torch", reason="needs PyTorch")
pytest.importorskip("transformers", reason="needs transformers")

import tiny_detectors

pytestmark = [pytest.mark.pytorch, pytest.mark.slow]

THRESHOLD = 0.5


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    """Pictures whose content is known, what two systems say of them, and a trained model.

    The careful system mentions what is there; of three mentions of the other, about one is not.
    """
    folder = tmp_path_factory.mktemp("world")
    photos = folder / "photos"
    (photos / "sub").mkdir(parents=True)
    source = random.Random(1)
    names = list(tiny_detectors.SEEN)
    truth, careful, dreaming = {}, {}, {}
    for number in range(60):
        image_id = f"{'sub/' * (number % 2)}{number:02}.png"
        there = source.sample(names, 2)
        corners = source.sample(range(16), 2)
        tiny_detectors.shapes(there, corners).save(photos / image_id)
        truth[image_id] = set(there)
        careful[image_id] = f"a {there[0]} beside a {there[1]}"
        other = source.choice([name for name in names if name not in there])
        dreaming[image_id] = f"a {there[0]} and a {there[1]} with a {other}"
    for name, captions in (("careful", careful), ("dreaming", dreaming)):
        lines = [{"image_id": i, "caption": text} for i, text in captions.items()]
        path = folder / f"{name}.jsonl"
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    model = tiny_detectors.trained_owl(folder / "shapes")
    return folder, truth, {"careful": careful, "dreaming": dreaming}, model


def rates_of(output, systems, folder, *options):
    """Return what ``score --objects`` says of the share of inventions of each system."""
    files = [str(folder / f"{name}.jsonl") for name in systems]
    result = CliRunner().invoke(
        main,
        ["score", *files, "--no-references", "--objects", str(output), "--threshold", "0.5",
         "--metrics", "VIFIDEL-H", "--format", "json", *options],
    )  # fmt: skip
    assert result.exit_code == 0, result.stderr
    document = json.loads(result.stdout)
    return {name: of["overall"]["VIFIDEL-Hi"] for name, of in document["systems"].items()}


@pytest.mark.filterwarnings("ignore:.*no label has a score below 0.5")
def test_pictures_captions_questions_answers_and_a_rate(world):
    folder, truth, systems, model = world
    output = folder / "asked.jsonl"
    captions = [str(folder / f"{name}.jsonl") for name in systems]
    result = CliRunner().invoke(
        main,
        ["detect", str(folder / "photos"), "--model", str(model), "--output", str(output),
         "--ask", captions[0], "--ask", captions[1]],
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    found = read_objects(output, threshold=THRESHOLD)
    expected = {
        image_id: {thing: thing in truth[image_id] for thing in asked}
        for image_id, asked in read_asked([folder / f"{n}.jsonl" for n in systems]).items()
    }
    assert sum(map(len, expected.values())) == 180
    assert found.asked_of([*expected]) == [set(of_image) for of_image in expected.values()]
    wrong = [
        (image_id, thing)
        for image_id, of_image in expected.items()
        for thing, there in of_image.items()
        if (thing in found[image_id]) != there
    ]
    assert len(wrong) <= 9
    # Boxes are where the things are: each within its sixteenth of the picture, give or take it.
    for rounds in read_lines(output)[1].values():
        for box in (box for line in rounds for box in line["boxes"]):
            assert -32 <= box[0] <= box[2] <= 96
    rates = rates_of(output, systems, folder)
    assert rates["careful"] <= 0.05
    assert rates["dreaming"] == pytest.approx(1 / 3, abs=0.05)
    # What is wrong is wrong in the answers, mention by mention.
    for name in systems:
        mentioned = [
            (image_id, thing)
            for image_id, of_image in read_asked([folder / f"{name}.jsonl"]).items()
            for thing in of_image
        ]
        absent = sum(thing not in found[image_id] for image_id, thing in mentioned)
        assert rates[name] == pytest.approx(absent / len(mentioned))
    result = CliRunner().invoke(
        main,
        ["explain", captions[1], "--objects", str(output), "--threshold", "0.5"],
    )  # fmt: skip
    assert result.exit_code == 0, result.stderr
    run = vifidel_eval.evaluate(
        systems, objects=output, threshold=THRESHOLD, metrics="VIFIDEL-H", weighted=False
    )
    assert {n: of["VIFIDEL-Hi"] for n, of in run.scores.items()} == pytest.approx(rates)
