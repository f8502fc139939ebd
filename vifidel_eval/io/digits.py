"""Numbers as files hold them: with ten significant digits, which every machine agrees on.

Only the scores of a corpus keep all of theirs where a run is saved, so that a loaded run has them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

# The last bits of exp differ from one processor to the next.
_DIGITS = 10
# Metrics score on a scale of 1 or 10.
_DECIMALS = 10


def rounded(score: float) -> float | None:
    """Return a score with ten significant digits, None if it is undefined.

    >>> rounded(2 / 3), rounded(float("nan"))
    (0.6666666667, None)
    """
    return None if math.isnan(score) else float(f"{score:.{_DIGITS}g}")


def in_full(score: float) -> float | None:
    """Return a score with all its digits, as those of a corpus are saved; None if undefined."""
    return None if math.isnan(score) else float(score)


def from_json(value: Any) -> float:
    """Return a number of JSON, NaN for null; a ValueError says that it is no finite number."""
    if value is None:
        return math.nan
    if type(value) not in (int, float) or not math.isfinite(value):
        raise ValueError(f"the score {value!r:.40}")
    return float(value)


def deciding(score: float) -> float:
    """Return what of a score, or of a difference, decides which system is better: ten decimals.

    What is beyond them is rounding: no table shows it, and no file where scores are near 1.

    >>> deciding(4.9e-45), deciding(0.5 + 1e-9) > deciding(0.5)
    (0.0, True)
    """
    return round(score, _DECIMALS) + 0.0  # no -0.0


def number_texts(scores: Iterable[float]) -> list[str]:
    """Return scores as JSON has them after `rounded`.

    >>> number_texts([2 / 3, 1.0, 1e-9, float("nan")])
    ['0.6666666667', '1.0', '1e-09', 'null']
    """
    return ["null" if number is None else repr(number) for number in map(rounded, scores)]


def for_json(value: Any) -> Any:
    """Return nested dicts and lists with all floats as `rounded` returns them."""
    if isinstance(value, dict):
        return {key: for_json(member) for key, member in value.items()}
    if isinstance(value, list | tuple):
        return [for_json(member) for member in value]
    return rounded(value) if isinstance(value, float) else value
