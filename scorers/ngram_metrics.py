"""BLEU, ROUGE-L and CIDEr by pycocoevalcap's numbers, and the base of all its metrics.

On captions without line breaks the numbers are those of ``COCOEvalCap``, to the last digit, and a
run counts the n-grams of its references once. An image without references has no score: NaN.
"""

from __future__ import annotations

import copy
import math
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from functools import partial
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..captions.rows import Rows, make_once
from ..doors.arguments import constructor
from ..evaluation import Column, Evaluation, Floats, Statistics
from ..io.image_ids import ImageId
from ..kernels.ngrams import ORDERS, Numbered, TokenizedCaptions, TokenizedReferences
from ..words.settings import Settings
from ..words.tokenization import MOST_TOGETHER, Captions, Tokenization, Tokens
from .base import Progress, Scorer
from .record import LIN_2004, PAPINENI_2002, VEDANTAM_2015, Metric
from .registry import register


class TokenColumn(NamedTuple):
    """The result of a metric for the rows that have references."""

    corpus_score: float
    scores: Sequence[float] | Floats
    statistics: Statistics | None = None


#: From tokens of references and of one candidate per row, of which each has a reference, to each
#: column's scores in that order.
Scoring = Callable[[Tokens, Tokens, Progress], Sequence[TokenColumn]]


