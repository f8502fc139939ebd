"""What runs here: versions, word vectors, Java, metrics."""

from __future__ import annotations

import importlib.metadata
import platform
import shutil
import subprocess

from .errors import VifidelError
from .vectors import load_vectors

_PACKAGES = (
    "vifidel-eval",
    "numpy",
    "POT",
    "gensim",
    "wordllama",
    "tokenizers",
    "pycocotools",
    "pycocoevalcap",
)


def environment() -> dict[str, str]:
    """Return name and value of everything a bug report should state."""
    found = {"Python": f"{platform.python_version()} on {platform.platform()}"}
    for package in _PACKAGES:
        try:
            found[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            found[package] = "not installed"
    try:
        found["embedded vectors"] = load_vectors().signature()
    except VifidelError as problem:
        found["embedded vectors"] = f"not available: {problem}"
    found["Java"] = _java()
    found["VIFIDEL"] = "available, needs no Java"
    return found


def _java() -> str:
    command = shutil.which("java")
    if command is None:
        return "not found (only pycocoevalcap's own tokenizer, METEOR and SPICE need it)"
    try:
        answer = subprocess.run(
            [command, "-version"], capture_output=True, text=True, timeout=20, check=True
        )
    except (OSError, subprocess.SubprocessError) as problem:
        return f"found, but does not run ({problem})"
    return (answer.stderr or answer.stdout).partition("\n")[0]
