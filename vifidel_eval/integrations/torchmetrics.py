"""Columns of this package as a metric of TorchMetrics, for Lightning and other training loops."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..errors import MetricUnavailable, VifidelError
from .columns import column_scorer

try:
    import torch
    from torchmetrics import Metric
except ModuleNotFoundError as problem:
    raise MetricUnavailable(
        f"VifidelMetric needs the package {problem.name}: pip install 'vifidel-eval[torchmetrics]'."
    ) from problem


class VifidelMetric(Metric):
    """The mean over all updates of one or more columns, such as VIFIDEL-F.

    The states are sums of float64 that add up over batches and processes, from which the corpus
    score follows as `vifidel_eval.evaluate` has it: the mean of the defined scores, or, for shares
    such as VIFIDEL-Hi, the share in all captions together.

    Parameters
    ----------
    columns : str or sequence of str
        The columns, whose scores must depend on their row alone.
    references : bool
        Whether `update` gets references.
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

    def __init__(
        self, columns: str | Sequence[str] = "VIFIDEL-F", references: bool = True, **settings: Any
    ) -> None:
        super().__init__(**settings)
        names = [columns] if isinstance(columns, str) else list(dict.fromkeys(columns))
        if not names:
            raise VifidelError("name at least one column, such as 'VIFIDEL-F'.")
        self._references = references
        self._single = isinstance(columns, str)
        self._columns = {name: column_scorer(name, references) for name in names}
        lower = {scored.column.lower_is_better for scored in self._columns.values()}
        self.higher_is_better = not lower.pop() if len(lower) == 1 else None
        sizes = [len(sums) for sums in self._sums(["dog"], [["dog"]], [["a dog"]])]
        self.add_state(
            "sums", torch.zeros(sum(sizes), dtype=torch.float64), dist_reduce_fx="sum"
        )
        self.add_state("undefined", torch.zeros(len(names), dtype=torch.int64), "sum")
        self._ends = np.cumsum(sizes)[:-1].tolist()

    def update(
        self,
        captions: Sequence[str],
        objects: Sequence[Any] | None = None,
        references: Sequence[Sequence[str]] | None = None,
    ) -> None:
        """Add captions.

        Parameters
        ----------
        captions : sequence of str
            The candidates.
        objects : sequence, optional
            What the image of each caption shows: names, or ``{name: count}``.
        references : sequence of lists of str, optional
            The references of each caption's image.

        Raises
        ------
        VifidelError
            If the lengths differ, or something is not as described.
        """
        sums = self._sums(
            list(captions), objects, references if self._references else None
        )
        self.sums += torch.from_numpy(np.concatenate(sums)).to(self.sums.device)

    def compute(self) -> torch.Tensor | dict[str, torch.Tensor]:
        """Return the corpus score, or one per column by its name; NaN where none is defined."""
        of_columns = np.split(self.sums.cpu().numpy(), self._ends)
        scores = {
            name: torch.tensor(score_of_sums(scored.column, sums), dtype=torch.float64)
            for (name, scored), sums in zip(self._columns.items(), of_columns, strict=True)
        }
        return next(iter(scores.values())) if self._single else scores

    def _apply(self, fn: Callable[[torch.Tensor], torch.Tensor], *arguments: Any) -> Any:
        """Move the states, which stay on the CPU where a device has no float64 (Apple's MPS)."""

        def moved(tensor: torch.Tensor) -> torch.Tensor:
            try:
                return fn(tensor)
            except TypeError:
                if tensor.dtype != torch.float64:
                    raise
                return tensor

        return super()._apply(moved, *arguments)
