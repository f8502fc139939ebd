"""The scores of some rows of a table under several metrics that read words alike."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..evaluation import Floats, Tally
from ..kernels.bags import Bags, bags_of_pieces, slices
from ..kernels.lexicon import Lexicon
from ..rows import Rows
from ..scorers.word_vectors import Gold, Part, Scored
from .metrics import TableMetric
from .rows import Statuses, TableRows
from .statuses import Status
from .texts import pieces_of


@dataclass(frozen=True, eq=False)
class RowScores:
    """What the metrics say of some rows.

    Attributes
    ----------
    scores : (rows, number of columns) float64
        Column after column, metric after metric, VIFIDEL's distance behind its score; NaN where
        there is none.
    statuses : (rows,) uint8
        Of `Status`.
    tallies : mapping
        What was read.
    """

    scores: Floats
    statuses: Statuses
    tallies: Mapping[str, Tally]


class Kernel:
    """Scores rows of tables.

    Parameters
    ----------
    metrics : sequence of TableMetric
        Whose scorers share a word space.
    weighted : bool
        Whether there are references.
    counts : bool
        Whether two dogs weigh more than one.
    max_words : int
        How many different words or labels a text or row may have.
    """

    def __init__(
        self, metrics: Sequence[TableMetric], weighted: bool, counts: bool, max_words: int
    ) -> None:
        self._metrics = metrics
        self._weighted = weighted
        self._counts = counts
        self._max_words = max_words
        self._space = metrics[0].scorer.space
        self._sees_objects = any(metric.sees_objects for metric in metrics)
        self._reads_texts = any(metric.scorer.reads_texts for metric in metrics)

    def signatures(self, objects: str) -> list[str]:
        """Return the signature of each metric; `objects` is what it says of the labels."""
        return [metric.scorer.signature_with(objects) for metric in self._metrics]

    def score(self, rows: TableRows) -> RowScores:
        """Return the scores of rows; each is scored as if it were alone."""
        return self._space.with_room(lambda lexicon: self._scored(lexicon, rows))

    def _scored(self, lexicon: Lexicon, rows: TableRows) -> RowScores:
        words, of_words = bags_of_pieces(lexicon, pieces_of(rows.captions))
        references, of_references = bags_of_pieces(lexicon, pieces_of(rows.references))
        objects, of_labels = rows.labels.bags(lexicon, self._counts)
        in_references = np.bincount(
            rows.row_of_reference, weights=references.sizes, minlength=len(rows)
        ).astype(np.int64)

        most, both = self._max_words, words.sizes + objects.sizes
        long_references = both * in_references > most * most
        long_references[rows.row_of_reference[references.sizes > most]] = True
        long_captions, long_labels = words.sizes > most, objects.sizes > most
        if (long_captions | long_references | long_labels).any():
            left = rows.too_long(long_captions, long_references, long_labels)
            return self._scored(lexicon, left)

        tallies = {"captions": of_words}
        if self._sees_objects:
            tallies["object labels"] = of_labels
        if self._weighted:
            tallies["references"] = of_references
        gold = Gold(lexicon, len(rows), objects, references, rows.row_of_reference, tallies)
        plain = rows.to_rows() if self._reads_texts else Rows([""] * len(rows), ())
        part = Part(plain, gold, words, of_words)
        scored = [
            self._of_metrics(part if end - start == len(rows) else _part(part, start, end))
            for start, end in slices(both * in_references + words.sizes * objects.sizes)
        ]
        of_metrics = [_together(of_metric) for of_metric in zip(*scored, strict=True)]
        return RowScores(*self._judged(rows, words, references, of_metrics), tallies)

    def _of_metrics(self, part: Part[Gold]) -> list[Scored]:
        """Return what each metric says of rows whose pairs of words fit into memory."""
        scorers = [metric.scorer for metric in self._metrics]
        golds = [scorer.prepare(part.gold, part.rows) for scorer in scorers]
        for scorer in scorers:
            part.gold.lexicon.numbers(scorer.further_words(part.rows))
        return [
            scorer.score_part(Part(part.rows, gold, part.words, part.of_words))
            for scorer, gold in zip(scorers, golds, strict=True)
        ]

    def _judged(
        self, rows: TableRows, words: Bags, references: Bags, of_metrics: Sequence[Scored]
    ) -> tuple[Floats, Statuses]:
        """Return the scores, NaN where a metric's own input is bad, and the status of each row."""
        statuses = rows.of_captions.copy()
        _raise(statuses, words.sizes == 0, Status.NO_WORDS)
        given, referenced = rows.labels.given, rows.referenced
        columns = []
        for metric, scored in zip(self._metrics, of_metrics, strict=True):
            wrong = rows.of_captions.copy()
            if metric.sees_objects:
                np.maximum(wrong, rows.of_labels, out=wrong)
            if self._weighted:  # all metrics read them
                np.maximum(wrong, rows.of_references, out=wrong)
            np.maximum(statuses, wrong, out=statuses)

            defined = scored.scores if scored.of_rows is None else scored.of_rows
            lacks = np.isnan(defined).any(axis=1)
            something = np.zeros(len(rows), dtype=bool)
            if metric.sees_objects:
                something |= given
                _raise(statuses, lacks & ~given, Status.NO_OBJECTS)
            if self._weighted and not metric.record.objects:
                something |= referenced
                _raise(statuses, lacks & ~something, Status.NO_REFERENCES)
            _raise(statuses, lacks & something, Status.NO_KNOWN_WORDS)
            if "unweighted" in scored.counts:
                _raise(statuses, scored.counts["unweighted"] > 0, Status.UNWEIGHTED)

            columns.append(np.where(wrong[:, None] > 0, np.nan, scored.scores))
            if scored.distances is not None:
                columns.append(np.where(wrong > 0, np.nan, scored.distances)[:, None])
        return np.concatenate(columns, axis=1), statuses


def _raise(statuses: Statuses, rows: NDArray[np.bool_], status: Status) -> None:
    """Make some statuses worse."""
    statuses[rows] = np.maximum(statuses[rows], np.uint8(status))


def _part(part: Part[Gold], start: int, end: int) -> Part[Gold]:
    rows, words = part.rows.part(start, end), part.words.part(start, end)
    return Part(rows, part.gold.part(start, end), words, part.of_words)


def _together(scored: Sequence[Scored]) -> Scored:
    """Return what a metric said of rows, part after part."""
    if len(scored) == 1:
        return scored[0]
    first = scored[0]
    return Scored(
        np.concatenate([some.scores for some in scored]),
        {key: np.concatenate([some.counts[key] for some in scored]) for key in first.counts},
        None if first.distances is None else np.concatenate([s.distances for s in scored]),
        None if first.of_rows is None else np.concatenate([s.of_rows for s in scored]),
    )
