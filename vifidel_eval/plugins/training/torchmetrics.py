"""Columns of this package as a metric of TorchMetrics, for Lightning and other training loops."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...doors.arguments import name_wrong_argument
from ...errors import MetricUnavailable, VifidelError
from ...evaluation import Evaluation, Floats
from ...project import pip_install
from ...scorers import Scorer
from .caption_scores import ColumnScorer, column_scorer

try:
    import torch
    from torchmetrics import Metric
except ModuleNotFoundError as problem:
    raise MetricUnavailable(
        f"VifidelMetric needs the package {problem.name}: {pip_install('torchmetrics', 'torch')}."
    ) from problem


class VifidelMetric(Metric):
    """The corpus score over all updates of one or more columns, as `vifidel_eval.evaluate` has it.

    That is the mean of the defined scores or, for shares such as VIFIDEL-Hi, the share in all
    captions together. Its states are sums of float64, which add up over batches and processes.

    Parameters
    ----------
    columns : str or sequence of str
        The columns, whose scores must depend on their row alone.
    references : bool
        Whether `update` gets references.
    as_written : bool
        Whether all of a text is scored, with reasoning and what else is around its caption.
    **settings
        Those of `torchmetrics.Metric`, such as ``dist_sync_on_step``.

    Raises
    ------
    VifidelError
        If a column cannot be scored row by row.

    Examples
    --------
    >>> metric = VifidelMetric("VIFIDEL-F", references=False)
    >>> metric.update(["a dog catches a frisbee"], [["dog", "frisbee"]])
    >>> bool(metric.compute() > 0.8)
    True
    """

    is_differentiable = False
    full_state_update = False

    @name_wrong_argument
    def __init__(
        self,
        columns: str | Sequence[str] = "VIFIDEL-F",
        references: bool = True,
        as_written: bool = False,
        **settings: Any,
    ) -> None:
        super().__init__(**settings)
        names = [columns] if isinstance(columns, str) else list(dict.fromkeys(columns))
        if not names:
            raise VifidelError("name at least one column, such as 'VIFIDEL-F'.")
        self._references, self._names, self._single = references, names, isinstance(columns, str)
        self._as_written = as_written
        # The number of sums of a column, which every process needs before its first caption.
        sizes = [len(sums) for sums in self._sums(["dog"], [["dog"]], [["a dog"]])]
        self._ends = np.cumsum(sizes)[:-1].tolist()
        zeros = torch.zeros(sum(sizes), dtype=torch.float64)
        self.add_state("sums", zeros, dist_reduce_fx="sum")

    @property
    def higher_is_better(self) -> bool | None:
        """Whether a higher score is the better one; None if the columns differ."""
        lower = {column.lower_is_better for _, column, _ in self._scored()}
        return not lower.pop() if len(lower) == 1 else None

    @name_wrong_argument
    def update(
        self,
        captions: Sequence[str],
        objects: Sequence[Any] | None = None,
        references: Sequence[Sequence[str]] | None = None,
    ) -> None:
        """Add captions, each with the objects and the references of its image.

        Objects are names, or ``{name: count}``, and references a list of strings per caption. It
        raises a VifidelError if the lengths differ, or something is not as described.
        """
        if not len(captions):
            return
        sums = self._sums(captions, objects, references if self._references else None)
        self.sums += torch.from_numpy(np.concatenate(sums)).to(self.sums.device)

    def compute(self) -> torch.Tensor | dict[str, torch.Tensor]:
        """Return the corpus score, or one per column by its name; NaN where none is defined."""
        of_columns = np.split(self.sums.cpu().numpy(), self._ends)
        scores: dict[str, torch.Tensor] = {}
        for (_, column, _), sums in zip(self._scored(), of_columns, strict=True):
            if column.of_sums is not None:
                score = float(column.of_sums(sums))
            else:
                total, defined = sums.tolist()
                score = total / defined if defined else math.nan
            scores[column.name] = torch.tensor(score, dtype=torch.float64)
        return next(iter(scores.values())) if self._single else scores

    def _sums(
        self,
        captions: Sequence[str],
        objects: Sequence[Any] | None,
        references: Sequence[Sequence[str]] | None,
    ) -> list[Floats]:
        """Return the sums over rows from which the score of each column follows."""
        evaluations: dict[Scorer, dict[str, Evaluation]] = {}  # columns may share a scorer
        sums: list[Floats] = []
        for _, column, scorer in self._scored():
            if scorer not in evaluations:
                rows = scorer.rows(captions, objects=objects, references=references)
                evaluations[scorer] = scorer.evaluate(rows, signed=False)
            evaluation = evaluations[scorer][column.name]
            if evaluation.statistics is not None:
                sums.append(np.nansum(evaluation.statistics.of_rows, axis=0))
            else:
                defined = evaluation.scores[~np.isnan(evaluation.scores)]
                sums.append(np.array([defined.sum(), len(defined)]))
        return sums

    def _scored(self) -> list[ColumnScorer]:
        """Return what computes each column; looked up, so that the metric pickles without it."""
        return [column_scorer(n, self._references, self._as_written) for n in self._names]

    def _apply(self, fn: Callable[[torch.Tensor], torch.Tensor], *arguments: Any) -> Any:
        """Move the sums as float64; they stay on the CPU where a device has none (Apple's MPS)."""

        def moved(tensor: torch.Tensor) -> torch.Tensor:
            if tensor.dtype != torch.float64:
                return fn(tensor)
            try:
                return tensor.to(fn(tensor).device)
            except TypeError:
                return tensor

        return super()._apply(moved, *arguments)
