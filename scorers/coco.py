"""pycocoevalcap's own metrics: its numbers, without what makes it stop or shift rows.

All take captions as written and tokenise them alike. On captions without line breaks the numbers
are those of ``COCOEvalCap``, to the last digit. An image without references has no score: NaN.
METEOR and SPICE, which need Java, have files of their own.

pycocoevalcap makes the n-grams of the references again for each system. Here they are made once in
a run: with its own functions for BLEU, whose scorer takes them ready-made. The scorers of CIDEr and
ROUGE-L do not, so `cider` and `lcs` compute the same numbers with the same order of operations.
Tests compare all of them with stock runs.
"""

from __future__ import annotations

import copy
import math
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from functools import partial
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..evaluation import Column, Evaluation, Floats, Statistics
from ..image_ids import ImageId
from ..rows import Rows, coco_rows
from ..text.tokenization import MOST_TOGETHER, Captions, Tokenization, Tokens
from .base import Progress, Scorer
from .cider import CiderCorpus
from .lcs import Reference, rouge_l, rouge_l_references
from .papers import LIN_2004, PAPINENI_2002, VEDANTAM_2015
from .record import Metric
from .registry import register

_Made = TypeVar("_Made")


class HostColumn(NamedTuple):
    """What a metric says of the images that have references."""

    corpus_score: float
    scores: Sequence[float]
    statistics: Statistics | None = None


#: From tokens of references and of one candidate per image, the same images in the same order, to
#: each column's scores in that order. There is at least one image, and each has a reference.
Scoring = Callable[[Tokens, Tokens, Progress], Sequence[HostColumn]]


class HostMetric(Scorer):
    """A metric of pycocoevalcap.

    Parameters
    ----------
    tokenization : Tokenization, optional
        Give all metrics of a run the same one, and captions are tokenised once.
    """

    def __init__(
        self, tokenization: Tokenization | None = None, undefined: float = math.nan
    ) -> None:
        super().__init__(undefined)
        self._tokenization = Tokenization() if tokenization is None else tokenization
        self._run: _Run | None = None

    def method(self) -> str:
        return self.columns[-1].name

    def signature(self, image_ids: Sequence[ImageId] | None = None) -> str:
        return self._pinned(f"tok:{self._tokenization.name}", package="pycocoevalcap")

    @contextmanager
    def in_run(self, systems: Sequence[Rows]) -> Iterator[Scorer]:
        """Return this metric for a run, as described at `Scorer.in_run`.

        The captions of all systems are tokenised together, and references are prepared once.
        """
        if self._run is not None:  # a run within a run
            yield self
            return
        with self._scoring() as score:
            of_run = copy.copy(self)
            of_run._run = _Run(score, systems)
            yield of_run

    @abstractmethod
    def _scoring(self) -> AbstractContextManager[Scoring]:
        """Return what scores the systems of a run, one after the other."""

    def _evaluate(self, rows: Rows, on_progress: Progress) -> dict[str, Evaluation]:
        if self._run is None:
            with self.in_run([rows]) as of_run:
                return of_run._evaluate(rows, on_progress)
        done = 0

        def advance(scored: int) -> None:
            nonlocal done
            done += scored
            on_progress(scored)

        is_scored = np.array([len(references) > 0 for references in rows.references], dtype=bool)
        columns: Sequence[HostColumn] = [HostColumn(math.nan, [])] * len(self.columns)
        if is_scored.any():
            self._tokenization.prepare(self._run.ahead(rows))
            gts, res = map(self._tokenization.tokens, _captions(rows))
            scored = [key for key, references in gts.items() if references]
            columns = self._run.score(
                {key: gts[key] for key in scored}, {key: res[key] for key in scored}, advance
            )
        advance(len(rows) - done)
        return {
            column.name: Evaluation(
                rows.ids,
                _spread(found.scores, is_scored),
                corpus_score=float(found.corpus_score),
                statistics=found.statistics
                and replace(found.statistics, of_rows=_spread(found.statistics.of_rows, is_scored)),
            )
            for column, found in zip(self.columns, columns, strict=True)
        }


class _Run:
    """What the systems of a run share: what scores them, and captions that are still to come."""

    def __init__(self, score: Scoring, systems: Sequence[Rows]) -> None:
        self.score = score
        self._coming = list(systems)

    def ahead(self, rows: Rows) -> list[Captions]:
        """Return the captions to tokenise together with those of `rows`: each is returned once."""
        if not any(coming is rows for coming in self._coming):
            return []
        some, self._coming = self._coming[:MOST_TOGETHER], self._coming[MOST_TOGETHER:]
        return [captions for coming in some for captions in _captions(coming)]


def _captions(rows: Rows) -> tuple[Captions, Captions]:
    """Return the references and the candidate of each row, as pycocoevalcap has them."""
    keys = rows.keys
    return (
        dict(zip(keys, rows.references, strict=True)),
        {key: [caption] for key, caption in zip(keys, rows.captions, strict=True)},
    )


class OfReferences(Generic[_Made]):
    """What is made of the references of an image, kept from one system to the next.

    It goes by what the references are, and what the last system did not need is forgotten.

    Parameters
    ----------
    make : callable
        From the tokens of an image's references to what is made of them.
    """

    def __init__(self, make: Callable[[list[str]], _Made]) -> None:
        self._make = make
        self._known: dict[tuple[str, ...], _Made] = {}

    def __call__(self, gts: Tokens) -> list[_Made]:
        """Return what is made of the references of each image, in the order of `gts`."""
        known, self._known = self._known, {}
        for references in gts.values():
            key = tuple(references)
            if key not in self._known:
                self._known[key] = known[key] if key in known else self._make(references)
        return [self._known[tuple(references)] for references in gts.values()]


