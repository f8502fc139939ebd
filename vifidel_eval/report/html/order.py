"""Order of the images: first those of which most is made up, or on which systems disagree."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations_with_replacement
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from ...evaluation import Floats

# Of a metric that gives more of the captions one and the same score, ranks say little.
_MOST_EQUAL = 0.5


class Order:
    """The order of the list of images, and how metrics agree.

    Parameters
    ----------
    data : dict
        As `Images.data`.

    Attributes
    ----------
    against : int
        The place of the metric that is held against the first: the one whose ranks of all captions
        agree least with the first's. Metrics that give more than half of the captions one score
        come last.
    correlations : list of list of float
        Spearman's rank correlation of every two metrics over all captions, better scores having
        the higher ranks; NaN where it is undefined.
    """

    def __init__(self, data: dict[str, Any]) -> None:
        signs = np.array([-1.0 if lower else 1.0 for lower in data["lowerIsBetter"]])
        # (systems, metrics, images), higher being better
        self._scores = np.array(data["scores"], dtype=np.float64) * signs[:, None]
        of_metrics = self._scores.transpose(1, 0, 2).reshape(len(signs), -1)
        self.correlations = _correlations(of_metrics)
        self.against = _against(self.correlations[0], of_metrics)

    def by_disagreement(self) -> tuple[str, list[int]]:
        """Return what the list is sorted by at first, and the images in that order.

        Returns
        -------
        sort : str
            ``"systems"`` if there are several, else ``"metrics"`` if there are several, else
            ``"worst"``: the names of the page's sort menu.
        places : list of int
            Images for which the value is not defined come last; ties stay as they are.
        """
        scores = self._scores
        if scores.shape[0] > 1:
            sort, values = "systems", systems_apart(scores[:, 0])
        elif scores.shape[1] > 1:
            sort, values = "metrics", np.abs(metrics_apart(scores[:, 0], scores[:, self.against]))
        else:
            sort, values = "worst", -scores[0, 0]
        return sort, np.argsort(-values, kind="stable").tolist()  # NaN sorts last


def by_inventions(made_up: Sequence[Sequence[int | None]]) -> tuple[str, list[int]]:
    """Return what the list is sorted by where anything is made up, and the images in that order.

    Parameters
    ----------
    made_up : sequence of sequences
        How many things each system's caption of each image makes up; None where that is not known.

    Returns
    -------
    sort : str
        ``"inventions"``, as the page's sort menu calls it.
    places : list of int
        The images of which all systems together make up most come first, those of which nothing is
        known last; ties stay as they are.
    """
    things = np.array(made_up, dtype=np.float64)
    known = ~np.isnan(things).all(axis=0)
    values = np.where(known, np.nansum(things, axis=0), np.nan)
    return "inventions", np.argsort(-values, kind="stable").tolist()  # NaN sorts last


def _against(correlations: list[float], of_metrics: Floats) -> int:
    """Return the metric that agrees least with the first one."""

    def key(metric: int) -> tuple[bool, float]:
        scores = of_metrics[metric][~np.isnan(of_metrics[metric])]
        most = np.unique(scores, return_counts=True)[1].max(initial=0)
        says_little = bool(most > _MOST_EQUAL * len(scores)) or np.isnan(correlations[metric])
        return says_little, 0.0 if says_little else correlations[metric]

    return min(range(1, len(correlations)), key=key, default=0)


def systems_apart(scores: Floats) -> Floats:
    """Return how far the systems' scores of each image lie apart.

    That is twice the median distance of the scores from their median: of two systems it is their
    difference, and of more one that is broken everywhere does not decide.

    Parameters
    ----------
    scores : (systems, images) float64
        Under one metric.

    Returns
    -------
    (images,) float64
        NaN where fewer than two systems have a score.
    """
    return 2 * _medians(np.abs(scores - _medians(scores)))


def _medians(scores: Floats) -> Floats:
    """Return the median of each column; NaN where fewer than two scores are defined."""
    ordered = np.sort(scores, axis=0)  # NaN sorts last
    count = (~np.isnan(scores)).sum(axis=0)
    low, high = np.maximum(count - 1, 0) // 2, np.minimum(count // 2, len(scores) - 1)
    ends = np.take_along_axis(ordered, np.stack([low, high]), axis=0)
    return np.where(count > 1, (ends[0] + ends[1]) / 2, np.nan)


def metrics_apart(scores: Floats, others: Floats) -> Floats:
    """Return how far two metrics disagree on each image, in [-1, 1].

    Scores of two metrics have no common scale; their percentile ranks have. The value of an
    image is the largest difference, in size, between the two ranks of one of its captions.

    Parameters
    ----------
    scores, others : (systems, images) float64
        Under the two metrics, higher being better.

    Returns
    -------
    (images,) float64
        Above 0 where the first metric ranks the caption higher; NaN where no caption has both.
    """
    apart = percentile_ranks(scores) - percentile_ranks(others)
    largest = np.where(np.isnan(apart), -1, np.abs(apart)).argmax(axis=0)
    signed: Floats = np.take_along_axis(apart, largest[np.newaxis], axis=0)[0]
    return signed


def percentile_ranks(scores: Floats) -> Floats:
    """Return the share of all defined scores that lie below each, ties half; NaN stays NaN."""
    ordered = np.sort(scores[~np.isnan(scores)])
    below = np.searchsorted(ordered, scores, side="left")
    up_to = np.searchsorted(ordered, scores, side="right")
    return np.where(np.isnan(scores), np.nan, (below + up_to) / (2 * max(len(ordered), 1)))


def _correlations(of_metrics: Floats) -> list[list[float]]:
    """Return Spearman's rank correlation of every two metrics over the captions that have both.

    NaN if there are fewer than two, or all scores of one metric are equal. The ranks of the same
    captions are found once.
    """
    defined = ~np.isnan(of_metrics)
    ranks: dict[tuple[int, bytes], Floats] = {}
    found = [[0.0] * len(of_metrics) for _ in of_metrics]
    for one, other in combinations_with_replacement(range(len(of_metrics)), 2):
        both = defined[one] & defined[other]
        keys = [(metric, both.tobytes()) for metric in (one, other)]
        for key in keys:
            if key not in ranks:
                ranks[key] = _centred_ranks(of_metrics[key[0]][both])
        found[one][other] = found[other][one] = _correlation(*map(ranks.__getitem__, keys))
    return found


def _centred_ranks(scores: Floats) -> Floats:
    ranks = percentile_ranks(scores)
    return ranks - ranks.mean() if len(ranks) else ranks


def _correlation(ranks: Floats, others: Floats) -> float:
    """Return the correlation of ranks whose mean is 0."""
    sizes = [float(np.sqrt((one**2).sum())) for one in (ranks, others)]
    if min(sizes) <= 1e-12:
        return float("nan")
    return float((ranks * others).sum() / (sizes[0] * sizes[1]))
