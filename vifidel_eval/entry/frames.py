"""Scores as pandas DataFrames; pandas is imported when one is asked for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..errors import VifidelError
from ..image_ids import to_json_value
from ..runs.harness import Scores

if TYPE_CHECKING:
    from pandas import DataFrame


def of_systems(scores: Mapping[str, Mapping[str, float]], columns: list[str]) -> DataFrame:
    """Return a row per system, which is the index, and a column per column of scores."""
    pandas = _pandas()
    rows = [[of_column[column] for column in columns] for of_column in scores.values()]
    index = pandas.Index(list(scores), name="system")
    return pandas.DataFrame(rows, index=index, columns=columns, dtype="float64")


def of_images(scores: Scores) -> DataFrame:
    """Return a row per system and image: ``system``, ``image_id``, and the columns of scores."""
    pandas = _pandas()
    parts = []
    for name, of_column in scores.evaluations.items():
        ids = [to_json_value(image_id) for image_id in next(iter(of_column.values())).ids]
        numbers = {column: of_column[column].scores for column in scores.signatures}
        parts.append(pandas.DataFrame({"system": name, "image_id": ids, **numbers}))
    return pandas.concat(parts, ignore_index=True)


def _pandas() -> Any:
    try:
        import pandas
    except ImportError:
        raise VifidelError(
            "a DataFrame needs pandas, which is not installed: pip install 'vifidel-eval[pandas]'."
        ) from None
    return pandas
