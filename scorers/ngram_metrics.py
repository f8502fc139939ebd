"""BLEU, ROUGE-L and CIDEr: pycocoevalcap's numbers, from n-grams that a run counts once.

pycocoevalcap counts the n-grams of the references again for each system and metric. Here
`vifidel_eval.kernels.ngrams` counts them once in a run. Tests compare all numbers with stock
runs.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import Any

import numpy as np

from ..evaluation import Column, Floats, Statistics
from ..io.caches import of_run
from ..kernels.ngrams import ORDERS, Numbered, TokenizedCaptions, TokenizedReferences
from ..words.tokenization import Tokens
from .base import Progress
from .companion import Companion, CompanionColumn, Scoring, shared_tokenization
from .papers import LIN_2004, PAPINENI_2002, VEDANTAM_2015
from .record import Metric
from .registry import register


class _NgramMetric(Companion):
    """A metric that follows from the tokens that captions share with references."""

    @abstractmethod
    def _columns(
        self, references: TokenizedReferences, captions: TokenizedCaptions
    ) -> list[CompanionColumn]:
        """Return the metric's columns for one caption per row."""

    def _scoring(self) -> AbstractContextManager[Scoring]:
        own = Numbered()  # where no run shares one

        def score(gts: Tokens, res: Tokens, _: Progress) -> Sequence[CompanionColumn]:
            numbered = of_run(Numbered) or own
            return self._columns(*numbered.texts(gts.values(), res.values()))

        return nullcontext(score)


def _bleu(sums: Floats, n: int) -> Floats:
    """Return BLEU-n of summed counts, by pycocoevalcap's formula.

    Powers and exponentials are Python's, as there: the last digits of NumPy's can differ.
    """
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
    """

    columns = tuple(
        Column(f"Bleu_{n}", of_sums=partial(_resampled_bleu, n=n)) for n in range(1, ORDERS + 1)
    )

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
        return self.by_column().compute_score(gts, res)

    def _columns(
        self, references: TokenizedReferences, captions: TokenizedCaptions
    ) -> list[CompanionColumn]:
        counts = references.bleu_counts(captions)
        corpus = counts.sum(axis=0, keepdims=True)
        return [
            CompanionColumn(
                _bleu(corpus, n)[0],
                _bleu(counts, n),
                Statistics(counts, partial(_resampled_bleu, n=n)),
            )
            for n in range(1, ORDERS + 1)
        ]


class RougeL(_NgramMetric):
    """ROUGE-L: the longest common subsequence (Lin, 2004)."""

    columns = (Column("ROUGE_L"),)

    def _columns(
        self, references: TokenizedReferences, captions: TokenizedCaptions
    ) -> list[CompanionColumn]:
        scores = references.rouge_l(captions)
        return [CompanionColumn(float(np.mean(scores)), scores)]


class Cider(_NgramMetric):
    """CIDEr-D: n-grams weighted by how few images' references have them (Vedantam et al., 2015).

    The references of the run are the corpus: an image alone in its run always gets 0.
    """

    columns = (Column("CIDEr"),)

    def _columns(
        self, references: TokenizedReferences, captions: TokenizedCaptions
    ) -> list[CompanionColumn]:
        scores = references.cider(captions)
        return [CompanionColumn(float(np.mean(scores)), scores)]


register(
    Metric(
        "BLEU",
        "Precision of n-grams of up to four tokens, with a penalty for short captions",
        Bleu,
        lambda settings: Bleu(shared_tokenization(settings)),
        rank=50,
        default=True,
        without_java=0.0,
        papers=(PAPINENI_2002,),
    )
)
register(
    Metric(
        "ROUGE_L",
        "Longest common subsequence with a reference",
        RougeL,
        lambda settings: RougeL(shared_tokenization(settings)),
        rank=60,
        spellings=("ROUGE-L",),
        default=True,
        without_java=9e-7,
        papers=(LIN_2004,),
    )
)
register(
    Metric(
        "CIDEr",
        "n-grams shared with the references, weighted by how rare they are in the run (CIDEr-D)",
        Cider,
        lambda settings: Cider(shared_tokenization(settings)),
        rank=70,
        default=True,
        without_java=1.3e-6,
        papers=(VEDANTAM_2015,),
    )
)