def _spread(rows: Sequence[float] | Floats, is_scored: NDArray[np.bool_]) -> Floats:
    """Return rows for all images, NaN where an image has none."""
    spread = np.full((len(is_scored), *np.shape(rows)[1:]), np.nan)
    spread[is_scored] = rows
    return spread


class Bleu(HostMetric):
    """BLEU with n-grams of up to 1, 2, 3 and 4 tokens (Papineni et al., ACL 2002).

    As one number it is BLEU-4.
    """

    columns = tuple(map(Column, ("Bleu_1", "Bleu_2", "Bleu_3", "Bleu_4")))

    def method(self) -> str:
        return "BLEU"

    def compute_score(  # type: ignore[override]  # so does pycocoevalcap's
        self, gts: Mapping[Any, Sequence[str]], res: Mapping[Any, Sequence[str]]
    ) -> tuple[list[float], list[list[float]]]:
        """Return the four corpus scores, and four lists of scores in the order of `gts`.

        Raises
        ------
        VifidelError
            If ids or captions are not as described at `Scorer.compute_score`.
        """
        columns = self.unsigned(coco_rows(gts, res)).values()
        return [column.score for column in columns], [column.scores.tolist() for column in columns]

    def _scoring(self) -> AbstractContextManager[Scoring]:
        from pycocoevalcap.bleu.bleu_scorer import cook_refs

        return nullcontext(partial(_bleu_columns, OfReferences(cook_refs)))


def _bleu_columns(
    cooked: OfReferences[Any], gts: Tokens, res: Tokens, _: Progress
) -> list[HostColumn]:
    """Return pycocoevalcap's BLEU, whose scorer is given what it would make of the references."""
    from pycocoevalcap.bleu.bleu_scorer import BleuScorer, cook_test

    scorer = BleuScorer(n=4)
    scorer.crefs = cooked(gts)
    scorer.ctest = [
        cook_test(caption, references)
        for (caption,), references in zip(res.values(), scorer.crefs, strict=True)
    ]
    corpus_scores, rows = scorer.compute_score(option="closest", verbose=0)
    counts = np.array([_bleu_counts(caption) for caption in scorer.ctest], dtype=float)
    return [
        HostColumn(corpus_score, row, Statistics(counts, partial(_bleu, n=n)))
        for n, (corpus_score, row) in enumerate(zip(corpus_scores, rows, strict=True), 1)
    ]


def _bleu_counts(caption: dict[str, Any]) -> list[int]:
    """Return a caption's length, its closest reference's, and its n-grams: correct, then all."""
    length = caption["testlen"]
    _, closest = min((abs(reference - length), reference) for reference in caption["reflen"])
    return [length, closest, *caption["correct"], *caption["guess"]]


def _bleu(sums: Floats, n: int) -> Floats:
    """Return BLEU-n of summed counts, by pycocoevalcap's formula."""
    small, tiny = 1e-9, 1e-15
    length, closest = sums[..., 0], sums[..., 1]
    product = np.ones(length.shape)
    for order in range(n):
        product = product * (sums[..., 2 + order] + tiny) / (sums[..., 6 + order] + small)
    ratio = (length + tiny) / (closest + small)
    return product ** (1 / n) * np.exp(np.minimum(1 - 1 / ratio, 0))


class RougeL(HostMetric):
    """ROUGE-L: the longest common subsequence (Lin, 2004)."""

    columns = (Column("ROUGE_L"),)

    def _scoring(self) -> AbstractContextManager[Scoring]:
        return nullcontext(partial(_rouge_l_column, OfReferences(rouge_l_references)))


def _rouge_l_column(
    prepared: OfReferences[list[Reference]], gts: Tokens, res: Tokens, _: Progress
) -> list[HostColumn]:
    candidates = (caption for (caption,) in res.values())
    scores = list(map(rouge_l, candidates, prepared(gts)))
    return [HostColumn(float(np.mean(np.array(scores))), scores)]


class Cider(HostMetric):
    """CIDEr-D: n-grams weighted by how few images' references have them (Vedantam et al., 2015).

    The references of the run are the corpus: an image alone in its run always gets 0.
    """

    columns = (Column("CIDEr"),)

    @contextmanager
    def _scoring(self) -> Iterator[Scoring]:
        from pycocoevalcap.cider.cider_scorer import cook_refs

        cooked = OfReferences(cook_refs)
        corpus: CiderCorpus | None = None

        def score(gts: Tokens, res: Tokens, _: Progress) -> list[HostColumn]:
            nonlocal corpus
            references = cooked(gts)
            if corpus is None or not corpus.is_of(references):
                corpus = CiderCorpus(references)
            scores = corpus.scores([caption for (caption,) in res.values()])
            return [HostColumn(float(np.mean(np.array(scores))), scores)]

        yield score


register(
    Metric(
        "BLEU",
        "Precision of n-grams of up to four tokens, with a penalty for short captions",
        Bleu,
        lambda settings: Bleu(settings.tokenization),
        rank=50,
        default=True,
        papers=(PAPINENI_2002,),
    )
)
register(
    Metric(
        "ROUGE_L",
        "Longest common subsequence with a reference",
        RougeL,
        lambda settings: RougeL(settings.tokenization),
        rank=60,
        spellings=("ROUGE-L",),
        default=True,
        papers=(LIN_2004,),
    )
)
register(
    Metric(
        "CIDEr",
        "n-grams shared with the references, weighted by how rare they are in the run (CIDEr-D)",
        Cider,
        lambda settings: Cider(settings.tokenization),
        rank=70,
        default=True,
        papers=(VEDANTAM_2015,),
    )
)