class TokenMetric(Scorer):
    """A metric of pycocoevalcap.

    Parameters
    ----------
    tokenization : Tokenization, optional
        If all metrics of a run share one, captions are tokenised only once.
    undefined : float
        Value of an undefined score: NaN, or a number such as 0 for scripts that take plain
        means.
    """

    # In a run: what scores its systems, and those of them that are still to come.
    _score: Scoring | None = None
    _coming: Sequence[Rows] = ()

    @constructor
    def __init__(
        self, tokenization: Tokenization | None = None, undefined: float = math.nan
    ) -> None:
        super().__init__(undefined)
        self._tokenization = Tokenization() if tokenization is None else tokenization

    def method(self) -> str:
        return self.columns[-1].name

    def signature(self, image_ids: Sequence[ImageId] | None = None) -> str:
        return self._pinned(f"tok:{self._tokenization.name}", package="pycocoevalcap")

    @contextmanager
    def in_run(self, systems: Sequence[Rows]) -> Iterator[Scorer]:
        # The captions of all systems are tokenised together.
        if self._score is not None:  # a run within a run
            yield self
            return
        with self._scoring() as score:
            scorer = copy.copy(self)
            scorer._score, scorer._coming = score, list(systems)
            yield scorer

    @abstractmethod
    def _scoring(self) -> AbstractContextManager[Scoring]:
        """Return what scores the systems of a run, one after the other."""

    def _evaluate(self, rows: Rows, on_progress: Progress) -> dict[str, Evaluation]:
        if self._score is None:
            with self.in_run([rows]) as scorer:
                return scorer._evaluate(rows, on_progress)
        done = 0

        def advance(scored: int) -> None:
            nonlocal done
            done += scored
            on_progress(scored)

        is_scored = np.array([len(references) > 0 for references in rows.references], dtype=bool)
        columns: Sequence[TokenColumn] = [TokenColumn(math.nan, [])] * len(self.columns)
        if is_scored.any():
            self._tokenization.prepare(self._ahead(rows))
            gts, res = map(self._tokenization.tokens, _captions(rows))
            scored = [key for key, references in gts.items() if references]
            columns = self._score(
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

    def _ahead(self, rows: Rows) -> list[Captions]:
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
    """Return scores or counts for all rows, NaN for those that have none."""
    spread = np.full((len(is_scored), *np.shape(rows)[1:]), np.nan)
    spread[is_scored] = rows
    return spread


class _NgramMetric(TokenMetric):
    """A metric that follows from the tokens that captions share with references."""

    #: From the references and one caption per row to scores, whose mean is the corpus score.
    _of_rows: Callable[[TokenizedReferences, TokenizedCaptions], Sequence[float] | Floats]

    def _columns(
        self, references: TokenizedReferences, captions: TokenizedCaptions
    ) -> list[TokenColumn]:
        """Return the metric's columns for one caption per row."""
        scores = self._of_rows(references, captions)
        return [TokenColumn(float(np.mean(scores)), scores)]

    def _scoring(self) -> AbstractContextManager[Scoring]:
        own = Numbered()  # where no run shares one

        def score(gts: Tokens, res: Tokens, _: Progress) -> Sequence[TokenColumn]:
            numbered = make_once(Numbered) or own
            return self._columns(*numbered.texts(gts.values(), res.values()))

        return nullcontext(score)


def _bleu(sums: Floats, n: int) -> Floats:
    """Return BLEU-n of summed counts, by pycocoevalcap's formula and with Python's powers."""
    product, penalties = _factors(sums, n)
    scores = [
        mean ** (1 / n) * math.exp(penalty)
        for mean, penalty in zip(product.ravel().tolist(), penalties.ravel().tolist(), strict=True)
    ]
    return np.array(scores).reshape(product.shape)


def _resampled_bleu(sums: Floats, n: int) -> Floats:
    """Return BLEU-n of very many sums, but for the last digits."""
    product, penalties = _factors(sums, n)
    return np.asarray(product ** (1 / n) * np.exp(penalties))


def _factors(sums: Floats, n: int) -> tuple[Floats, Floats]:
    """Return the product of the precisions, and the logarithm of the penalty for short captions."""
    small, tiny = 1e-9, 1e-15
    length, closest = sums[..., 0], sums[..., 1]
    product = np.ones(length.shape)
    for order in range(n):
        product = product * ((sums[..., 2 + order] + tiny) / (sums[..., 6 + order] + small))
    ratio = (length + tiny) / (closest + small)
    return product, np.minimum(1 - 1 / ratio, 0)


class Bleu(_NgramMetric):
    """BLEU with n-grams of up to 1, 2, 3 and 4 tokens (Papineni et al., ACL 2002).

    As one number it is BLEU-4.

    Parameters
    ----------
    tokenization : Tokenization, optional
        If all metrics of a run share one, captions are tokenised only once.
    undefined : float
        Value of an undefined score: NaN, or a number such as 0 for scripts that take plain
        means.

    Raises
    ------
    VifidelError
        If `undefined` is not a number.
    """

    columns = tuple(
        Column(f"Bleu_{n}", of_sums=partial(_resampled_bleu, n=n)) for n in range(1, ORDERS + 1)
    )

    def method(self) -> str:
        return "BLEU"

    def compute_score(  # type: ignore[override]  # so does pycocoevalcap's
        self, gts: Mapping[Any, Sequence[str]], res: Mapping[Any, Sequence[str]]
    ) -> tuple[list[float], list[list[float]]]:
        """Return the four corpus scores, and four lists of scores in the order of `gts`."""
        return self.by_column().compute_score(gts, res)

    def _columns(
        self, references: TokenizedReferences, captions: TokenizedCaptions
    ) -> list[TokenColumn]:
        counts = references.bleu_counts(captions)
        corpus = counts.sum(axis=0, keepdims=True)
        return [
            TokenColumn(
                _bleu(corpus, n)[0],
                _bleu(counts, n),
                Statistics(counts, partial(_resampled_bleu, n=n)),
            )
            for n in range(1, ORDERS + 1)
        ]


class RougeL(_NgramMetric):
    """ROUGE-L: the longest common subsequence (Lin, 2004).

    Parameters
    ----------
    tokenization : Tokenization, optional
        If all metrics of a run share one, captions are tokenised only once.
    undefined : float
        Value of an undefined score: NaN, or a number such as 0 for scripts that take plain
        means.

    Raises
    ------
    VifidelError
        If `undefined` is not a number.
    """

    columns = (Column("ROUGE_L"),)
    _of_rows = staticmethod(TokenizedReferences.rouge_l)


class Cider(_NgramMetric):
    """CIDEr-D: n-grams weighted by how few images' references have them (Vedantam et al., 2015).

    The references of the run are the corpus: the only image of a run always has 0.

    Parameters
    ----------
    tokenization : Tokenization, optional
        If all metrics of a run share one, captions are tokenised only once.
    undefined : float
        Value of an undefined score: NaN, or a number such as 0 for scripts that take plain
        means.

    Raises
    ------
    VifidelError
        If `undefined` is not a number.
    """

    columns = (Column("CIDEr"),)
    _of_rows = staticmethod(TokenizedReferences.cider)


def _register(scorer: type[_NgramMetric], name: str, summary: str, **more: Any) -> None:
    def make(settings: Settings) -> _NgramMetric:
        return scorer(settings.tokenization)

    register(Metric(name, summary, scorer, make, default=True, **more))


_register(
    Bleu,
    "BLEU",
    "Precision of n-grams of up to four tokens, with a penalty for short captions",
    rank=50,
    without_java=0.0,
    papers=(PAPINENI_2002,),
)
_register(
    RougeL,
    "ROUGE_L",
    "Longest common subsequence with a reference",
    rank=60,
    spellings=("ROUGE-L",),
    without_java=9e-7,
    papers=(LIN_2004,),
)
_register(
    Cider,
    "CIDEr",
    "n-grams shared with the references, weighted by how rare they are in the run (CIDEr-D)",
    rank=70,
    without_java=1.3e-6,
    papers=(VEDANTAM_2015,),
)
