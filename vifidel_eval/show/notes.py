"""What stands below scores, wherever they are shown: what is not available, and what differs."""

from __future__ import annotations

import re
from collections.abc import Callable

from ..scorers.registry import METRICS
from ..scores.scores import Scores

# The name of a metric, alone or in a combination.
_PYTHON_TOKENS = re.compile(r"([^|(\n]+)\|tok:python\b")


def notes_of(scores: Scores, shown: Callable[[float, str], str]) -> list[str]:
    """Return what has to be said of scores wherever they are shown; `shown` writes a score."""
    return [*scores.notes(shown), *without_java(scores), *unavailable(scores)]


def unavailable(scores: Scores) -> list[str]:
    """Return why metrics have no scores."""
    return [f"{name} not available: {why}" for name, why in scores.unavailable.items()]


def without_java(scores: Scores) -> list[str]:
    """Return which metrics have other tokens than pycocoevalcap's, and how much that changes."""
    metrics = _PYTHON_TOKENS.findall("\n".join(scores.signatures.values()))
    differ = {name: METRICS[name].without_java for name in METRICS if name in metrics}
    amounts = ", ".join(f"{name} by {by:.2g}" for name, by in differ.items() if by is not None)
    if not amounts:
        return []
    return [
        "Tokenised without Java (tok:python): on COCO val2017, corpus scores differ from "
        f"pycocoevalcap's by at most this: {amounts}."
    ]
