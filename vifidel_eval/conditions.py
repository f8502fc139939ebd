"""Conditions on columns, such as ``VIFIDEL-P >= .3``."""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .errors import VifidelError

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
        """Return the condition that a text states.

        >>> Condition.parse("VIFIDEL-P >= .3")
        Condition(column='VIFIDEL-P', sign='>=', number=0.3)
        """
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
        """Return whether a number passes, compared as in Python; None and NaN do not.

        A `bound` is compared with instead of `number`: the same in another precision.
        """
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
