"""Standard streams that are closed, full or absent: an exit status, and a sentence if possible."""

import errno
import io
import json
import os
import subprocess
import sys

import pytest
from conftest import refused
from hostile import command
from hostile.command import OBJECTS, REFERENCES, RESULTS, ROOT

from vifidel_eval import evaluate
from vifidel_eval.commands.main import main

SCORE = ["score", str(RESULTS), "--objects", str(OBJECTS), "--no-references"]
# What prints a result, and what prints an error.
RESULT = [
    ["--help"],
    ["--version"],
    ["info"],
    SCORE,
    [*SCORE, "--format", "json"],
    ["explain", str(RESULTS), "--objects", str(OBJECTS)],
    ["score", "--help-all"],
]
ERRORS = [(["nosuch"], 2), (["score", "--nosuch"], 2), (["table", "gone.json"], 1), ([], 2)]


class Full(io.StringIO):
    """A stream that takes nothing."""

    def write(self, _):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def closed():
    stream = io.StringIO()
    stream.close()
    return stream


STATES = {"absent": lambda: None, "closed": closed, "full": Full}


def status(arguments):
    with pytest.raises(SystemExit) as ended:
        main(arguments, prog_name="vifidel-eval")
    return ended.value.code


@pytest.mark.parametrize("arguments", RESULT, ids=" ".join)
@pytest.mark.parametrize("state", STATES)
def test_a_result_that_cannot_be_printed(monkeypatch, capsys, state, arguments):
    with monkeypatch.context() as patched:
        patched.setattr(sys, "stdout", STATES[state]())
        assert status(arguments) == 1
    message = [line for line in capsys.readouterr().err.splitlines() if "Warning: " not in line]
    assert len(message) == 1, message
    assert message[0].startswith("Error: the output cannot be printed: ")


@pytest.mark.parametrize("arguments", RESULT, ids=" ".join)
@pytest.mark.parametrize("state", STATES)
def test_a_result_without_standard_error(monkeypatch, capsys, state, arguments):
    with monkeypatch.context() as patched:
        patched.setattr(sys, "stderr", STATES[state]())
        assert status(arguments) == 0
    assert capsys.readouterr().out


@pytest.mark.parametrize(("arguments", "expected"), ERRORS)
@pytest.mark.parametrize("state", STATES)
def test_an_error_that_nobody_can_be_told(monkeypatch, capsys, state, arguments, expected):
    for both in (False, True):
        with monkeypatch.context() as patched:
            patched.setattr(sys, "stderr", STATES[state]())
            if both:
                patched.setattr(sys, "stdout", STATES[state]())
            assert status(arguments) == expected
    assert capsys.readouterr() == ("", "")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
@pytest.mark.parametrize(
    ("arguments", "redirected"),
    [(["--help"], ">&-"), (SCORE, "> /dev/full")],
    ids=["help", "score"],
)
def test_in_a_shell(arguments, redirected):
    command = [sys.executable, "-m", "vifidel_eval", *arguments]
    environment = {**os.environ, "PYTHONUNBUFFERED": ""}  # most of the output waits for a flush
    for both in ("", redirected.replace(">", "2>", 1)):
        done = subprocess.run(
            ["sh", "-c", f'exec "$@" {redirected} {both}', "sh", *command],
            cwd=ROOT, env=environment, stderr=subprocess.PIPE, check=False,
        )  # fmt: skip
        assert done.returncode == 1
        lines = done.stderr.decode().splitlines()
        assert [line.partition(": ")[0] for line in lines if line] == ([] if both else ["Error"])


@pytest.mark.filterwarnings("ignore::vifidel_eval.VifidelWarning")
@pytest.mark.parametrize("state", ["absent", "closed"])
def test_python_without_standard_streams(monkeypatch, state):
    with monkeypatch.context() as patched:
        patched.setattr(sys, "stdout", STATES[state]())
        patched.setattr(sys, "stderr", STATES[state]())
        run = evaluate(RESULTS, references=REFERENCES, objects=OBJECTS, metrics="VIFIDEL")
        shown = str(run)
    assert "VIFIDEL" in shown


def test_results_from_standard_input():
    given = ("--references", REFERENCES, "--objects", OBJECTS, "--metrics", "VIFIDEL")
    json_of = ("--format", "json")
    piped = command.run("score", "-", *given, *json_of, stdin=RESULTS.read_bytes())
    read = command.run("score", RESULTS, *given, *json_of)
    assert piped.status == 0, piped.stderr
    of_piped, of_read = (json.loads(result.stdout)["systems"] for result in (piped, read))
    assert of_piped["stdin"] == of_read["careful"]


@pytest.mark.parametrize("stdin", [b"", b"\xff\xfe", b"[", b"{}", b"PAR1"])
def test_broken_standard_input(stdin, run):
    result = run("score", "-", "--no-references", "--objects", OBJECTS, input=stdin)
    refused(result, "standard input")
