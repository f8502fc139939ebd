"""Counts that CHAIR follows from (Rohrbach et al., EMNLP 2018), and its classes of labels.

What a caption mentions and its image lacks is counted per caption; every number of the metric
follows from sums of these counts over any set of captions, so a bootstrap resamples counts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache, partial
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

from ..annotations import ObjectLabels
from ..annotations.categories import LookedFor
from ..captions.rows import Asked, LabelCounts
from ..evaluation import Floats
from ..words.mentions import MentionFinder, Mentions, Phrase, finder_of
from ..words.synonyms import ClassList, class_names
from ..words.terms import end_of, unnumbered

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


def absent(mentions: Mentions, labels: frozenset[str]) -> list[Phrase]:
    """Return the mentions of categories that the image does not have, in order."""
    return [mention for mention in mentions.found if mention.category not in labels]


def caption_counts(
    mentions: Mentions, labels: frozenset[str], claims: bool = True
) -> tuple[int, ...]:
    """Return the `CAPTION_COUNTS` of a text, which is no caption unless it `claims` anything."""
    made_up = len(absent(mentions, labels))
    distinct = {mention.category for mention in mentions.found}
    return (
        int(claims),
        int(made_up > 0),
        len(mentions.found),
        made_up,
        len(labels),
        len(distinct),
        len(distinct & labels),
        mentions.tokens if claims else 0,
    )


def details_of(
    of_rows: Sequence[Mentions], labels: Sequence[frozenset[str]]
) -> list[dict[str, Any]]:
    """Return what ``--output`` says of each caption."""
    return [
        {
            "mentioned": [[mention.text, mention.category] for mention in mentions.found],
            "hallucinated": [[m.text, m.category] for m in absent(mentions, of_image)],
            "objects": sorted(of_image),
        }
        for mentions, of_image in zip(of_rows, labels, strict=True)
    ]


def ratio(counts: npt.ArrayLike, part: int, whole: tuple[int, ...]) -> Floats:
    """Return one of some counts, (..., k), divided by the mean of others; NaN where that is 0."""
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


class LabelClasses:
    """The classes of labels, by a list and by the names of objects that it lacks.

    `source` are the objects of all images, and `declared` is what a user says was looked for in
    them; None if rows have objects of their own, or nobody says it.
    """

    def __init__(
        self, synonyms: ClassList, source: ObjectLabels | None, declared: LookedFor | None
    ) -> None:
        self._synonyms, self._source, self._declared = synonyms, source, declared

    def classes(
        self, objects: Iterable[LabelCounts] = (), asked: Iterable[Asked] = ()
    ) -> ClassList:
        """Return the synonyms; names of objects that they lack are classes of their own."""
        names = self._names_of_source().union(*map(self._names, objects, asked))
        return self._synonyms.with_names(names)

    def finders(
        self, labels: Sequence[LabelCounts], asked: Sequence[Asked]
    ) -> tuple[MentionFinder, ...]:
        """Return what finds mentions in the captions of each row."""
        classes, names = self.classes(), frozenset(self._names_of_source())
        if self._source is not None:
            return (finder_with_names(classes, names),) * len(labels)
        # Rows have names of their own.
        of_rows = (names | of_row for of_row in map(self._names, labels, asked))
        return tuple(finder_with_names(classes, of_row) for of_row in of_rows)

    def there(
        self,
        labels: LabelCounts,
        references: Sequence[str],
        finder: MentionFinder,
        deniable: Asked,
    ) -> frozenset[str]:
        """Return the classes that the labels of an image have or its references mention."""
        classes: set[str] = set()
        for label in labels:
            kind, category = class_of_label(finder, self._term(label)), finder.class_of.get(label)
            if category is not None:
                classes.add(category)
            # A red bus is a bus too, where a bus was looked for.
            if category is None or deniable is None or kind in deniable:
                classes.add(kind)
        return image_categories(classes, references, finder)

    def deniable(
        self, asked: Sequence[Asked], finders: Sequence[MentionFinder]
    ) -> tuple[Asked, ...] | None:
        """Return the classes that can be absent from each row's image; None for all."""
        source, declared = self._source, self._declared
        declares = source is not None and source.says_what_was_asked
        everything = declared is not None and declared.labels is None
        nobody = all(of_row is None for of_row in asked)
        if everything or (declared is None and nobody and not declares):
            return None
        everywhere = source.categories if source is not None and declares else frozenset()
        if declared is not None:
            everywhere |= declared.labels or frozenset()

        @lru_cache(maxsize=1 << 12)
        def of_image(of_row: Asked, finder: MentionFinder) -> Asked:
            if of_row is None and source is None and declared is None:
                return None
            names = everywhere | (of_row or frozenset())
            return frozenset(class_of_label(finder, name) for name in names)

        return tuple(map(of_image, asked, finders))

    def _term(self, label: str) -> str:
        """Return what a label names: of a phrase that is on no list, the class that ends it."""
        synonyms, whole = self._synonyms, class_names()
        if synonyms.published:
            return label
        label = unnumbered(label, lambda name: synonyms.term(name) or whole.term(name))
        if synonyms.term(label) or whole.term(label):
            return label
        # What no category ends is called as the object vocabulary calls it.
        return end_of(label, synonyms.term) or whole.term_of(label)

    def _names(self, labels: Iterable[str], asked: Asked) -> set[str]:
        """Return the names that labels are, and what else was asked for."""
        return {*map(self._term, labels), *(asked or frozenset()).difference(labels)}

    def _names_of_source(self) -> set[str]:
        """Return the names that a source gives, or a user who says what was looked for."""
        source, declared = self._source, self._declared
        names: set[str] = set()
        if source is not None:
            names |= set(map(self._term, source.vocabulary() - source.categories))
            names |= source.categories | source.names_denied()
        if declared is not None:
            names |= declared.labels or frozenset()
        return names


@lru_cache(maxsize=1 << 11)
def finder_with_names(classes: ClassList, names: frozenset[str]) -> MentionFinder:
    """Return a finder of a list's names, and of other names that the list lacks."""
    finder = finder_of(classes)
    missed = classes.unknown(names)
    if not classes.published:
        missed = sorted(x for x in names if [m.words for m in finder.find(x).found] != [x])
    return finder.with_names(classes.classes_of_names(missed)) if missed else finder


def class_of_label(finder: MentionFinder, label: str) -> str:
    """Return the class of a label, however it is spelled; the label itself where no list has it."""
    name = label if label in finder.class_of else finder.classes.name_of(label)
    return label if name is None else finder.class_of[name]
