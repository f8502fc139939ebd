"""What captions mention and whether it is in the image: the rules of VIFIDEL-H.

`Judge` is what the metric, explanations, findings and the report have in common. Rules, thresholds
and what else was tried are in docs/fidelity.md.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from functools import lru_cache
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from ..annotations import ObjectLabels
from ..annotations.coco import COCO_CATEGORIES
from ..evaluation import Floats, Integers
from ..kernels.bags import Bags, bags_of_labels
from ..kernels.lexicon import Lexicon
from ..kernels.support import nearest
from ..rows import LabelCounts
from ..things.mentions import MentionFinder, Unit
from ..things.synonyms import ClassList
from .evidence import NOTHING, Evidence, Mentioned, Sought, some_of
from .explanation import SUPPORT, Verdict

# Classes of which one never supports the other, though their words are alike.
_APART = ("dog", "hot dog")
# Sets of labels that are searched for as a whole: COCO's 80, PASCAL VOC's 20.
_CLOSED_SETS = (
    frozenset(COCO_CATEGORIES.values()),
    frozenset(
        "aeroplane bicycle bird boat bottle bus car cat chair cow dog horse motorbike person sheep "
        "sofa train".split()
    ).union(("dining table", "potted plant", "tv monitor")),
)
_EVERYTHING = Sought(None)
# The units of longer captions are found again: thousands of them would fill the memory.
_LONGEST_KEPT = 500


class Judge:
    """Judges the mentions of captions against what is known of their images.

    Parameters
    ----------
    things : ClassList
        The names that are mentions.
    stop_words : collection of str
        Single words that are neither mentions nor evidence.
    support : float
        Below this a mention is not in the image, unless the evidence names its class.
    """

    def __init__(
        self, things: ClassList, stop_words: Collection[str], support: float = SUPPORT
    ) -> None:
        self._things = things
        self._finder = _finder(things)
        self.stop_words = frozenset(stop_words)
        self._support = support
        # Captions are read when they are given room in a lexicon and again when they are judged.
        self._units = lru_cache(maxsize=1 << 13)(self._found)
        class_of = things.class_of
        one, other = (class_of.get(name, name) for name in _APART)
        self._apart = {one: other, other: one} if one != other else {}

    def __reduce__(self) -> tuple[type[Judge], tuple[ClassList, frozenset[str], float]]:
        return Judge, (self._things, self.stop_words, self._support)

    def units(self, caption: str) -> tuple[Unit, ...]:
        """Return the content words of a caption, terms of several words as one."""
        if len(caption) > _LONGEST_KEPT:
            return self._found(caption)
        return self._units(caption)

    def _found(self, caption: str) -> tuple[Unit, ...]:
        return tuple(self._finder.units(caption, self.stop_words))

    def texts(self, captions: Iterable[str]) -> list[str]:
        """Return the words and terms of captions, which a lexicon gives vectors to."""
        return [unit.text for caption in captions for unit in self.units(caption)]

    def class_of_label(self, label: str) -> str:
        """Return the class of an object label; the label itself where the list lacks it."""
        known = self._things.class_of.get(label)
        if known is not None:
            return known
        units = self.units(label)
        return (units[0].category if len(units) == 1 else None) or label

    def sought(self, labels: Collection[str], says: bool = False) -> Sought:
        """Return what a source with these labels looks for.

        Parameters
        ----------
        labels : collection of str
            All labels that it knows.
        says : bool
            Whether these are all that it looks for. Otherwise it looks for everything, unless all
            are among COCO's 80, or PASCAL VOC's 20.
        """
        known = frozenset(labels)
        if not says:
            of_set = next((closed for closed in _CLOSED_SETS if known <= closed), None)
            if of_set is None or not known:
                return _EVERYTHING
            known = of_set
        return Sought(frozenset(map(self.class_of_label, known)))

    def sought_by(self, objects: ObjectLabels | None) -> Sought | None:
        """Return what a source of objects looks for; None if each row has a source of its own."""
        if objects is None:
            return None
        return self.sought(objects.vocabulary(), says=bool(objects.categories))

    def evidence(
        self,
        lexicon: Lexicon,
        labels: Sequence[LabelCounts],
        references: Sequence[Sequence[str]],
        sought: Sought | None,
    ) -> Evidence:
        """Return what is known of the images of some rows.

        Parameters
        ----------
        lexicon : Lexicon
            Where words get their vectors.
        labels : sequence of mappings
            The object labels of each row.
        references : sequence of sequences of str
            The references of each row. Where they say something, everything can be absent.
        sought : Sought, optional
            What the source of the labels looks for, as `sought_by` returns it.

        Raises
        ------
        LexiconFull
            If there is no room for new words.
        """
        texts: list[dict[str, str | None]] = []
        can_be_absent = []
        for of_row, of_image in zip(labels, references, strict=True):
            known: dict[str, str | None] = {
                label: self.class_of_label(label) for label, count in of_row.items() if count
            }
            said = {}
            for unit in chain.from_iterable(map(self.units, of_image)):
                if unit.category is not None or unit.text not in said:
                    said[unit.text] = unit.category
            texts.append({**said, **known})
            by_labels = self.sought(of_row) if sought is None else sought
            can_be_absent.append(_EVERYTHING if said else by_labels)
        units, tally = bags_of_labels(lexicon, texts, counts=False)
        return Evidence(units, tuple(texts), tuple(can_be_absent), tally)

    def judge(self, lexicon: Lexicon, captions: Sequence[str], evidence: Evidence) -> Mentioned:
        """Return the mentions of captions with their verdicts.

        Parameters
        ----------
        lexicon : Lexicon
            That of the evidence.
        captions : sequence of str
            One per row.
        evidence : Evidence
            Of the same rows.

        Raises
        ------
        LexiconFull
            If there is no room for new words.
        """
        of_rows = [
            [unit for unit in self.units(caption) if unit.category is not None]
            for caption in captions
        ]
        units = tuple(chain.from_iterable(of_rows))
        rows = np.repeat(np.arange(len(of_rows)), list(map(len, of_rows)))
        atoms = np.array(lexicon.numbers(unit.text for unit in units), dtype=np.int64)
        support, by = self._nearest(lexicon, atoms, rows, evidence)
        support[~evidence.is_there[rows]] = np.nan
        grounded = support.copy()
        self._correct(lexicon, units, atoms, rows, evidence, support, grounded, by)
        texts = [None if number < 0 else lexicon.word(number) for number in by.tolist()]
        enough = grounded >= self._support
        for at in np.flatnonzero(~enough).tolist():
            unit, row = units[at], int(rows[at])
            known = evidence.texts[row]
            if unit.text in known and np.isnan(support[at]):
                support[at] = 1.0
                texts[at] = unit.text
                enough[at] = self._support <= 1
            if not enough[at] and evidence.names_class(row, unit.category):
                texts[at] = min(text for text, c in known.items() if c == unit.category)
                enough[at] = True
        judged = evidence.is_there[rows] & _are_sought(units, rows, evidence)
        verdicts = np.full(len(units), int(Verdict.NOT_JUDGED))
        verdicts[judged & ~np.isnan(support)] = Verdict.ABSENT
        verdicts[judged & enough] = Verdict.THERE
        return Mentioned(rows, units, support, tuple(texts), verdicts)

    def supports(
        self, lexicon: Lexicon, captions: Sequence[str], evidence: Evidence
    ) -> list[list[tuple[Unit, float, str | None]]]:
        """Return all units of each caption in order, each with its support and what supports it.

        The arguments are those of `judge`.
        """
        mentions = self.judge(lexicon, captions, evidence).each()
        of_rows = [self.units(caption) for caption in captions]
        others = [
            (row, unit.text)
            for row, of_row in enumerate(of_rows)
            for unit in of_row
            if unit.category is None
        ]
        rows = np.array([row for row, _ in others], dtype=np.int64)
        atoms = np.array(lexicon.numbers(text for _, text in others), dtype=np.int64)
        support, by = self._nearest(lexicon, atoms, rows, evidence)
        support[~evidence.is_there[rows]] = np.nan
        texts = (None if number < 0 else lexicon.word(number) for number in by.tolist())
        of_others = zip(support.tolist(), texts, strict=True)
        return [
            [
                (unit, *(next(of_others) if unit.category is None else next(mentions)[2:4]))
                for unit in of_row
            ]
            for of_row in of_rows
        ]

    def _nearest(
        self,
        lexicon: Lexicon,
        atoms: Integers,
        rows: Integers,
        evidence: Evidence,
        without: Sequence[Collection[str]] | None = None,
    ) -> tuple[Floats, Integers]:
        """Return the support of each mention and the lexicon number of what supports it.

        With `without`, which holds for each mention the evidence that does not count for it.
        """
        support, by = np.full(len(atoms), np.nan), np.full(len(atoms), NOTHING)
        known = np.flatnonzero(lexicon.known[atoms])
        units = evidence.units.take(rows[known])
        if without is not None:
            units = _left(units, [lexicon.numbers(without[at]) for at in known.tolist()])
        each = Bags(np.arange(len(known) + 1), atoms[known], np.ones(len(known)))
        found = nearest(lexicon.distances, each, units, floor=0.0)
        support[known] = found.of_left
        supported = found.of_left > 0
        by[known[supported]] = units.atoms[found.at_left[supported]]
        return support, by

    def _correct(
        self,
        lexicon: Lexicon,
        units: Sequence[Unit],
        atoms: Integers,
        rows: Integers,
        evidence: Evidence,
        support: Floats,
        grounded: Floats,
        by: Integers,
    ) -> None:
        """Take away the support of evidence that does not count.

        A hot dog never supports a dog; and for a verdict a word that only describes a mention,
        as *traffic* does a traffic light, is no evidence for it.
        """
        never: dict[int, set[str]] = {}
        describes: dict[int, set[str]] = {}
        for at, unit in enumerate(units):
            if " " not in unit.text and unit.category not in self._apart:
                continue
            row = int(rows[at])
            known = evidence.texts[row]
            other = self._apart.get(unit.category or "")
            if other is not None and evidence.names_class(row, other):
                never[at] = {text for text, category in known.items() if category == other}
            if found := set(unit.text.split()[:-1]) & known.keys():
                describes[at] = found | never.get(at, set())
        for excluded, values in ((never, (support, grounded)), (describes, (grounded,))):
            if not excluded:
                continue
            places = np.array(list(excluded), dtype=np.int64)
            left, by_left = self._nearest(
                lexicon, atoms[places], rows[places], evidence, list(excluded.values())
            )
            for value in values:
                value[places] = left
            if excluded is never:
                by[places] = by_left


def _are_sought(units: Sequence[Unit], rows: Integers, evidence: Evidence) -> NDArray[np.bool_]:
    """Return whether the source of each row's objects looks for the mention there."""
    if all(sought.classes is None for sought in evidence.sought):
        return np.ones(len(units), dtype=bool)
    of_rows = [evidence.sought[row].classes for row in rows.tolist()]
    sought = (
        classes is None or unit.category in classes
        for unit, classes in zip(units, of_rows, strict=True)
    )
    return np.fromiter(sought, bool, len(units))


def _left(units: Bags, excluded: Iterable[Collection[int]]) -> Bags:
    """Return bags without some of their atoms."""
    keep = np.ones(len(units.atoms), dtype=bool)
    for bag, numbers in enumerate(excluded):
        start, end = units.starts[bag : bag + 2]
        keep[start:end] = ~np.isin(units.atoms[start:end], list(numbers))
    return some_of(units, keep)


@lru_cache(maxsize=8)
def _finder(things: ClassList) -> MentionFinder:
    return MentionFinder(things)


@lru_cache(maxsize=8)
def make_judge(things: ClassList, stop_words: frozenset[str], support: float) -> Judge:
    """Return a judge, which keeps the units of the captions that it read last."""
    return Judge(things, stop_words, support)
