"""VIFIDEL-PRF: what a caption says of its image, and what it leaves out."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import cached_property, partial
from itertools import chain
from typing import Any

import numpy as np

from ..captions.rows import Rows
from ..evaluation import Column, DetailsOfParts, Evaluation
from ..explain.sentences import JudgedSentence, PlacedMention, places_of
from ..io.image_ids import ImageId
from ..kernels import fidelity
from ..kernels.bags import Gold, Part
from ..kernels.claims import (
    ClaimsGold,
    JudgedClaims,
    claims_gold,
    judge_claims,
    sentences_that_claim,
    with_names,
)
from ..kernels.grounding import Grounding
from ..kernels.sentences import Claim, claim_reader, read_sentences
from ..kernels.support import NOTHING, nearest, some_of
from ..words.english import has_several
from ..words.settings import ONLY_THINGS, THINGS
from ..words.synonyms import ClassList, rarities_signature
from .base import Progress
from .explaining import ExplainingScorer
from .papers import VIFIDEL_EVAL
from .record import Metric
from .registry import register
from .word_supports import SupportedWords, WordDetails, WordSupport
from .word_vectors import Scored, asked_of


class ClaimScorer(ExplainingScorer[ClaimsGold]):
    """A metric that scores what captions claim, and leaves out what claims nothing."""

    @property
    def _names(self) -> ClassList:
        return super()._names.things  # the sky and other stuff are words like others

    @cached_property
    def _names_grounding(self) -> Grounding:
        """What reads captions and labels for scores, without stuff."""
        return self._grounding_by(self._names, self._objects)

    def check_images(self, image_ids: Sequence[ImageId]) -> None:
        super().check_images(image_ids)
        self._warn_of_codes()

    def prepare(self, gold: Gold, rows: Rows) -> ClaimsGold:
        asked = asked_of(rows, self._objects)
        known = self._labels_of(rows), self._references_of(rows), asked
        return claims_gold(gold, self._names_grounding, *known)

    def extra_vocabulary(self, rows: Rows) -> Iterable[str]:
        return dict.fromkeys(chain.from_iterable(c.looked_up for c in self._claims(rows)))

    def read(
        self,
        rows: Rows,
        gold: ClaimsGold | None = None,
        also: Callable[[Rows], Iterable[str]] | None = None,
        words: bool = True,
    ) -> Part[ClaimsGold]:
        part = super().read(rows, gold, also, words)
        if also is None and words and part.of_words.unknown:
            part = replace(part, words=with_names(part.words, self._claims(rows), part.gold))
        return part

    def _claims(self, rows: Rows) -> list[Claim]:
        names = zip(rows.captions, self._names_of(rows, self._names_grounding), strict=True)
        stop_words = self._space.stop_words
        return [claim_reader(of_image, stop_words)(caption) for caption, of_image in names]

    def _judged(self, part: Part[ClaimsGold]) -> JudgedClaims:
        return judge_claims(part, self._claims(part.rows), self._names_grounding)


class VifidelPRF(ClaimScorer):
    """Fidelity, coverage and their mean, for captions of any length.

    The evidence for an image is its object labels and the content words of its references. If some
    sentences of a caption mention a thing, the others are not scored.

    - VIFIDEL-P (fidelity): how well the evidence supports the caption's content words. Words that
      name things count more than others, and each thing that is not in the image takes up to
      40 %.
    - VIFIDEL-R (coverage): how much the caption says of what the references share; without
      references, how many of the object labels it mentions.
    - VIFIDEL-F: the geometric mean of P and R and, with references, the wording. A P that
      people's captions would get, judged by one another, counts in full, because a few references
      do not say everything.

    All are in [0, 1], and the score of an image never depends on which other images are scored.
    They are undefined (NaN) without any evidence, and 0 for a caption without a usable word; but P
    is undefined for one that claims nothing, such as a refusal. docs/fidelity.md has the
    formulas. As one number, it is F.

    Parameters
    ----------
    objects : path, pycocotools COCO, mapping, or list of these, optional
        The image side, as `vifidel_eval.annotations.read_objects` takes it.
        Without it the objects are given to `score`, caption by caption.
    vectors : None, path, str, KeyedVectors
        Word vectors, as `vifidel_eval.vectors.load_vectors` takes them; only their directions
        count.
    references : bool
        Whether the references are evidence.
    threshold : float, optional
        The lowest detection score that counts; by default .6, and .4 for Open Images.
    stop_words : collection of str
        Words of captions that are left out.
    things : path or ClassList, optional
        More names of things, as `vifidel_eval.words.synonyms.read_classes` reads them; they join
        the object vocabulary.
    only_things : path or ClassList, optional
        The object vocabulary instead of the package's own list. What the objects of an image list,
        or say was looked for, is a name in that image even if no list has it.
    undefined : float
        Value of an undefined score: NaN, or a number such as 0 for scripts that take plain
        means.
    uncertain : float, optional
        As `vifidel_eval.annotations.read_objects` takes it.
    looked_for : str, path or collection of str, optional
        What was looked for in every image, if the objects do not say it: ``"coco"``, ``"voc"``,
        ``"all"`` (whatever is not listed is not there), a file with one label per line, or labels.

    Raises
    ------
    AnnotationError, ImageIdError, VectorsError
        If the objects or the vectors cannot be read.
    VifidelError
        If another argument is not as described.

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

    def method(self) -> str:
        return "VIFIDEL-PRF"

    def signature_with(self, objects: str) -> str:
        return self._pin_evidence(objects, rarities_signature())

    def score_part(self, part: Part[ClaimsGold]) -> Scored:
        gold, judged = part.gold, self._judged(part)
        p = fidelity.fidelity(judged.words, judged.support, judged.weights, judged.mentions_things)
        is_said = gold.said.sizes > 0
        kept = fidelity.kept_by_inventions(judged.inventions, gold.rows)
        weighted = gold.said, gold.shares, gold.rarities
        r = fidelity.coverage_of_references(*weighted, judged.reached)
        if not is_said.all():
            of_labels = gold.named, gold.label_classes, judged.spoken_of
            r = np.where(is_said, r, fidelity.coverage_of_labels(*of_labels))
        wording = np.where(is_said, gold.wording.of(part.rows.captions), np.nan)
        f = fidelity.combined(p, r, kept, gold.doubt, wording)
        # NaN without evidence, 0 of captions without a usable word.
        speechless = part.words.sizes == 0
        scores = np.where(speechless[:, None], 0.0, np.column_stack([kept * p, r, f]))
        scores[part.rows.claims_nothing, 0] = np.nan
        scores = np.where((is_said | (gold.named.sizes > 0))[:, None], scores, np.nan)
        details = partial(self._supported, part, judged)
        return Scored(scores, {"no_words": speechless}, details=details)

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
        """Return the content words of each caption with their support and weight in P."""
        return [
            words
            for part in self._read(rows)
            for words in self._supported(part, self._judged(part)).placed()
        ]

    def _supported(self, part: Part[ClaimsGold], judged: JudgedClaims) -> SupportedWords:
        """Return the words of captions with their support."""
        words, claimed = part.words, judged.claimed
        unclaimed = some_of(words, ~claimed)
        near = np.zeros((2, len(claimed)))
        by = np.full((2, len(claimed)), NOTHING)
        for at, side in enumerate((part.gold.said, part.gold.named)):
            evidence = np.append(side.atoms, NOTHING)
            others = nearest(part.gold.lexicon.distances, unclaimed, side)
            for some, found in ((claimed, judged.near[at]), (~claimed, others)):
                near[at, some], by[at, some] = found.of_left, evidence[found.at_left]
        supports, weights = near.max(axis=0), np.zeros(len(claimed))
        # A label before a word of the references.
        best = np.where(near[0] > near[1], *by)
        supports[claimed], weights[claimed] = judged.support, judged.weights
        best[supports <= 0] = NOTHING
        return SupportedWords(
            part.rows.captions,
            words.starts,
            words.atoms,
            best,
            supports,
            weights,
            part.gold.lexicon.words,
            self._claims(part.rows),
            self._space.stop_words,
        )

    def judge_sentences(self, rows: Rows) -> list[list[JudgedSentence]]:
        """Return the sentences of each caption, in order: what they claim and invent."""
        names = self._names_of(rows, self._names_grounding)
        sentences = [
            read_sentences(c, of_image.units)
            for c, of_image in zip(rows.captions, names, strict=True)
        ]
        claiming = [
            sentences_that_claim(claim, part.gold, row)
            for part in self._read(rows)
            for row, claim in enumerate(self._claims(part.rows))
        ]
        all_of = [
            (row, one, claims)
            for row, of_row in enumerate(sentences)
            for one, claims in zip(of_row, claiming[row], strict=True)
        ]
        claimed = [rows.captions[row][one.start : one.end] for row, one, _ in all_of]
        of_sentences = replace(rows.take([row for row, *_ in all_of]), captions=claimed)
        p = self._scores(of_sentences)["VIFIDEL-P"].tolist()
        wrong = self._wrong(rows)
        judged: list[list[JudgedSentence]] = [[] for _ in sentences]
        for (row, one, claims), p_of_one in zip(all_of, p, strict=True):
            behind = judged[row][-1].end if judged[row] else 0
            invented = tuple(m for m in wrong[row] if behind <= m.start < one.end)
            own = (one.start, one.end, claims, p_of_one if claims else math.nan)
            judged[row].append(JudgedSentence(*own, invented))
        return judged

    def _wrong(self, rows: Rows) -> list[list[PlacedMention]]:
        """Return the mentions of each caption that its evidence contradicts, with their places."""
        grounding = self._grounding
        placed: list[list[PlacedMention]] = []
        for part in self._read_for_grounding(rows):
            captions, evidence = part.rows.captions, self._evidence(part.gold, part.rows)
            mentions = grounding.judged(part.gold.lexicon, captions, evidence)
            of_rows = zip(captions, mentions.by_row(len(captions)), evidence.images, strict=True)
            for caption, of_caption, image in of_rows:
                wrong = [mention for mention in of_caption if mention.verdict.is_wrong]
                places = places_of(wrong, caption, image.read_by.units(caption))
                placed.append(
                    [PlacedMention(m.words, m.category, a, z, m.verdict) for m, a, z in places]
                )
        return placed


def _sentence_details(scorer: VifidelPRF, rows: Rows) -> list[list[dict[str, Any]]]:
    """Return what ``--output`` says of the sentences of each row; nothing of a single one."""
    several = [row for row, caption in enumerate(rows.captions) if has_several(caption)]
    details: list[list[dict[str, Any]]] = [[] for _ in rows.captions]
    for row, sentences in zip(several, scorer.judge_sentences(rows.take(several)), strict=True):
        if len(sentences) > 1:
            details[row] = [sentence.to_json() for sentence in sentences]
    return details


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
        options=(THINGS, ONLY_THINGS),
        papers=(VIFIDEL_EVAL,),
    )
)
