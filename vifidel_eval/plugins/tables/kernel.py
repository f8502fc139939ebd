"""The scores of some rows of a table under several metrics that read words alike."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...errors import VifidelError
from ...evaluation import COUNTED_OF_ROWS, Floats, Integers, Tally
from ...kernels.bags import Gold, Part, bags_of_captions, bags_of_labels
from ...kernels.lexicon import Lexicon
from ...scorers.record import Metric, Settings
from ...scorers.registry import METRICS, named_failures
from ...scorers.word_vectors import Scored, WordVectorScorer
from .table_rows import Statuses, TableRows, worsen

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
    """What metrics say of some rows; see `TableScores` for what is called the same.

    `statuses` are places in `STATUSES`. `scores` has each metric's columns, (rows, number of
    columns), VIFIDEL's distance behind its score, and `counts` the `Scored.of_rows` from which a
    corpus score follows; both are NaN where a metric's own input is bad. `counted` has the rows'
    `COUNTED_OF_ROWS`.
    """

    statuses: Statuses
    counted: dict[str, Integers]
    scores: dict[str, Floats] = field(default_factory=dict)
    counts: dict[str, Floats] = field(default_factory=dict)
    tallies: dict[str, Tally] = field(default_factory=dict)


class Kernel:
    """Scores rows of tables under metrics that are made from settings.

    `weighted` of the settings says whether there are references; a text or row may have at most
    `max_words` different words or labels.
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
        counted = {key: np.zeros(len(rows.rows), dtype=np.int64) for key in COUNTED_OF_ROWS}
        found = RowScores(rows.of_captions.copy(), counted)
        for space, metrics in self._of_spaces.items():
            space.with_room(partial(self._add, found, metrics, rows))
        return found

    def _add(
        self,
        found: RowScores,
        metrics: Sequence[_TableMetric],
        table: TableRows,
        lexicon: Lexicon,
    ) -> None:
        """Add what metrics of one word space say; a second time it changes nothing."""
        rows = table.rows
        words, of_words = bags_of_captions(lexicon, rows.captions)
        references, of_references = bags_of_captions(lexicon, chain.from_iterable(rows.references))
        objects, of_labels = bags_of_labels(lexicon, rows.objects or (), self._settings.counts)
        sizes = np.fromiter(map(len, rows.references), np.int64, len(rows))
        row_of_reference = np.arange(len(rows)).repeat(sizes)
        in_references = np.bincount(
            row_of_reference, weights=references.sizes, minlength=len(rows)
        ).astype(np.int64)

        most = self._max_words
        long_references = (words.sizes + objects.sizes) * in_references > most * most
        long_references[row_of_reference[references.sizes > most]] = True
        long_captions, long_labels = words.sizes > most, objects.sizes > most
        if (long_captions | long_references | long_labels).any():
            table.leave_out(long_captions, long_references, long_labels)
            self._add(found, metrics, table, lexicon)
            return

        found.tallies["captions"] = of_words
        if any(metric.sees_objects for metric in metrics):
            found.tallies["object labels"] = of_labels
        if self._settings.weighted:
            found.tallies["references"] = of_references
        worsen(found.statuses, words.sizes == 0, "no words")
        gold = Gold(lexicon, len(rows), objects, references, row_of_reference, found.tallies)
        # All metrics prepare before the first scores, so that the lexicon is full then or not.
        golds = [metric.scorer.prepare(gold, rows) for metric in metrics]
        for metric in metrics:
            lexicon.numbers(metric.scorer.further_words(rows))
        for metric, of_metric in zip(metrics, golds, strict=True):
            with named_failures(metric.record.name, metric.record.module):
                scored = metric.scorer.scored(Part(rows, of_metric, words, of_words))
            self._judge(found, metric, scored, table, sizes > 0)

    def _judge(
        self,
        found: RowScores,
        metric: _TableMetric,
        scored: Scored,
        table: TableRows,
        referenced: NDArray[np.bool_],
    ) -> None:
        """Add what a metric says; NaN where its own input is bad."""
        statuses, name = found.statuses, metric.record.name
        given = np.fromiter(map(bool, table.rows.objects or ()), bool, len(table.rows))
        wrong = table.of_captions.copy()
        if metric.sees_objects:
            np.maximum(wrong, table.of_labels, out=wrong)
        if self._settings.weighted:  # all metrics read them
            np.maximum(wrong, table.of_references, out=wrong)
        np.maximum(statuses, wrong, out=statuses)

        defined = scored.scores if scored.of_rows is None else scored.of_rows
        lacks = np.asarray(np.isnan(defined).any(axis=1))
        something = undeclared = np.zeros(len(lacks), dtype=np.bool_)
        if metric.sees_objects:
            something = something | given
            worsen(statuses, lacks & ~given, "no objects")
        if self._settings.weighted and not metric.record.objects:
            something = something | referenced
            worsen(statuses, lacks & ~something, "no references")
        if "nothing_looked_for" in scored.counts:
            undeclared = scored.counts["nothing_looked_for"] > 0
            worsen(statuses, undeclared, "nothing looked for")
        worsen(statuses, lacks & something & ~undeclared, "no known words")
        if "unweighted" in scored.counts:
            worsen(statuses, scored.counts["unweighted"] > 0, "unweighted")
        for key, numbers in found.counted.items():
            np.maximum(numbers, scored.counts.get(key, 0), out=numbers)

        scores = scored.scores
        if name == WITH_DISTANCE and scored.distances is not None:
            scores = np.column_stack([scores, scored.distances])
        found.scores[name] = np.where(wrong[:, None] > 0, np.nan, scores)
        if scored.of_rows is not None:
            found.counts[name] = np.where(wrong[:, None] > 0, np.nan, scored.of_rows)
