"""Object labels of the rows of a table: in a column of any shape, or looked up by image ids."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute

from ...annotations import ObjectLabels
from ...annotations.instances import LabelRows, judged_rows
from ...annotations.labels import CLEAN, HIGHEST_COUNT, HIGHEST_SCORE, LONGEST_NAME, NO_NAME, PLAIN
from ...captions.rows import Asked, LabelCounts
from ...errors import AnnotationError, VifidelError
from ...evaluation import Integers
from ...io.image_ids import ImageId, from_json_key, from_json_value, match
from .columns import entries, in_precision_of, is_list, is_text, split, texts

_NAME_FIELDS = ("label", "labels", "name", "names")
_SCORE_FIELDS = ("score", "scores", "confidence", "confidences")


#: What the numbers beside labels are, if there are any: `PAIRED` with them, or in lists of their
#: own.
PAIRED, PARALLEL, COUNTS = "scores", "scores in lists", "counts"


def shape_of(kind: Any, scores: Any = None, column: str = "labels") -> str:
    """Return what numbers labels have in a column of this type, beside one of scores, or raise."""
    of_scores = None if scores is None else pa.nulls(0, scores)
    return _parts(pa.nulls(0, kind), of_scores, column)[0]


def _parts(column: Any, scores: Any, name: str = "") -> tuple[str, list[tuple[Any, Integers]]]:
    """Return `shape_of` a column, and the names and numbers of all rows, as `entries` does."""
    types, kind = pa.types, column.type
    if is_text(kind) and scores is None:
        return "", []  # each text is an answer, which is read by itself
    if types.is_null(kind) or (_is_texts(kind) and scores is None):
        return "", [entries(column)]
    if scores is not None:
        if _is_texts(kind) and _is_numbers(scores.type):
            return PARALLEL, [entries(column), entries(scores)]
        raise VifidelError(
            f"the columns of labels and their scores are of types {kind} and {scores.type}; give a "
            "list of strings and a list of numbers per row."
        )
    if types.is_map(kind) and is_text(kind.key_type) and types.is_integer(kind.item_type):
        pairs = column.cast(pa.list_(pa.struct([("k", kind.key_type), ("v", kind.item_type)])))
        return COUNTS, [entries(pairs, "k"), entries(pairs, "v")]
    struct = kind.value_type if is_list(kind) else kind
    if types.is_struct(struct):
        of_field = {field.name: field.type for field in struct}
        fields = [
            next((name for name in names if name in of_field), "")
            for names in (_NAME_FIELDS, _SCORE_FIELDS)
        ]
        label, number = (of_field.get(field, struct) for field in fields)
        if struct is kind and _is_texts(label) and _is_numbers(number):
            return PARALLEL, [entries(pa.compute.struct_field(column, field)) for field in fields]
        if struct is not kind and is_text(label) and _is_number(number):
            return PAIRED, [entries(column, field) for field in fields]
    raise VifidelError(
        f"the column {name!r} is of type {kind!s:.80}; labels are a list of strings per row, a "
        "list of structs with label and score (or name and confidence), or a map of label to "
        "count, which JSON Lines and CSV have as text."
    )


def _is_texts(kind: Any) -> bool:
    return is_list(kind) and is_text(kind.value_type)


def _is_number(kind: Any) -> bool:
    types = pa.types
    kinds = (types.is_integer, types.is_floating, types.is_decimal, types.is_null)
    return any(is_one(kind) for is_one in kinds)


def _is_numbers(kind: Any) -> bool:
    return pa.types.is_null(kind) or (is_list(kind) and _is_number(kind.value_type))


def read_labels(column: Any, scores: Any, threshold: float, uncertain: float | None) -> LabelRows:
    """Return the labels of an array or a list of values."""
    if isinstance(column, list):
        values = [[] if value is None else value for value in column]
        return judged_rows(values, threshold, uncertain)
    if is_text(column.type) and scores is None:
        return _read_answers(column, threshold, uncertain)
    return _read_lists(column, scores, threshold)


def _read_lists(column: Any, scores: Any, threshold: float) -> LabelRows:
    """Return the labels of a column of lists or maps, of which `judged_rows` reads unusual rows."""
    counts: list[dict[str, int]] = [{} for _ in range(len(column))]
    asked: list[Asked] = [None] * len(column)
    shape, parts = _parts(column, scores)
    (names, sizes), (numbers, of_numbers) = parts[0], parts[-1]
    threshold = in_precision_of(numbers.type, threshold)
    owners = np.arange(len(column)).repeat(sizes)
    encoded = names.dictionary_encode()
    cleaned = [  # empty for no label, and for more than one
        PLAIN[name] if len(name) <= LONGEST_NAME and PLAIN[name] not in NO_NAME else ""
        for name in encoded.dictionary.to_pylist()
    ]
    places = encoded.indices.fill_null(len(cleaned)).to_numpy(zero_copy_only=False)
    cleaned.append("")
    usual = np.array([label != "" for label in cleaned])[places]
    are_there, amounts = usual, np.ones(len(names), np.int64)
    if not np.array_equal(sizes, of_numbers):
        usual = np.zeros(len(names), dtype=bool)
    elif shape in (PAIRED, PARALLEL):
        of_names = numbers.to_numpy(zero_copy_only=False).astype(np.float64)
        usual = usual & (of_names >= 0) & (of_names <= HIGHEST_SCORE)
        are_there = of_names >= threshold
    elif shape == COUNTS:
        amounts = numbers.fill_null(0).to_numpy(zero_copy_only=False)
        usual = usual & (amounts >= 0) & (amounts <= HIGHEST_COUNT)
        usual &= numbers.is_valid().to_numpy(zero_copy_only=False)
    odd = (np.bincount(owners[~usual], minlength=len(column)) > 0) | (sizes != of_numbers)

    counted = are_there & ~odd[owners]
    absent: dict[int, set[str]] = {}
    present = (owners[counted], places[counted], amounts[counted])
    for row, place, amount in zip(*(axis.tolist() for axis in present), strict=True):
        label = cleaned[place]
        if amount:
            counts[row][label] = counts[row].get(label, 0) + amount
        else:  # it was looked for and is not there
            absent.setdefault(row, set()).add(label)
    for row, not_there in absent.items():
        asked[row] = frozenset(not_there.union(counts[row]))
        odd[row] = not not_there.isdisjoint(counts[row])  # a contradiction

    listed = [split(flat, sizes) for flat, sizes in parts] if odd.any() else []
    singly, problems = {}, {}
    for row in np.flatnonzero(odd).tolist():
        try:
            singly[row] = _as_annotated(column, row, listed[0][row], listed[-1][row], shape)
        except AnnotationError as problem:
            problems[row] = str(problem)
    judged = judged_rows(list(singly.values()), threshold)
    for at, row in enumerate(singly):
        if at in judged.problems:
            problems[row] = judged.problems[at]
        else:
            counts[row] = dict(judged.counts[at])
            asked[row] = judged.asked[at] if judged.asked else None
    return LabelRows(counts, asked=asked, problems=problems)


def _read_answers(column: Any, threshold: float, uncertain: float | None) -> LabelRows:
    """Return the labels of a column of texts, each of which is read once."""
    has_answers, encoded = column.is_valid().to_pylist(), texts(column).dictionary_encode()
    judged = judged_rows(encoded.dictionary.to_pylist(), threshold, uncertain)
    counts: list[LabelCounts] = [{}] * len(column)
    asked: list[Asked] = [None] * len(column)
    problems = {}
    for row, place in enumerate(encoded.indices.to_pylist()):
        if place is not None:
            counts[row] = judged.counts[place]
            asked[row] = judged.asked[place] if judged.asked else None
            if place in judged.problems:
                problems[row] = judged.problems[place]
        elif has_answers[row]:
            problems[row] = "its labels are not UTF-8 text."
    return LabelRows(counts, asked=asked, problems=problems)


def _as_annotated(column: Any, row: int, names: Any, numbers: Any, shape: str) -> Any:
    """Return a row as `label_rows` takes it, or raise an AnnotationError."""
    if None in names:
        try:
            column[row].as_py()
        except UnicodeDecodeError:
            raise AnnotationError("one of its labels is not UTF-8 text.") from None
    if not shape:
        return names
    if len(names) != len(numbers):
        raise AnnotationError(f"it has {len(names)} labels and {len(numbers)} scores of labels.")
    if shape == COUNTS:
        return _mapping(names, numbers)
    if shape == PARALLEL:
        return list(map(list, zip(names, numbers, strict=True)))
    missing = {name: None if name is None else {"label": name} for name in names}
    pairs = zip(names, numbers, strict=True)
    return [missing[name] if score is None else (name, score) for name, score in pairs]


def _mapping(names: list[str], numbers: list[int]) -> dict[str, int]:
    """Return a mapping of label to count; of a map that has a key twice, both count."""
    counts: dict[str, int] = {}
    for name, number in zip(names, numbers, strict=True):
        if name in counts:
            amounts = (counts[name], number)
            contrary = CLEAN[name] not in NO_NAME and (not amounts[0]) != (not amounts[1])
            if None in amounts or min(amounts) < 0 or contrary:
                raise AnnotationError("its labels cannot be read.")
            counts[name] = sum(amounts) if all(amounts) else 0
        else:
            counts[name] = number
    return counts


class ObjectsById:
    """The labels of rows by the ids of a column, which mean images as those of caption files do."""

    def __init__(self, objects: ObjectLabels, column: str) -> None:
        self.objects, self._column = objects, column

    def matched(self, column: Any) -> list[tuple[Any, ImageId | None]]:
        """Return the ids of rows, each with the image of the source that it means, if any."""
        if isinstance(column, pa.ChunkedArray):
            column = column.combine_chunks()
        ids = (texts(column) if is_text(column.type) else column).to_pylist()
        id_of = {
            value: from_json_key(value.strip()) if is_text(column.type) else from_json_value(value)
            for value in ids
            if value is not None
        }
        own_ids = match([i for i in dict.fromkeys(id_of.values()) if i is not None], self.objects)
        # Text of digits may be text in the source as well.
        as_text = {value: value for value in id_of if value in self.objects}
        images = as_text | {value: own_ids[i] for value, i in id_of.items() if i in own_ids}
        return [(value, images.get(value)) for value in ids]

    def read(self, ids: list[tuple[Any, ImageId | None]]) -> LabelRows:
        """Return the labels of rows, of which `matched` gave these."""
        counts: list[LabelCounts] = [{}] * len(ids)
        asked: list[Asked] = [None] * len(ids)
        problems = {}
        for row, (value, image_id) in enumerate(ids):
            if image_id is not None:
                counts[row] = self.objects[image_id]
                asked[row] = self.objects.asked_of([image_id])[0]
            elif self.objects.lists_every_image:  # others have no line for one without objects
                problems[row] = (
                    f"the objects have no image {value!r:.60} ({self._column}, "
                    f"{self.objects.where})."
                )
        return LabelRows(counts, asked=asked, problems=problems)
