"""Object labels of the rows of a table, whatever the shape of their column."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute

from ...annotations import label_rows
from ...annotations.labels import CLEAN, HIGHEST_COUNT, HIGHEST_SCORE, LONGEST_NAME, NO_CATEGORY
from ...captions.rows import Asked, LabelCounts
from ...errors import AnnotationError, VifidelError
from ...evaluation import Integers
from .arrow_columns import entries, in_precision_of, is_list, is_text, split

_NAME_FIELDS = ("label", "labels", "name", "names")
_SCORE_FIELDS = ("score", "scores", "confidence", "confidences")


class Shape(NamedTuple):
    """How a column holds labels.

    `numbers_are` is ``"scores"``, ``"counts"`` or empty: what is beside each label. `fields` are
    those of a struct, or of a map's entries, with the names and the numbers. `parallel` says that
    these are two lists of equal length rather than a list of pairs.
    """

    numbers_are: str = ""
    fields: tuple[str, ...] = ()
    parallel: bool = False


def shape_of(kind: Any, scores: Any = None, column: str = "labels") -> Shape:
    """Return how a column of this type holds labels.

    `scores` is the type of their scores, where these are a column of their own; `column` is what
    messages call the labels.

    Raises
    ------
    VifidelError
        If it does not.
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
        fields = tuple(
            next((name for name in names if name in of_field), "")
            for names in (_NAME_FIELDS, _SCORE_FIELDS)
        )
        name, number = (of_field.get(field, struct) for field in fields)
        if parallel and is_list(name) and is_text(name.value_type) and _is_numbers(number):
            return Shape("scores", fields, parallel=True)
        if not parallel and is_text(name) and _is_number(number):
            return Shape("scores", fields)
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


class ImageLabels(NamedTuple):
    """The labels of a row with their counts, where it may say what was looked for."""

    counts: LabelCounts
    asked: Asked = None


class RowLabels:
    """The labels of some rows with their counts, empty until `put` says them.

    Of those that say it, `asked` has what was looked for, and of those that cannot be read,
    `problems` what is wrong.
    """

    def __init__(self, rows: int) -> None:
        self.counts: list[LabelCounts] = [{}] * rows
        self.asked: list[Asked] = [None] * rows
        self.problems: dict[int, str] = {}

    def put(self, rows: Iterable[int], found: Iterable[ImageLabels | AnnotationError]) -> None:
        """Take the labels of some rows, or why they cannot be read."""
        for row, labels in zip(rows, found, strict=True):
            if isinstance(labels, AnnotationError):
                self.problems[row] = str(labels)
            else:
                self.counts[row], self.asked[row] = labels


def read_labels(column: Any, scores: Any, threshold: float, uncertain: float | None) -> RowLabels:
    """Return the labels of rows as `label_rows` reads them.

    `column` is an array of a type that `shape_of` knows, `Values`, or what `ObjectsById` has read.
    Scores may be a column of their own, and the lowest that counts is compared in their precision.
    Most rows of an array are counted together; those with anything unusual are left to
    `label_rows`.
    """
    read = RowLabels(len(column))
    if not isinstance(column, list):
        _read_array(read, column, scores, threshold)
    elif all(isinstance(value, ImageLabels | AnnotationError) for value in column):
        read.put(range(len(column)), column)
    else:
        rows = [[] if value is None else value for value in column]
        read.put(range(len(rows)), _annotated(rows, threshold, uncertain))
    return read


