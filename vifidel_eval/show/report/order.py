"""Order of the images at first, and how metrics agree."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from itertools import combinations_with_replacement
from typing import Any

import numpy as np
from scipy.stats import rankdata

from ...evaluation import Floats

# Of a metric that gives more of the captions one and the same score, ranks say little.
_MOST_EQUAL = 0.5


class Order:
    """Order of the list of images, and how metrics agree.

    `data` is what `image_data` returns; `inventions` is how many things each system's caption of
    each image makes up, None where that is not known, and empty if nothing is made up.

    Attributes
    ----------
    places : list of int
        The images in the order that is the first of those that the page's menu offers. Images for
        which the value is not defined come last; ties stay as they are.
    against : int
        The metric that is held against the first one: whose ranks of all captions agree least with
        the first's. Metrics that give more than half of the captions one score come last.
    ranks_agree : (metrics, metrics) float64
        Spearman's correlation over all captions, better scores having the higher ranks.
    fits : list of (metrics, metrics, 2) float64
        As `correlations` returns them, for each system and for all together.
    """

    def __init__(
        self, data: dict[str, Any], inventions: Sequence[Sequence[int | None]] = ()
    ) -> None:
        scores = np.array(data["scores"], dtype=np.float64)  # (systems, metrics, images)
        signs = np.where(data["lowerIsBetter"], -1.0, 1.0)
        of_metrics = scores.transpose(1, 0, 2).reshape(len(signs), -1)
        self.fits = [*map(correlations, scores), correlations(of_metrics)]
        self.ranks_agree = self.fits[-1][..., 1] * np.outer(signs, signs)
        self.against = _against(self.ranks_agree[0], of_metrics)
        if inventions:
            values = _sums(np.array(inventions, dtype=np.float64))
        elif len(scores) > 1:
            values = systems_apart(scores[:, 0])
        elif len(signs) > 1:
            first, second = (scores[:, at] * signs[at] for at in (0, self.against))
            values = np.abs(metrics_apart(first, second))
        else:
            values = -scores[0, 0] * signs[0]
        self.places: list[int] = np.argsort(-values, kind="stable").tolist()  # NaN sorts last


def _sums(of_systems: Floats) -> Floats:
    known = ~np.isnan(of_systems).all(axis=0)
    return np.where(known, np.nansum(of_systems, axis=0), np.nan)


def _against(agree: Floats, of_metrics: Floats) -> int:
    """Return the metric that agrees least with the first one."""

    def key(metric: int) -> tuple[bool, float]:
        scores = of_metrics[metric][~np.isnan(of_metrics[metric])]
        most = np.unique(scores, return_counts=True)[1].max(initial=0)
        says_little = bool(most > _MOST_EQUAL * len(scores)) or math.isnan(agree[metric])
        return says_little, 0.0 if says_little else float(agree[metric])

    return min(range(1, len(agree)), key=key, default=0)


def systems_apart(scores: Floats) -> Floats:
    """Return how far the systems' scores of each image lie apart; NaN of fewer than two scores.

    That is twice the median distance of the scores, (systems, images), from their median: of two
    systems it is their difference, and of more one that is broken everywhere does not decide.
    """
    several = (~np.isnan(scores)).sum(axis=0) > 1
    scores = np.where(several, scores, 0)  # of columns without a score, nanmedian warns
    apart = np.abs(scores - np.nanmedian(scores, axis=0))
    return np.where(several, 2 * np.nanmedian(apart, axis=0), np.nan)


def metrics_apart(scores: Floats, others: Floats) -> Floats:
    """Return how far two metrics disagree on each image, in [-1, 1].

    That is the difference of a caption's percentile ranks under both, of the caption for which it
    is largest. Scores are (systems, images), higher is better. The result is above 0 where the
    first metric ranks the caption higher; NaN where no caption has both.
    """
    apart = percentile_ranks(scores) - percentile_ranks(others)
    largest = np.where(np.isnan(apart), -1, np.abs(apart)).argmax(axis=0)
    signed: Floats = np.take_along_axis(apart, largest[np.newaxis], axis=0)[0]
    return signed


def percentile_ranks(scores: Floats) -> Floats:
    """Return the share of all defined scores that lie below each, ties half; NaN stays NaN."""
    defined = ~np.isnan(scores)
    ranks = np.full_like(scores, np.nan)
    ranks[defined] = (rankdata(scores[defined]) - 0.5) / max(defined.sum(), 1)
    return ranks


def correlations(of_metrics: Floats) -> Floats:
    """Return Pearson's and Spearman's correlation of every two metrics: (metrics, metrics, 2).

    Scores are (metrics, captions); of these the captions count that have both. NaN if they are
    fewer than two, or all their scores under a metric are equal.
    """
    defined = ~np.isnan(of_metrics)

    @cache  # most metrics are defined for the same captions
    def directions(metric: int, among: bytes) -> Floats:
        scores = of_metrics[metric][np.frombuffer(among, dtype=bool)]
        return np.stack([_direction(scores), _direction(rankdata(scores))])

    found = np.full((len(of_metrics), len(of_metrics), 2), np.nan)
    for one, other in combinations_with_replacement(range(len(of_metrics)), 2):
        both = defined[one] & defined[other]
        if both.sum() > 1:
            products = directions(one, both.tobytes()) * directions(other, both.tobytes())
            found[one, other] = found[other, one] = products.sum(axis=1)
    return found


def _direction(scores: Floats) -> Floats:
    """Return scores less their mean, as a vector of length 1; NaN if all are equal."""
    with np.errstate(over="ignore", invalid="ignore"):
        apart = scores - scores.mean()
        length = np.sqrt((apart**2).sum())
        direction: Floats = apart / (length if length > 1e-9 else np.nan)
    return direction
