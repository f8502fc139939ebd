"""Columns inside of columns: ``doc.caption`` is the field of a struct, ``resps[0]`` of a list."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from ..captions.fields import MISSING, spelled, steps_of, value_at
from ..errors import VifidelError
from .columns import is_list


def field_of(schema: Any, name: str) -> Any:
    """Return the field of a schema that has a name, or that a path leads to.

    Parameters
    ----------
    schema : pyarrow.Schema
        Of a table.
    name : str
        A column, which goes before a path, or a path as those of caption files.

    Raises
    ------
    VifidelError
        If there is none, or there are two columns of that name.
    """
    found = schema.get_all_field_indices(name)
    if len(found) == 1:
        return schema.field(found[0])
    steps = steps_of(name)
    if found or len(steps) == 1 or len(schema.get_all_field_indices(steps[0])) != 1:
        what = "no column" if not found else "more than one column"
        raise VifidelError(
            f"the table has {what} {name!r}; its columns are {', '.join(schema.names):.200}."
        )
    kind = schema.field(steps[0]).type
    for at, step in enumerate(steps[1:], 1):
        names = [field.name for field in kind] if pa.types.is_struct(kind) else []
        if isinstance(step, int) and is_list(kind):
            kind = kind.value_type
        elif step in names:
            kind = kind.field(names.index(step)).type
        else:
            has = f"fields are {', '.join(names):.200}" if names else f"type is {kind!s:.80}"
            missing = f"[{step}]" if isinstance(step, int) else repr(step)
            raise VifidelError(
                f"the column {spelled(steps[:at])!r} has no {missing} ({name}); its {has}."
            )
    return pa.field(name, kind)


def column_of(batch: Any, name: str) -> Any:
    """Return a column of a table, or what a path leads to in each row; null where nowhere.

    Parameters
    ----------
    batch : pyarrow.RecordBatch or pyarrow.Table
        With a column that `field_of` finds.
    name : str
        As for `field_of`.
    """
    if name in batch.schema.names:
        return batch.column(name)
    first, *steps = steps_of(name)
    found = (value_at(value, steps) for value in batch.column(first).to_pylist())
    values = [None if value is MISSING else value for value in found]
    return pa.array(values, field_of(batch.schema, name).type)
