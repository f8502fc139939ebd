"""The base of pycocoevalcap's metrics: their tokens, and which rows have references.

An image without references has no score: NaN.
"""

from __future__ import annotations

import copy
import math
from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from ..captions.rows import Rows
from ..doors.arguments import constructor
from ..evaluation import Evaluation, Floats
from ..io.image_ids import ImageId
from ..words.tokenization import MOST_TOGETHER, Captions, Tokenization, Tokens
from .base import Progress, Scorer

#: From tokens of references and of one candidate per row, of which each has a reference, to the
#: evaluation of each column, with a corpus score.
Scoring = Callable[[Tokens, Tokens, Progress], Sequence[Evaluation]]


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

    # In a run: what scores its systems, and the systems whose captions are not tokenised yet.
    _score: Scoring | None = None
    _waiting: Sequence[Rows] = ()

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
            scorer._score, scorer._waiting = score, list(systems)
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
        nothing = Evaluation((), np.empty(0), corpus_score=math.nan)
        columns: Sequence[Evaluation] = [nothing] * len(self.columns)
        if is_scored.any():
            self._tokenization.prepare(self._next_captions(rows))
            gts, res = map(self._tokenization.tokens, _captions(rows))
            scored = [key for key, references in gts.items() if references]
            columns = self._score(
                {key: gts[key] for key in scored}, {key: res[key] for key in scored}, advance
            )
        advance(len(rows) - done)
        return {
            column.name: replace(
                e,
                ids=rows.ids,
                scores=_spread(e.scores, is_scored),
                statistics=e.statistics
                and replace(e.statistics, of_rows=_spread(e.statistics.of_rows, is_scored)),
            )
            for column, e in zip(self.columns, columns, strict=True)
        }

    def _next_captions(self, rows: Rows) -> list[Captions]:
        """Return the captions to tokenise together with those of `rows`: each is returned once."""
        if not any(system is rows for system in self._waiting):
            return []
        sizes = accumulate(
            len(system) + sum(map(len, system.references)) for system in self._waiting
        )
        number = max(1, sum(size <= MOST_TOGETHER for size in sizes))
        together, self._waiting = self._waiting[:number], self._waiting[number:]
        return [captions for system in together for captions in _captions(system)]


def _captions(rows: Rows) -> tuple[Captions, Captions]:
    """Return the references and the candidate of each row, as pycocoevalcap has them."""
    keys = rows.keys
    return (
        dict(zip(keys, rows.references, strict=True)),
        {key: [caption] for key, caption in zip(keys, rows.captions, strict=True)},
    )


def _spread(rows: Floats, is_scored: NDArray[np.bool_]) -> Floats:
    """Return scores or counts for all rows, NaN for those that have none."""
    spread = np.full((len(is_scored), *np.shape(rows)[1:]), np.nan)
    spread[is_scored] = rows
    return spread
