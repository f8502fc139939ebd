"""Scores by object category: the images of which objects a system does badly on."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .formats import grouped

#: Categories of fewer images are not listed: at most this many, or a hundredth of all images.
FEWEST = 25


@dataclass(frozen=True)
class Category:
    """The images of a category under the first metric, for one system.

    Attributes
    ----------
    label : str
        The object label.
    images : int
        Images with the object that have a score.
    mean : float
        Their mean score.
    apart : float
        How much better (above 0) or worse that is than the mean of all images of the system.
    left_out : float
        The share of these images whose caption does not mention the object.
    """

    label: str
    images: int
    mean: float
    apart: float
    left_out: float


def fewest(images: int) -> int:
    """Return how many images a category needs to be listed.

    >>> fewest(28), fewest(500), fewest(5000)
    (2, 5, 25)
    """
    return min(max(2, images // 100), FEWEST)


def categories(data: Mapping[str, Any], plans: Mapping[str, Any]) -> list[list[Category]]:
    """Return the categories of each system under the first metric, the worst ones first.

    Parameters
    ----------
    data, plans : mapping
        As `Images` has them; categories.js does the same for the other metrics.
    """
    sign = -1 if data["lowerIsBetter"][0] else 1
    enough = fewest(len(data["ids"]))
    found = []
    for scores, of_images in zip(data["scores"], plans["plans"], strict=False):
        sums: dict[int, list[float]] = {}
        total, defined = 0.0, 0
        for score, objects, plan in zip(scores[0], data["objects"], of_images, strict=True):
            if score is None:
                continue
            total, defined = total + score, defined + 1
            silent = () if plan is None else plan[3]
            for place, (label, _, _) in enumerate(grouped(objects, 3)):
                of_label = sums.setdefault(label, [0, 0, 0])
                of_label[0] += score
                of_label[1] += 1
                of_label[2] += place in silent
        rows = [
            Category(
                data["labels"][label],
                int(count),
                sum_of / count,
                sign * (sum_of / count - total / defined),
                silent / count,
            )
            for label, (sum_of, count, silent) in sums.items()
            if count >= enough
        ]
        # Sums differ in their last digits between the two programs: nine digits decide.
        found.append(sorted(rows, key=lambda row: (math.floor(row.apart * 1e9 + 0.5), row.label)))
    return found
