"""Scores of single captions, for tools that score one sample after the other, as capevalkit does.

`CapevalMetric` is what ``evaluate_metric`` of capevalkit (CaptionEvalKit-for-VLMs) calls.
"""

from __future__ import annotations

import difflib
import math
import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import PurePath
from typing import Any, Protocol, TypeAlias

from ...annotations import LabelItem
from ...doors.arguments import is_finite, name_wrong_argument
from ...errors import VifidelError, warn
from ...evaluation import Column
from ...scorers import Scorer, VifidelH
from ...scorers.base import main_column
from ...scorers.record import Metric
from ...scorers.registry import METRICS
from ...words.settings import Settings

_MADE_UP = "VIFIDEL-Hi"  # the column whose metric says what is made up

#: The record of a metric, one of its columns, and what computes it from rows.
ColumnScorer: TypeAlias = tuple[Metric, Column, Scorer]

#: The worst score of columns that count things, which have no bound: so many things made up.
WORST_COUNT = 10.0


@lru_cache(maxsize=32)
def column_scorer(name: str, references: bool, as_written: bool = False) -> ColumnScorer:
    """Return a column whose scores depend on their row alone, and what computes it."""
    columns = {
        column.name: (metric, column)
        for metric in METRICS.values()
        if metric.tables
        for column in metric.columns
        if column.ranked
    }
    if name not in columns:
        close = difflib.get_close_matches(str(name).upper(), columns, n=1)
        meant = f" Did you mean {close[0]}?" if close else ""
        raise VifidelError(
            f"{name!r:.60} is not a column that can be scored row by row.{meant} These are: "
            f"{', '.join(columns)}."
        )
    metric, column = columns[name]
    if metric.references and not references:
        raise VifidelError(f"{name} compares captions with references; give references too.")
    return metric, column, _scorer(metric.name, references, as_written)


@lru_cache(maxsize=32)
def _scorer(metric: str, references: bool, as_written: bool) -> Scorer:
    """Return what computes a metric's columns, the same for all of them."""
    settings = Settings(references=references, weighted=references, as_written=as_written)
    return METRICS[metric].scorer_for(settings)


def worst_of(column: Column) -> float:
    """Return the worst score of a column; of counts, which have no bound, `WORST_COUNT`."""
    if not column.lower_is_better:
        return 0.0
    return WORST_COUNT if column.is_count else 1.0


class CaptionScores:
    """The scores of a caption in one or more columns, and what it makes up.

    Parameters
    ----------
    columns : str or sequence of str
        Columns whose scores depend on their row alone, such as ``"VIFIDEL-F"``.
    references : bool
        Whether captions have references, as evidence.
    as_written : bool
        Whether all of a text is scored, with reasoning and what else is around its caption.

    Raises
    ------
    VifidelError
        If there is no such column, or it needs what is not given.

    Examples
    --------
    >>> scores = CaptionScores(["VIFIDEL-P", "VIFIDEL-Hi"])
    >>> scores("a dog and a zebra", objects={"dog": 1, "zebra": 0})["VIFIDEL-Hi"]
    0.5
    >>> scores.made_up("a dog and a zebra", objects={"dog": 1, "zebra": 0})
    ['zebra']
    """

    @name_wrong_argument
    def __init__(
        self,
        columns: str | Sequence[str] = "VIFIDEL-F",
        references: bool = True,
        as_written: bool = False,
    ) -> None:
        names = [columns] if isinstance(columns, str) else columns
        self._scorers: dict[str, Scorer] = {}
        #: Whether a higher score is better, by column.
        self.higher_is_better: dict[str, bool] = {}
        for name in names:
            _, column, self._scorers[name] = column_scorer(name, references, as_written)
            self.higher_is_better[name] = not column.lower_is_better
        _, _, self._explainer = column_scorer(_MADE_UP, references, as_written)

    @name_wrong_argument
    def __call__(
        self,
        caption: str,
        objects: Collection[LabelItem] | Mapping[str, int] | None = None,
        references: Sequence[str] = (),
    ) -> dict[str, float]:
        """Return the score in each column, NaN where it is undefined.

        `objects` are as `Scorer.score` takes them for a caption. A `VifidelError` says what of the
        image is missing or cannot be read.
        """
        row = _row(objects, references)
        scores = {
            scorer: scorer.score_columns([caption], **row)
            for scorer in dict.fromkeys(self._scorers.values())
        }
        return {name: float(scores[scorer][name][0]) for name, scorer in self._scorers.items()}

    @name_wrong_argument
    def made_up(
        self,
        caption: str,
        objects: Collection[LabelItem] | Mapping[str, int] | None = None,
        references: Sequence[str] = (),
    ) -> list[str]:
        """Return the things that the caption mentions and the image does not have, each once."""
        assert isinstance(self._explainer, VifidelH)
        rows = self._explainer.rows([caption], **_row(objects, references))
        return list(next(self._explainer.explain_rows(rows)).hallucinated)


