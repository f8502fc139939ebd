"""Conditions of ``--keep`` on the columns of tables: which rows are kept."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pyarrow as pa

from ..conditions import Condition, number_of
from ..errors import VifidelError
from .arrow_columns import in_precision_of, is_text, texts


def named_in(
    condition: Condition, scores: Any, schema: Any, numbers_in_text: bool = False
) -> Condition:
    """Return the condition with the name that its column has in the table that is written.

    `scores` are the columns of scores, for which hyphens may be written for their underscores, and
    `schema` those of the input; text there may spell numbers, as in CSV. It raises a VifidelError
    if there is no such column, or it has no numbers.
    """
    types = pa.types
    added = {field.name: field.type for field in scores}
    name = condition.column.replace("-", "_")
    if name not in added:
        name = condition.column
    kinds = [schema.field(at).type for at in schema.get_all_field_indices(name)]
    if name in added:
        kinds = [added[name]]
    if not kinds:
        raise VifidelError(
            f"--keep '{condition}': there is no column {condition.column!r}; the scores are "
            f"{', '.join(added)}, the columns of the input {', '.join(schema.names)}."
        )
    numeric = (types.is_integer, types.is_floating, types.is_decimal)
    spelt = numbers_in_text and name not in added and is_text(kinds[0])
    if not spelt and not any(check(kinds[0]) for check in numeric):
        raise VifidelError(
            f"--keep '{condition}': the column {condition.column!r} holds {kinds[0]}, not "
            "numbers; name another column."
        )
    return replace(condition, column=name)


def passing(condition: Condition, column: Any) -> Any:
    """Return which values pass, a pyarrow.BooleanArray without nulls.

    Values compare as in Python, without rounding, but that a column of less than double
    precision is compared in its own: single precision .3 is not below .3.
    """
    bound = in_precision_of(column.type, condition.number)
    values = texts(column).to_pylist() if is_text(column.type) else column.to_pylist()
    numbers = (number_of(value) if isinstance(value, str) else value for value in values)
    return pa.array([condition.holds(value, bound) for value in numbers], pa.bool_())
