"""VIFIDEL-H: which of the things that captions mention are not in their images."""

from __future__ import annotations

import math
import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from typing import Any

import numpy as np

from ..annotations.categories import Declared
from ..captions.rows import Rows
from ..doors.arguments import constructor
from ..errors import VifidelError, warn
from ..evaluation import UNDECLARED, Column, DetailsOfParts, Evaluation, Floats, Integers
from ..io.image_ids import ImageId
from ..kernels.bags import Batch, ImageSide
from ..kernels.grounding import words_of
from ..kernels.known import Mention, Verdict
from ..kernels.mention_counts import ratio
from ..kernels.support import Evidence
from ..words.content_words import STOP_WORDS
from ..words.settings import ONLY_THINGS, SUPPORT, THINGS
from ..words.word_vectors import VectorSource
from .base import Progress
from .explaining import ExplainingScorer, Things
from .record import VIFIDEL_EVAL, Metric
from .registry import register
from .word_supports import WordSupport
from .word_vectors import Objects, Score, Scored, Words

# The counts of each caption, from which the rates of a run follow.
_CAPTIONS, _WITH_ABSENT, JUDGED, ABSENT, _THINGS = range(5)
_PIECE = re.compile(r"\S+")


def _rate(part: int, whole: int) -> partial[Floats]:
    return partial(ratio, part=part, whole=(whole,))


@dataclass(frozen=True, eq=False)
class _EvidenceImageSide(ImageSide):
    """Objects and references of some rows, as evidence for mentions."""

    evidence: Evidence


