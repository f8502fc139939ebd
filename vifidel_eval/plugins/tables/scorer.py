"""The metrics on the columns of a table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from ...annotations import DETECTION_THRESHOLD, ObjectSource, read_objects
from ...annotations.categories import Declared, read_declared
from ...annotations.instances import LabelRows
from ...doors.arguments import check_thresholds, check_whole, name_wrong_argument
from ...errors import VifidelError
from ...io.files import first_line
from ...scorers.registry import METRICS, parse
from ...scorers.word_vectors import MOST_DIFFERENT, WordVectorScorer
from ...words.content_words import STOP_WORDS
from ...words.settings import Settings
from ...words.synonyms import ClassList
from ...words.word_vectors import VectorSource, WordVectors, add_tallies
from ..pytorch import PickledArguments
from .columns import (
    Columns,
    as_column,
    check_buffers,
    column_of,
    field_of,
    is_ids,
    is_references,
    is_text,
    table_of,
)
from .labels import PAIRED, PARALLEL, ObjectsById, read_labels, shape_of
from .rows import STATUSES, RowScorer, TableRows, TableScores

__all__ = ["STATUSES", "TableScorer", "TableScores"]

# So many rows are read at once, and fewer where their texts are longer than this (in bytes).
_ROWS_AT_ONCE, _BYTES_AT_ONCE = 1024, 1 << 19


class TableScorer(PickledArguments):
    """Scores the rows of a table: a caption, the labels of its image, possibly references.

    Rows have no ids and do not depend on each other, and a row that cannot be scored has a status
    and does not stop the others. Scores are those of `Scorer.score`, bit for bit: a row is its own
    source of objects, and its labels alone decide what can be absent. Several threads can use it,
    and its pickle has only its settings.

    Parameters
    ----------
    metrics : collection of str
        VIFIDEL, VIFIDEL-PRF, VIFIDEL-H and, from references, WMD, WMD-worst and WMD-mean.
    things, only_things : path or ClassList, optional
        More names of things for VIFIDEL-PRF, VIFIDEL-H and VIFIDEL-D; and names instead of the
        package's own. The labels of a row are names in that row.
    strict : bool
        Whether a faulty row (``"too long"`` and worse) raises an error.
    max_words : int
        How many different words a text, and how many different labels a row may have. The pairs
        of a row's words and labels with those of its references may be as many as its square.
    captions, labels, label_scores, references : str, optional
        The columns that `__call__` and `evaluate` read; None if the table does not have them.
        Scores of labels are compared with the threshold in the precision of their column.
    objects : optional
        What the images show, as `vifidel_eval.annotations.read_objects` takes it, looked up by
        `id_column`, instead of a column of labels.
    id_column : str
        The column of image ids, for `objects`.
    vectors : path, str, WordVectors or KeyedVectors, optional
        Word vectors, as `vifidel_eval.vectors.load_vectors` takes them; by default those that are
        embedded.
    threshold : float, optional
        The lowest detection score that counts; by default .6, and .4 for Open Images.
    stop_words : collection of str
        Words that are left out of captions; by default English ones.
    p : 1 or 2, optional
        The exponent of the distances between words; by default 2, and 1 for WMD.
    normalize : bool
        Whether word vectors are scaled to length 1.
    counts : bool
        Whether two dogs weigh more than one.
    looked_for : str, path or collection of str, optional
        What was looked for in every image, if the objects do not say it: ``"coco"``, ``"voc"``,
        ``"all"`` (what is not listed is not there), a file with one label per line, or labels.
    uncertain : float, optional
        The score below which a thing that was asked about is not in the image; between this and
        `threshold`, it is not judged. By default it is `threshold`.
    as_written : bool
        Whether answers are scored as they are written, with reasoning, announcements and refusals.
        By default these are left out and counted; docs/captions.md has the rule.

    Attributes
    ----------
    metrics : tuple of str
        The names of the metrics, in the order of their columns.
    vectors : WordVectors
        The word vectors.
    columns : Columns
        The names of the columns.

    Raises
    ------
    VifidelError
        If an argument is not as described; a VectorsError if the vectors cannot be read.

    Examples
    --------
    >>> rows = TableScorer(metrics=("VIFIDEL-PRF",))
    >>> scores = rows.score(["a dog", "a cat"], [["dog"], []])
    >>> scores.field("status").to_pylist()
    ['ok', 'no objects']
    """

    @name_wrong_argument
    def __init__(
        self,
        metrics: Collection[str] = ("VIFIDEL",),
        *,
        things: ClassList | str | None = None,
        only_things: ClassList | str | None = None,
        strict: bool = False,
        max_words: int = MOST_DIFFERENT,
        captions: str = "caption",
        labels: str | None = "labels",
        label_scores: str | None = None,
        references: str | None = None,
        objects: ObjectSource | None = None,
        id_column: str = "image_id",
        vectors: VectorSource = None,
        threshold: float | None = None,
        stop_words: Collection[str] = STOP_WORDS,
        p: int | None = None,
        normalize: bool = True,
        counts: bool = True,
        looked_for: Declared = None,
        uncertain: float | None = None,
        as_written: bool = False,
    ) -> None:
        self._uncertain = uncertain
        self._threshold = DETECTION_THRESHOLD if threshold is None else threshold
        check_thresholds(self._threshold, uncertain)
        check_whole(1, max_words=max_words)
        self.metrics = _metric_names(metrics)
        self._by_id: ObjectsById | None = None
        self.columns = Columns(captions, labels, label_scores, references)
        # What has to be read is read, and what is wrong refused, here.
        self._settings = Settings(
            vectors=vectors,
            stop_words=stop_words,
            p=p,
            normalize=normalize,
            counts=counts,
            looked_for=looked_for,
            as_written=as_written,
            options={"things": things, "only_things": only_things},
        )
        declared: Any = read_declared(looked_for)
        if objects is not None:
            self.columns = Columns(captions, references=references, image_ids=id_column)
            source = read_objects(objects, threshold, uncertain=uncertain)
            self._by_id = ObjectsById(source, id_column)
            declared = declared or source.categories or None
        self.vectors: WordVectors = self._settings.words["vectors"]
        self._settings = replace(self._settings, vectors=self.vectors, looked_for=declared)
        self._strict, self._max_words = strict, max_words
        self._scorers: dict[bool, RowScorer] = {}
        self._scorer(references is not None)

    def _scorer(self, weighted: bool) -> RowScorer:
        """Return what scores rows with references, or rows without."""
        if weighted not in self._scorers:
            settings = replace(self._settings, references=weighted, weighted=weighted)
            self._scorers[weighted] = RowScorer(self.metrics, settings, self._max_words)
        return self._scorers[weighted]

    @property
    def type(self) -> Any:
        """The pyarrow.StructType of what `score` returns.

        Each metric's columns (hyphens become underscores), behind VIFIDEL's own its ``distance``,
        and last ``status``.
        """
        return self._scorer(self.columns.references is not None).type

    @property
    def scorers(self) -> Mapping[str, WordVectorScorer[Any]]:
        """The scorers by the names of their metrics."""
        return self._scorer(self.columns.references is not None).scorers

    def signature(self, schema: Any = None) -> str:
        """Return one line that pins everything that changes the numbers, of each metric.

        The objects are ``rows``, or ``rows>=0.6`` if labels have scores: if `label_scores` names
        their column or, given the pyarrow.Schema of the table, if the type of its labels says so.
        """
        if self._by_id is not None:
            objects = self._by_id.objects.signature()
        else:
            scored = self.columns.label_scores is not None
            if schema is not None and self.columns.labels is not None and not scored:
                kind = field_of(schema, self.columns.labels).type
                scored = shape_of(kind, column=self.columns.labels) in (PAIRED, PARALLEL)
            objects = LabelRows((), self._threshold if scored else None).signature()
        return "; ".join(self._scorer(self.columns.references is not None).signatures(objects))

    def score(
        self, captions: Any, labels: Any = None, references: Any = None, label_scores: Any = None
    ) -> Any:
        """Return the scores of rows as a column.

        Parameters
        ----------
        captions : array or sequence of str
            The candidates.
        labels : array or sequence, optional
            The labels of each row's image: lists of strings; lists of structs with ``label`` (or
            ``name``) and ``score`` (or ``confidence``); a struct of two such lists; maps of label
            to count, where 0 says that it was looked for and is not there. Sequences may hold
            what `vifidel_eval.annotations.label_rows` takes.
        references, label_scores : array or sequence of lists, optional
            The references of each row's image; the scores of labels that are not beside them.

        Returns
        -------
        pyarrow.StructArray
            Of `type`; scores are null metric by metric, never NaN.

        Raises
        ------
        VifidelError
            If a column is of a wrong type or length, or what a metric needs is missing; with
            `strict`, if a row needs a change.
        """
        beside = label_scores is not None
        arguments = {
            "captions": as_column(captions, "captions", is_text),
            "labels": as_column(labels, "labels", None if beside else shape_of, "strings"),
            "label_scores": as_column(label_scores, "label_scores", members="numbers"),
            "references": as_column(references, "references", is_references),
        }
        columns = Columns(**arguments)
        self._check(columns, Columns(**{name: name for name in arguments}))
        for name, column in arguments.items():
            if column is not None and len(column) != len(columns):
                raise VifidelError(
                    f"there are {len(columns)} captions and {len(column)} rows of {name}; give one "
                    "per caption."
                )
        return self._evaluated(columns).fields

    def evaluate(self, batch: Any, first_row: int = 0) -> TableScores:
        """Return the scores of the rows of a pyarrow.RecordBatch or Table with what was counted.

        It raises what `check` raises and, with `strict`, a VifidelError if a row needs a change, by
        its number; `first_row` is that of the first.
        """
        self.check(batch.schema)
        columns = self.columns.each(partial(column_of, batch))
        if self._by_id is not None:
            columns = replace(columns, image_ids=self._by_id.matched(columns.image_ids))
        return self._evaluated(columns, first_row)

    def __call__(self, batch: Any) -> Any:
        """Return a RecordBatch, Table or DataFrame with the fields of `type` added."""
        table = table_of(batch)
        added = self.evaluate(table).fields.flatten()
        if hasattr(batch, "assign"):  # pandas, whose index stays
            columns = [column.to_numpy(zero_copy_only=False) for column in added]
            return batch.assign(**dict(zip(self.type.names, columns, strict=True)))
        schema = pa.schema([*table.schema, *self.type], table.schema.metadata)
        scored = type(table).from_arrays([*table.columns, *added], schema=schema)
        return scored if batch is table else type(batch)(scored)

    def check(self, schema: Any) -> None:
        """Raise a VifidelError if a pyarrow.Schema lacks a column, or has one that would be added.

        Columns of wrong types raise, too.
        """
        repeated = [field.name for field in self.type if field.name in schema.names]
        if repeated:
            raise VifidelError(
                f"the table already has a column {repeated[0]!r}, to which scores would be "
                "written; rename or drop it."
            )

        def field(name: str) -> Any:
            try:
                return field_of(schema, name)
            except VifidelError as problem:
                if name != self.columns.labels:
                    raise
                raise VifidelError(
                    f"{str(problem).rstrip('.')}; name the column of object labels (--labels, "
                    "labels=...), or give a file of them (--objects, objects=...)."
                ) from None

        self._check(self.columns.each(field), self.columns)

    def _check(self, columns: Columns, names: Columns) -> None:
        """Check the types of columns or fields, by their names, and that metrics have theirs."""
        no_labels = columns.labels is None and columns.image_ids is None
        for name in self.metrics:
            record = METRICS[name]
            if record.references and columns.references is None:
                raise VifidelError(f"{name} needs references; name their column.")
            if record.objects and no_labels:
                raise VifidelError(f"{name} needs object labels; name their column.")
            if record.either and no_labels and columns.references is None:
                raise VifidelError(f"{name} needs object labels or references; name a column.")
        for field, fits, rule in (
            ("captions", is_text, "captions are strings"),
            ("references", is_references, "references are a list of strings per row"),
            ("image_ids", is_ids, "image ids are text or whole numbers"),
        ):
            kind = getattr(getattr(columns, field), "type", None)
            if kind is not None and not fits(kind):
                name = getattr(names, field)
                raise VifidelError(f"the column {name!r} is of type {kind}; {rule}.")
        if columns.labels is not None:
            scores = None if columns.label_scores is None else columns.label_scores.type
            shape_of(columns.labels.type, scores, names.labels)
        elif columns.label_scores is not None:
            raise VifidelError(
                f"{names.label_scores!r} holds the scores of labels, but no column holds labels; "
                "name it."
            )

    def _evaluated(self, columns: Columns, first_row: int = 0) -> TableScores:
        for name, column in vars(columns).items():
            try:
                if isinstance(column, pa.Array | pa.ChunkedArray):
                    check_buffers(column)
            except pa.ArrowException as problem:
                raise VifidelError(
                    f"the column of {name.replace('_', ' ')} is damaged ({first_line(problem)}); "
                    "write it again."
                ) from None
        parts = list(self._scores(columns, first_row))
        return TableScores(
            pa.concat_arrays([part.fields for part in parts]),
            sum((part.statuses for part in parts), Counter()),
            add_tallies(part.tallies for part in parts),
            {
                name: np.concatenate([part.counts[name] for part in parts])
                for name in parts[0].counts
            },
            {
                name: np.concatenate([part.counted[name] for part in parts])
                for name in parts[0].counted
            },
        )

    def _scores(self, columns: Columns, first_row: int) -> Iterator[TableScores]:
        """Yield the scores of some rows at a time, of no rows at once."""
        scorer = self._scorer(columns.references is not None)
        start, size = 0, _ROWS_AT_ONCE
        while start < len(columns) or not start:
            part = columns.part(start, size)
            rows = TableRows(part, self._labels, self._max_words, self._settings.as_written)
            while rows.size > _BYTES_AT_ONCE and len(part) > 1:
                part = part.part(0, len(part) // 2)
                rows = TableRows(part, self._labels, self._max_words, self._settings.as_written)
            yield scorer.score(rows, first_row + start if self._strict else None)
            start += len(part) or 1
            size = min(2 * len(part), _ROWS_AT_ONCE)

    def _labels(self, part: Columns) -> LabelRows:
        if self._by_id is not None and part.image_ids is not None:
            return self._by_id.read(part.image_ids)
        labels = [None] * len(part) if part.labels is None else part.labels
        return read_labels(labels, part.label_scores, self._threshold, self._uncertain)

    def __repr__(self) -> str:
        return f"<TableScorer {', '.join(self.metrics)}>"


def _metric_names(metrics: Collection[str]) -> tuple[str, ...]:
    """Return metrics in their own spelling, each once; all are known and score tables."""
    names: list[str] = []
    for name in [metrics] if isinstance(metrics, str) else metrics:
        if not isinstance(name, str):
            raise VifidelError(f"metrics are names, not {name!r:.40}.")
        names += parse(name)
    unfit = next((name for name in names if name not in METRICS.of_tables()), None)
    if unfit is None and names:
        return tuple(dict.fromkeys(names))
    METRICS.load()  # the error names those of other packages too
    names_of_metrics = ", ".join(METRICS.of_tables())
    if unfit is None:
        raise VifidelError(f"name at least one metric: {names_of_metrics}.")
    raise VifidelError(f"{unfit} does not score tables; these do: {names_of_metrics}.")
