"""A copy of the package in a folder of a test's own, as an installation has it."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import vifidel_eval
from vifidel_eval import annotations, scorers


def copy_package(folder):
    """Copy the package, with what a checkout has beside it, and return where it is."""
    package = folder / "vifidel_eval"
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(Path(vifidel_eval.__file__).parent, package, ignore=ignored)
    for beside in (annotations, scorers):
        source = Path(beside.__file__).parent
        if not (package / source.name).exists():
            shutil.copytree(source, package / source.name, ignore=ignored)
    return package


def run(folder, *words):
    """Run a command line of the copy in a folder."""
    return python(folder, "-m", "vifidel_eval", *words)


def python(folder, *words):
    """Run Python with the copy in a folder."""
    return subprocess.run(
        [sys.executable, *words],
        capture_output=True,
        text=True,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(folder)},
        timeout=120,
        check=False,
    )