class VifidelH(ExplainingScorer[_EvidenceImageSide]):
    """Hallucinated things: CHAIR's question for an open vocabulary.

    Things are the classes of a list of names; each mention is judged by the object labels of the
    image and by its references.

    - VIFIDEL-T: the mean support of a caption's mentions, which is the largest cosine to the
      evidence, and halfway from there to 1 for what is there; in [0, 1], higher is better.
      Undefined for a caption that mentions nothing.
    - VIFIDEL-Hi: mentions that are not in the image / mentions judged; lower is better.
    - VIFIDEL-Hs: captions with such a mention / captions; lower is better.
    - VIFIDEL-Hn: things that are not in the image per caption; lower is better. A thing mentioned
      twice counts once.

    The last three are computed from counts over the run, not as means of the captions' scores. A
    mention is not in the image if its support is below .4 and the evidence names nothing of its
    class, or if its class was looked for in the image and not found. A denied thing (*no dogs*) is
    not a mention; but a wrong denial, of a thing that a label names or half of the references
    mention, counts as a mention that is not in the image.

    If the objects say what was looked for, or are COCO's 80 or PASCAL VOC's 20, only that is
    judged, and references can only add things that are there; other mentions that no reference has
    are counted as unconfirmed. If the objects do not say it, references alone judge all mentions,
    and such captions are counted. Stuff and scenes (*sky*) are judged only if they were asked for.
    Everything is undefined for an image about which nothing is known and for a caption that claims
    nothing, such as a refusal, and the rates are undefined if nothing can be absent.
    docs/metrics.md explains the threshold. As one number, it is VIFIDEL-T.

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
    support : float
        The lowest support of a mention that is in the image, from 0 to 1; vectors other than the
        embedded ones may need another value.
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
    >>> scorer = VifidelH()
    >>> captions = ["a puppy chases a ball", "a dog and a zebra"]
    >>> objects = [{"dog": 1, "ball": 1, "zebra": 0}] * 2
    >>> columns = scorer.score_columns(captions, objects=objects)
    >>> columns["VIFIDEL-Hi"].tolist()
    [0.0, 0.5]
    """

    columns = (
        Column("VIFIDEL-Hs", True, of_sums=_rate(_WITH_ABSENT, _CAPTIONS)),
        Column("VIFIDEL-Hi", True, of_sums=_rate(ABSENT, JUDGED)),
        Column("VIFIDEL-Hn", True, of_sums=_rate(_THINGS, _CAPTIONS), is_count=True),
        Column("VIFIDEL-T"),
    )
    rates_inventions = True
    _scores_words = False
    _details = DetailsOfParts
    _needed = "a mention of a thing and something known about its image"

    @constructor
    def __init__(
        self,
        objects: Objects = None,
        vectors: VectorSource = None,
        references: bool = True,
        *,
        support: float = SUPPORT,
        threshold: Score = None,
        stop_words: Words = STOP_WORDS,
        things: Things = None,
        only_things: Things = None,
        undefined: float = math.nan,
        uncertain: Score = None,
        looked_for: Declared = None,
    ) -> None:
        if isinstance(support, bool) or not 0 <= support <= 1:
            raise VifidelError(f"support must be a number from 0 to 1, not {support!r:.40}.")
        super().__init__(
            objects,
            vectors,
            references,
            threshold=threshold,
            stop_words=stop_words,
            things=things,
            only_things=only_things,
            undefined=undefined,
            uncertain=uncertain,
            looked_for=looked_for,
        )
        self._support = float(support)

    def method(self) -> str:
        return "VIFIDEL-H"

    def signature_with(self, objects: str) -> str:
        return self._pin_evidence(objects, f"support:{self._support:g}")

    def check_images(self, image_ids: Sequence[ImageId]) -> None:
        super().check_images(image_ids)
        self._warn_of_codes(self._grounding)

    def prepare(self, image_side: ImageSide, rows: Rows) -> _EvidenceImageSide:
        return _EvidenceImageSide(**vars(image_side), evidence=self._evidence(image_side, rows))

    def judge(self, evaluations: Iterable[Evaluation]) -> None:
        evaluations = list(evaluations)
        super().judge(evaluations)
        warn_of_undeclared(sum(e.counts.get(UNDECLARED, 0) for e in evaluations))

    def _evidence(self, image_side: ImageSide, rows: Rows) -> Evidence:
        if isinstance(image_side, _EvidenceImageSide):
            return image_side.evidence
        return super()._evidence(image_side, rows)

    def extra_vocabulary(self, rows: Rows) -> Iterable[str]:
        return self._grounding.texts(rows.captions, self._names_of(rows, self._grounding))

    def word_supports(self, rows: Rows) -> list[list[WordSupport]]:
        """Return the mentions and the other content words of each caption with their support."""
        return [of_caption for part in self._read(rows) for of_caption in self._supported(part)]

    def _supported(self, part: Batch[_EvidenceImageSide]) -> Iterator[list[WordSupport]]:
        captions, image_side = part.rows.captions, part.image_side
        evidence, lexicon = image_side.evidence, image_side.lexicon
        pairs = zip(captions, evidence.images, strict=True)
        phrases = [image.names.phrases(caption) for caption, image in pairs]
        rows = np.arange(len(phrases)).repeat(list(map(len, phrases)))
        numbers = lexicon.numbers(phrase.text for of_row in phrases for phrase in of_row)
        cosines, by = evidence.support(lexicon, np.array(numbers, dtype=np.int64), rows)
        supports = iter(zip(cosines.tolist(), words_of(lexicon, by), strict=True))
        mentions = self._grounding.judged(lexicon, captions, evidence, self._support)
        for caption, of_caption, judged in zip(captions, phrases, mentions, strict=True):
            mention_of = {mention.claim: mention for mention in judged}
            starts = [piece.start() for piece in _PIECE.finditer(caption)]
            words = []
            for phrase in of_caption:
                support, supporting = next(supports)
                mention = mention_of.get(phrase)  # other things are denied, or stuff
                if mention is not None:
                    support, supporting = mention.support, mention.supported_by
                if not math.isnan(support):
                    first = bisect_right(starts, phrase.start) - 1
                    place = range(first, bisect_left(starts, phrase.end))
                    is_thing = mention is not None
                    words.append(WordSupport(phrase.words, support, is_thing, place, supporting))
            yield words

    def score_part(self, part: Batch[_EvidenceImageSide]) -> Scored:
        evidence, captions = part.image_side.evidence, part.rows.captions
        mentions = self._grounding.judged(
            part.image_side.lexicon, captions, evidence, self._support
        )
        counts, unconfirmed, mean_support = _counted(mentions, evidence)
        claims_nothing = np.array(part.rows.claims_nothing, dtype=bool)
        counts[claims_nothing] = mean_support[claims_nothing] = np.nan
        other_counts = {"unconfirmed": unconfirmed}
        if evidence.by_references.any():
            other_counts["judged_by_references"] = evidence.by_references.astype(np.int64)
        undeclared = evidence.is_there & ~evidence.denies
        if undeclared.any():
            other_counts[UNDECLARED] = undeclared.astype(np.int64)
        rates = [column.of_sums(counts) for column in self.columns if column.of_sums is not None]
        return Scored(
            np.column_stack([*rates, mean_support]),
            other_counts,
            of_rows=counts,
            details=partial(_details, mentions),
            made_up=partial(_made_up, mentions, part.rows.claims_nothing)
            if (counts[:, JUDGED] > 0).any()
            else None,
        )

    def _evaluate(self, rows: Rows, on_progress: Progress) -> dict[str, Evaluation]:
        evaluations = super()._evaluate(rows, on_progress)
        unsure = 0 if self._objects is None else self._objects.unsure
        if not unsure:
            return evaluations
        return {
            name: replace(evaluation, counts={**evaluation.counts, "unsure": unsure})
            for name, evaluation in evaluations.items()
        }


