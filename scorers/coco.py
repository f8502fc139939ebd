"""pycocoevalcap's own metrics: its numbers, without what makes it stop or shift rows.

All take captions as written and tokenise them alike. On captions without line breaks the numbers
are those of ``COCOEvalCap``, to the last digit. An image without references has no score: NaN.
METEOR and SPICE, which need Java, have files of their own.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pycocoevalcap.bleu.bleu_scorer import BleuScorer
from pycocoevalcap.cider.cider import Cider as HostCider
from pycocoevalcap.rouge.rouge import Rouge as HostRouge

from ..errors import CaptionError
from ..evaluation import Column, Evaluation, Floats, Statistics
from ..image_ids import ImageId
from ..rows import Rows, coco_rows
from ..text.tokenization import Tokenization, Tokens
from .base import Progress, Scorer
from .papers import LIN_2004, PAPINENI_2002, VEDANTAM_2015
from .record import Metric


class HostColumn(NamedTuple):
    """What a metric says of the images that have references."""

    corpus_score: float
    scores: Sequence[float]
    statistics: Statistics | None = None


class HostMetric(Scorer):
    """A metric of pycocoevalcap.

    Parameters
    ----------
    tokenization : Tokenization, optional
        Give all metrics of a run the same one, and captions are tokenised once.
    undefined : float
        What stands for the score of an image without references.
    """

    #: The names of the metric's scores, as pycocoevalcap writes them.
    _names: ClassVar[tuple[str, ...]]

    def __init__(
        self, tokenization: Tokenization | None = None, undefined: float = math.nan
    ) -> None:
        super().__init__(undefined)
        self._tokenization = Tokenization() if tokenization is None else tokenization

    def method(self) -> str:
        return self._names[-1]

    @property
    def columns(self) -> tuple[Column, ...]:
        return tuple(map(Column, self._names))

    def signature(self, image_ids: Sequence[ImageId] | None = None) -> str:
        return self._pinned(f"tok:{self._tokenization.name}", package="pycocoevalcap")

    def _evaluate(self, rows: Rows, on_progress: Progress) -> dict[str, Evaluation]:
        done = 0

        def advance(scored: int) -> None:
            nonlocal done
            done += scored
            on_progress(scored)

        gts = dict(zip(rows.keys, rows.references, strict=True))
        res = {key: [caption] for key, caption in zip(rows.keys, rows.captions, strict=True)}
        is_scored = np.array([len(references) > 0 for references in rows.references], dtype=bool)
        columns: Sequence[HostColumn] = [HostColumn(math.nan, [])] * len(self._names)
        if is_scored.any():
            of_references = self._tokenization.references(gts)
            of_candidates = self._tokenization.candidates(res)
            scored = [key for key, references in gts.items() if references]
            columns = self._score(
                {key: of_references[key] for key in scored},
                {key: of_candidates[key] for key in scored},
                advance,
            )
        advance(len(rows) - done)
        signature = self.signature()
        return {
            name: Evaluation(
                rows.ids,
                _spread(column.scores, is_scored),
                corpus_score=float(column.corpus_score),
                statistics=column.statistics
                and replace(
                    column.statistics, of_rows=_spread(column.statistics.of_rows, is_scored)
                ),
                signature=signature,
            )
            for name, column in zip(self._names, columns, strict=True)
        }

    @abstractmethod
    def _score(self, gts: Tokens, res: Tokens, on_progress: Progress) -> Sequence[HostColumn]:
        """Return each column, with its scores of the images in the order of `gts`.

        There is at least one image, and each has a reference.
        """


def _spread(rows: Sequence[float] | Floats, is_scored: NDArray[np.bool_]) -> Floats:
    """Return rows for all images, NaN where an image has none."""
    spread = np.full((len(is_scored), *np.shape(rows)[1:]), np.nan)
    spread[is_scored] = rows
    return spread


class Bleu(HostMetric):
    """BLEU with n-grams of up to 1, 2, 3 and 4 tokens (Papineni et al., ACL 2002).

    As one number it is BLEU-4.
    """

    _names = ("Bleu_1", "Bleu_2", "Bleu_3", "Bleu_4")

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
        columns = self.evaluate(coco_rows(gts, res)).values()
        return [column.score for column in columns], [column.scores.tolist() for column in columns]

    def _score(self, gts: Tokens, res: Tokens, on_progress: Progress) -> Sequence[HostColumn]:
        scorer = BleuScorer(n=4)
        for image_id, references in gts.items():
            scorer += (res[image_id][0], references)
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


# pycocoevalcap's ROUGE-L keeps a table of them: 200 MB.
_MOST_PAIRS = 25_000_000


class RougeL(HostMetric):
    """ROUGE-L: the longest common subsequence (Lin, 2004)."""

    _names = ("ROUGE_L",)

    def _score(self, gts: Tokens, res: Tokens, on_progress: Progress) -> Sequence[HostColumn]:
        for image_id, references in gts.items():
            tokens = len(res[image_id][0].split())
            longest = max((len(reference.split()) for reference in references), default=0)
            if tokens * longest > _MOST_PAIRS:
                raise CaptionError(
                    f"image {image_id!r}: ROUGE-L compares every token of the caption ({tokens}) "
                    f"with every token of a reference ({longest}); at most {_MOST_PAIRS} such "
                    "pairs are compared: shorten one of them."
                )
        corpus_score, row = HostRouge().compute_score(gts, res)
        return [HostColumn(corpus_score, row)]


class Cider(HostMetric):
    """CIDEr-D: n-grams weighted by how few images' references have them (Vedantam et al., 2015).

    The references of the run are the corpus: an image alone in its run always gets 0.
    """

    _names = ("CIDEr",)

    def _score(self, gts: Tokens, res: Tokens, on_progress: Progress) -> Sequence[HostColumn]:
        if not any(reference.split() for references in gts.values() for reference in references):
            # pycocoevalcap gives 0 to an image whose references have no token, but fails where
            # that is so for all images.
            return [HostColumn(0.0, [0.0] * len(gts))]
        corpus_score, row = HostCider().compute_score(gts, res)
        return [HostColumn(corpus_score, row)]


BLEU = Metric(
    "BLEU",
    "Precision of n-grams of up to four tokens, with a penalty for short captions",
    tuple(map(Column, Bleu._names)),
    lambda settings: Bleu(settings.tokenization),
    default=True,
    papers=(PAPINENI_2002,),
)
ROUGE_L = Metric(
    "ROUGE_L",
    "Longest common subsequence with a reference",
    tuple(map(Column, RougeL._names)),
    lambda settings: RougeL(settings.tokenization),
    spellings=("ROUGE-L",),
    default=True,
    papers=(LIN_2004,),
)
CIDER = Metric(
    "CIDEr",
    "n-grams shared with the references, weighted by how rare they are in the run (CIDEr-D)",
    tuple(map(Column, Cider._names)),
    lambda settings: Cider(settings.tokenization),
    default=True,
    papers=(VEDANTAM_2015,),
)
