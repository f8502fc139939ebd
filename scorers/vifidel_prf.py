"""VIFIDEL-PRF: what a caption says of its image, and what it leaves out."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..evaluation import Column, Evaluation, Floats, Integers
from ..kernels.bags import Bags, bags_of_entries
from ..kernels.lexicon import Lexicon
from ..kernels.support import (
    NOTHING,
    ReferenceWords,
    nearest,
    rows_of,
    weighted_means,
    words_of_references,
)
from ..rows import Rows
from ..text.words import content_words, placed_words
from ..things.mentions import MentionFinder
from ..things.synonyms import ClassList
from ..things.words import singular
from .papers import VIFIDEL_EVAL
from .record import Metric
from .registry import register
from .thing_scorer import THINGS, ThingScorer, evidence_settings
from .word_supports import DetailsOfParts, WordSupport
from .word_vectors import Gold, Part, Scored

# Settled in docs/fidelity.md.
_OTHER = 0.4  # weight in P of a word that names no thing, if it is fully supported
_UNSUPPORTED = 0.5  # share of that weight which an unsupported one keeps
_SHARE_OF_P = 1 / 3  # in the geometric mean

_NOT_ASKED, _NO_THING, _A_THING = range(3)


@dataclass(frozen=True, eq=False)
class _WordsGold(Gold):
    """Objects and references of some rows, what the objects name, and all words of references."""

    said: ReferenceWords
    named: Bags


class VifidelPRF(ThingScorer[_WordsGold]):
    """Fidelity, coverage and their mean: VIFIDEL's question taken apart.

    The evidence of an image is its object labels and the content words of its references.

    - VIFIDEL-P (fidelity): how well the evidence supports the caption's content words. Words that
      name things count more than others.
    - VIFIDEL-R (coverage): how much of what the references say the caption says too; without
      references, how many of the object labels it speaks of.
    - VIFIDEL-F: P to the power of 1/3 times R to the power of 2/3.

    All are in [0, 1], and the score of an image never depends on which other images are scored.
    Undefined (NaN) without any evidence; 0 for a caption without a usable word. docs/fidelity.md
    has the formulas. As one number it is F.

    Examples
    --------
    >>> scorer = VifidelPRF()
    >>> captions = ["a dog chases a ball", "a dog and a zebra"]
    >>> columns = scorer.score_columns(captions, objects=[["dog", "ball"], ["dog", "ball"]])
    >>> bool(columns["VIFIDEL-P"][0] > columns["VIFIDEL-P"][1])
    True
    """

    columns = (Column("VIFIDEL-P"), Column("VIFIDEL-R"), Column("VIFIDEL-F"))
    _needed = "an object label or a reference with a usable word"
    _known_things: _KnownThings | None = None

    @property
    def _names(self) -> ClassList:
        return self._things.things  # the sky and other stuff are words like others

    def method(self) -> str:
        return "VIFIDEL-PRF"

    def signature_with(self, objects: str) -> str:
        return self._pin_evidence(objects)

    def prepare(self, gold: Gold, rows: Rows) -> _WordsGold:
        said = words_of_references(gold.lexicon, gold.references, gold.row_of_reference, gold.rows)
        return _WordsGold(**vars(gold), said=said, named=self._named(gold))

    def _named(self, gold: Gold) -> Bags:
        """Return the object labels of each row, of phrases the thing that ends each."""
        lexicon, objects = gold.lexicon, gold.objects
        phrases = self._known(lexicon).phrases
        new = np.unique(objects.atoms[phrases[objects.atoms] == _NOT_ASKED])
        if len(new):
            names = map(lexicon.word, new.tolist())
            phrases[new] = [
                _NO_THING if self._grounding.term_of_label(name) == name else _A_THING
                for name in names
            ]
        if not (phrases[objects.atoms] == _A_THING).any():
            return objects
        labels, at = np.unique(objects.atoms, return_inverse=True)
        terms = map(self._grounding.term_of_label, map(lexicon.word, labels.tolist()))
        numbers = np.array(lexicon.numbers(terms), dtype=np.int64)[at]
        owners = rows_of(objects.starts)
        return bags_of_entries(lexicon, numbers, owners, np.ones(len(owners)), gold.rows, False)[0]

    def _evaluations(
        self,
        rows: Rows,
        scores: Floats,
        of_rows: Floats | None,
        details: Sequence[Any],
        make: Callable[..., Evaluation],
    ) -> dict[str, Evaluation]:
        evaluations = super()._evaluations(rows, scores, of_rows, details, make)
        of_words = DetailsOfParts()
        of_words.add(len(rows), partial(_word_details, self, rows))
        evaluations[self.main] = replace(evaluations[self.main], details={self.method(): of_words})
        return evaluations

    def word_supports(self, rows: Rows) -> list[list[WordSupport]]:
        """Return the content words of each caption with the support that P gives them.

        A word names a thing if it is part of a mention of one: both words of *hot dog*.
        """
        finder = MentionFinder(self._names)
        found: list[list[WordSupport]] = []
        for part in self._read(rows):
            lexicon, words = part.gold.lexicon, part.words
            to_said = nearest(lexicon.distances, words, part.gold.said.words)
            to_objects = nearest(lexicon.distances, words, part.gold.named)
            support = np.maximum(to_said.of_left, to_objects.of_left).tolist()
            names = list(map(lexicon.word, words.atoms.tolist()))
            by_said = (to_said.at_left, part.gold.said.words.atoms, to_said.of_left)
            by_objects = (to_objects.at_left, part.gold.named.atoms, to_objects.of_left)
            by = _supporters(lexicon, by_objects, by_said)
            for row, caption in enumerate(part.rows.captions):
                of_row = slice(*words.starts[row : row + 2])
                judged = zip(support[of_row], by[of_row], strict=True)
                supports = dict(zip(names[of_row], judged, strict=True))
                mentions = " ".join(mention.words for mention in finder.find(caption).found)
                things = set(content_words(mentions, self._space.stop_words))
                found.append(
                    [
                        WordSupport(word, value, word in things, range(at, at + 1), supporter)
                        for at, word in placed_words(caption, self._space.stop_words)
                        if word in supports
                        for value, supporter in [supports[word]]
                    ]
                )
        return found

    def score_part(self, part: Part[_WordsGold]) -> Scored:
        gold, words = part.gold, part.words
        distances = gold.lexicon.distances
        to_said = nearest(distances, words, gold.said.words)
        to_objects = nearest(distances, words, gold.named)
        support = np.maximum(to_said.of_left, to_objects.of_left)
        of_others = _OTHER * (1 - _UNSUPPORTED * (1 - support))
        weights = np.where(self._name_things(gold.lexicon, words.atoms), 1.0, of_others)
        p = weighted_means(support, weights, words)
        spoken_of = weighted_means(to_objects.of_right, np.ones(len(gold.named.atoms)), gold.named)
        r = np.where(gold.said.words.sizes > 0, _coverage(gold.said, to_said.of_right), spoken_of)
        has_evidence = (gold.said.words.sizes > 0) | (gold.named.sizes > 0)
        speechless = words.sizes == 0
        p, r = (np.where(speechless, 0.0, of_rows) for of_rows in (p, r))
        f = p**_SHARE_OF_P * r ** (1 - _SHARE_OF_P)
        scores = np.where(has_evidence[:, None], np.column_stack([p, r, f]), np.nan)
        return Scored(scores, {"no_words": speechless})

    def _name_things(self, lexicon: Lexicon, atoms: Integers) -> NDArray[np.bool_]:
        """Return whether words name things; each word of a lexicon is looked up once."""
        known = self._known(lexicon)
        verdicts = known.verdicts[atoms]
        new = np.unique(atoms[verdicts == _NOT_ASKED])
        if len(new):
            words = map(lexicon.word, new.tolist())
            known.verdicts[new] = [self._names_thing(word) for word in words]
            verdicts = known.verdicts[atoms]
        things: NDArray[np.bool_] = verdicts == _A_THING
        return things

    def _known(self, lexicon: Lexicon) -> _KnownThings:
        known = self._known_things
        if known is None or known.lexicon() is not lexicon:
            known = self._known_things = _KnownThings(lexicon)
        return known

    def _names_thing(self, word: str) -> int:
        names = self._names.class_of
        return _A_THING if word in names or singular(word) in names else _NO_THING

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "_known_things": None}


class _KnownThings:
    """Which words of a lexicon name things, and which labels are phrases that end with one.

    As far as it was asked; entries never change.
    """

    def __init__(self, lexicon: Lexicon) -> None:
        self.lexicon = weakref.ref(lexicon)  # which takes much memory, and may be full
        self.verdicts = np.full(len(lexicon.known), _NOT_ASKED, dtype=np.int8)
        self.phrases = self.verdicts.copy()


def _word_details(scorer: VifidelPRF, rows: Rows) -> list[list[dict[str, Any]]]:
    """Return what ``--output`` says of the words of each row."""
    return [[word.to_json() for word in of_row] for of_row in scorer.word_supports(rows)]


def _supporters(lexicon: Lexicon, *sides: tuple[Integers, Integers, Floats]) -> list[str | None]:
    """Return what supports each word best: a label before a word of the references."""
    by: list[str | None] = [None] * len(sides[0][0])
    best = [0.0] * len(by)
    for at_left, atoms, similar in sides:
        for word, (at, value) in enumerate(zip(at_left.tolist(), similar.tolist(), strict=True)):
            if at != NOTHING and value > best[word]:
                by[word], best[word] = lexicon.word(int(atoms[at])), value
    return by


def _coverage(said: ReferenceWords, reached: Floats) -> Floats:
    """Return R of each row from how near the caption comes to each word of the references.

    Words count by the share of references that have them. The odds of the mean are then divided
    by the root of the mean share of references that agree on a word: nobody can say everything
    that references say which have little in common.
    """
    r = weighted_means(reached, said.shares, said.words)
    agreement = np.sqrt(weighted_means(said.shares, said.shares, said.words))
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(r > 0, r / (r + (1 - r) * agreement), r)


register(
    Metric(
        "VIFIDEL-PRF",
        "Fidelity (P), coverage (R) and their mean (F): what a caption makes up, what it leaves "
        "out",
        VifidelPRF,
        lambda settings: VifidelPRF(**evidence_settings(settings)),
        rank=20,
        spellings=("PRF", "VIFIDEL-F"),
        references=False,
        either=True,
        default=True,
        tables=True,
        options=(THINGS,),
        papers=(VIFIDEL_EVAL,),
    )
)
