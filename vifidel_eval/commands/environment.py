"""Versions, word vectors, Java and metrics: what runs here."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import platform

from ..entry_points import COMMANDS, declared, not_installed, service
from ..errors import MetricUnavailable, VifidelError
from ..project import pip_install
from ..scorers.record import Metric
from ..scorers.registry import METRICS, named_failures
from ..words.word_vectors import load_vectors
from .metric_options import flag

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


def environment() -> dict[str, str]:
    """Return name and value of everything that a bug report should state."""
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
    find_java = next((m.check for m in METRICS.values() if m.needs == ("Java",)), None)
    if find_java is not None:
        try:
            found["Java"] = str(find_java())
        except MetricUnavailable as problem:
            found["Java"] = f"not found: {problem}"
    broken = {name: f"not available: {why}" for name, why in METRICS.load().items()}
    try:
        detectors = {f"detect with {name}": state for name, state in service("backends")().items()}
    except VifidelError as problem:
        detectors = {"detect": str(problem)}
    missing = [not_installed(entries[0]) for entries in declared(COMMANDS).values()]
    metrics = {name: f"{_state(metric)}. {metric.summary}" for name, metric in METRICS.items()}
    commands = {why.partition(" ")[0]: why.partition(" ")[2] for why in missing if why}
    return found | detectors | commands | broken | metrics


def _state(metric: Metric) -> str:
    """Return whether a metric can be computed here, and what it takes."""
    missing = [name for name in metric.packages if importlib.util.find_spec(name) is None]
    if missing:
        return f"not available: {pip_install(*missing)}"
    if metric.check is not None:
        try:
            with named_failures(metric.name, metric.module):
                metric.check()
        except MetricUnavailable as problem:
            return f"not available: {str(problem).rstrip('.')}"
    lower = [column.name for column in metric.columns if column.lower_is_better]
    needs = [
        *(["references"] if metric.references else []),
        *(["objects"] if metric.objects else []),
        *metric.needs,
        *(flag(option.name) for option in metric.options if option.required),
    ]
    return "; ".join(
        [
            "available",
            *([f"needs {', '.join(needs)}"] if needs else []),
            *([f"lower is better in {', '.join(lower)}"] if lower else []),
        ]
    )
