"""Python as people run it: without asserts or docstrings, warnings as errors, without a home."""

import os
import subprocess
import sys

import pytest

MODES = {
    "-O": (["-O"], {}),
    "-OO": (["-OO"], {}),
    "-W error": (["-W", "error"], {}),
    "unbuffered, a safe path": ([], {"PYTHONUNBUFFERED": "1", "PYTHONSAFEPATH": "1"}),
    "no home": ([], {"HOME": None, "XDG_CACHE_HOME": None, "VIFIDEL_EVAL_CACHE": None}),
    "a cache that cannot be": ([], {"VIFIDEL_EVAL_CACHE": os.devnull}),
}
IMPORTS = "import vifidel_eval as v; v.evaluate, v.Vifidel, v.load; import vifidel_eval.rewards"


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    """Return what runs the README's first command in a mode: its output, and the report."""

    def demo(options, changed):
        folder = tmp_path_factory.mktemp("mode")
        environment = {**os.environ, **changed}
        environment = {name: value for name, value in environment.items() if value is not None}
        for command in (["-c", IMPORTS], ["-m", "vifidel_eval", "demo", "made"]):
            done = subprocess.run(
                [sys.executable, *options, *command],
                cwd=folder,
                env=environment,
                capture_output=True,
                text=True,
                check=False,
            )
            assert done.returncode == 0, done.stderr
            assert "Traceback" not in done.stderr
            assert "DeprecationWarning" not in done.stderr
        return done.stdout, (folder / "made" / "report.html").read_bytes()

    return demo


@pytest.fixture(scope="module")
def usual(demo):
    return demo([], {})


@pytest.mark.parametrize("mode", MODES)
def test_the_demo_is_the_same(mode, demo, usual):
    assert demo(*MODES[mode]) == usual
