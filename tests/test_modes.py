"""Python as people run it: without asserts or docstrings, warnings as errors, without a home."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
MODES = {
    "-OO": (["-OO"], {}),  # which is -O, too
    "-W error, unbuffered, a safe path": (
        ["-W", "error"],
        {"PYTHONUNBUFFERED": "1", "PYTHONSAFEPATH": "1"},
    ),
    "no home": ([], {"HOME": None, "XDG_CACHE_HOME": None, "VIFIDEL_EVAL_CACHE": None}),
    "a cache that cannot be": ([], {"VIFIDEL_EVAL_CACHE": os.devnull}),
}
# The README's commands, one after the other, and its line for a script that has COCOEvalCap.
CODE = """
import contextlib, shlex, sys
import vifidel_eval as v
v.evaluate, v.Vifidel, v.load
import vifidel_eval.rewards
from vifidel_eval.commands.main import main
from vifidel_eval.scorers import VifidelPRF
for line in sys.argv[1:]:
    with contextlib.suppress(SystemExit):
        main(shlex.split(line), prog_name="vifidel-eval")
objects, caption = "instances_example.json", "a dog on a couch"
print(VifidelPRF(objects).compute_score({101: ["a dog"]}, {101: [caption]}))
"""


def commands():
    """Return the commands that the README names, with the files that they stand beside."""
    text = (ROOT / "README.md").read_text("utf-8").replace("\\\n", "")
    score = re.search(r"vifidel-eval (score [^`]*\.json)\s", text)[1]
    named = re.findall(r"`vifidel-eval ([^`]+)`", text)
    results = "captions_example_dreaming_results.json --objects instances_example.json"
    others = [f"explain {results}" if line == "explain" else line for line in named]
    assert {"demo", f"explain {results}", "info --cite scores.json"} == {*others}
    return [f"{score} --report page.html --output scores.json", *others]


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Return what runs all of it in a mode: the output, and the files that were written."""

    def run(options, changed):
        folder = tmp_path_factory.mktemp("mode") / "examples"
        shutil.copytree(ROOT / "examples", folder)
        environment = {**os.environ, **changed}
        done = subprocess.run(
            [sys.executable, *options, "-c", CODE, *commands()],
            cwd=folder,
            env={name: value for name, value in environment.items() if value is not None},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        assert not re.search("Traceback|DeprecationWarning|^Error", done.stderr, re.MULTILINE)
        built = sorted(path for path in folder.rglob("*") if path.suffix in (".html", ".json"))
        return done.stdout, {path.relative_to(folder): path.read_bytes() for path in built}

    return run


@pytest.fixture(scope="module")
def usual(run):
    return run([], {})


@pytest.mark.parametrize("mode", MODES)
def test_the_commands_of_the_readme_are_the_same(mode, run, usual):
    assert run(*MODES[mode]) == usual
