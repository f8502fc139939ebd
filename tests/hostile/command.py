"""The command in a process of its own, and what a refusal must look like."""

import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
RESULTS = EXAMPLES / "captions_example_careful_results.json"
REFERENCES = EXAMPLES / "captions_example.json"
OBJECTS = EXAMPLES / "instances_example.json"


class Result(NamedTuple):
    status: int
    stdout: str
    stderr: str


def run(
    *arguments: object, cwd: Path | None = None, stdin: bytes = b"", timeout: float = 120
) -> Result:
    """Run ``vifidel-eval`` and return what it said."""
    done = subprocess.run(
        [sys.executable, "-m", "vifidel_eval", *map(os.fspath, map(_text, arguments))],
        cwd=cwd or ROOT,
        input=stdin,
        capture_output=True,
        timeout=timeout,
        check=False,
    )
    out, err = (text.decode("utf-8", "surrogateescape") for text in (done.stdout, done.stderr))
    return Result(done.returncode, out, err)


def _text(argument: object) -> str | os.PathLike[str]:
    return argument if isinstance(argument, str | os.PathLike) else str(argument)


def refused(result: Result, *names: object, status: int | None = None) -> None:
    """Check that a run ended in one sentence that names what is wrong."""
    assert result.status in ((1, 2) if status is None else (status,)), result
    assert "Traceback" not in result.stderr, result.stderr
    lines = [line for line in result.stderr.splitlines() if line.strip()]
    usage = [line for line in lines if line.startswith(("Usage:", "Try "))]
    assert 1 <= len(lines) - len(usage) <= 3, result.stderr
    for name in names:
        assert str(name) in result.stderr, result.stderr
    harmless(result)


def harmless(result: Result) -> None:
    """Check that nothing printed is a control character that a terminal would obey."""
    for text in (result.stdout, result.stderr):
        bad = [c for c in text if (ord(c) < 32 and c not in "\n\t") or 127 <= ord(c) < 160]
        assert not bad, (bad, text)
