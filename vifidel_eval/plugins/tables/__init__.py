"""Captions in tables: columns of Arrow in, columns of scores out, whatever the engine.

>>> from vifidel_eval.tables import TableScorer
>>> rows = TableScorer(metrics=["VIFIDEL"])
>>> scores = rows.score(["a dog catches a frisbee"], [["dog", "frisbee"]])
>>> scores.to_pylist()[0]["status"]
'ok'

The names load when they are first used, and PyArrow with them: it is the extra ``tables``. In
Spark, which needs PySpark, pandas and PyArrow here and on every executor:

>>> from vifidel_eval.spark import vifidel                               # doctest: +SKIP
>>> df.withColumn("fidelity", vifidel("caption", "labels"))              # doctest: +SKIP
"""

# No import of the annotations of __future__: `annotations` would be a name of this package.
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING, Any

from ...errors import MetricUnavailable
from ...project import pip_install

if TYPE_CHECKING:
    from pyspark.sql import Column

    from .scorer import STATUSES, TableScorer, TableScores

__all__ = ["STATUSES", "TableScorer", "TableScores"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        from . import scorer
    except ImportError as problem:
        raise MetricUnavailable(
            f"tables need PyArrow ({problem}): {pip_install('pyarrow')}."
        ) from None
    return getattr(scorer, name)


def vifidel(
    caption: "str | Column",
    labels: "str | Column | None" = None,
    references: "str | Column | None" = None,
    label_scores: "str | Column | None" = None,
    metrics: Collection[str] = ("VIFIDEL",),
    **settings: Any,
) -> "Column":
    """Return a column of Spark that scores the captions of each row.

    Every task makes its own scorer, which maps the word vectors from disk. What a row gets depends
    on that row alone, so partitions, repeated tasks and speculation change no bit.

    Parameters
    ----------
    caption, labels, references, label_scores : str or Column, optional
        The captions: strings; the object labels of each row's image, in one of the shapes of
        `vifidel_eval.tables.TableScorer`; the references: arrays of strings; the scores of
        labels, where they are in an array of their own. What no metric reads is not needed.
    metrics : collection of str
        Of VIFIDEL, VIFIDEL-PRF, VIFIDEL-H and WMD.
    **settings
        Everything else that `vifidel_eval.tables.TableScorer` takes. A file of vectors or things
        must be there under the same path on every executor.

    Returns
    -------
    Column
        A struct of the columns of each metric (nullable doubles, hyphens as underscores),
        VIFIDEL's ``distance``, and ``status``.

    Raises
    ------
    MetricUnavailable
        If PySpark, or what it needs for Arrow, is not installed.
    VifidelError
        If a metric is unknown or lacks a column, or a setting is wrong. A column of a wrong type
        fails the first task that reads it, before its first row.
    """
    try:
        import pyarrow as pa
        from pyspark.sql.functions import arrow_udf  # type: ignore[attr-defined, unused-ignore]
        from pyspark.sql.types import DoubleType, StringType, StructType
    except ImportError as problem:
        raise MetricUnavailable(
            f"captions in Spark need PySpark 4.1 or later ({problem}): "
            f"{pip_install('pyspark>=4.1', 'pandas<3', 'pyarrow')}."
        ) from None
    from .scorer import TableScorer

    optional = {"labels": labels, "references": references, "label_scores": label_scores}
    used = {name: column for name, column in optional.items() if column is not None}
    names = ("captions", *used)
    columns: dict[str, Any] = {name: name if name in used else None for name in optional}
    scorer = TableScorer(metrics=metrics, captions="captions", **columns, **settings)
    scorer.check(pa.schema([(name, pa.null()) for name in names]))  # of any type: those come later

    def score(batches: Iterator[tuple[pa.Array, ...]]) -> Iterator[pa.Array]:
        for arrays in batches:
            yield scorer.score(**dict(zip(names, arrays, strict=True)))

    # Spark reads from these that the function takes batch after batch: not strings, but types.
    score.__annotations__ = {
        "batches": Iterator[tuple[pa.Array, ...]],
        "return": Iterator[pa.Array],
    }
    returned = StructType()
    for field in scorer.type:
        returned.add(field.name, StringType() if field.type == pa.string() else DoubleType())
    column: Column = arrow_udf(score, returned)(caption, *used.values())
    return column