def warn_of_undeclared(rows: int) -> None:
    """Warn that nothing can be absent from the images of so many rows, if there are any."""
    if rows:
        warn(
            f"the objects of {rows} caption{'s' if rows > 1 else ''} do not say what was looked "
            "for, so nothing there can be made up, and VIFIDEL-Hs and VIFIDEL-Hi are undefined: "
            "give --looked-for coco, voc, all or FILE (looked_for= in Python), or list labels "
            "that were looked for and not found with a count of 0."
        )


def _made_up(mentions: Sequence[Sequence[Mention]], claims_nothing: Sequence[bool]) -> Counter[str]:
    """Return in how many captions that claim something each thing is made up."""
    return Counter(
        thing
        for of_row, is_silent in zip(mentions, claims_nothing, strict=True)
        if not is_silent
        for thing in dict.fromkeys(m.decided_by or "" for m in of_row if m.verdict.is_wrong)
    )


def _details(mentions: Sequence[Sequence[Mention]]) -> list[dict[str, Any]]:
    """Return what ``--output`` says of each row."""
    return [{"mentions": [mention.to_json() for mention in of_row]} for of_row in mentions]


def _counted(
    of_rows: Sequence[Sequence[Mention]], evidence: Evidence
) -> tuple[Floats, Integers, Floats]:
    """Return counts of each caption, (rows, 5), its unconfirmed mentions and mean support."""
    mentions = list(chain.from_iterable(of_rows))
    rows = np.arange(len(of_rows)).repeat(list(map(len, of_rows)))
    verdicts = np.array([mention.verdict for mention in mentions], dtype=np.int64)
    is_judged = np.array([mention.judged_by is not None for mention in mentions], dtype=bool)
    is_sure, wrong = verdicts != Verdict.UNCONFIRMED, np.flatnonzero(verdicts >= Verdict.ABSENT)
    things = {(rows[at], mentions[at].decided_by) for at in wrong.tolist()}
    per_row = partial(np.bincount, minlength=len(of_rows))
    counts = np.ones((len(of_rows), _THINGS + 1))
    counts[:, JUDGED] = per_row(rows[is_judged & is_sure])
    counts[:, ABSENT] = per_row(rows[wrong])
    counts[:, _WITH_ABSENT] = counts[:, ABSENT] > 0
    counts[:, _THINGS] = per_row(np.array([row for row, _ in things], dtype=np.int64))
    # NaN where nothing can be absent.
    counts[~(evidence.is_there & evidence.denies)] = np.nan
    support = np.array([mention.support for mention in mentions], dtype=np.float64)
    # Where names and kinds decide, cosines add little: a pony beside a horse.
    support = np.where(verdicts == Verdict.THERE, (1 + support) / 2, support)
    has_support = ~np.isnan(support)
    supported = rows[has_support]
    totals = per_row(supported, support[has_support])  # added in the order of the words
    sums = np.column_stack([totals, per_row(supported)])
    mean_support = np.where(evidence.is_there, ratio(sums, 0, (1,)), np.nan)
    return counts, per_row(rows[~is_sure]), mean_support


register(
    Metric(
        "VIFIDEL-H",
        "Things that are mentioned but not in the image (Hs, Hi, Hn), and the support of all "
        "mentions (T)",
        VifidelH,
        lambda settings: VifidelH(**settings.evidence),
        rank=30,
        references=False,
        either=True,
        tables=True,
        options=(THINGS, ONLY_THINGS),
        papers=(VIFIDEL_EVAL,),
    )
)
