"""VIFIDEL-PRF: what a caption says of its image, and what it leaves out."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from ..captions.rows import Rows
from ..evaluation import Column, DetailsOfParts, Evaluation, Floats, Integers
from ..explain.sentences import JudgedSentence, PlacedMention, by_sentence, wrong_mentions
from ..kernels import fidelity
from ..kernels.bags import Bags, Part
from ..kernels.support import NOTHING, Nearest, nearest, some_of
from ..words.claims import has_several, read_sentences
from ..words.nouns import rarities_signature
from ..words.word_vectors import VectorSource
from .base import Progress
from .claim_scorer import ClaimScorer, JudgedClaims, WordsGold
from .explaining import THINGS, EvidenceSettings
from .papers import VIFIDEL_EVAL
from .record import Metric
from .registry import register
from .word_supports import SupportedWords, WordDetails, WordSupport
from .word_vectors import Objects, Scored

if TYPE_CHECKING:
    from typing_extensions import Unpack


class VifidelPRF(ClaimScorer):
    """Fidelity, coverage and their mean: VIFIDEL's question taken apart, at any length.

    The evidence of an image is its object labels and the content words of its references. What
    claims nothing of the image is not scored: clauses such as *suggesting that it is late*, and
    sentences that mention no thing, beside some that do.

    - VIFIDEL-P (fidelity): how well the evidence supports the caption's content words. Words that
      name things count more than others, and each thing that is not in the image takes up to 12 %.
    - VIFIDEL-R (coverage): how much of what the references say the caption says too; without
      references, how many of the object labels it speaks of.
    - VIFIDEL-F: P to the power of .4 times R to the power of .6, and 10 % less in all for each
      thing that is surely not in the image. A P that people reach counts as full: what they say is
      not all in a few references either.

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
    _details = WordDetails

    def __init__(
        self,
        objects: Objects = None,
        vectors: VectorSource = None,
        references: bool = True,
        **settings: Unpack[EvidenceSettings],
    ) -> None:
        super().__init__(objects, vectors, references, **settings)

    def method(self) -> str:
        return "VIFIDEL-PRF"

    def signature_with(self, objects: str) -> str:
        return self._pin_evidence(objects, "edition:2", rarities_signature())

    def _evaluate(self, rows: Rows, on_progress: Progress) -> dict[str, Evaluation]:
        evaluations = super()._evaluate(rows, on_progress)
        if any(map(has_several, rows.captions)):
            of_sentences = DetailsOfParts()
            of_sentences.add(len(rows), partial(_sentence_details, self, rows))
            main = evaluations[self.main]
            details = {**main.details, "sentences": of_sentences}
            evaluations[self.main] = replace(main, details=details)
        return evaluations

    def word_supports(self, rows: Rows) -> list[list[WordSupport]]:
        """Return the content words of each caption with their support and weight in P.

        A word names a thing if it is part of a mention of one: both words of *hot dog*. Words that
        claim nothing have no weight.
        """
        return [words for part in self._read(rows) for words in self._supported(part).placed()]

    def _supported(
        self, part: Part[WordsGold], judged: JudgedClaims | None = None
    ) -> SupportedWords:
        """Return the words of captions with their support; `judged` are their claims, if known."""
        said, objects = part.gold.said.words, part.gold.named
        distances, words = part.gold.lexicon.distances, part.words
        judged = self.judge_claims(part) if judged is None else judged
        supports, weights = np.zeros((2, len(words.atoms)))
        by = np.full(len(words.atoms), NOTHING)
        by[judged.claimed] = _supporters(judged.to_said, said, judged.to_objects, objects)
        supports[judged.claimed] = judged.support
        weights[judged.claimed] = judged.weights
        unclaimed = ~judged.claimed
        if unclaimed.any():
            others = some_of(words, unclaimed)
            to_said, to_objects = (nearest(distances, others, side) for side in (said, objects))
            by[unclaimed] = _supporters(to_said, said, to_objects, objects)
            supports[unclaimed] = np.maximum(to_said.of_left, to_objects.of_left)
        by[supports <= 0] = NOTHING
        return SupportedWords(
            part.rows.captions,
            words.starts,
            words.atoms,
            by,
            supports,
            weights,
            part.gold.lexicon.words,
            self._claims(part.rows),
        )

    def judge_sentences(self, rows: Rows) -> list[list[JudgedSentence]]:
        """Return the sentences of each caption, in order: what they claim and invent."""
        units = self._names_grounding.units
        sentences = [read_sentences(caption, units) for caption in rows.captions]
        all_of = [(row, one) for row, of_row in enumerate(sentences) for one in of_row]
        of_rows = [row for row, _ in all_of]
        claimed = [rows.captions[row][one.start : one.end] for row, one in all_of]
        of_sentences = replace(rows.take(of_rows), captions=claimed)
        p = self.evaluate(of_sentences, signed=False)["VIFIDEL-P"].scores.tolist()
        found: list[list[JudgedSentence]] = [[] for _ in sentences]
        wrong = chain.from_iterable(map(by_sentence, sentences, self._wrong(rows)))
        for (row, one), p_of_one, invented in zip(all_of, p, wrong, strict=True):
            own = (one.start, one.end, one.claims, p_of_one if one.claims else math.nan)
            found[row].append(JudgedSentence(*own, tuple(invented)))
        return found

    def _wrong(self, rows: Rows) -> list[tuple[PlacedMention, ...]]:
        """Return the mentions of each caption that its evidence contradicts, with their places."""
        grounding = self._grounding
        found: list[tuple[PlacedMention, ...]] = []
        for part in self._read_for_grounding(rows):
            evidence = self._evidence(part.gold, part.rows)
            captions = part.rows.captions
            grounded = grounding.mentions(part.gold.lexicon, captions, evidence)
            starts = np.searchsorted(grounded.rows, np.arange(len(captions) + 1)).tolist()
            for caption, start, end in zip(captions, starts, starts[1:], strict=False):
                of_row = slice(start, end)
                columns = grounded.places[of_row].tolist(), grounded.verdicts[of_row].tolist()
                found.append(wrong_mentions(caption, grounding.units(caption), *columns))
        return found

    def score_part(self, part: Part[WordsGold]) -> Scored:
        gold, judged = part.gold, self.judge_claims(part)
        kept = fidelity.kept_by_inventions(judged.inventions, gold.rows)
        supported = fidelity.fidelity(judged.words, judged.support, judged.weights)
        is_said = gold.said.words.sizes > 0
        r = np.where(
            is_said,
            fidelity.coverage_of_references(gold.said, judged.reached, gold.rarities),
            fidelity.coverage_of_labels(gold.named, gold.label_classes, judged.spoken_of),
        )
        wording = np.where(is_said, gold.wording.of(part.rows.captions), np.nan)
        f = fidelity.combined(supported, r, kept, gold.doubt, wording)
        return _scored(part, kept * supported, r, f, partial(self._supported, part, judged))


