"""Counts that CHAIR follows from (Rohrbach et al., EMNLP 2018).

What a caption mentions and its image lacks is counted per caption; every number of the metric
follows from sums of these counts over any set of captions, so a bootstrap resamples counts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

from ..evaluation import Floats
from ..words.mentions import MentionFinder, Mentions, Phrase

#: What `caption_counts` counts, in its order. Categories are counted once per caption,
#: mentions with repeats.
CAPTION_COUNTS = (
    "captions",
    "captions with an absent mention",
    "mentions",
    "absent mentions",
    "categories of the image",
    "categories mentioned",
    "categories mentioned that are there",
    "tokens",
)


def image_categories(
    labels: Iterable[str], references: Iterable[str], finder: MentionFinder
) -> frozenset[str]:
    """Return the categories of an image: of its instances, and those its references mention."""
    class_of = finder.class_of
    mentioned = (m.category or "" for text in references for m in finder.find(text).found)
    return frozenset((*(class_of.get(label, label) for label in labels), *mentioned))


def absent(mentions: Mentions, there: frozenset[str]) -> list[Phrase]:
    """Return the mentions of categories that the image does not have, in order."""
    return [mention for mention in mentions.found if mention.category not in there]


def caption_counts(
    mentions: Mentions, there: frozenset[str], claims: bool = True
) -> tuple[int, ...]:
    """Return the `CAPTION_COUNTS` of a text, which is no caption unless it `claims` anything."""
    made_up = len(absent(mentions, there))
    distinct = {mention.category for mention in mentions.found}
    return (
        int(claims),
        int(made_up > 0),
        len(mentions.found),
        made_up,
        len(there),
        len(distinct),
        len(distinct & there),
        mentions.tokens if claims else 0,
    )


def details_of(read: Sequence[Mentions], there: Sequence[frozenset[str]]) -> list[dict[str, Any]]:
    """Return what ``--output`` says of each caption."""
    return [
        {
            "mentioned": [[mention.text, mention.category] for mention in mentions.found],
            "hallucinated": [[m.text, m.category] for m in absent(mentions, of_image)],
            "objects": sorted(of_image),
        }
        for mentions, of_image in zip(read, there, strict=True)
    ]


def ratio(counts: npt.ArrayLike, part: int, whole: tuple[int, ...]) -> Floats:
    """Return counts, (..., k), as the share of one in the mean of others; NaN where that is 0."""
    counts = np.asarray(counts, dtype=float)
    total = sum(counts[..., at] for at in whole)
    share = np.full(np.shape(total), np.nan)
    np.divide(len(whole) * counts[..., part], total, out=share, where=total > 0)
    return share


def _column(part: str, *whole: str) -> Callable[[npt.ArrayLike], Floats]:
    # A partial, which pickles, as a run does.
    at = CAPTION_COUNTS.index
    return partial(ratio, part=at(part), whole=tuple(map(at, whole)))


#: The metric's numbers by column: each maps sums of `CAPTION_COUNTS`, (..., 8), to (...). All but
#: the length are in [0, 1]; a number is NaN where there is nothing to divide by.
CORPUS: Mapping[str, Callable[[npt.ArrayLike], Floats]] = MappingProxyType(
    {
        "CHAIRs": _column("captions with an absent mention", "captions"),
        "CHAIRi": _column("absent mentions", "mentions"),
        "CHAIR-Recall": _column("categories mentioned that are there", "categories of the image"),
        "CHAIR-Precision": _column("categories mentioned that are there", "categories mentioned"),
        "CHAIR-F1": _column(
            "categories mentioned that are there",
            "categories mentioned",
            "categories of the image",
        ),
        "CHAIR-Len": _column("tokens", "captions"),
    }
)
