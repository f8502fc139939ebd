"""Object labels of the rows of a table, whatever the shape of their column.

Labels are read as columns: Python touches every distinct label once, never a row.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute
from numpy.typing import NDArray

from ..annotations import clean_label, label_rows
from ..annotations.objects import HIGHEST_COUNT, HIGHEST_SCORE, LONGEST_NAME, NO_CATEGORY
from ..errors import AnnotationError, VifidelError
from ..evaluation import Integers, Tally
from ..kernels.bags import Bags, bags_of_entries
from ..kernels.lexicon import Lexicon
from .columns import Columns, is_list, is_text, lists, texts

_NAMES = ("label", "labels", "name", "names")
_SCORES = ("score", "scores", "confidence", "confidences")

# What a distinct label means where it is not the number of a name.
_SKIPPED, _UNUSABLE, _BAD = -1, -2, -3


class Shape(NamedTuple):
    """How a column holds labels.

    Attributes
    ----------
    numbers_are : {"", "scores", "counts"}
        What is beside each label.
    fields : tuple of str
        The fields of a struct, or of a map's entries, that hold the names and the numbers.
    parallel : bool
        Whether names and numbers are two lists of equal length rather than a list of pairs.
    """

    numbers_are: str = ""
    fields: tuple[str, ...] = ()
    parallel: bool = False


def shape_of(kind: Any, scores: Any = None, column: str = "labels") -> Shape:
    """Return how a column of this type holds labels.

    Parameters
    ----------
    kind : pyarrow.DataType
        The column's type: lists of strings, lists of structs with a label (or name) and a score
        (or confidence), structs of two such lists, or maps of label to count.
    scores : pyarrow.DataType, optional
        The type of the column of scores, where they are one of their own.
    column : str
        For messages.

    Raises
    ------
    VifidelError
        If it is none of these.
    """
    types = pa.types
    if types.is_null(kind):
        return Shape()
    if scores is not None:
        if is_list(kind) and is_text(kind.value_type) and _is_numbers(scores):
            return Shape("scores", parallel=True)
        raise VifidelError(
            f"the columns of labels and their scores are of types {kind} and {scores}; give a list "
            "of strings and a list of numbers per row."
        )
    if types.is_map(kind) and is_text(kind.key_type) and types.is_integer(kind.item_type):
        return Shape("counts", ("key", "value"))
    if is_list(kind) and is_text(kind.value_type):
        return Shape()
    struct = kind.value_type if is_list(kind) else kind
    if types.is_struct(struct):
        parallel, of_field = struct is kind, {field.name: field.type for field in struct}
        chosen = [next((n for n in names if n in of_field), "") for names in (_NAMES, _SCORES)]
        name, number = (of_field.get(field, struct) for field in chosen)
        if parallel and is_list(name) and is_text(name.value_type) and _is_numbers(number):
            return Shape("scores", tuple(chosen), parallel=True)
        if not parallel and is_text(name) and _is_number(number):
            return Shape("scores", tuple(chosen))
    raise VifidelError(
        f"the column {column!r} is of type {kind}; labels are a list of strings per row, a list of "
        "structs with label and score (or name and confidence), or a map of label to count."
    )


def holds_labels(kind: Any) -> bool:
    """Return whether a column of this type holds labels as `shape_of` knows them."""
    try:
        shape_of(kind)
    except VifidelError:
        return False
    return True


def _is_number(kind: Any) -> bool:
    types = pa.types
    checks = (types.is_integer, types.is_floating, types.is_decimal, types.is_null)
    return any(check(kind) for check in checks)


def _is_numbers(kind: Any) -> bool:
    return pa.types.is_null(kind) or (is_list(kind) and _is_number(kind.value_type))


@dataclass(frozen=True, eq=False)
class RowLabels:
    """The object labels of some rows.

    Attributes
    ----------
    rows : int
        How many rows.
    names : list of str
        Labels as `clean_label` returns them; one may be listed twice.
    labels : (number of entries,) int64
        Which of `names` each entry is.
    owners : (number of entries,) int64
        The row of each, not descending.
    amounts : (number of entries,) float64
        How often it is there; whole numbers.
    bad : (rows,) bool
        Rows that could not be read; they have no entries.
    denied, denied_in : (number of denied labels,) int64
        Which of `names` was looked for and is not there, and in which row; the place behind the
        last name stands for no label, in a row that only says that all others were looked for.
    """

    rows: int
    names: list[str]
    labels: Integers
    owners: Integers
    amounts: NDArray[np.float64]
    bad: NDArray[np.bool_]
    denied: Integers
    denied_in: Integers

    @property
    def given(self) -> NDArray[np.bool_]:
        """Whether each row has a label."""
        return np.bincount(self.owners, minlength=self.rows) > 0

    def more_than(self, most: int) -> NDArray[np.bool_]:
        """Return which rows have more than so many different labels, (rows,)."""
        entries = np.bincount(self.owners, minlength=self.rows)
        if entries.max(initial=0) <= most:
            return np.zeros(self.rows, dtype=bool)
        pairs = np.unique(self.owners * len(self.names) + self.labels)
        found: NDArray[np.bool_] = np.bincount(pairs // len(self.names), minlength=self.rows) > most
        return found

    def bags(self, lexicon: Lexicon, counts: bool) -> tuple[Bags, Tally]:
        """Return the bag of each row, as `bags_of_labels` does."""
        numbers = np.array(lexicon.numbers(self.names), dtype=np.int64)
        return bags_of_entries(
            lexicon, numbers[self.labels], self.owners, self.amounts, self.rows, counts
        )

    def mappings(self) -> list[dict[str, int]]:
        """Return label to count for each row."""
        rows: list[dict[str, int]] = [{} for _ in range(self.rows)]
        entries = zip(
            self.owners.tolist(), self.labels.tolist(), self.amounts.tolist(), strict=True
        )
        for owner, label, amount in entries:
            row, name = rows[owner], self.names[label]
            row[name] = row.get(name, 0) + int(amount)
        return rows

    def asked(self) -> list[frozenset[str] | None] | None:
        """Return what was looked for in each row that says it; None if no row does."""
        if not len(self.denied):
            return None
        labels: dict[int, set[str]] = {}
        for owner, label in zip(self.denied_in.tolist(), self.denied.tolist(), strict=True):
            labels.setdefault(owner, set()).update(self.names[label : label + 1])
        for owner, label in zip(self.owners.tolist(), self.labels.tolist(), strict=True):
            if owner in labels:
                labels[owner].add(self.names[label])
        return [frozenset(labels[row]) if row in labels else None for row in range(self.rows)]

    def without(self, rows: NDArray[np.bool_]) -> RowLabels:
        """Return the same without the entries of some rows."""
        kept, denied = ~rows[self.owners], ~rows[self.denied_in]
        return RowLabels(
            self.rows,
            self.names,
            self.labels[kept],
            self.owners[kept],
            self.amounts[kept],
            self.bad,
            self.denied[denied],
            self.denied_in[denied],
        )


def no_labels(rows: int) -> RowLabels:
    """Return the labels of rows of which nothing is known."""
    nothing = np.zeros(0, dtype=np.int64)
    bad = np.zeros(rows, dtype=bool)
    return RowLabels(rows, [], nothing, nothing, np.zeros(0), bad, nothing, nothing)


def read_row_labels(column: Any, scores: Any, threshold: float) -> RowLabels:
    """Return the labels of a column.

    A row is bad if a label is null, blank or has no word, a score is null, not from 0 to 1, a
    count is null, negative or above 2**53, or a label is both there and, with a count of 0, not, as
    `vifidel_eval.annotations.label_rows` has it.

    Parameters
    ----------
    column : pyarrow.Array
        Of a type that `shape_of` knows.
    scores : pyarrow.Array, optional
        Their scores, if they are a column of their own.
    threshold : float
        The lowest score that counts, compared in the precision of the scores: .7 of single
        precision is not below .7.
    """
    rows = len(column)
    shape = shape_of(column.type, None if scores is None else scores.type)
    sizes, names, numbers, bad = _entries(column, scores, shape)
    owners = np.repeat(np.arange(rows), sizes)
    words, meaning, places = _meanings(texts(names))
    labels = meaning[places]
    wrong = labels == _BAD
    kept = np.ones(len(labels), dtype=bool)
    amounts = np.ones(len(labels))
    if shape.numbers_are == "scores" and numbers is not None:
        kept, not_a_score = _from(numbers, threshold)
        wrong |= not_a_score
    elif shape.numbers_are == "counts":
        amounts = _floats(numbers)
        wrong |= ~((amounts >= 0) & (amounts <= HIGHEST_COUNT))
        kept = amounts > 0
        wrong |= (labels == _UNUSABLE) | _contradicted(words, labels, owners, kept)
    wrong |= kept & (labels == _UNUSABLE)
    if wrong.any():
        bad = bad | (np.bincount(owners[wrong], minlength=rows) > 0)
    denied = ~bad[owners] & (amounts == 0)
    names_denied = np.where(labels[denied] == _SKIPPED, len(words), labels[denied])
    kept &= labels >= 0
    if bad.any():
        kept &= ~bad[owners]
    not_there = names_denied, owners[denied]
    if kept.all():
        return RowLabels(rows, words, labels, owners, amounts, bad, *not_there)
    return RowLabels(rows, words, labels[kept], owners[kept], amounts[kept], bad, *not_there)


def _contradicted(
    words: list[str], labels: Integers, owners: Integers, there: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """Return which labels are both there and not there in their rows."""
    if there.all():
        return np.zeros(len(labels), dtype=bool)
    first: dict[str, int] = {}
    same = np.array([*(first.setdefault(w, at) for at, w in enumerate(words)), -1], np.int64)
    pairs = owners * (len(words) + 1) + same[np.maximum(labels, -1)]
    found: NDArray[np.bool_] = np.isin(pairs, pairs[there]) & ~there & (labels >= 0)
    return found


def _entries(column: Any, scores: Any, shape: Shape) -> tuple[Integers, Any, Any, Any]:
    """Return sizes, names and numbers of all rows, and which rows have not as many of both."""
    bad = np.zeros(len(column), dtype=bool)
    if shape.parallel:
        if scores is None:
            column, scores = (pa.compute.struct_field(column, field) for field in shape.fields)
        (sizes, names), (of_scores, numbers) = lists(column), lists(scores)
        bad = sizes != of_scores
        if bad.any():
            names = texts(names).filter(pa.array(np.repeat(~bad, sizes)))
            numbers = numbers.filter(pa.array(np.repeat(~bad, of_scores)))
            sizes = np.where(bad, 0, sizes)
        return sizes, names, numbers, bad
    if pa.types.is_map(column.type):
        kinds = zip(shape.fields, (column.type.key_type, column.type.item_type), strict=True)
        column = column.cast(pa.list_(pa.struct(list(kinds))))
    sizes, values = lists(column)
    if shape.fields:
        names, numbers = (pa.compute.struct_field(values, field) for field in shape.fields)
        return sizes, names, numbers, bad
    return sizes, values, None, bad


def _meanings(names: Any) -> tuple[list[str], Integers, Integers]:
    """Return what the distinct labels are called, what each means, and which one each entry is."""
    if pa.types.is_null(names.type):
        names = names.cast(pa.string())
    encoded = names.dictionary_encode()
    distinct: Sequence[str] = encoded.dictionary.to_pylist()
    words: list[str] = []
    meaning = np.full(len(distinct) + 1, _BAD)  # the last one is that of a null
    for at, name in enumerate(distinct):
        if not name.strip():
            continue
        if name == NO_CATEGORY:
            meaning[at] = _SKIPPED
            continue
        word = clean_label(name) if len(name) <= LONGEST_NAME else ""
        if not word:
            meaning[at] = _UNUSABLE
            continue
        meaning[at] = len(words)
        words.append(word)
    places = encoded.indices
    if places.null_count:
        places = places.fill_null(len(distinct))
    return words, meaning, places.to_numpy(zero_copy_only=False)


def _from(numbers: Any, threshold: float) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return which scores are not below the threshold, and which are no scores."""
    values = _floats(numbers)
    good = (values >= 0) & (values.astype(np.float64) <= HIGHEST_SCORE)
    return values >= values.dtype.type(threshold), ~good


