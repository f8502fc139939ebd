"""What runs here: versions, word vectors, Java, metrics."""

from __future__ import annotations

import importlib.metadata
import platform

from ..errors import MetricUnavailable, VifidelError
from ..metrics import METRICS
from ..scorers import Meteor, Spice
from ..text.java import find_java
from ..vectors import load_vectors

_PACKAGES = (
    "vifidel-eval",
    "numpy",
    "POT",
    "gensim",
    "wordllama",
    "tokenizers",
    "pycocotools",
    "pycocoevalcap",
    "torch",
    "nltk",
)
_MISSING = "not installed"


def environment() -> dict[str, str]:
    """Return name and value of everything a bug report should state."""
    found = {"Python": f"{platform.python_version()} on {platform.platform()}"}
    for package in _PACKAGES:
        try:
            found[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            found[package] = _MISSING
    try:
        found["embedded vectors"] = load_vectors().signature()
    except VifidelError as problem:
        found["embedded vectors"] = f"not available: {problem}"
    try:
        java = find_java("METEOR")
        found["Java"] = f"{java.command}, Java {java.release}"
    except MetricUnavailable as problem:
        found["Java"] = f"not found: {problem}"
    for name, need in METRICS.items():
        found[name] = f"available with {need}" if need else "available"
    for metric in (Meteor, Spice):
        try:
            metric()
        except MetricUnavailable as problem:
            found[metric.columns[0]] = f"not available: {problem}"
    if found["torch"] == _MISSING:
        found["LM"] = "not available: pip install 'vifidel-eval[lm]'"
        found["ViLBERTScore"] = "not available: pip install 'vifidel-eval[vilbertscore]'"
    if _MISSING in (found["torch"], found["nltk"]):
        found["TIGEr"] = "not available: pip install 'vifidel-eval[tiger]'"
    return found
