"""BLEU, ROUGE-L and CIDEr by pycocoevalcap's numbers.

On captions without line breaks the numbers are those of ``COCOEvalCap``, to the last digit, and a
run counts the n-grams of its references once.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import Any

import numpy as np

from ...captions.rows import make_once
from ...evaluation import Column, Evaluation, Floats, Statistics
from ...scorers.base import Progress
from ...scorers.record import LIN_2004, PAPINENI_2002, VEDANTAM_2015, Metric
from ...scorers.registry import register
from ...scorers.token_metric import Scoring, TokenMetric
from ...words.settings import Settings
from ...words.tokenization import Tokens
from .counts import ORDERS, Numbered, TokenizedCaptions, TokenizedReferences


class _NgramMetric(TokenMetric):
    """A metric that follows from the tokens that captions share with references."""

    #: From the references and one caption per row to scores, whose mean is the corpus score.
    _of_rows: Callable[[TokenizedReferences, TokenizedCaptions], Sequence[float] | Floats]

    def _columns(
        self, ids: Sequence[Any], references: TokenizedReferences, captions: TokenizedCaptions
    ) -> list[Evaluation]:
        """Return the metric's columns for one caption per row."""
        scores = np.array(self._of_rows(references, captions))
        return [Evaluation(ids, scores, corpus_score=float(np.mean(scores)))]

    def _scoring(self) -> AbstractContextManager[Scoring]:
        of_call = Numbered()  # where no run shares one

        def score(gts: Tokens, res: Tokens, _: Progress) -> Sequence[Evaluation]:
            numbered = make_once(Numbered) or of_call
            return self._columns(list(gts), *numbered.texts(gts.values(), res.values()))

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
        self, ids: Sequence[Any], references: TokenizedReferences, captions: TokenizedCaptions
    ) -> list[Evaluation]:
        counts = references.bleu_counts(captions)
        corpus = counts.sum(axis=0, keepdims=True)
        return [
            Evaluation(
                ids,
                _bleu(counts, n),
                corpus_score=float(_bleu(corpus, n)[0]),
                statistics=Statistics(counts, partial(_resampled_bleu, n=n)),
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


def _register(scorer: type[_NgramMetric], name: str, summary: str, **fields: Any) -> None:
    def make(settings: Settings) -> _NgramMetric:
        return scorer(settings.tokenization)

    register(Metric(name, summary, scorer, make, **fields))


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
