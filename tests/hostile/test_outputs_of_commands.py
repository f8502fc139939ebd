"""Every command that writes a file, on a disk that fills, and twice at once on one output."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import numpy as np
import pytest
from drawn_pictures import drawn
from hostile.command import EXAMPLES, OBJECTS, REFERENCES, RESULTS, ROOT
from judgement_files import write_pascal

from vifidel_eval.plugins.networks.regions import read_boxed_regions

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(os.name != "posix", reason="POSIX limits"),
]

# A detector that needs no model, and a limit on what files may hold.
CODE = """
import resource, sys
sys.path.insert(0, "tests")
from fake_detector import ColourDetector
from vifidel_eval.plugins.detect import loading
loading.load_detector = lambda files, device: ColourDetector()
most = int(sys.argv[1])
if most:
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
from vifidel_eval.commands.main import main
main(sys.argv[2:], prog_name="vifidel-eval")
"""


def inputs(folder):
    """Write what the commands read."""
    photos = folder / "photos"
    photos.mkdir()
    for number in range(3):
        drawn(number).save(photos / f"p{number}.png")
    (folder / "colours.onnx").write_bytes(b"")
    (folder / "list.json").write_text(json.dumps({"images": [{"id": 1}], "annotations": []}))
    (folder / "one.json").write_text(json.dumps([{"image_id": 1, "caption": "a dog"}]))
    (folder / "pascal").mkdir()
    write_pascal(folder / "pascal")
    labels = {"2008_000001": ["bus"], "2008_000002": ["cat", "sofa"], "2008_000003": ["dog"]}
    (folder / "labels.json").write_text(json.dumps(labels))
    image = {
        "bbox": np.tile(np.array([1, 1, 90, 90], "f4"), (6, 1)), "num_boxes": 6,
        "objects": np.arange(6), "image_id": "42",
        "image_width": 640, "image_height": 480, "cls_prob": np.zeros((6, 3), "f4"),
        "features": np.ones((6, 2048), "f4"),
    }  # fmt: skip
    (folder / "features").mkdir()
    np.save(folder / "features" / "42.npy", np.array(image, dtype=object), allow_pickle=True)


COMMANDS = {
    "detect": ["detect", "{in}/photos", "--model", "{in}/colours.onnx", "--output", "{out}"],
    "questions": ["questions", RESULTS, "--output", "{out}"],
    "submission write": [
        "submission", "write", "{in}/one.json", "--images", "{in}/list.json", "--output", "{out}"
    ],
    "train-lm": [
        "train-lm", REFERENCES, "--output", "{out}", "--epochs", "1", "--hidden", "8"
    ],
    "agreement": [
        "agreement", "pascal50s", "{in}/pascal", "--objects", "{in}/labels.json", "--metrics",
        "VIFIDEL", "--output", "{out}",
    ],
    "--compare-output": [
        "score", f"a={RESULTS}", f"b={EXAMPLES / 'captions_example_dreaming_results.json'}",
        "--references", REFERENCES, "--objects", OBJECTS, "--metrics", "VIFIDEL",
        "--compare-output", "{out}",
    ],
}  # fmt: skip


def command(name, most, folder, output):
    words = [str(w).format(**{"in": folder, "out": output}) for w in COMMANDS[name]]
    return [sys.executable, "-c", CODE, str(most), *words]


def started(name, most, folder, output):
    return subprocess.Popen(
        command(name, most, folder, output),
        cwd=ROOT,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "in").mkdir()
    inputs(tmp_path / "in")
    (tmp_path / "out").mkdir()
    return tmp_path


def available(name):
    if name == "train-lm":
        pytest.importorskip("torch", reason="needs PyTorch")


@pytest.mark.parametrize("most", [1, 20])
@pytest.mark.parametrize("name", COMMANDS)
def test_a_disk_that_fills(folder, name, most):
    """One sentence; the output is not there; with room, the same command ends well."""
    available(name)
    output = folder / "out" / "o"
    process = started(name, most, folder / "in", output)
    said = process.communicate(timeout=240)[1]
    assert process.returncode == 1, said
    assert "Traceback" not in said
    assert "cannot be written: file too large" in said
    assert set(os.listdir(folder / "out")) <= {"o.unfinished"}
    process = started(name, 0, folder / "in", output)
    said = process.communicate(timeout=240)[1]
    assert process.returncode == 0, said
    assert os.listdir(folder / "out") == ["o"]


@pytest.mark.parametrize("name", COMMANDS)
def test_several_processes_on_one_output(folder, name):
    """Each ends well, or says that another is writing; the output is that of one alone."""
    available(name)
    alone = folder / "alone"
    process = started(name, 0, folder / "in", alone)
    said_alone = process.communicate(timeout=240)[1]
    assert process.returncode == 0, said_alone
    output = folder / "out" / "o"
    running = [started(name, 0, folder / "in", output) for _ in range(3)]
    said = [process.communicate(timeout=240)[1] for process in running]
    statuses = [process.returncode for process in running]
    assert 0 in statuses, said
    for status, text in zip(statuses, said, strict=True):
        assert "Traceback" not in text
        assert not status or "another run is writing" in text, text
    assert os.listdir(folder / "out") == ["o"]
    assert output.read_bytes() == alone.read_bytes()


def convert(folder, most):
    words = ["convert-features", folder / "in" / "features", folder / "out", "--trust-pickles"]
    return subprocess.Popen(
        [sys.executable, "-c", CODE, str(most), *map(str, words)],
        cwd=ROOT,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_features_on_a_disk_that_fills_and_twice_at_once(folder):
    process = convert(folder, 1000)
    said = process.communicate(timeout=240)[1]
    assert process.returncode == 1, said
    assert "Traceback" not in said
    assert "cannot be written: file too large" in said
    assert os.listdir(folder / "out") == []
    running = [convert(folder, 0) for _ in range(3)]
    said = [process.communicate(timeout=240)[1] for process in running]
    assert 0 in [process.returncode for process in running], said
    assert "Traceback" not in "".join(said)
    (made,) = os.listdir(folder / "out")
    assert read_boxed_regions(folder / "out").read(42).features.shape == (6, 2048), made