def _floats(numbers: Any) -> Any:
    """Return numbers in their own precision if they are floating, else in double; null is NaN."""
    if not pa.types.is_floating(numbers.type):
        numbers = numbers.cast(pa.float64(), safe=False)
    return numbers.to_numpy(zero_copy_only=False)


def problem_of(columns: Columns, row: int, threshold: float) -> str:
    """Return what is wrong with the labels of a row."""
    columns = columns.part(row, 1)
    scores = None if columns.label_scores is None else columns.label_scores.type
    shape = shape_of(columns.labels.type, scores)
    try:
        labels = columns.labels[0].as_py()
        if shape.numbers_are == "counts":
            labels = dict(labels)
        elif shape.parallel:
            fields = [columns.labels[0], columns.label_scores and columns.label_scores[0]]
            if shape.fields:
                fields = [columns.labels[0][field] for field in shape.fields]
            names, numbers = (field.as_py() or [] for field in fields)
            if len(names) != len(numbers):
                return f"it has {len(names)} labels and {len(numbers)} scores of labels."
            labels = [list(pair) for pair in zip(names, numbers, strict=True)]
        label_rows([labels], threshold)
    except UnicodeDecodeError:
        return "one of its labels is not UTF-8 text."
    except AnnotationError as problem:
        return str(problem).removeprefix("row 0: ")
    return "its labels cannot be read."
