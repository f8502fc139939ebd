"""Several metrics in one number."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from ..errors import VifidelError
from ..image_ids import ImageId
from ..kernels.bags import Floats
from .base import Evaluation, Scorer


class Mean(Scorer):
    """The mean of other metrics' scores, image by image.

    Plain means are VIFIDEL+CIDEr and VIFIDEL+LM of the VIFIDEL paper (section 4.4). Scaled ones
    bring every metric to [0, 1] first, smallest to largest score of the run, as Kilickaya et al.
    (2017) do for WMD+SPICE+METEOR.

    Parameters
    ----------
    *parts : Scorer
        Two or more metrics; of one with several columns the last counts (BLEU-4).
    scaled : bool
        Whether scores are scaled to [0, 1] over all systems of a run before the mean.

    Raises
    ------
    VifidelError
        If there are fewer than two parts.
    """

    def __init__(self, *parts: Scorer, scaled: bool = False) -> None:
        if len(parts) < 2:
            raise VifidelError("a combination needs at least two metrics.")
        self.parts = parts
        self._scaled = scaled

    def method(self) -> str:
        return "+".join(part.method() for part in self.parts)

    def signature(self) -> str:
        parts = " + ".join(f"({part.signature()})" for part in self.parts)
        return f"{self.method()}|scaled:{'run' if self._scaled else 'no'}|{parts}"

    def prepare(self, ids: Sequence[ImageId]) -> None:
        for part in self.parts:
            part.prepare(ids)

    def evaluate(
        self,
        gts: Mapping[ImageId, Sequence[str]],
        res: Mapping[ImageId, Sequence[str]],
        on_progress: Callable[[int], object] | None = None,
    ) -> Evaluation:
        columns = [part.evaluate_columns(gts, res, on_progress) for part in self.parts]
        return self.combine([[list(of_part.values())[-1] for of_part in columns]])[0]

    def combine(self, systems: Sequence[Sequence[Evaluation]]) -> list[Evaluation]:
        """Return the combination for each system of a run.

        Parameters
        ----------
        systems : sequence of sequences of Evaluation
            For each system the evaluation of each part. An image that a part leaves undefined is
            undefined.
        """
        ranges = [_range([parts[at].scores for parts in systems]) for at in range(len(self.parts))]
        combined = []
        for parts in systems:
            scores = [part.scores for part in parts]
            if self._scaled:
                scores = [_scaled(of_part, *r) for of_part, r in zip(scores, ranges, strict=True)]
            total = np.zeros(len(parts[0].scores))
            for of_part in scores:
                total = total + of_part
            combined.append(
                Evaluation(
                    parts[0].ids,
                    total / len(parts),
                    next((part.tally for part in parts if part.tally.words), parts[0].tally),
                    max(part.wordless for part in parts),
                    max(part.unweighted for part in parts),
                )
            )
        return combined


def _range(scores: Sequence[Floats]) -> tuple[float, float]:
    everything = np.concatenate(scores)
    defined = everything[~np.isnan(everything)]
    return (float(defined.min()), float(defined.max())) if len(defined) else (math.nan, math.nan)


def _scaled(scores: Floats, lowest: float, highest: float) -> Floats:
    """Return scores from 0 to 1; where all are the same they say nothing and become 0."""
    return (scores - lowest) / (highest - lowest) if highest > lowest else scores - lowest
