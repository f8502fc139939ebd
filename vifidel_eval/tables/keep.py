"""Conditions on columns, such as ``VIFIDEL-P >= .3``: which rows are kept."""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..errors import VifidelError
from .arrow import pyarrow
from .columns import is_text, texts

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
    """A comparison of a column with a number; a null and NaN fail.

    Attributes
    ----------
    column : str
        A column of scores or of the input.
    sign : str
        ``>=``, ``>``, ``<=``, ``<``, ``==`` or ``!=``.
    number : int or float
        Finite.
    """

    column: str
    sign: str
    number: int | float

    @classmethod
    def parse(cls, text: str) -> Condition:
        """Return the condition that a text states.

        Raises
        ------
        VifidelError
            If it is not a column, a sign and a number.

        Examples
        --------
        >>> Condition.parse("VIFIDEL-P >= .3")
        Condition(column='VIFIDEL-P', sign='>=', number=0.3)
        """
        found = _FORM.fullmatch(text)
        number = None if found is None else _number(found["number"])
        if found is None or number is None:
            raise VifidelError(
                f"{text!r} is not a condition; expected a column, one of >=, >, <=, <, == and !=, "
                "and a number, such as 'VIFIDEL-P >= .3'."
            )
        return cls(found["column"], "==" if found["sign"] == "=" else found["sign"], number)

    def __str__(self) -> str:
        return f"{self.column} {self.sign} {self.number!r}"

    def of_columns(self, scores: Any, schema: Any, numbers_in_text: bool = False) -> Condition:
        """Return the condition with the name that its column has in the table that is written.

        Parameters
        ----------
        scores : pyarrow.StructType
            The columns of scores; hyphens may be written for their underscores.
        schema : pyarrow.Schema
            Of the input.
        numbers_in_text : bool
            Whether text of the input may spell numbers, as in CSV.

        Raises
        ------
        VifidelError
            If there is no such column, or it has no numbers.
        """
        types = pyarrow().types
        added = {field.name: field.type for field in scores}
        name = self.column.replace("-", "_")
        if name not in added:
            name = self.column
        kinds = [schema.field(at).type for at in schema.get_all_field_indices(name)]
        if name in added:
            kinds = [added[name]]
        if not kinds:
            raise VifidelError(
                f"--keep '{self}': there is no column {self.column!r}; the scores are "
                f"{', '.join(added)}, the columns of the input {', '.join(schema.names)}."
            )
        numeric = (types.is_integer, types.is_floating, types.is_decimal)
        spelt = numbers_in_text and name not in added and is_text(kinds[0])
        if not spelt and not any(check(kinds[0]) for check in numeric):
            raise VifidelError(
                f"--keep '{self}': the column {self.column!r} holds {kinds[0]}, not numbers; name "
                "another column."
            )
        return replace(self, column=name)

    def mask(self, column: Any) -> Any:
        """Return which values pass, a pyarrow.BooleanArray without nulls.

        Values compare as in Python, without rounding, but that a column of less than double
        precision is compared in its own: single precision .3 is not below .3.
        """
        pa = pyarrow()
        compare, bound = _SIGNS[self.sign], self.number
        if pa.types.is_float16(column.type) or pa.types.is_float32(column.type):
            with np.errstate(over="ignore"):
                bound = float(np.dtype(column.type.to_pandas_dtype()).type(bound))
        values = texts(column).to_pylist() if is_text(column.type) else column.to_pylist()
        numbers = (_number(value) if isinstance(value, str) else value for value in values)
        passed = [
            value is not None and value == value and compare(value, bound)  # noqa: PLR0124 - NaN
            for value in numbers
        ]
        return pa.array(passed, pa.bool_())


def _number(text: str) -> int | float | None:
    """Return the finite number that a text is; None of other text."""
    for kind in (int, float):
        try:
            number = kind(text)
        except ValueError:
            continue
        if "_" not in text and (isinstance(number, int) or math.isfinite(number)):
            return number
    return None
