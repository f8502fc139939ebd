"""PyArrow, which is an extra: loaded when a table is scored."""

from __future__ import annotations

from functools import cache
from typing import Any

from ..errors import MetricUnavailable
from ..scorers.record import Extra

#: What scoring tables needs.
TABLES = Extra("tables", ("pyarrow",))


@cache
def pyarrow() -> Any:
    """Return PyArrow with its functions on columns, ``pyarrow.compute``.

    Raises
    ------
    MetricUnavailable
        If it is not installed.
    """
    try:
        import pyarrow
        import pyarrow.compute
    except ImportError as problem:
        raise MetricUnavailable(
            f"tables need PyArrow ({problem}); install it: {TABLES.command}"
        ) from None
    return pyarrow
