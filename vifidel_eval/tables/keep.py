"""Conditions on columns, such as ``VIFIDEL-P >= .3``: which rows are kept."""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..errors import VifidelError

_FORM = re.compile(
    r"\s*(?P<column>[^<>=!]*[^<>=!\s])\s*(?P<sign>>=|<=|==|!=|>|<|=)\s*(?P<number>\S+)\s*"
)
# Arrow's function and Python's.
_FUNCTIONS: dict[str, tuple[str, Callable[[Any, Any], bool]]] = {
    ">=": ("greater_equal", operator.ge),
    ">": ("greater", operator.gt),
    "<=": ("less_equal", operator.le),
    "<": ("less", operator.lt),
    "==": ("equal", operator.eq),
    "!=": ("not_equal", operator.ne),
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

    def of_columns(self, scores: Any, schema: Any) -> Condition:
        """Return the condition with the name that its column has in the table that is written.

        Parameters
        ----------
        scores : pyarrow.StructType
            The columns of scores; hyphens may be written for their underscores.
        schema : pyarrow.Schema
            Of the input.

        Raises
        ------
        VifidelError
            If there is no such column, or it has no numbers.
        """
        import pyarrow as pa

        added = {field.name: field for field in scores}
        name = self.column.replace("-", "_")
        if name not in added:
            name = self.column
        fields = [schema.field(at) for at in schema.get_all_field_indices(name)]
        if name in added:
            fields = [added[name]]
        if not fields:
            raise VifidelError(
                f"--keep '{self}': there is no column {self.column!r}; the scores are "
                f"{', '.join(added)}, the columns of the input {', '.join(schema.names)}."
            )
        kind = fields[0].type
        if not (pa.types.is_integer(kind) or pa.types.is_floating(kind)):
            raise VifidelError(
                f"--keep '{self}': the column {self.column!r} holds {kind}, not numbers; name "
                "another column."
            )
        return Condition(name, self.sign, self.number)

    def mask(self, column: Any) -> Any:
        """Return which values pass, a pyarrow.BooleanArray without nulls.

        The number is compared in the column's own precision: single precision .3 is not below .3.
        """
        import pyarrow as pa
        import pyarrow.compute as pc

        kind = column.type
        try:
            number = pa.scalar(self.number, kind)
        except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError):
            return self._one_by_one(column)  # a number that the column's type does not have
        if pa.types.is_float16(kind):
            return self._one_by_one(column, number.as_py())
        passed = pc.call_function(_FUNCTIONS[self.sign][0], [column, number])
        if pa.types.is_floating(kind):
            passed = pc.and_(passed, pc.invert(pc.is_nan(column)))
        return pc.fill_null(passed, False)

    def _one_by_one(self, column: Any, number: float | None = None) -> Any:
        """Compare as Python does, without rounding."""
        import pyarrow as pa

        compare = _FUNCTIONS[self.sign][1]
        bound = self.number if number is None else number
        passed = [
            value is not None and value == value and compare(value, bound)  # noqa: PLR0124 - NaN
            for value in column.to_pylist()
        ]
        return pa.array(passed, pa.bool_())


def _number(text: str) -> int | float | None:
    """Return the finite number that a text is."""
    for kind in (int, float):
        try:
            number = kind(text)
        except ValueError:
            continue
        return number if isinstance(number, int) or math.isfinite(number) else None
    return None
