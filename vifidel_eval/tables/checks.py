"""What is checked of a table before its first row, and what `strict` says of a bad one."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np

from ..errors import AnnotationError, CaptionError, VifidelError
from ..rows import MOST_CHARACTERS
from ..scorers.registry import METRICS
from .columns import Columns, is_references, is_text
from .labels import problem_of, shape_of
from .nested import field_of
from .statuses import RANKS, STATUSES, Statuses


def fields_of(schema: Any, names: Columns) -> Columns:
    """Return the fields of a schema that have these names, or that paths lead to.

    Raises
    ------
    VifidelError
        If one is missing, or there are two.
    """
    given = (names.captions, names.labels, names.label_scores, names.references)
    return Columns(*(None if name is None else field_of(schema, name) for name in given))


def check_columns(metrics: Collection[str], columns: Columns, names: Columns) -> None:
    """Check the types of columns, and that what metrics need is there.

    Parameters
    ----------
    metrics : collection of str
        Names of metrics.
    columns : Columns
        Arrays or fields, which have a type.
    names : Columns
        What messages call them.

    Raises
    ------
    VifidelError
        If a type is wrong or something is missing.
    """
    for name in metrics:
        record = METRICS[name]
        if record.references and columns.references is None:
            raise VifidelError(f"{name} needs references; name their column.")
        if record.objects and columns.labels is None:
            raise VifidelError(f"{name} needs object labels; name their column.")
        if record.either and columns.labels is None and columns.references is None:
            raise VifidelError(f"{name} needs object labels or references; name a column.")
    if not is_text(columns.captions.type):
        raise VifidelError(
            f"the column {names.captions!r} is of type {columns.captions.type}; captions are "
            "strings."
        )
    if columns.references is not None and not is_references(columns.references.type):
        raise VifidelError(
            f"the column {names.references!r} is of type {columns.references.type}; references are "
            "a list of strings per row."
        )
    if columns.labels is not None:
        scores = None if columns.label_scores is None else columns.label_scores.type
        shape_of(columns.labels.type, scores, names.labels)
    elif columns.label_scores is not None:
        raise VifidelError(
            f"{names.label_scores!r} holds the scores of labels, but no column holds labels; "
            "name it."
        )


def refuse(
    columns: Columns, statuses: Statuses, first_row: int, max_words: int, threshold: float
) -> None:
    """Raise for the first row that needs a change.

    Parameters
    ----------
    columns : Columns
        Some rows.
    statuses : (rows,) uint8
        Their places in `STATUSES`.
    first_row : int
        The number of the first of them.
    max_words : int
        How many different words a text may have.
    threshold : float
        The lowest score of a label that counts.

    Raises
    ------
    CaptionError, AnnotationError
        If there is one.
    """
    bad = np.flatnonzero(statuses >= RANKS["too long"])
    if not len(bad):
        return
    row = int(bad[0])
    at, status = f"row {first_row + row}", STATUSES[statuses[row]]
    if status == "bad labels":
        raise AnnotationError(f"{at}: {problem_of(columns, row, threshold)}")
    raise CaptionError(
        {
            "too long": f"{at}: it has a text of more than {MOST_CHARACTERS} characters, or "
            f"more than {max_words} different words or labels; shorten it.",
            "bad caption": f"{at}: the caption is not a string; every row needs one.",
            "bad references": f"{at}: the references are not a list of strings.",
        }[status]
    )
