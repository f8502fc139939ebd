"""Object labels of the rows of a table, whatever the shape of their column."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute

from ..annotations import clean_label, label_rows
from ..annotations.objects import HIGHEST_COUNT, HIGHEST_SCORE, LONGEST_NAME, NO_CATEGORY
from ..errors import AnnotationError, VifidelError
from ..rows import Asked, LabelCounts
from .arrow_columns import in_precision_of, is_list, is_text, lists

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


class LabelReader:
    """Reads the labels of rows as `vifidel_eval.annotations.label_rows` does.

    Most rows hold names alone that have been read before: those are looked up.

    The column is an array of a type that `shape_of` knows, or `Values`; its scores may be a column
    of their own. The lowest score that counts is compared in the precision of the scores.
    """

    def __init__(self, column: Any, scores: Any, threshold: float, uncertain: float | None) -> None:
        self._column, self._threshold, self._uncertain = column, threshold, uncertain
        self._shape = Shape()
        self._cleaned: dict[str, str] = {}
        self._values = column if isinstance(column, list) else self._values_of(scores)

    def _values_of(self, scores: Any) -> list[Any]:
        """Return the names of each row, or its pairs of a name and a number."""
        column = self._column
        shape = self._shape = shape_of(column.type, None if scores is None else scores.type)
        if not shape.numbers_are:
            return lists(column)
        if shape.parallel:
            if scores is None:
                column, scores = (pa.compute.struct_field(column, of) for of in shape.fields)
            kind = scores.type.value_type if is_list(scores.type) else scores.type
            names, numbers = lists(column), lists(scores)
        else:
            if shape.numbers_are == "counts":
                kinds = (column.type.key_type, column.type.item_type)
                fields = list(zip(shape.fields, kinds, strict=True))
                column = column.cast(pa.list_(pa.struct(fields)))
            kind = column.type.value_type.field(shape.fields[1]).type
            names, numbers = (lists(column, field) for field in shape.fields)
        self._threshold = in_precision_of(kind, self._threshold)
        return list(map(_pairs, names, numbers))

    def read(self) -> list[LabelCounts | ImageLabels | AnnotationError]:
        """Return the labels of each row with their counts, or why they cannot be read."""
        readers: dict[str, Callable[[Any], dict[str, int]]] = {
            "": self._of_names,
            "scores": self._of_scores,
            "counts": self._of_counts,
        }
        of_known = readers[self._shape.numbers_are]
        found: list[LabelCounts | ImageLabels | AnnotationError] = []
        for row, value in enumerate(self._values):
            try:
                found.append(of_known(value))
            except (LookupError, TypeError, ValueError):
                found.append(self._of_any(value, row))
        return found

    # What raises in these is left to `label_rows`.

    def _of_names(self, names: list[str]) -> dict[str, int]:
        if type(names) is not list:
            raise TypeError
        cleaned = self._cleaned
        counts: dict[str, int] = {}
        for name in names:
            label = cleaned[name]
            counts[label] = counts.get(label, 0) + 1
        return counts

    def _of_scores(self, pairs: list[tuple[str, float]]) -> dict[str, int]:
        cleaned = self._cleaned
        counts: dict[str, int] = {}
        for name, score in pairs:
            label = cleaned[name]
            if not 0 <= score <= HIGHEST_SCORE:
                raise ValueError
            if score >= self._threshold:
                counts[label] = counts.get(label, 0) + 1
        return counts

    def _of_counts(self, pairs: list[tuple[str, int]]) -> dict[str, int]:
        cleaned = self._cleaned
        counts: dict[str, int] = {}
        for name, number in pairs:
            label = cleaned[name]
            if not 0 < number <= HIGHEST_COUNT:
                raise ValueError
            counts[label] = counts.get(label, 0) + number
        return counts

    def _of_any(self, value: Any, row: int) -> ImageLabels | AnnotationError:
        if value is None:
            return ImageLabels({})
        if isinstance(value, ImageLabels):
            return value
        try:
            read = label_rows([self._as_annotated(value)], self._threshold, self._uncertain)
        except AnnotationError as problem:
            if not self._is_utf8(row):
                return AnnotationError("one of its labels is not UTF-8 text.")
            return AnnotationError(str(problem).removeprefix("row 0: "))
        for item in value if isinstance(value, list) else ():
            name = item[0] if self._shape.numbers_are else item
            if type(name) is str and name != NO_CATEGORY and len(name) <= LONGEST_NAME:
                label = clean_label(name)
                if label:
                    self._cleaned[name] = label
        return ImageLabels(read.counts[0], None if read.asked is None else read.asked[0])

    def _as_annotated(self, value: Any) -> Any:
        """Return a row as `label_rows` takes it."""
        if isinstance(value, AnnotationError):
            raise value
        if self._shape.numbers_are == "counts":
            return _mapping(value)
        if self._shape.numbers_are:
            return [list(pair) if self._shape.parallel else _detection(*pair) for pair in value]
        return value

    def _is_utf8(self, row: int) -> bool:
        try:
            if not isinstance(self._column, list):
                self._column[row].as_py()
        except UnicodeDecodeError:
            return False
        return True


def _pairs(names: list[Any], numbers: list[Any]) -> Any:
    if len(names) != len(numbers):
        return AnnotationError(f"it has {len(names)} labels and {len(numbers)} scores of labels.")
    return list(zip(names, numbers, strict=True))


def _detection(name: str | None, score: float | None) -> Any:
    """Return a label with its score; what is missing stays missing."""
    if score is None:
        return None if name is None else {"label": name}
    return name, score


def _mapping(pairs: list[tuple[str, int]]) -> dict[str, int]:
    """Return a mapping of label to count; of a map that has a key twice, both count."""
    counts: dict[str, int] = {}
    for name, number in pairs:
        if name in counts:
            both = (counts[name], number)
            contrary = name != NO_CATEGORY and (not both[0]) != (not both[1])
            if None in both or min(both) < 0 or contrary:
                raise AnnotationError("its labels cannot be read.")
            counts[name] = sum(both) if all(both) else 0
        else:
            counts[name] = number
    return counts
