"""Conditions on columns, such as ``VIFIDEL-P >= .3``, and requirements on corpus scores."""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ..errors import VifidelError

_FORM = re.compile(
    r"\s*(?P<column>[^<>=!]*[^<>=!\s])\s*(?P<sign>>=|<=|==|!=|>|<|=)\s*(?P<number>\S+)\s*"
)
_SIGNS: dict[str, Callable[[Any, Any], bool]] = {
    ">=": operator.ge,
    ">": operator.gt,
    "<=": operator.le,
    "<": operator.lt,
    "==": operator.eq,
    "!=": operator.ne,
}


@dataclass(frozen=True)
class Condition:
    """A comparison of a column, of scores or of the input, with a finite number."""

    column: str
    sign: str
    number: int | float

    @classmethod
    def parse(cls, text: str) -> Condition:
        """Return the condition that a text such as ``VIFIDEL-P >= .3`` states."""
        found = _FORM.fullmatch(text)
        number = None if found is None else number_of(found["number"])
        if found is None or number is None:
            raise VifidelError(
                f"{text!r} is not a condition; expected a column, one of >=, >, <=, <, == and !=, "
                "and a number, such as 'VIFIDEL-P >= .3'."
            )
        return cls(found["column"], "==" if found["sign"] == "=" else found["sign"], number)

    def __str__(self) -> str:
        return f"{self.column} {self.sign} {self.number!r}"

    def holds(self, value: Any, bound: int | float | None = None) -> bool:
        """Return whether a number passes; None and NaN do not. A `bound` stands for `number`."""
        missing = value is None or value != value  # noqa: PLR0124 - NaN
        return not missing and _SIGNS[self.sign](value, self.number if bound is None else bound)


def number_of(text: str) -> int | float | None:
    """Return the finite number that a text is; None of other text."""
    for kind in (int, float):
        try:
            number = kind(text)
        except ValueError:
            continue
        if "_" not in text and (isinstance(number, int) or math.isfinite(number)):
            return number
    return None


@dataclass(frozen=True)
class Requirement:
    """A condition that the corpus score of every system, or of one, must meet."""

    condition: Condition
    system: str | None = None

    @classmethod
    def parse(cls, text: str) -> Requirement:
        """Return the requirement that a text such as ``mine: VIFIDEL-Hi <= .1`` states."""
        system, colon, condition = text.rpartition(":")
        if not colon:
            return cls(Condition.parse(text))
        if not system.strip():
            raise VifidelError(f"{text!r} lacks the name of a system before the colon.")
        return cls(Condition.parse(condition), system.strip())

    def __str__(self) -> str:
        return str(self.condition) if self.system is None else f"{self.system}: {self.condition}"


def check_requirements(
    requirements: Iterable[Requirement], columns: Iterable[str], systems: Iterable[str]
) -> None:
    """Raise a VifidelError if requirements are on other columns or systems than those of a run."""
    names = {"column": list(columns), "system": list(systems)}
    for requirement in requirements:
        for what, name in (
            ("column", requirement.condition.column),
            ("system", requirement.system),
        ):
            if name is not None and name not in names[what]:
                raise VifidelError(
                    f"'{requirement}': there is no {what} {name!r}; there are "
                    f"{', '.join(names[what])}."
                )


def failures(
    requirements: Iterable[Requirement], scores: Mapping[str, Mapping[str, float]]
) -> list[str]:
    """Return a line for each requirement and system that fails; an undefined score meets none."""
    lines = []
    for requirement in requirements:
        condition = requirement.condition
        for system in scores if requirement.system is None else [requirement.system]:
            score = scores[system][condition.column]
            if not condition.holds(score):
                value = "undefined" if math.isnan(score) else f"{score:.10g}"
                lines.append(f"{system}: {condition.column} is {value}; required is {condition}.")
    return lines
