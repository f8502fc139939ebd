"""Captions in tables: columns of Arrow in, columns of scores out, whatever the engine.

>>> from vifidel_eval.tables import TableScorer
>>> rows = TableScorer(metrics=["VIFIDEL"])
>>> scores = rows.score(["a dog catches a frisbee"], [["dog", "frisbee"]])
>>> scores.to_pylist()[0]["status"]
'ok'

The names load when they are first used, and PyArrow with them: it is the extra ``tables``.
"""

# No import of the annotations of __future__: `annotations` would be a name of this package.
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .scorer import TableScorer, TableScores
    from .table_rows import STATUSES

__all__ = ["STATUSES", "TableScorer", "TableScores"]

_MODULE_OF = {"STATUSES": "table_rows", "TableScorer": "scorer", "TableScores": "scorer"}


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib

    try:
        value = getattr(importlib.import_module(f".{_MODULE_OF[name]}", __name__), name)
    except ImportError as problem:
        from ...errors import MetricUnavailable
        from ...project import pip_install

        raise MetricUnavailable(
            f"tables need PyArrow ({problem}): {pip_install('pyarrow')}."
        ) from None
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
