"""Java's metrics: METEOR, SPICE, and the tokens of pycocoevalcap's Penn Treebank tokenizer.

This module finds and runs Java.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

from ...errors import MetricUnavailable

PATIENCE = 600.0  #: a Java process that gives no answer for so many seconds has hung

# The machine's locale must not change what Java reads: another encoding garbles captions, a
# decimal comma makes METEOR misread its own numbers.
_SAME_EVERYWHERE = ("-Dfile.encoding=UTF-8", "-Duser.language=en", "-Duser.country=US")

_VERSION = re.compile(r'version "(?:1\.)?(\d+)')  # 1.8.0_312 is Java 8


class Java(NamedTuple):
    """A Java runtime that runs."""

    command: str  # the path of the program
    release: int  # 8, 11, 17 ...; 0 if it does not say

    def __str__(self) -> str:
        return f"{self.command}, Java {self.release}"

    def arguments(self, *arguments: str) -> list[str]:
        """Return the command line that runs Java with these arguments."""
        return [self.command, *_SAME_EVERYWHERE, *arguments]


def find_java(purpose: str) -> Java:
    """Return the Java runtime on the PATH; a MetricUnavailable names the purpose if none runs."""
    command = shutil.which("java")
    if command is None:
        raise MetricUnavailable(f"{purpose} needs Java, and no 'java' is on the PATH; install it.")
    found = _try_java(command)
    if isinstance(found, str):
        raise MetricUnavailable(f"{purpose} needs Java, and {command} does not run ({found}).")
    return found


@cache
def _try_java(command: str) -> Java | str:
    # macOS has a `java` that only says where to get one: its presence is not enough.
    try:
        answer = subprocess.run(
            [command, "-version"], capture_output=True, timeout=PATIENCE, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as problem:
        return str(problem)
    if answer.returncode != 0:
        return [f"exit status {answer.returncode}", *_lines(answer.stderr)][-1]
    version = _VERSION.search((answer.stderr + answer.stdout).decode(errors="replace"))
    return Java(command, int(version[1]) if version else 0)


def run_java(java: Java, arguments: Sequence[str], what: str, seconds: float, cwd: Path) -> None:
    """Run Java in a folder; a MetricUnavailable begins with `what` if it fails or is too slow."""
    try:
        answer = subprocess.run(
            java.arguments(*arguments),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            cwd=cwd,
            timeout=seconds,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise MetricUnavailable(
            f"{what}: its Java process did not end within {seconds:g} seconds and was killed."
        ) from None
    except OSError as problem:
        raise MetricUnavailable(f"{what}: Java cannot be started ({problem}).") from None
    if answer.returncode != 0:
        raise MetricUnavailable(
            f"{what}: its Java process failed ({why_ended(answer.returncode, answer.stderr)})."
        )


def why_ended(status: int, stderr: bytes) -> str:
    """Return the exit status and the most telling line of Java's error output."""
    lines = _lines(stderr)
    # A stack trace ends in line numbers of the program; its head is the reason.
    telling = [line for line in lines if "Exception" in line or "Error" in line] or lines[-1:]
    return f"exit status {status}" + (f": {telling[0]:.200}" if telling else "")


def _lines(output: bytes) -> list[str]:
    lines = map(str.strip, output.decode(errors="replace").splitlines())
    return [line for line in lines if line]