def _row(objects: Any, references: Sequence[str]) -> dict[str, list[Any]]:
    """Return what is known of an image as scorers take it for one row."""
    listed = references if isinstance(references, str) else list(references)  # a string is none
    return {"references": [listed], **({} if objects is None else {"objects": [objects]})}


class Sample(Protocol):
    """What capevalkit says of a judged caption."""

    id: str
    image: str  # the path of the picture
    references: list[str]
    prediction: str | None


class CapevalMetric:
    """A metric for ``capevalkit.api.evaluate_metric(benchmark=..., metric=CapevalMetric())``.

    Parameters
    ----------
    metric : str or Scorer
        A column whose scores depend on their row alone, such as ``"VIFIDEL-F"``; or any scorer,
        such as ``VifidelPRF(objects)`` or ``CLIPScore(model, images)``, of which the main column
        counts. It knows the image of a sample by the name of its picture.
    undefined : float, optional
        What samples get whose score is undefined, because capevalkit takes no NaN; a warning
        counts them. By default it is the worst, as a reward has it.
    as_written : bool
        Whether all of a prediction is scored, with reasoning and what else is around its caption.

    Raises
    ------
    VifidelError
        If there is no such column, or `undefined` is not finite; when it is called, if a sample
        lacks what the metric needs.
    """

    @name_wrong_argument
    def __init__(
        self,
        metric: str | Scorer = "VIFIDEL-F",
        undefined: float | None = None,
        as_written: bool = False,
    ) -> None:
        if isinstance(metric, Scorer):
            metric = metric.as_written() if as_written else metric
        else:
            column_scorer(metric, True)  # an unknown one is said before the benchmark is read
        if undefined is not None and not is_finite(undefined):
            raise VifidelError(f"undefined must be a finite number, not {undefined!r:.40}.")
        self._metric, self._undefined, self._as_written = metric, undefined, as_written

    @name_wrong_argument
    def __call__(self, samples: Sequence[Sample]) -> dict[str, float]:
        """Return the score of each sample by its id; where lower is better, with a minus sign.

        It raises a VifidelError if a sample is not as `Sample` says, or two have the same id.
        """
        samples = _checked(samples)
        references = [list(sample.references) for sample in samples]
        if isinstance(self._metric, Scorer):
            scorer, column = self._metric, main_column(self._metric.columns)
        else:
            _, column, scorer = column_scorer(self._metric, any(references), self._as_written)
        scores = scorer.score_columns(
            [getattr(sample, "prediction", None) for sample in samples],  # type: ignore[misc]
            image_ids=[PurePath(sample.image).name for sample in samples],
            references=references,
        )[column.name]
        sign = -1.0 if column.lower_is_better else 1.0
        undefined = self._undefined
        if undefined is None:
            undefined = sign * worst_of(column)
        missing = sum(map(math.isnan, scores))
        if missing:
            warn(
                f"{column.name} is undefined for {missing} of {len(samples)} samples; their "
                f"score is {undefined:g}."
            )
        return {
            sample.id: undefined if math.isnan(score) else sign * score
            for sample, score in zip(samples, scores.tolist(), strict=True)
        }


# What each field of a sample is, and what errors call it.
_FIELDS = {
    "id": (str | int, "a string"),
    "image": (str | os.PathLike, "a path"),
    "references": (list | tuple, "a list of strings"),
}


def _checked(samples: Sequence[Sample]) -> list[Sample]:
    """Return samples as a list; else a VifidelError names the one that is not as it should be."""
    if isinstance(samples, str | Mapping) or not isinstance(samples, Iterable):
        raise VifidelError(f"samples must be a list of samples, not {samples!r:.40}.")
    checked: dict[str, Sample] = {}
    for at, sample in enumerate(samples):
        for name, (kind, expected) in _FIELDS.items():
            value = getattr(sample, name, None)
            if not isinstance(value, kind):
                raise VifidelError(f"samples[{at}]: {name} must be {expected}, not {value!r:.40}.")
        if checked.setdefault(sample.id, sample) is not sample:
            raise VifidelError(
                f"samples[{at}]: the id {sample.id!r:.40} appears twice; give each its own."
            )
    return list(checked.values())
