"""Every command that writes a file: what it may touch, disks that fill, two runs on one output."""

import json
import os
import shutil
import subprocess
import sys

import click
import numpy as np
import pytest
from conftest import done
from drawn_pictures import drawn
from fake_detector import ColourDetector
from hostile.command import EXAMPLES, OBJECTS, REFERENCES, RESULTS, ROOT
from hostile.test_guard import commands, option, params
from judgement_files import WRITERS

from vifidel_eval.commands.paths import Written, WrittenFolder
from vifidel_eval.plugins.agreement import trials
from vifidel_eval.plugins.detect import loading

posix = pytest.mark.skipif(os.name != "posix", reason="POSIX links, limits and devices")
slow = pytest.mark.slow

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


TEXTS = ["A dog.", "A dog and a zebra.", "A brown dog runs over the grass.", "A zebra, a dog."]


def inputs(folder):
    """Write what the commands read."""
    photos = folder / "photos"
    photos.mkdir()
    for number in range(3):
        drawn(number).save(photos / f"p{number}.png")
    (folder / "colours.onnx").write_bytes(b"")
    for name, write in WRITERS.items():
        (folder / name).mkdir()
        write(folder / name)
    captions = {n: TEXTS[(n + n // 4) % 4] for n in range(16)}
    battles = [
        {"image": n, "caption_a": TEXTS[n], "caption_b": TEXTS[n - 1], "references": TEXTS[:2],
         "model_a": "m", "model_b": "n", "winner": "ab"[n % 2]}
        for n in range(4)
    ]  # fmt: skip
    contents = {
        "list": {"images": [{"id": 1}], "annotations": []},
        "one": [{"image_id": 1, "caption": "a dog"}],
        "labels": {"2008_000001": ["bus"], "2008_000002": ["cat", "sofa"], "2008_000003": ["dog"]},
        "captions": captions,
        "others": dict.fromkeys(captions, TEXTS[1]),
        "lengths": {n: len(text.split()) - ("zebra" in text) for n, text in captions.items()},
        "objects": {n: {"dog": 1, "zebra": 0} for n in captions},
        "samples": [{"image_id": n, "caption": c} for n in range(3) for c in TEXTS[:3]],
        "battles": battles,
        "judged": [
            {"caption": t, "references": TEXTS[:2], "score": n} for n, t in enumerate(TEXTS)
        ],
    }
    for name, content in contents.items():
        (folder / f"{name}.json").write_text(json.dumps(content))
    (folder / "rows.csv").write_text('caption,objects\na dog,dog\na cat,"cat,dog"\n')
    image = {
        "bbox": np.tile(np.array([1, 1, 90, 90], "f4"), (6, 1)), "num_boxes": 6,
        "objects": np.arange(6), "image_id": "42",
        "image_width": 640, "image_height": 480, "cls_prob": np.zeros((6, 3), "f4"),
        "features": np.ones((6, 2048), "f4"),
    }  # fmt: skip
    (folder / "features").mkdir()
    np.save(folder / "features" / "42.npy", np.array(image, dtype=object), allow_pickle=True)


DREAMING = EXAMPLES / "captions_example_dreaming_results.json"
COMMON = ["--references", REFERENCES, "--objects", OBJECTS, "--metrics", "VIFIDEL"]
OVERLAP = ["--metrics", "ROUGE_L,WMD", "--references", "1"]
# A command line for each command that writes, without its outputs.
COMMANDS = {
    "agreement abstract50s": ["{in}/abstract50s", *OVERLAP],
    "agreement battles": ["{in}/battles.json", *OVERLAP],
    "agreement composite": ["{in}/composite", *OVERLAP],
    "agreement distractors": ["{in}/distractors/pairs.json", *OVERLAP],
    "agreement flickr8k": ["{in}/flickr8k", *OVERLAP],
    "agreement hat": ["{in}/hat/hat.json", *OVERLAP],
    "agreement judge": ["{in}/scored.json"],
    "agreement judgements": ["{in}/judged.json", *OVERLAP],
    "agreement nocaps-foil": ["{in}/nocaps-foil/nocaps-val-foil.json", *OVERLAP],
    "agreement pascal50s": [
        "{in}/pascal50s",
        "--objects",
        "{in}/labels.json",
        "--metrics",
        "VIFIDEL",
    ],
    "agreement reproduce": ["kilickaya-2"],
    "agreement spans": ["{in}/hat/hat.json", "--metrics", "VIFIDEL-H", "--references", "1"],
    "agreement thumb": ["{in}/thumb", *OVERLAP],
    "convert-features": ["{in}/features", "--trust-pickles"],
    "demo": [],
    "detect": ["{in}/photos", "--model", "{in}/colours.onnx"],
    "explain": [RESULTS, "--objects", OBJECTS],
    "preference-pairs": ["{in}/samples.json", "--objects", "{in}/objects.json"],
    "questions": [RESULTS],
    "score": [f"a={RESULTS}", f"b={DREAMING}", "--compare", *COMMON],
    "score-table": ["{in}/rows.csv", "--labels", "objects"],
    "submission write": ["{in}/one.json", "--images", "{in}/list.json"],
    "table": ["{in}/scored.json"],
    "train-lm": [REFERENCES, "--epochs", "1", "--hidden", "8"],
}


SCORED = [
    *("a={in}/captions.json", "b={in}/others.json", "--objects", "{in}/objects.json"),
    *("--scores", "a: GPT={in}/lengths.json", "--scores", "b: GPT={in}/lengths.json"),
    *("--metrics", "VIFIDEL-H", "--output", "{in}/scored.json"),
]


def words_of(name, folder, words=None):
    """Return the words of a command without its outputs."""
    words = COMMANDS[name] if words is None else words
    return [*name.split(), *(str(word).format(**{"in": folder}) for word in words)]


def written_by(name):
    """Return the parameters of a command that name outputs."""
    return [p for p in params(tuple(name.split())) if isinstance(p.type, Written | WrittenFolder)]


def together(name):
    """Return those that are written with others; some figures are of some data sets alone."""
    alone = ("write_candidates", "figure_")
    return [param for param in written_by(name) if not param.name.startswith(alone)]


def file_of(param):
    """Return a name for the output that a parameter names."""
    drawn = param.name.startswith("figure")
    return f"{param.name}.{'png' if drawn else 'csv' if param.name == 'inventions' else 'json'}"


def outputs_of(name, folder):
    """Return the arguments by which a command writes all that it can, into a folder."""
    return [word for p in together(name) for word in option(p, folder / file_of(p))]


def content_of(folder):
    """Return every path below a folder, with the bytes of files and where links lead."""
    return {
        path.relative_to(folder): os.readlink(path) if path.is_symlink()
        else path.read_bytes() if path.is_file() else None
        for path in folder.rglob("*")
    }  # fmt: skip


every = pytest.mark.parametrize("name", COMMANDS)


def test_every_command_that_writes_is_here():
    names = [" ".join(words) for words, _ in commands()]
    assert list(filter(written_by, names)) == list(COMMANDS)


@pytest.fixture
def called(folder, run, monkeypatch):
    """Return what calls a command with more words; what it reads must be as before."""
    monkeypatch.setattr(loading, "load_detector", lambda files, device: ColourDetector())
    monkeypatch.setattr(trials, "RESAMPLES", 8)
    done(*words_of("score", folder / "in", SCORED))
    before = content_of(folder / "in")

    def called(name, *more):
        result = run(*words_of(name, folder / "in"), *more)
        assert content_of(folder / "in") == before
        assert isinstance(result.exception, SystemExit | type(None)), result.exception
        return result

    return called


@every
def test_nothing_is_written_that_was_not_named(name, called, folder):
    available(name)
    result = called(name, *outputs_of(name, folder / "out"))
    assert result.exit_code == 0, result.output + result.stderr
    built = content_of(folder / "out")
    named = {path.parts[0].partition(".")[0] for path in built}
    assert named == {param.name for param in together(name)}
    beside = {path.name for path in built if path.suffix in (".part", ".lock", ".unfinished")}
    assert beside <= {"leaderboard.json.lock", "manifest.json.lock"}
    assert {path.name for path in folder.iterdir()} == {"in", "out"}


@posix
@every
def test_no_link_is_followed_out(name, called, folder):
    """Neither one beside an output, nor one in a folder of outputs."""
    available(name)
    assert called(name, *outputs_of(name, folder / "out")).exit_code == 0
    built = [path for path in (folder / "out").rglob("*") if path.is_file()]
    for at, path in enumerate(built):
        for suffix in ("", ".lock", ".unfinished"):
            link = path.with_name(path.name + suffix)
            if suffix or path.parent != folder / "out":
                link.unlink(missing_ok=True)
                link.symlink_to(folder / "far" / f"{at}{suffix}")
    (folder / "far").mkdir()
    result = called(name, *outputs_of(name, folder / "out"))
    assert os.listdir(folder / "far") == []
    assert result.exit_code == 0 or "Error" in result.stderr


@posix
@every
def test_a_device_that_is_full_and_a_folder_that_is_not_there(name, called, folder):
    available(name)
    for param in written_by(name):
        device = folder / file_of(param)
        device.symlink_to("/dev/full")
        full = called(name, *option(param, device))
        device.unlink()
        assert full.exit_code in (1, 1 + param.name.startswith("figure_")), (param, full.output)
        absent = called(name, *option(param, folder / "out" / "a" / "b" / device.name))
        assert absent.exit_code in (name != "demo", full.exit_code), (param, absent.output)


# What commands call their main output; those of agreement write it in one way.
MAIN = ("output", "output_folder", "folder")
OF_A_KIND = [*[name for name in COMMANDS if name.startswith("agreement ")][1:], "table"]
each = pytest.mark.parametrize("name", [name for name in COMMANDS if name not in OF_A_KIND])


def started(name, most, folder):
    """Start a command with one output, ``out/o``, in a process that may write so many bytes."""
    output = str(folder / "out" / "o")
    target = next(param for param in written_by(name) if param.name in MAIN)
    given = [output] if isinstance(target, click.Argument) else [target.opts[0], output]
    return subprocess.Popen(
        [sys.executable, "-c", CODE, str(most), *words_of(name, folder / "in"), *given],
        cwd=ROOT,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )


def status_of(process):
    """Return how a process ended, and what it said, which is no traceback."""
    message = process.communicate(timeout=240)[1]
    assert "Traceback" not in message
    return process.returncode, message


def made(folder):
    """Return what a command wrote; who waited for a leaderboard's lock left it."""
    result = content_of(folder / "out")
    return {path: text for path, text in result.items() if path.suffix != ".lock"}


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "in").mkdir()
    inputs(tmp_path / "in")
    (tmp_path / "out").mkdir()
    return tmp_path


def available(name):
    if name == "train-lm":
        pytest.importorskip("torch", reason="needs PyTorch")


@slow
@posix
@pytest.mark.parametrize("most", [1, 20])
@each
def test_a_disk_that_fills(folder, name, most):
    """One sentence; the output is not there; with room, the same command ends well."""
    available(name)
    status, message = status_of(started(name, most, folder))
    assert status == 1, message
    assert "cannot be written: " in message
    assert not [path for path in made(folder) if path.suffix not in ("", ".unfinished")]
    status, message = status_of(started(name, 0, folder))
    assert status == 0, message
    assert {path.parts[0] for path in made(folder)} == {"o"}


@slow
@posix
@each
def test_several_processes_on_one_output(folder, name):
    """Each ends well, or says that another is writing; the output is that of one alone."""
    available(name)
    status, message = status_of(started(name, 0, folder))
    assert status == 0, message
    alone = made(folder)
    shutil.rmtree(folder / "out")
    (folder / "out").mkdir()
    ended = [status_of(process) for process in [started(name, 0, folder) for _ in range(3)]]
    assert 0 in [status for status, _ in ended], ended
    for status, message in ended:
        assert not status or "another run is writing" in message or "there already" in message, (
            message
        )
    assert made(folder) == alone