def _read_array(read: RowLabels, column: Any, scores: Any, threshold: float) -> None:
    shape = shape_of(column.type, None if scores is None else scores.type)
    parts = _parts(column, scores, shape)
    (names, sizes), (numbers, of_numbers) = parts[0], parts[-1]
    threshold = in_precision_of(numbers.type, threshold)
    owners = np.arange(len(column)).repeat(sizes)
    labels, places = _cleaned(names)
    usual = np.array([label != "" for label in labels])[places]
    there, amounts = usual, np.ones(len(names), np.int64)
    if not np.array_equal(sizes, of_numbers):
        odd = np.ones(len(column), dtype=bool)
    else:
        if shape.numbers_are == "scores":
            of_names = numbers.to_numpy(zero_copy_only=False).astype(np.float64)
            usual = usual & (of_names >= 0) & (of_names <= HIGHEST_SCORE)
            there = of_names >= threshold
        elif shape.numbers_are == "counts":  # 0 says that it was looked for and is not there
            amounts = numbers.fill_null(0).to_numpy(zero_copy_only=False)
            usual = usual & (amounts >= 0) & (amounts <= HIGHEST_COUNT)
            usual &= numbers.is_valid().to_numpy(zero_copy_only=False)
            there = amounts > 0
        odd = np.bincount(owners[~usual], minlength=len(column)) > 0

    counted = there & ~odd[owners]
    found: list[dict[str, int]] = [{} for _ in range(len(column))]
    counts_of = map(found.__getitem__, owners[counted].tolist())
    label_of = map(labels.__getitem__, places[counted].tolist())
    for counts, label, amount in zip(counts_of, label_of, amounts[counted].tolist(), strict=True):
        counts[label] = counts.get(label, 0) + amount
    read.counts[:] = found

    not_there: dict[int, set[str]] = {}
    denied = (amounts == 0) & ~odd[owners]
    for row, place in zip(owners[denied].tolist(), places[denied].tolist(), strict=True):
        not_there.setdefault(row, set()).add(labels[place])
    for row, of_row in not_there.items():
        read.asked[row] = frozenset(of_row.union(found[row]))
        odd[row] = not of_row.isdisjoint(found[row])  # a contradiction

    rows = np.flatnonzero(odd).tolist()
    if rows:
        listed = [split(*part) for part in parts]
        values = [_as_annotated(column, row, [part[row] for part in listed], shape) for row in rows]
        read.put(rows, _annotated(values, threshold))


def _parts(column: Any, scores: Any, shape: Shape) -> list[tuple[Any, Integers]]:
    """Return the names of all rows, and the numbers if there are any, as `entries` does."""
    if shape.parallel:
        both = [column, scores]
        if scores is None:
            both = [pa.compute.struct_field(column, field) for field in shape.fields]
        return list(map(entries, both))
    if shape.numbers_are == "counts":
        kinds = (column.type.key_type, column.type.item_type)
        column = column.cast(pa.list_(pa.struct(list(zip(shape.fields, kinds, strict=True)))))
    return [entries(column, field) for field in shape.fields or ("",)]


def _cleaned(names: Any) -> tuple[list[str], Integers]:
    """Return different names as labels, and which one each entry is.

    What is no label, or no category, is an empty one.
    """
    encoded = names.dictionary_encode()
    labels = [
        CLEAN[name] if name != NO_CATEGORY and len(name) <= LONGEST_NAME else ""
        for name in encoded.dictionary.to_pylist()
    ]
    places = encoded.indices.fill_null(len(labels)).to_numpy(zero_copy_only=False)
    return [*labels, ""], places


def _annotated(
    rows: Sequence[Any], threshold: float, uncertain: float | None = None
) -> list[ImageLabels | AnnotationError]:
    """Return what `label_rows` says of rows; those that it refuses are found by halving."""
    try:
        read = label_rows(rows, threshold, uncertain)
    except AnnotationError as problem:
        if len(rows) > 1:
            half = len(rows) // 2
            parts = (rows[:half], rows[half:])
            return [labels for part in parts for labels in _annotated(part, threshold, uncertain)]
        if isinstance(rows[0], AnnotationError):
            return [rows[0]]
        return [AnnotationError(str(problem).removeprefix("row 0: "))]
    return list(map(ImageLabels, read.counts, read.asked or [None] * len(rows)))


def _as_annotated(column: Any, row: int, parts: Sequence[list[Any]], shape: Shape) -> Any:
    """Return a row as `label_rows` takes it, or an AnnotationError."""
    names, numbers = parts[0], parts[-1]
    if None in names:
        try:
            column[row].as_py()
        except UnicodeDecodeError:
            return AnnotationError("one of its labels is not UTF-8 text.")
    if not shape.numbers_are:
        return names
    if len(names) != len(numbers):
        return AnnotationError(f"it has {len(names)} labels and {len(numbers)} scores of labels.")
    if shape.numbers_are == "counts":
        return _mapping(names, numbers)
    if shape.parallel:
        return list(map(list, zip(names, numbers, strict=True)))
    return list(map(_detection, names, numbers))


def _detection(name: str | None, score: float | None) -> Any:
    """Return a label with its score; what is missing stays missing."""
    if score is None:
        return None if name is None else {"label": name}
    return name, score


def _mapping(names: list[str], numbers: list[int]) -> Any:
    """Return a mapping of label to count; of a map that has a key twice, both count."""
    counts: dict[str, int] = {}
    for name, number in zip(names, numbers, strict=True):
        if name in counts:
            both = (counts[name], number)
            contrary = name != NO_CATEGORY and (not both[0]) != (not both[1])
            if None in both or min(both) < 0 or contrary:
                return AnnotationError("its labels cannot be read.")
            counts[name] = sum(both) if all(both) else 0
        else:
            counts[name] = number
    return counts
