"""pycocoevalcap's own metrics: its numbers, without what makes it stop or shift rows.

All take captions as written and tokenise them alike. On captions without line breaks the numbers
are those of ``COCOEvalCap``, to the last digit. An image without references has no score: NaN.
METEOR and SPICE, which need Java, have files of their own.

pycocoevalcap counts the n-grams of the references again for each system and metric. Here
`vifidel_eval.kernels.ngrams` counts them once in a run. Tests compare all numbers with stock runs.
"""

from __future__ import annotations

import copy
import math
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from functools import partial
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..evaluation import Column, Evaluation, Floats, Statistics
from ..image_ids import ImageId
from ..kernels.ngrams import ORDERS, References, TokenizedCaptions, numbering_once
from ..rows import Rows, coco_rows
from ..text.tokenization import MOST_TOGETHER, Captions, Tokenization, Tokens
from .base import Progress, Scorer
from .papers import LIN_2004, PAPINENI_2002, VEDANTAM_2015
from .record import Metric
from .registry import register


class HostColumn(NamedTuple):
    """What a metric says of the images that have references."""

    corpus_score: float
    scores: Sequence[float] | Floats
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
        sizes = accumulate(
            len(coming) + sum(map(len, coming.references)) for coming in self._coming
        )
        some = max(1, sum(size <= MOST_TOGETHER for size in sizes))
        together, self._coming = self._coming[:some], self._coming[some:]
        return [captions for coming in together for captions in _captions(coming)]


def _captions(rows: Rows) -> tuple[Captions, Captions]:
    """Return the references and the candidate of each row, as pycocoevalcap has them."""
    keys = rows.keys
    return (
        dict(zip(keys, rows.references, strict=True)),
        {key: [caption] for key, caption in zip(keys, rows.captions, strict=True)},
    )


def _spread(rows: Sequence[float] | Floats, is_scored: NDArray[np.bool_]) -> Floats:
    """Return rows for all images, NaN where an image has none."""
    spread = np.full((len(is_scored), *np.shape(rows)[1:]), np.nan)
    spread[is_scored] = rows
    return spread


class _NgramMetric(HostMetric):
    """A metric that follows from the tokens that captions share with references."""

    @abstractmethod
    def _columns(self, references: References, captions: TokenizedCaptions) -> list[HostColumn]:
        """Return the metric's columns for one caption per image."""

    @contextmanager
    def _scoring(self) -> Iterator[Scoring]:
        with numbering_once() as numbered:

            def score(gts: Tokens, res: Tokens, _: Progress) -> Sequence[HostColumn]:
                return self._columns(*numbered.texts(gts.values(), res.values()))

            yield score


class Bleu(_NgramMetric):
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

    def _columns(self, references: References, captions: TokenizedCaptions) -> list[HostColumn]:
        counts = references.bleu_counts(captions)
        corpus = counts.sum(axis=0, keepdims=True)
        return [
            HostColumn(
                _bleu(corpus, n)[0], _bleu(counts, n), Statistics(counts, partial(_bleu, n=n))
            )
            for n in range(1, ORDERS + 1)
        ]


def _bleu(sums: Floats, n: int) -> Floats:
    """Return BLEU-n of summed counts, by pycocoevalcap's formula.

    Powers and exponentials are Python's, as there: the last digits of NumPy's can differ.
    """
    small, tiny = 1e-9, 1e-15
    length, closest = sums[..., 0], sums[..., 1]
    product = np.ones(length.shape)
    for order in range(n):
        product = product * ((sums[..., 2 + order] + tiny) / (sums[..., 6 + order] + small))
    ratio = (length + tiny) / (closest + small)
    penalties = np.minimum(1 - 1 / ratio, 0)
    scores = [
        mean ** (1 / n) * math.exp(penalty)
        for mean, penalty in zip(product.ravel().tolist(), penalties.ravel().tolist(), strict=True)
    ]
    return np.array(scores).reshape(length.shape)


class RougeL(_NgramMetric):
    """ROUGE-L: the longest common subsequence (Lin, 2004)."""

    columns = (Column("ROUGE_L"),)

    def _columns(self, references: References, captions: TokenizedCaptions) -> list[HostColumn]:
        scores = references.rouge_l(captions)
        return [HostColumn(float(np.mean(scores)), scores)]


class Cider(_NgramMetric):
    """CIDEr-D: n-grams weighted by how few images' references have them (Vedantam et al., 2015).

    The references of the run are the corpus: an image alone in its run always gets 0.
    """

    columns = (Column("CIDEr"),)

    def _columns(self, references: References, captions: TokenizedCaptions) -> list[HostColumn]:
        scores = references.cider(captions)
        return [HostColumn(float(np.mean(scores)), scores)]


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