def _scored(
    part: Part[WordsGold], p: Floats, r: Floats, f: Floats, details: Callable[[], SupportedWords]
) -> Scored:
    """Return scores: NaN without evidence, 0 of captions without a usable word."""
    gold, speechless = part.gold, part.words.sizes == 0
    has_evidence = (gold.said.words.sizes > 0) | (gold.named.sizes > 0)
    scores = np.where(speechless[:, None], 0.0, np.column_stack([p, r, f]))
    scores = np.where(has_evidence[:, None], scores, np.nan)
    return Scored(scores, {"no_words": speechless}, details=details)


def _supporters(to_said: Nearest, said: Bags, to_objects: Nearest, objects: Bags) -> Integers:
    """Return what supports each word best: a label before a word of the references."""
    return np.where(
        to_said.of_left > to_objects.of_left,
        np.append(said.atoms, NOTHING)[to_said.at_left],
        np.append(objects.atoms, NOTHING)[to_objects.at_left],
    )


def _sentence_details(scorer: VifidelPRF, rows: Rows) -> list[list[dict[str, Any]]]:
    """Return what ``--output`` says of the sentences of each row; nothing of a single one."""
    several = [row for row, caption in enumerate(rows.captions) if has_several(caption)]
    found: list[list[dict[str, Any]]] = [[] for _ in rows.captions]
    for row, sentences in zip(several, scorer.judge_sentences(rows.take(several)), strict=True):
        if len(sentences) > 1:
            found[row] = [sentence.to_json() for sentence in sentences]
    return found


register(
    Metric(
        "VIFIDEL-PRF",
        "Fidelity (P), coverage (R) and their mean (F): what a caption makes up, what it leaves "
        "out",
        VifidelPRF,
        lambda settings: VifidelPRF(**settings.evidence),
        rank=20,
        spellings=("PRF",),
        references=False,
        either=True,
        default=True,
        tables=True,
        options=(THINGS,),
        papers=(VIFIDEL_EVAL,),
    )
)
