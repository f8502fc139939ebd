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
    from .scorer import STATUSES, TableScorer, TableScores

__all__ = ["STATUSES", "TableScorer", "TableScores"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        from . import scorer
    except ImportError as problem:
        from ...errors import MetricUnavailable
        from ...project import pip_install

        raise MetricUnavailable(
            f"tables need PyArrow ({problem}): {pip_install('pyarrow')}."
        ) from None
    return getattr(scorer, name)
