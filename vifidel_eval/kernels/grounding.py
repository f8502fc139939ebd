"""Grounding: which of the things that captions mention are in their images.

The evidence of an image is its object labels and what its references say. docs/metrics.md has the
rules and thresholds, docs/experiments.md what else was tried.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cache, cached_property
from itertools import chain, pairwise, product
from typing import Any, NamedTuple

import numpy as np

from ..annotations import ObjectLabels
from ..annotations.categories import CLOSED_SETS, LookedFor
from ..captions.rows import Asked, LabelCounts
from ..evaluation import Integers
from ..io.caches import Remembered
from ..words.content_words import piece_runs, piece_words
from ..words.english import singular
from ..words.mentions import Phrase
from ..words.settings import SUPPORT
from ..words.synonyms import ClassList
from ..words.terms import spellings_in_number
from .bags import bags_of_labels, positions, starts_of
from .known import Deniable, KnownImage, Mention, Names, Verdict, judge, names_of_list, only_alike
from .lexicon import Lexicon
from .support import NO_CLASS, NOTHING, Evidence

_TWO_LETTERS = re.compile("[a-z]{2}")


class LongName(NamedTuple):
    """A name of several words."""

    content: frozenset[str]  # its content words
    pairs: tuple[tuple[str, str], ...]  # those of its words that follow each other
    #: Its class, the classes of its single words, and what all these are kinds of: *hot* and *dog*
    #: may mean a dog, or a hot dog.
    classes: frozenset[str]


@cache
def _closed_sets() -> list[tuple[frozenset[str], frozenset[str]]]:
    """Return the names of each closed set of classes, and these with all their spellings."""
    return [
        (names, frozenset(chain.from_iterable(map(spellings_in_number, names))))
        for names in CLOSED_SETS.values()
    ]


def may_have(text: str, names: Collection[LongName]) -> bool:
    """Return whether a text may have one of some names, whose words follow each other there."""
    words = piece_runs(text.lower())
    forms = [(word, singular[word]) for word in words]
    forms_known = set(chain.from_iterable(forms))
    candidates = [name for name in names if name.content <= forms_known]
    if not candidates:
        return False
    follow = {pair for both in pairwise(forms) for pair in product(*both)}
    return any(follow.issuperset(name.pairs) for name in candidates)


class Grounding:
    """Judges the mentions of captions by what is known of their images."""

    def __init__(
        self,
        things: ClassList,
        stop_words: Collection[str],
        source: ObjectLabels | None = None,
        declared: LookedFor | None = None,
    ) -> None:
        self._things = things
        self.stop_words = frozenset(stop_words)
        self._source = source  # where the labels come from, if all rows share it
        self._declared = declared  # what a user says was looked for in every image
        self._names_with = names_of_list(things, self.stop_words)
        self._list = self._names_with(())
        self._lacks = Remembered(self._list.lacks)
        labels = set() if source is None else set(source.categories)
        labels |= set() if declared is None else declared.labels or set()
        #: Names that the list lacks, of every image and, by their labels, of single ones.
        self._everywhere = self._unlisted(labels)
        self._of_image: Remembered[frozenset[str], tuple[str, ...]] = Remembered(self._unlisted)
        self._labels_of: Remembered[frozenset[str], Mapping[str, str]]
        self._labels_of = Remembered(self._label_by_class)

    def __reduce__(self) -> tuple[Any, ...]:
        return Grounding, (self._things, self.stop_words, self._source, self._declared)

    def _unlisted(self, labels: Iterable[str]) -> tuple[str, ...]:
        """Return the labels that are no names of the list, in alphabetical order."""
        return tuple(sorted(filter(self._lacks.__getitem__, labels)))

    def texts(self, captions: Iterable[str], names: Iterable[Names]) -> list[str]:
        """Return the words and terms of captions, which a lexicon gives vectors to."""
        pairs = zip(captions, names, strict=True)
        readings = [of_image.read(caption) for caption, of_image in pairs]
        return [
            text
            for reading in readings
            for text in (*reading.words, *(claim.text for claim in reading.claims))
        ]

    def names(self, labels: Iterable[str], asked: Asked = None) -> Names:
        """Return the names for an image with these labels, and with others that were `asked`."""
        own_names = self._of_image[frozenset(labels).union(asked or ())]
        if not own_names:
            return self._names_with(self._everywhere)
        return self._names_with(tuple(dict.fromkeys((*self._everywhere, *own_names))))

    def all_names(
        self, labels: Sequence[LabelCounts], asked: Sequence[Asked] | None = None
    ) -> list[Names]:
        """Return the `names` of the image of each row."""
        return list(map(self.names, labels, asked or [None] * len(labels)))

    def unmentionable(self, labels: Iterable[str]) -> list[str]:
        """Return the labels that no caption mentions: codes, and words that are left out."""
        return sorted(
            label
            for label in set(labels)
            if (label.isascii() and not _TWO_LETTERS.search(label))
            or not self.names([label]).read(label).claims
        )

    def numbers(self, names: Iterable[Names]) -> Mapping[str, int]:
        """Return the number of each class of some rows: the list's, then others, both sorted."""
        unlisted = set(chain.from_iterable(of_row.unlisted_classes for of_row in set(names)))
        if not unlisted:
            return self._numbers
        further = enumerate(sorted(unlisted), len(self._numbers))
        return {**self._numbers, **{category: number for number, category in further}}

    @cached_property
    def _numbers(self) -> dict[str, int]:
        """The number of each class of the list, in alphabetical order."""
        return {name: n for n, name in enumerate(sorted({*self._things.class_of.values()}))}

    @cached_property
    def _parents(self) -> tuple[Integers, Integers]:
        """Where the kinds of the list's classes begin, and the numbers of what they are."""
        numbers, kinds = self._numbers, self._things.kinds
        above = [sorted(kinds.upward(category) - {category}) for category in numbers]
        parents = [numbers[category] for of_class in above for category in of_class]
        sizes = np.array(list(map(len, above)), dtype=np.int64)
        return starts_of(sizes), np.array(parents, dtype=np.int64)

    def with_kinds(self, rows: Integers, classes: Integers) -> tuple[Integers, Integers]:
        """Return the numbers of classes of rows, with those of all that they are kinds of."""
        starts, parents = self._parents
        listed = np.where(classes < len(starts) - 1, classes, NO_CLASS)
        sizes = np.where(listed == NO_CLASS, 0, starts[listed + 1] - starts[listed])
        above = parents[positions(starts[listed], sizes)]
        return np.append(rows, rows.repeat(sizes)), np.append(classes, above)

    @cached_property
    def _longer_names(self) -> Remembered[str, list[LongName]]:
        """From a word to the names of several words whose first content word it is, or may be."""
        listed = {**dict.fromkeys(self._things.no_class), **self._things.class_of}
        names: dict[str, list[LongName]] = {}
        for name, category in listed.items():
            content = [word for word in piece_words(name) if word not in self.stop_words]
            if content and " " in name:
                parts = filter(None, {category, *map(self._things.class_of.get, content)})
                classes = frozenset(chain.from_iterable(map(self._list.upward, parts)))
                pairs = tuple(pairwise(piece_runs(name)))
                longer = LongName(frozenset(content), pairs, classes)
                names.setdefault(content[0], []).append(longer)
        return Remembered(
            lambda word: [n for form in {word, singular(word)} for n in names.get(form, ())]
        )

    def longer_names(self, words: Collection[str]) -> list[LongName]:
        """Return the names of several words that texts with some words may have."""
        begun = list(chain.from_iterable(map(self._longer_names.__getitem__, words)))
        if not begun:
            return []
        forms = {*words, *map(singular.__getitem__, words)}
        return [name for name in begun if name.content <= forms]

    def deniable(self, labels: Collection[str], asked: Asked, names: Names) -> Deniable:
        """Return what can be absent, by the labels of an image and by what was `asked` about it."""
        source = self._source
        if source is not None and source.says_what_was_asked and source.categories:
            asked = source.categories if asked is None else asked | source.categories
        if asked is None and source is not None:
            return self._deniable_everywhere
        if asked is None:
            return self._deniable(self._classes_if_closed(frozenset(labels)))
        classes = names.classes(asked)
        present = chain.from_iterable(map(names.classes_of_label, labels))
        return self._deniable(classes, classes.difference(present), is_said=True)

    @cached_property
    def _deniable_everywhere(self) -> Deniable:
        """What can be absent from images for which the source declares nothing of their own."""
        source = self._source
        assert source is not None
        if source.categories or source.says_what_was_asked:
            classes = self._names_with(self._everywhere).classes(source.categories)
            return self._deniable(classes, is_said=source.says_what_was_asked)
        return self._deniable(self._classes_if_closed(source.vocabulary()))

    def labels_of(self, labels: Collection[str]) -> Mapping[str, str]:
        """Return what the objects call each class, for an image with some labels."""
        if self._source is None:
            return self._labels_of[self._closed_set(frozenset(labels))]
        return self._labels_everywhere

    @cached_property
    def _labels_everywhere(self) -> Mapping[str, str]:
        """What the objects call each class: their labels, then those of their closed set."""
        assert self._source is not None
        labels = self._source.vocabulary()
        return {**self._labels_of[self._closed_set(labels)], **self._labels_of[labels]}

    def _label_by_class(self, labels: frozenset[str]) -> Mapping[str, str]:
        """Return the label of each class, unless a class such as *person* has several."""
        class_of = self._names_with(self._everywhere).class_of
        declared = None if self._declared is None else self._declared.labels
        by_class: dict[str, list[str]] = {}
        for label in labels.union(declared or ()):
            if label in class_of:
                by_class.setdefault(class_of[label], []).append(label)
        return {category: names[0] for category, names in by_class.items() if len(names) == 1}

    def _classes_if_closed(self, labels: frozenset[str]) -> frozenset[str]:
        """Return COCO's 80 or PASCAL VOC's 20 classes if all labels are among them, else none."""
        return self._list.classes(self._closed_set(labels))

    def _closed_set(self, labels: frozenset[str]) -> frozenset[str]:
        # A source with other labels may have looked for anything.
        if not labels or self._declared is not None:
            return frozenset()
        spellings = [spellings_in_number[label] for label in labels]
        for names, spellings_of_set in _closed_sets():
            if not any(map(spellings_of_set.isdisjoint, spellings)):
                return names
        return frozenset()

    def _deniable(
        self,
        classes: frozenset[str],
        denied: frozenset[str] = frozenset(),
        is_said: bool = False,
    ) -> Deniable:
        declared = self._declared
        if declared is not None and declared.labels is not None:
            classes |= self._names_with(self._everywhere).classes(declared.labels)
        everything = declared is not None and declared.labels is None
        stuff = classes & self._things.stuff
        is_said = is_said or declared is not None
        return Deniable(None if everything else classes, denied, stuff, is_said)

    def known(
        self, labels: LabelCounts, references: Sequence[str], asked: Asked = None
    ) -> KnownImage:
        """Return what is known of an image; what references deny is not among their words."""
        names = self.names(labels, asked)
        deniable = self.deniable(labels.keys(), asked, names)
        referenced: dict[str, str | None] = {}
        mentions: Counter[str] = Counter()
        for reading in map(names.read, references):
            claimed = [claim for claim in reading.claims if not claim.denied]
            for word in reading.words:
                referenced.setdefault(word, None)
            referenced.update((claim.text, claim.category) for claim in claimed)
            mentions.update(set().union(*(names.upward(c.category or "") for c in claimed)))
        of_labels = list(map(names.classes_of_label, labels))
        pairs = zip(map(names.term_of_label, labels), of_labels, strict=True)
        return KnownImage(
            names,
            labels=frozenset(chain.from_iterable(of_labels)),
            referenced=frozenset(filter(None, referenced.values())),
            deniable=deniable,
            labels_of=self.labels_of(labels),
            texts={**referenced, **{term: of_label[-1] for term, of_label in pairs}},
            shares={c: n / len(references) for c, n in mentions.items()} if referenced else None,
        )

    def evidence(
        self,
        lexicon: Lexicon,
        labels: Sequence[LabelCounts],
        references: Sequence[Sequence[str]],
        asked: Sequence[Asked] | None = None,
    ) -> Evidence:
        """Return what is known of the images of some rows."""
        asked = [None] * len(labels) if asked is None else asked
        images = tuple(map(self.known, labels, references, asked))
        return Evidence(bags_of_labels(lexicon, (i.texts for i in images), False)[0], images)

    def judged(
        self,
        lexicon: Lexicon,
        captions: Sequence[str],
        evidence: Evidence,
        threshold: float = SUPPORT,
    ) -> list[list[Mention]]:
        """Return the mentions of the caption of each row of the evidence, with their verdicts."""
        claims = [
            (row, claim, image)
            for row, (caption, image) in enumerate(zip(captions, evidence.images, strict=True))
            for claim in image.names.read(caption).claims
            if self._is_judged(claim, image)
        ]
        rows = np.array([row for row, _, _ in claims], dtype=np.int64)
        atoms = np.array(lexicon.numbers(claim.text for _, claim, _ in claims), dtype=np.int64)
        by_name = [image.find(claim.category or "") for _, claim, image in claims]
        support, by = evidence.support(lexicon, atoms, rows)
        enough = support >= threshold
        # Evidence that cannot support a verdict: the place of the claim, the number of the word.
        excluded = [
            (at, number)
            for at, (_, claim, image) in enumerate(claims)
            if by_name[at][0] is Verdict.UNCONFIRMED
            for number in lexicon.numbers(only_alike(claim, image))
        ]
        if excluded:
            places = np.unique([at for at, _ in excluded])
            without, _ = evidence.support(lexicon, atoms, rows, excluded, places)
            enough[places] = without[places] >= threshold
        near = zip(support.tolist(), words_of(lexicon, by), enough.tolist(), strict=True)
        mentions: list[list[Mention]] = [[] for _ in captions]
        for (row, claim, image), by_names, by_cosines in zip(claims, by_name, near, strict=True):
            mentions[row].append(judge(claim, image, by_names, by_cosines, threshold))
        return mentions

    def _is_judged(self, claim: Phrase, image: KnownImage) -> bool:
        """Return whether a claim is judged: stuff must have been looked for."""
        category = claim.category or ""
        if category in self._things.stuff and category not in image.deniable.stuff:
            return False
        if claim.denied:
            return image.contradicts(category) is not None
        return image.is_claimed(claim)


def words_of(lexicon: Lexicon, numbers: Integers) -> list[str | None]:
    """Return the word of each number; None for `NOTHING`."""
    return [None if number == NOTHING else lexicon.words[number] for number in numbers.tolist()]
