"""A `java` on the PATH that does what a test says, and a look at who still runs."""

import os
import sys
from pathlib import Path

_HEAD = """#!{python}
import json, os, sys, time
if "-version" in sys.argv:
    print('openjdk version "11.0.2"', file=sys.stderr)
    sys.exit()
with open({pid!r}, "w") as file:
    file.write(str(os.getpid()))
"""


# METEOR's answers, as a script for `put_java`.
METEOR = """
for line in sys.stdin:
    if line.startswith("EVAL"):
        for part in line.split("|||"):
            print(0.5, flush=True)
    else:
        print("1.0 2.0", flush=True)
"""


def put_java(folder: Path, monkeypatch, script: str) -> Path:
    """Make `script` (Python) the only program on the PATH, as Java 11; return its pid file."""
    pid, program = folder / "pid", folder / "java"
    program.write_text(_HEAD.format(python=sys.executable, pid=str(pid)) + script, "utf-8")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(folder))
    return pid


def is_running(pid_file: Path) -> bool:
    """Whether the process that wrote its id there exists, be it as a zombie."""
    try:
        os.kill(int(pid_file.read_text()), 0)
    except ProcessLookupError:
        return False
    return True


def children() -> set[str]:
    """Return the ids of this process's children (Linux)."""
    tasks = Path("/proc/self/task").glob("*/children")
    return {pid for task in tasks for pid in task.read_text().split()}
