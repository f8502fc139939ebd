"""Several metrics in one number."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np

from ..captions.rows import Rows
from ..doors.arguments import constructor
from ..errors import VifidelError
from ..evaluation import Column, Evaluation, Floats
from ..io.image_ids import ImageId
from .base import Progress, Scorer, main_column


class Mean(Scorer):
    """The mean of other metrics' scores, row by row.

    Plain means are VIFIDEL+CIDEr and VIFIDEL+LM of the VIFIDEL paper (section 4.4), a scaled one
    WMD+SPICE+METEOR of Kilickaya et al. (2017).

    Parameters
    ----------
    *parts : Scorer
        Two or more metrics; of a metric with several columns, the main one is used (BLEU-4).
    scaled : bool
        Whether scores are first scaled to [0, 1], from the smallest to the largest of all systems
        of a run.
    undefined : float
        Value of an undefined score: NaN, or a number such as 0 for scripts that take plain
        means.

    Raises
    ------
    VifidelError
        If there are fewer than two parts, or lower is better in one of them.
    """

    @constructor
    def __init__(self, *parts: Scorer, scaled: bool = False, undefined: float = math.nan) -> None:
        if len(parts) < 2:
            raise VifidelError("a combination needs at least two metrics.")
        for column in (main_column(part.columns) for part in parts):
            if column.lower_is_better:
                raise VifidelError(
                    f"{column.name} cannot be part of a combination: lower is better for it, and "
                    "a mean would reward worse captions."
                )
        super().__init__(undefined)
        self.parts = parts
        self._scaled = scaled
        self.columns = (Column(self.method()),)

    def method(self) -> str:
        return "+".join(part.method() for part in self.parts)

    def signature(self, image_ids: Sequence[ImageId] | None = None) -> str:
        return self._signature(part.signature(image_ids) for part in self.parts)

    def signature_of(self, systems: Iterable[Rows]) -> str:
        systems = list(systems)
        return self._signature(part.signature_of(systems) for part in self.parts)

    def as_written(self) -> Mean:
        mean = super().as_written()
        mean.parts = tuple(part.as_written() for part in self.parts)
        return mean

    def _signature(self, of_parts: Iterable[str]) -> str:
        parts = " + ".join(f"({of_part})" for of_part in of_parts)
        scaled = f"scaled:{'run' if self._scaled else 'no'}"
        return "|".join([self.method(), scaled, *self._pinned_undefined(), parts])

    def check_images(self, image_ids: Sequence[ImageId]) -> None:
        for part in self.parts:
            part.check_images(image_ids)

    def _evaluate(self, rows: Rows, on_progress: Progress) -> dict[str, Evaluation]:
        return self._mean([part.evaluate(rows, on_progress, signed=False) for part in self.parts])

    def _evaluate_run(self, rows: Rows) -> dict[str, Evaluation]:
        # Each part judges the run by what it has counted itself.
        return self._mean([part._evaluate_run(rows) for part in self.parts])

    def _mean(self, of_parts: Iterable[dict[str, Evaluation]]) -> dict[str, Evaluation]:
        main = [columns[part.main] for part, columns in zip(self.parts, of_parts, strict=True)]
        return {self.main: self.combine([main])[0]}

    def combine(self, systems: Sequence[Sequence[Evaluation]]) -> list[Evaluation]:
        """Return the combination for each system of a run, from the evaluation of each part."""
        ranges = [_range([parts[at].scores for parts in systems]) for at in range(len(self.parts))]
        combined = []
        for parts in systems:
            scores = [part.scores for part in parts]
            if self._scaled:
                scores = [
                    _scaled(of_part, lowest, highest)
                    for of_part, (lowest, highest) in zip(scores, ranges, strict=True)
                ]
            total = sum(scores, np.zeros(len(parts[0].scores)))
            counts: dict[str, int] = {}  # the largest of each
            for part in parts:
                counts |= {key: max(n, counts.get(key, 0)) for key, n in part.counts.items()}
            counts.pop("undefined", None)  # counted anew, in the combination itself
            mean = Evaluation(parts[0].ids, total / len(parts), counts=counts)
            combined.append(self._finished(self.columns[0], mean))
        return combined


def _range(scores: Sequence[Floats]) -> tuple[float, float]:
    everything = np.concatenate(scores)
    defined = everything[~np.isnan(everything)]
    return (float(defined.min()), float(defined.max())) if len(defined) else (math.nan, math.nan)


def _scaled(scores: Floats, lowest: float, highest: float) -> Floats:
    """Return scores from 0 to 1; where all are the same they say nothing and become 0."""
    return (scores - lowest) / (highest - lowest) if highest > lowest else scores - lowest
