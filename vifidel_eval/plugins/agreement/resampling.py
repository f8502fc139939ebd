"""Bootstrap over images: captions of an image were judged together and stay together.

`vifidel_eval.scores.significance` resamples too, but sums of scores, which one product of matrices
gives for all resamples, and from a stream that no version of NumPy changes; a correlation is
not a sum, and each resample here has its own draw of references, so the places are needed.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from ...evaluation import Integers
from .judgements import Judged

#: Resamples of every interval.
RESAMPLES = 500
#: Share of the resamples that lies in an interval.
LEVEL = 0.95


def resampled(judged: Sequence[Judged], draws: int, seed: int) -> Iterator[tuple[Integers, int]]:
    """Yield places of judgements and a draw of references, `RESAMPLES` times.

    Images are drawn with replacement, as many as there are; an image brings all that was judged
    of it. So an interval says how different an experiment with other images of the same kind and
    one other draw of references may come out.

    Parameters
    ----------
    judged : sequence of Judged
        The judgements.
    draws : int
        How many draws of references there are; one of them is chosen each time.
    seed : int
        The same seed gives the same resamples, so that metrics are compared on the same ones.
    """
    of_image: dict[object, list[int]] = {}
    for at, one in enumerate(judged):
        of_image.setdefault(one.image_id, []).append(at)
    places = [np.array(rows, dtype=np.int64) for rows in of_image.values()]
    random = np.random.default_rng(seed)
    for _ in range(RESAMPLES):
        chosen = random.integers(len(places), size=len(places))
        yield np.concatenate([places[image] for image in chosen]), int(random.integers(draws))


def interval(values: Sequence[float]) -> tuple[float, float]:
    """Return the percentile interval of resampled values; undefined ones are left out."""
    defined = np.array([value for value in values if not math.isnan(value)])
    if not len(defined):
        return math.nan, math.nan
    low, high = np.quantile(defined, [(1 - LEVEL) / 2, (1 + LEVEL) / 2]).tolist()
    return low, high
