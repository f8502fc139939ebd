"""The scores of some rows of a table under several metrics that read words alike."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial, reduce
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import VifidelError
from ..evaluation import Floats, Integers, Tally
from ..kernels.bags import bags_of_captions, slices
from ..kernels.lexicon import Lexicon
from ..rows import Rows
from ..scorers.record import Metric, Settings
from ..scorers.registry import METRICS
from ..scorers.word_vectors import Gold, Part, Scored, WordVectorScorer
from .rows import TableRows
from .statuses import Statuses, worsen

#: The metric whose transport distance stands behind its score.
WITH_DISTANCE = "VIFIDEL"


class _TableMetric(NamedTuple):
    """A metric and what the registry says of it."""

    record: Metric
    scorer: WordVectorScorer[Any]

    @property
    def sees_objects(self) -> bool:
        """Whether it reads the labels of a row."""
        return self.record.objects or self.record.either


@dataclass(frozen=True, eq=False)
class RowScores:
    """What metrics say of some rows.

    Attributes
    ----------
    scores : mapping
        Each metric's columns, (rows, number of columns), VIFIDEL's distance behind its score; NaN
        where there is none.
    counts : mapping
        Metrics to `Scored.of_rows`, where a corpus score follows from them; NaN where scores are
        for want of input.
    statuses : (rows,) uint8
        Places in `STATUSES`.
    tallies : mapping
        What was read.
    not_judged : (rows,) int64
        How many mentions of each row nobody looked for.
    """

    scores: Mapping[str, Floats]
    counts: Mapping[str, Floats]
    statuses: Statuses
    tallies: Mapping[str, Tally]
    not_judged: Integers


class Kernel:
    """Scores rows of tables.

    Parameters
    ----------
    metrics : sequence of str
        What is computed.
    settings : Settings
        What the metrics are made from; `weighted` says whether there are references.
    max_words : int
        How many different words or labels a text or row may have.
    """

    def __init__(self, metrics: Sequence[str], settings: Settings, max_words: int) -> None:
        self._metrics: list[_TableMetric] = []
        for record in map(METRICS.__getitem__, metrics):
            scorer = record.make(settings)
            if not isinstance(scorer, WordVectorScorer):
                raise VifidelError(
                    f"{record.name} says that it scores tables, and is no WordVectorScorer; leave "
                    "tables=True out of its record."
                )
            self._metrics.append(_TableMetric(record, scorer))
        self._settings = settings
        self._max_words = max_words
        # VIFIDEL on raw vectors has another word space than VIFIDEL-PRF.
        spaces = dict.fromkeys(metric.scorer.space for metric in self._metrics)
        self._of_spaces = {s: [m for m in self._metrics if m.scorer.space is s] for s in spaces}

    def signatures(self, objects: str) -> list[str]:
        """Return the signature of each metric; `objects` is what it says of the labels."""
        return [metric.scorer.signature_with(objects) for metric in self._metrics]

    def score(self, rows: TableRows) -> RowScores:
        """Return the scores of rows; each is scored as if it were alone."""
        found = [
            space.with_room(partial(self._scored, metrics, rows))
            for space, metrics in self._of_spaces.items()
        ]
        return RowScores(
            ChainMap(*(dict(some.scores) for some in found)),
            ChainMap(*(dict(some.counts) for some in found)),
            reduce(np.maximum, [some.statuses for some in found]),
            ChainMap(*(dict(some.tallies) for some in found)),
            reduce(np.maximum, [some.not_judged for some in found]),
        )

    def _scored(
        self, metrics: Sequence[_TableMetric], rows: TableRows, lexicon: Lexicon
    ) -> RowScores:
        words, of_words = bags_of_captions(lexicon, rows.captions)
        references, of_references = bags_of_captions(lexicon, rows.references)
        objects, of_labels = rows.labels.bags(lexicon, self._settings.counts)
        in_references = np.bincount(
            rows.row_of_reference, weights=references.sizes, minlength=len(rows)
        ).astype(np.int64)

        most, both = self._max_words, words.sizes + objects.sizes
        long_references = both * in_references > most * most
        long_references[rows.row_of_reference[references.sizes > most]] = True
        long_captions, long_labels = words.sizes > most, objects.sizes > most
        if (long_captions | long_references | long_labels).any():
            left = rows.without(long_captions, long_references, long_labels)
            return self._scored(metrics, left, lexicon)

        tallies = {"captions": of_words}
        if any(metric.sees_objects for metric in metrics):
            tallies["object labels"] = of_labels
        if self._settings.weighted:
            tallies["references"] = of_references
        gold = Gold(lexicon, len(rows), objects, references, rows.row_of_reference, tallies)
        reads_texts = any(metric.scorer.reads_texts for metric in metrics)
        plain = rows.to_rows() if reads_texts else Rows([""] * len(rows), ())
        part = Part(plain, gold, words, of_words)
        of_parts = [
            _of_metrics(metrics, part if end - start == len(rows) else _part(part, start, end))
            for start, end in slices(both * in_references + words.sizes * objects.sizes)
        ]
        of_metrics = [_together(of_metric) for of_metric in zip(*of_parts, strict=True)]
        judged = zip(metrics, of_metrics, strict=True)
        not_judged = np.zeros(len(rows), dtype=np.int64)
        for scored in of_metrics:
            not_judged = np.maximum(not_judged, scored.counts.get("not_judged", 0))
        return RowScores(*self._judged(rows, words.sizes == 0, judged), tallies, not_judged)

    def _judged(
        self,
        rows: TableRows,
        speechless: NDArray[np.bool_],
        of_metrics: Iterable[tuple[_TableMetric, Scored]],
    ) -> tuple[dict[str, Floats], dict[str, Floats], Statuses]:
        """Return the first three of `RowScores`: NaN where a metric's own input is bad."""
        statuses = rows.of_captions.copy()
        worsen(statuses, speechless, "no words")
        given, referenced = rows.labels.given, rows.referenced
        columns, counts = {}, {}
        for metric, scored in of_metrics:
            name = metric.record.name
            wrong = rows.of_captions.copy()
            if metric.sees_objects:
                np.maximum(wrong, rows.of_labels, out=wrong)
            if self._settings.weighted:  # all metrics read them
                np.maximum(wrong, rows.of_references, out=wrong)
            np.maximum(statuses, wrong, out=statuses)

            defined = scored.scores if scored.of_rows is None else scored.of_rows
            lacks = np.isnan(defined).any(axis=1)
            something = np.zeros(len(rows), dtype=bool)
            if metric.sees_objects:
                something |= given
                worsen(statuses, lacks & ~given, "no objects")
            if self._settings.weighted and not metric.record.objects:
                something |= referenced
                worsen(statuses, lacks & ~something, "no references")
            undeclared = np.zeros(len(rows), dtype=bool)
            if "nothing_looked_for" in scored.counts:
                undeclared = scored.counts["nothing_looked_for"] > 0
                worsen(statuses, undeclared, "nothing looked for")
            worsen(statuses, lacks & something & ~undeclared, "no known words")
            if "unweighted" in scored.counts:
                worsen(statuses, scored.counts["unweighted"] > 0, "unweighted")

            scores = scored.scores
            if name == WITH_DISTANCE and scored.distances is not None:
                scores = np.column_stack([scores, scored.distances])
            columns[name] = np.where(wrong[:, None] > 0, np.nan, scores)
            if scored.of_rows is not None:
                counts[name] = np.where(wrong[:, None] > 0, np.nan, scored.of_rows)
        return columns, counts, statuses


def _of_metrics(metrics: Sequence[_TableMetric], part: Part[Gold]) -> list[Scored]:
    """Return what each metric says of rows whose pairs of words fit into memory."""
    scorers = [metric.scorer for metric in metrics]
    golds = [scorer.prepare(part.gold, part.rows) for scorer in scorers]
    for scorer in scorers:
        part.gold.lexicon.numbers(scorer.further_words(part.rows))
    return [
        scorer.score_part(Part(part.rows, gold, part.words, part.of_words))
        for scorer, gold in zip(scorers, golds, strict=True)
    ]


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
        {
            key: np.concatenate(
                [some.counts.get(key, np.zeros(len(some.scores), np.int64)) for some in scored]
            )
            for key in dict.fromkeys(key for some in scored for key in some.counts)
        },
        None if first.distances is None else np.concatenate([s.distances for s in scored]),
        None if first.of_rows is None else np.concatenate([s.of_rows for s in scored]),
    )
