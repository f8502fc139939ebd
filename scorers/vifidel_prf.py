"""VIFIDEL-PRF: what a caption says of its image, and what it leaves out."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np

from ..captions.rows import Rows
from ..evaluation import Column, DetailsOfParts, Evaluation, Floats
from ..explain.sentences import JudgedSentence
from ..io.image_ids import ImageId
from ..kernels import fidelity
from ..kernels.bags import Batch, ImageSide
from ..kernels.claim_evidence import ClaimImageSide, claim_image_side
from ..kernels.claims import (
    JudgedClaims,
    judge_claims,
    sentences_that_claim,
    with_names,
    words_of_mentions,
    words_of_sentences,
)
from ..kernels.grounding import Grounding
from ..kernels.known import Mention, Names
from ..kernels.support import NOTHING, nearest, some_of
from ..words.content_words import rarities_signature
from ..words.english import has_several_sentences
from ..words.mentions import Reading
from ..words.settings import ONLY_THINGS, THINGS
from ..words.synonyms import ClassList
from .base import Progress
from .explaining import ExplainingScorer
from .record import VIFIDEL_EVAL, Metric
from .registry import register
from .word_supports import SupportedWords, WordDetails, WordSupport
from .word_vectors import Scored, asked_of, attributes_of


class ClaimScorer(ExplainingScorer[ClaimImageSide]):
    """A metric that scores what captions claim, and leaves out what claims nothing."""

    @property
    def _names(self) -> ClassList:
        return super()._names.things  # the sky and other stuff are words like others

    @cached_property
    def _names_grounding(self) -> Grounding:
        """What reads captions and labels for scores, without stuff."""
        return self._grounding_by(self._names)

    def check_images(self, image_ids: Sequence[ImageId]) -> None:
        super().check_images(image_ids)
        self._warn_of_codes(self._names_grounding)

    def prepare(self, image_side: ImageSide, rows: Rows) -> ClaimImageSide:
        return claim_image_side(
            image_side,
            self._names_grounding,
            labels=self._labels_of(rows),
            references=self._references_of(rows),
            asked=asked_of(rows, self._objects),
            attributes=attributes_of(rows, self._objects),
        )

    def extra_vocabulary(self, rows: Rows) -> Iterable[str]:
        names = self._names_of(rows, self._names_grounding)
        return dict.fromkeys(words_of_mentions(_readings(rows, names), names))

    def read(
        self,
        rows: Rows,
        image_side: ClaimImageSide | None = None,
        vocabulary: Callable[[Rows], Iterable[str]] | None = None,
        words: bool = True,
    ) -> Batch[ClaimImageSide]:
        part = super().read(rows, image_side, vocabulary, words)
        if vocabulary is None and words and part.word_tally.unknown:
            readings = _readings(rows, part.image_side.names)
            part = replace(part, words=with_names(part.words, readings, part.image_side))
        return part

    def _judged(self, part: Batch[ClaimImageSide]) -> JudgedClaims:
        return judge_claims(
            part, _readings(part.rows, part.image_side.names), self._names_grounding
        )


def _readings(rows: Rows, names: Sequence[Names]) -> list[Reading]:
    """Return what the caption of each row says."""
    pairs = zip(rows.captions, names, strict=True)
    return [names_of_image.read(caption) for caption, names_of_image in pairs]


class PartsOfF(NamedTuple):
    """What VIFIDEL-F of a caption is made of; each is in [0, 1], NaN where it is undefined."""

    f: float
    supported: float  #: the share of what the caption says that the evidence supports
    r: float
    kept: float  #: what made-up things leave of P and F; 1 if there are none
    wording: float  #: how close the words are to those of a reference; NaN without references


class VifidelPRF(ClaimScorer):
    """Fidelity, coverage and their mean, for captions of any length.

    The evidence for an image is its object labels and the content words of its references. If some
    sentences of a caption mention a thing or have a word of the evidence, the others are not
    scored.

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
    is undefined for one that claims nothing, such as a refusal. docs/metrics.md has the
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
    attributes : mapping, path, or list of paths, optional
        Attributes of objects and labels of scenes, such as ``{1: ["red car", "sunny"]}``; they
        support and contradict words. `vifidel_eval.annotations.read_objects` says what it may be.

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

    def parts_of_f(self, rows: Rows) -> list[PartsOfF]:
        """Return what F is made of, caption by caption; its formula is in docs/metrics.md."""
        numbers = [self._parts(part, self._judged(part)) for part in self._read(rows)]
        return [PartsOfF(*of_row) for part in numbers for of_row in zip(*part, strict=True)]

    def _parts(self, part: Batch[ClaimImageSide], judged: JudgedClaims) -> tuple[Floats, ...]:
        """Return F, the supported share of P, R, what inventions leave, and the wording."""
        image_side = part.image_side
        p = fidelity.fidelity(judged.words, judged.support, judged.weights, judged.mentions_things)
        has_references = image_side.reference_words.sizes > 0
        kept = fidelity.kept_by_inventions(judged.inventions, image_side.rows)
        r = fidelity.coverage_of_references(
            image_side.reference_words, image_side.shares, image_side.rarities, judged.reached
        )
        if not has_references.all():
            of_labels = fidelity.coverage_of_labels(
                image_side.named, image_side.label_classes, judged.spoken_of
            )
            r = np.where(has_references, r, of_labels)
        wording = np.where(has_references, image_side.wording.score(part.rows.captions), np.nan)
        return fidelity.combined(p, r, kept, image_side.doubt, wording), p, r, kept, wording

    def score_part(self, part: Batch[ClaimImageSide]) -> Scored:
        image_side, judged = part.image_side, self._judged(part)
        has_references = image_side.reference_words.sizes > 0
        f, p, r, kept, _ = self._parts(part, judged)
        # NaN without evidence, 0 of captions without a usable word.
        speechless = part.words.sizes == 0
        scores = np.where(speechless[:, None], 0.0, np.column_stack([kept * p, r, f]))
        scores[part.rows.claims_nothing, 0] = np.nan
        scores = np.where((has_references | (image_side.named.sizes > 0))[:, None], scores, np.nan)
        details = partial(self._supported, part, judged)
        made_up = None
        if any(of_image.anything for of_image in image_side.deniable):
            made_up = partial(self._made_up, part, judged)
        return Scored(scores, {"no_words": speechless}, details=details, made_up=made_up)

    def _made_up(self, part: Batch[ClaimImageSide], judged: JudgedClaims) -> Counter[str]:
        """Return in how many captions each thing is made up, by what the objects call it."""
        labels_of = list(map(self._names_grounding.labels_of, self._labels_of(part.rows)))
        return fidelity.sure_inventions_by_name(
            judged.inventions, part.image_side.class_numbers, labels_of
        )

    def _evaluate(self, rows: Rows, on_progress: Progress) -> dict[str, Evaluation]:
        evaluations = super()._evaluate(rows, on_progress)
        if any(map(has_several_sentences, rows.captions)):
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

    def _supported(self, part: Batch[ClaimImageSide], judged: JudgedClaims) -> SupportedWords:
        """Return the words of captions with their support."""
        words, claimed = part.words, judged.claimed
        unclaimed = some_of(words, ~claimed)
        near = np.zeros((2, len(claimed)))
        by = np.full((2, len(claimed)), NOTHING)
        for at, side in enumerate((part.image_side.reference_words, part.image_side.named)):
            evidence = np.append(side.atoms, NOTHING)
            of_others = nearest(part.image_side.lexicon.distances, unclaimed, side)
            for some, closest in ((claimed, judged.near[at]), (~claimed, of_others)):
                near[at, some], by[at, some] = closest.of_left, evidence[closest.at_left]
        supports, weights = near.max(axis=0), np.zeros(len(claimed))
        # A label before a word of the references.
        best = np.where(near[0] > near[1], *by)
        supports[claimed], weights[claimed] = judged.support, judged.weights
        best[claimed] = np.where(judged.by_attributes, judged.words.atoms, best[claimed])
        best[supports <= 0] = NOTHING
        names = part.image_side.names
        things = [
            {w for c in reading.claims if not c.denied for w in reader.content_words(c.words)}
            for reading, reader in zip(_readings(part.rows, names), names, strict=True)
        ]
        return SupportedWords(
            part.rows.captions,
            words.starts,
            words.atoms,
            best,
            supports,
            weights,
            part.image_side.lexicon.words,
            things,
            self._space.stop_words,
        )

    def judge_sentences(self, rows: Rows) -> list[list[JudgedSentence]]:
        """Return the sentences of each caption, in order: what they claim and invent."""
        sentences: list[tuple[int, int, int, bool]] = []  # row, start, end, whether it claims
        first = 0
        for part in self._read(rows):
            names = part.image_side.names
            for at, reading in enumerate(_readings(part.rows, names)):
                words = words_of_sentences(part.rows.captions[at], reading, names[at])
                claiming = sentences_that_claim(words, reading, part.image_side, at)
                places = zip(reading.sentences, claiming, strict=True)
                sentences += [(first + at, start, end, claims) for (start, end), claims in places]
            first += len(part.rows)
        texts = [rows.captions[row][start:end] for row, start, end, _ in sentences]
        alone = replace(rows.take([row for row, *_ in sentences]), captions=texts)
        p_alone = self._scores(alone)["VIFIDEL-P"].tolist()
        inventions = self._inventions(rows)
        judged: list[list[JudgedSentence]] = [[] for _ in rows.captions]
        for (row, start, end, claims), p in zip(sentences, p_alone, strict=True):
            invented = inventions[row].get(len(judged[row]), ())
            sentence = JudgedSentence(
                start, end, claims, p if claims else math.nan, tuple(invented)
            )
            judged[row].append(sentence)
        return judged

    def _inventions(self, rows: Rows) -> list[dict[int, list[Mention]]]:
        """Return the mentions of each caption that its evidence contradicts, by sentence."""
        inventions: list[dict[int, list[Mention]]] = []
        for part in self._read_for_grounding(rows):
            captions, evidence = part.rows.captions, self._evidence(part.image_side, part.rows)
            for mentions in self._grounding.judged(part.image_side.lexicon, captions, evidence):
                of_sentence: dict[int, list[Mention]] = {}
                for mention in mentions:
                    if mention.verdict.is_wrong:
                        of_sentence.setdefault(mention.claim.sentence, []).append(mention)
                inventions.append(of_sentence)
        return inventions


def _sentence_details(scorer: VifidelPRF, rows: Rows) -> list[list[dict[str, Any]]]:
    """Return what ``--output`` says of the sentences of each row; nothing of a single one."""
    several = [row for row, caption in enumerate(rows.captions) if has_several_sentences(caption)]
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
        tables=True,
        options=(THINGS, ONLY_THINGS),
        papers=(VIFIDEL_EVAL,),
    )
)
