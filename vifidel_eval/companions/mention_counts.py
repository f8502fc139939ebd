"""CHAIR (Rohrbach et al., "Object Hallucination in Image Captioning", EMNLP 2018), by counting.

What a caption mentions and its image lacks is counted per caption; every number of the metric
follows from sums of these counts over any set of captions, so a bootstrap resamples counts.

A scorer is meant to call, with `objects` the labels of images and one system's captions::

    classes = coco_synonyms()                    # or read_classes(FILE), for --synonyms FILE
    classes = classes.with_names(objects.vocabulary())
    finder = MentionFinder(classes)
    there = image_categories(labels, references, finder)      # once per image, for all systems
    caption = drop_incomplete(caption)                        # for --drop-incomplete
    mentions = finder.find(caption)
    row = caption_counts(mentions, there)                     # one per caption, len(CAPTION_COUNTS)
    made_up = absent(mentions, there)                         # for --output and the report
    CORPUS["CHAIRi"](np.array(rows).sum(axis=0))              # one number for the run
    CORPUS["CHAIRi"](np.array(rows, dtype=float))             # the same of each caption

`coco_synonyms`, `read_classes` and `ClassList.signature` are in `synonyms`, `MentionFinder` in
`mentions`, `drop_incomplete` and `lemmatizer` in `words`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from ..evaluation import Floats
from ..things.mentions import Mention, MentionFinder, Mentions

#: What `caption_counts` counts, in its order. Categories are counted once a caption, mentions
#: with repeats.
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
    """Return the categories of an image: of its instances, and those its references mention.

    Parameters
    ----------
    labels : iterable of str
        Lower-case object labels; a label that is a name of a class (``sofa``) is of that class.
    references : iterable of str
        Empty for the instances alone.
    finder : MentionFinder
        The rules that the captions are read by.
    """
    class_of = finder.classes.class_of
    mentioned = (
        mention.category for reference in references for mention in finder.find(reference).found
    )
    return frozenset((*(class_of.get(label, label) for label in labels), *mentioned))


def absent(mentions: Mentions, there: frozenset[str]) -> list[Mention]:
    """Return the mentions of categories that the image does not have, in order."""
    return [mention for mention in mentions.found if mention.category not in there]


def judged(mentions: Mentions, sought: frozenset[str]) -> Mentions:
    """Return the mentions of categories that the image has or that were looked for in it."""
    return Mentions(tuple(m for m in mentions.found if m.category in sought), mentions.tokens)


def caption_counts(mentions: Mentions, there: frozenset[str]) -> tuple[int, ...]:
    """Return the `CAPTION_COUNTS` of one caption.

    >>> from vifidel_eval.things.synonyms import coco_synonyms
    >>> finder = MentionFinder(coco_synonyms())
    >>> caption_counts(finder.find("A man and a dog, and a cat."), frozenset({"person", "dog"}))
    (1, 1, 3, 1, 2, 3, 2, 10)
    """
    made_up = len(absent(mentions, there))
    distinct = {mention.category for mention in mentions.found}
    return (
        1,
        int(made_up > 0),
        len(mentions.found),
        made_up,
        len(there),
        len(distinct),
        len(distinct & there),
        mentions.tokens,
    )


def _share(part: Floats, whole: Floats) -> Floats:
    share = np.full(np.shape(whole), np.nan)
    np.divide(part, whole, out=share, where=whole > 0)
    return share


def _column(numerator: str, denominator: str) -> Callable[[npt.ArrayLike], Floats]:
    # A partial, which pickles, as a run does.
    return partial(
        _ratio, part=CAPTION_COUNTS.index(numerator), whole=CAPTION_COUNTS.index(denominator)
    )


def _ratio(sums: npt.ArrayLike, part: int, whole: int) -> Floats:
    sums = np.asarray(sums, dtype=float)
    return _share(sums[..., part], sums[..., whole])


def _f1(sums: npt.ArrayLike) -> Floats:
    sums = np.asarray(sums, dtype=float)
    there = sums[..., CAPTION_COUNTS.index("categories mentioned that are there")]
    mentioned = sums[..., CAPTION_COUNTS.index("categories mentioned")]
    of_images = sums[..., CAPTION_COUNTS.index("categories of the image")]
    return _share(2 * there, mentioned + of_images)


#: The metric's numbers by column: each maps sums of `CAPTION_COUNTS`, (..., 8), to (...). All but
#: the length are in [0, 1]; a number is NaN where there is nothing to divide by.
CORPUS: Mapping[str, Callable[[npt.ArrayLike], Floats]] = MappingProxyType(
    {
        "CHAIRs": _column("captions with an absent mention", "captions"),
        "CHAIRi": _column("absent mentions", "mentions"),
        "CHAIR-Recall": _column("categories mentioned that are there", "categories of the image"),
        "CHAIR-Precision": _column("categories mentioned that are there", "categories mentioned"),
        "CHAIR-F1": _f1,
        "CHAIR-Len": _column("tokens", "captions"),
    }
)
