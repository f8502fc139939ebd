"""The rows of a table: read, scored under several metrics, and what is wrong with each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence, Sized
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ...annotations.instances import LabelRows
from ...captions.rows import MOST_CHARACTERS, Rows, answered, run_scope
from ...doors.arguments import as_python
from ...errors import AnnotationError, CaptionError, VifidelError
from ...evaluation import UNDECLARED, Floats, Integers
from ...io.containers import listed_in
from ...kernels.bags import Batch
from ...scorers.record import Metric
from ...scorers.registry import METRICS, named_failures
from ...scorers.word_vectors import Scored, WordVectorScorer
from ...words.settings import Settings
from ...words.word_vectors import Tally
from .columns import Columns, entries, spelt, split, texts

#: All statuses from best to worst: what is counted of every run, then why a score is undefined,
#: then what makes the row unusable.
STATUSES = (
    "ok",
    "unweighted",
    "no words",
    "no claim",  # of a caption: a refusal, empty, or only reasoning
    "nothing looked for",
    "no objects",  # no label
    "no references",
    "no known words",  # of labels and references, none has a vector
    "too long",  # a text, or more words, than is read
    "bad caption",  # is no text
    "bad labels",  # cannot be read
    "bad references",  # are not a list of texts
)

#: Keys of `vifidel_eval.evaluation.COUNTS` that are added up beside statuses.
COUNTED_OF_ROWS = ("unconfirmed", "judged_by_references", "reasoning", "around")

#: The place of each: 0 for ``"ok"``, higher for worse.
RANKS: Mapping[str, int] = {status: rank for rank, status in enumerate(STATUSES)}

# The metric whose transport distance stands behind its score.
_WITH_DISTANCE = "VIFIDEL"

#: The columns of a row that are no scores.
NO_SCORES = _DISTANCE, _STATUS = "distance", "status"

#: The places of statuses in `STATUSES`, (rows,).
Statuses = NDArray[np.uint8]
_Marks = NDArray[np.bool_]


def worsen(statuses: Statuses, rows: _Marks | Integers, status: str) -> None:
    """Give rows, which are marked or numbered, a status, unless theirs is worse."""
    statuses[rows] = np.maximum(statuses[rows], np.uint8(RANKS[status]))


class TableRows:
    """Rows of a table, read: `rows`, of about `size` bytes. What cannot be read is left out."""

    def __init__(
        self,
        columns: Columns,
        labels: Callable[[Columns], LabelRows],
        max_words: int,
        as_written: bool = False,
    ) -> None:
        number = len(columns)
        captions, references = _captions(columns.captions), _references(columns.references, number)
        # The status of each row, as a place in `STATUSES`, by what it is about.
        self.of_captions, self.of_references, self.of_labels = np.zeros((3, number), np.uint8)
        for row in [row for row, caption in enumerate(captions) if caption is None]:
            self.of_captions[row], captions[row] = RANKS["bad caption"], ""
        for row in [row for row, of_row in enumerate(references) if None in of_row]:
            self.of_references[row], references[row] = RANKS["bad references"], ()
        label_rows = labels(columns)
        #: Rows without evidence: not even *nothing was found* is said of their images.
        self.unlabelled = _nulls(columns.labels, number) & (_lengths(references) == 0)
        self._problems = label_rows.problems
        self.of_labels[list(label_rows.problems)] = RANKS["bad labels"]
        asked = list(label_rows.asked or ())
        says_asked = any(of_row is not None for of_row in asked)
        rows = Rows(
            captions, references, objects=[*label_rows.counts], asked=asked if says_asked else None
        )
        self.rows = rows if as_written else answered(rows)

        characters = _lengths(self.rows.captions)
        of_each, different = _lengths(chain.from_iterable(references)), _lengths(label_rows.counts)
        long = np.arange(number).repeat(_lengths(references))[of_each > MOST_CHARACTERS]
        self.size = int(characters.sum() + of_each.sum() + 8 * different.sum())
        self.leave_out(characters > MOST_CHARACTERS, long, different > max_words)

    def leave_out(
        self, captions: _Marks, references: _Marks | Integers, labels: _Marks | None = None
    ) -> None:
        """Leave out what is too long, given for each row."""
        for values, nothing, statuses, long in (
            (self.rows.captions, "", self.of_captions, captions),
            (self.rows.references, (), self.of_references, references),
            (self.rows.objects, {}, self.of_labels, labels),
        ):
            if long is not None:
                worsen(statuses, long, "too long")
                for row in np.arange(len(self.rows))[long].tolist():
                    values[row] = nothing  # type: ignore[index]
                    if self.rows.asked is not None and values is self.rows.objects:
                        self.rows.asked[row] = None  # type: ignore[index]

    def refuse(self, statuses: Statuses, first_row: int, max_words: int) -> None:
        """Raise a VifidelError for the first row that needs a change; `first_row` is the first."""
        bad = np.flatnonzero(statuses >= RANKS["too long"])
        if not len(bad):
            return
        row = int(bad[0])
        at, status = f"row {first_row + row}", STATUSES[statuses[row]]
        if status == "bad labels":
            raise AnnotationError(f"{at}: {self._problems[row]}")
        raise CaptionError(
            {
                "too long": f"{at}: it has a text of more than {MOST_CHARACTERS} characters, or "
                f"more than {max_words} different words or labels; shorten it.",
                "bad caption": f"{at}: the caption is neither a string nor a list of one; every "
                "row needs a caption.",
                "bad references": f"{at}: the references are not a list of strings.",
            }[status]
        )


def _lengths(values: Iterable[Sized]) -> Integers:
    return np.fromiter(map(len, values), np.int64)


def _nulls(column: Any, rows: int) -> _Marks:
    if column is None:
        return np.zeros(rows, dtype=bool)
    if isinstance(column, list):
        return np.array([value is None for value in column], dtype=bool)
    return np.asarray(column.is_null().to_numpy(zero_copy_only=False), dtype=bool)


def _captions(column: Any) -> list[Any]:
    """Return the text of each row, which a list of one may spell; None for what is no text."""

    def only(text: str) -> str | None:
        try:
            listed = listed_in(text, "", CaptionError, whole=False)
        except CaptionError:
            return None
        if listed is None:
            return text
        return spelt(listed[0]) if len(listed) == 1 else None

    values = map(spelt, column) if isinstance(column, list) else texts(column).to_pylist()
    return [only(text) if text and text[0] in "[( \t\n" else text for text in values]


def _references(column: Any, rows: int) -> list[Any]:
    """Return a list of texts for each row, with None for what is no text."""

    def listed(row: Any) -> list[str | None]:
        values = () if row is None else as_python(row)
        return list(map(spelt, values)) if isinstance(values, list | tuple) else [None]

    if column is None:
        return [()] * rows
    return list(map(listed, column)) if isinstance(column, list) else split(*entries(column))


@dataclass(frozen=True, eq=False)
class TableScores:
    """What `TableScorer.evaluate` returns of some rows."""

    fields: Any  #: a pyarrow.StructArray of the metrics' columns, ``distance``, ``status``
    statuses: Counter[str]  #: how many rows have each status
    tallies: Mapping[str, Tally]  #: of ``"captions"``, ``"references"``, ``"object labels"``
    #: By metric, (rows, k): counts from which corpus scores follow that are no means.
    counts: Mapping[str, Floats]
    #: By key of `COUNTED_OF_ROWS`, (rows,) int64: how many mentions of each row nobody looked for,
    #: whether its references alone judge it (VIFIDEL-H), and what else than the caption it had.
    counted: Mapping[str, Integers]


class RowScorer:
    """Scores rows, as structs of a `type`, with references if the settings are `weighted`."""

    def __init__(self, metrics: Sequence[str], settings: Settings, max_words: int) -> None:
        self._metrics: list[tuple[Metric, WordVectorScorer[Any]]] = []
        names: list[str] = []
        for record in map(METRICS.__getitem__, metrics):
            scorer = record.scorer_for(settings)
            if not isinstance(scorer, WordVectorScorer):
                raise VifidelError(
                    f"{record.name} declares that it scores tables, but is not a "
                    "WordVectorScorer; leave tables=True out of its record."
                )
            self._metrics.append((record, scorer))
            names += [column.name.replace("-", "_") for column in record.columns]
            names += [_DISTANCE] if record.name == _WITH_DISTANCE else []
        self.type = pa.struct([*((name, pa.float64()) for name in names), (_STATUS, pa.string())])
        self._weighted, self._max_words = settings.weighted, max_words

    @property
    def scorers(self) -> dict[str, WordVectorScorer[Any]]:
        """The scorers by the names of their metrics."""
        return {record.name: scorer for record, scorer in self._metrics}

    def signatures(self, objects: str) -> list[str]:
        """Return the signature of each metric; `objects` is what it says of the labels."""
        return [scorer.signature_with(objects) for _, scorer in self._metrics]

    def score(self, table: TableRows, strict_from: int | None = None) -> TableScores:
        """Return the scores of rows, each as if it were alone; `strict_from` is for `refuse`."""
        statuses = table.of_captions.copy()
        worsen(statuses, np.array(table.rows.claims_nothing, dtype=bool), "no claim")
        counted = {key: np.zeros(len(table.rows), dtype=np.int64) for key in COUNTED_OF_ROWS}
        columns: list[Floats] = []
        counts: dict[str, Floats] = {}
        tallies: dict[str, Tally] = {}
        with run_scope():  # metrics read words alike: each text is read once
            for record, scorer in self._metrics:
                part = scorer.read(table.rows)
                if self._leaves_out(table, part):
                    part = scorer.read(table.rows)
                worsen(statuses, part.words.sizes == 0, "no words")
                tallies = {"captions": part.word_tally, **part.image_side.tallies, **tallies}
                with named_failures(record.name, record.module):
                    scored = scorer.scored(part)
                wrong = self._judge(statuses, record, scored, table)
                scores = scored.scores
                if record.name == _WITH_DISTANCE and scored.distances is not None:
                    scores = np.column_stack([scores, scored.distances])
                columns.extend(map(np.ascontiguousarray, np.where(wrong, np.nan, scores.T)))
                if scored.of_rows is not None:
                    counts[record.name] = np.where(wrong[:, None], np.nan, scored.of_rows)
                for key, numbers in counted.items():
                    np.maximum(numbers, scored.counts.get(key, 0), out=numbers)
        for row, answer in enumerate(table.rows.answers or ()):
            for key in answer.left_out if answer is not None else ():
                counted[key][row] = 1
        if strict_from is not None:
            table.refuse(statuses, strict_from, self._max_words)
        kinds = ("captions", "object labels", *(["references"] if self._weighted else []))
        arrays = [pa.array(column, mask=np.isnan(column)) for column in columns]
        arrays.append(pa.DictionaryArray.from_arrays(statuses, STATUSES).dictionary_decode())
        return TableScores(
            pa.StructArray.from_arrays(arrays, fields=list(self.type)),
            Counter(map(STATUSES.__getitem__, statuses.tolist())),
            {kind: tallies[kind] for kind in kinds if kind in tallies},
            counts,
            counted,
        )

    def _leaves_out(self, table: TableRows, part: Batch[Any]) -> bool:
        """Leave out what has too many words for transport, and return whether there was any."""
        max_words, words, side = self._max_words, part.words.sizes, part.image_side
        references, row_of_reference = side.references.sizes, side.row_of_reference
        of_rows = np.bincount(row_of_reference, weights=references, minlength=len(words))
        long = (words + _lengths(table.rows.objects or ())) * of_rows > max_words * max_words
        long[row_of_reference[references > max_words]] = True
        table.leave_out(words > max_words, long)
        return bool((long | (words > max_words)).any())

    def _judge(
        self, statuses: Statuses, record: Metric, scored: Scored, table: TableRows
    ) -> _Marks:
        """Worsen statuses by what a metric says; return which rows have a bad input of its own."""
        sees_objects = record.objects or record.either
        wrong = table.of_captions.copy()
        if sees_objects:
            np.maximum(wrong, table.of_labels, out=wrong)
        if self._weighted:  # all metrics read them
            np.maximum(wrong, table.of_references, out=wrong)
        np.maximum(statuses, wrong, out=statuses)

        defined = scored.scores if scored.of_rows is None else scored.of_rows
        lacks = np.asarray(np.isnan(defined).any(axis=1))
        something = nothing = np.zeros(len(lacks), dtype=np.bool_)
        if sees_objects:
            lacks |= table.unlabelled
            something = _lengths(table.rows.objects or ()) > 0
            worsen(statuses, lacks & ~something, "no objects")
        if self._weighted and not record.objects:
            something = something | (_lengths(table.rows.references) > 0)
            worsen(statuses, lacks & ~something, "no references")
        undeclared = scored.counts.get(UNDECLARED, nothing).astype(np.bool_)
        worsen(statuses, undeclared, "nothing looked for")
        claims = ~np.array(table.rows.claims_nothing, dtype=bool)
        worsen(statuses, lacks & something & ~undeclared & claims, "no known words")
        worsen(statuses, scored.counts.get("unweighted", nothing).astype(np.bool_), "unweighted")
        return np.asarray((wrong > 0) | (sees_objects & table.unlabelled))
