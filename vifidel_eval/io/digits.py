"""Numbers and records as files hold them: with ten digits, which every machine agrees on."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, fields, is_dataclass
from types import UnionType
from typing import Any, get_args, get_origin, get_type_hints

from ..doors.arguments import is_finite

_DIGITS = 10  # the last bits of exp differ from one processor to the next
_DECIMALS = 10  # metrics score on a scale of 1 or 10

_NUMBER = re.compile(r"\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*", re.ASCII)

_KINDS = {str: "text", int: "a whole number", bool: "true or false"}


def number_of(text: str | None) -> int | float | None:
    """Return the finite number that a text is, as JSON or C write it; None of other text.

    Python also reads ``1_000`` and digits of other scripts, which files have for other reasons.
    """
    if text is None or not _NUMBER.fullmatch(text):
        return None
    try:
        return int(text)
    except ValueError:  # a fraction, or thousands of digits
        number = float(text)
    return number if math.isfinite(number) else None


def rounded(score: float) -> float | None:
    """Return a score with ten significant digits, None if it is undefined."""
    return None if math.isnan(score) else float(f"{score:.{_DIGITS}g}")


def from_json(value: Any) -> float:
    """Return a number of JSON, NaN for null; a ValueError says that it is no finite number."""
    if value is None:
        return math.nan
    if not is_finite(value):
        raise ValueError(f"the score {value!r:.40}")
    return float(value)


def short(value: Any) -> float:
    """Return a number of JSON with ten significant digits, NaN for null."""
    return float(f"{from_json(value):.{_DIGITS}g}")


def deciding(score: float) -> float:
    """Return ten decimals, which decide what of two scores is better; all beyond is rounding."""
    return round(score, _DECIMALS) + 0.0  # no -0.0


def number_texts(scores: Iterable[float]) -> list[str]:
    """Return scores as JSON has them after `rounded`."""
    return ["null" if number is None else repr(number) for number in map(rounded, scores)]


def for_json(value: Any) -> Any:
    """Return nested records, dicts and lists for JSON, with all floats `rounded`."""
    if is_dataclass(value):  # without what is None by default, and its key, which a dict has
        members = [(f, getattr(value, f.name)) for f in fields(value) if not f.metadata]
        value = {f.name: v for f, v in members if v is not None or f.default is not None}
    if isinstance(value, Mapping):
        return {key: for_json(member) for key, member in value.items()}
    if isinstance(value, list | tuple):
        return [for_json(member) for member in value]
    return rounded(value) if isinstance(value, float) else value


def value_of(kind: Any, content: Any, key: str = "") -> Any:
    """Return a value of a type, such as a record, from what `for_json` made of it."""
    origin, members = get_origin(kind), get_args(kind)
    if origin is UnionType:
        return None if content is None else value_of(members[0], content)
    if kind is float:
        return short(content)
    if origin in (dict, Mapping):
        return {name: value_of(members[1], member, name) for name, member in content.items()}
    if origin is tuple:
        return tuple(value_of(members[0], member) for member in content)
    if not is_dataclass(kind):
        if type(content) is not kind:
            raise TypeError(f"{content!r:.40} where {_KINDS[kind]} was expected")
        return content
    types, values = get_type_hints(kind), {}
    for f in fields(kind):
        if f.metadata:
            values[f.name] = key
        elif f.name in content or f.default is f.default_factory is MISSING:
            try:
                values[f.name] = value_of(types[f.name], content[f.name])
            except (TypeError, ValueError) as problem:
                raise type(problem)(f"{f.name}: {problem}") from None
    make: Any = kind
    return make(**values)
