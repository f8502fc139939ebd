"""The rows of a table as they are scored: texts and labels, and what is wrong with each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sized
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...captions.rows import MOST_CHARACTERS, Rows
from ...errors import AnnotationError, CaptionError
from ...evaluation import ROW_COUNTS, Integers
from ...io.containers import listed_in
from .arrow_columns import Columns, entries, split, texts
from .label_columns import RowLabels, read_labels

#: All statuses from best to worst, as tables have them.
STATUSES: tuple[str, ...] = ("ok", *(key.replace("_", " ") for key in ROW_COUNTS))

#: The places of statuses in `STATUSES`, (rows,).
Statuses = NDArray[np.uint8]

#: The place of each: 0 for ``"ok"``, higher for worse.
RANKS: Mapping[str, int] = {status: rank for rank, status in enumerate(STATUSES)}


def worsen(statuses: Statuses, rows: NDArray[np.bool_] | Integers, status: str) -> None:
    """Give rows, which are marked or numbered, a status, unless theirs is worse."""
    statuses[rows] = np.maximum(statuses[rows], np.uint8(RANKS[status]))


@dataclass(frozen=True, eq=False)
class TableRows:
    """Some rows of a table. What cannot be read is left out, and a status says so.

    Attributes
    ----------
    rows : Rows
        What is read; lists, which `leave_out` changes.
    of_captions, of_references, of_labels : (rows,) uint8
        What is wrong with each: places in `STATUSES`, 0 where nothing is.
    problems : mapping
        Rows to what is wrong with their labels.
    size : int
        About how many bytes the texts and labels take.
    """

    rows: Rows
    of_captions: Statuses
    of_references: Statuses
    of_labels: Statuses
    problems: dict[int, str]
    size: int

    def leave_out(
        self, captions: NDArray[np.bool_], references: NDArray[np.bool_], labels: NDArray[np.bool_]
    ) -> None:
        """Leave out what is too long, given for each row."""
        for values, nothing, statuses, long in (
            (self.rows.captions, "", self.of_captions, captions),
            (self.rows.references, (), self.of_references, references),
            (self.rows.objects, {}, self.of_labels, labels),
        ):
            worsen(statuses, long, "too long")
            for row in np.flatnonzero(long).tolist():
                values[row] = nothing  # type: ignore[index]
                if self.rows.asked is not None and values is self.rows.objects:
                    self.rows.asked[row] = None  # type: ignore[index]

    def refuse(self, statuses: Statuses, first_row: int, max_words: int) -> None:
        """Raise for the first row that needs a change, by its number from `first_row` on.

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
            raise AnnotationError(f"{at}: {self.problems[row]}")
        raise CaptionError(
            {
                "too long": f"{at}: it has a text of more than {MOST_CHARACTERS} characters, or "
                f"more than {max_words} different words or labels; shorten it.",
                "bad caption": f"{at}: the caption is not a string, or a list that is not of one; "
                "every row needs one.",
                "bad references": f"{at}: the references are not a list of strings.",
            }[status]
        )


def read_rows(
    columns: Columns, threshold: float, uncertain: float | None, max_labels: int
) -> TableRows:
    """Read some rows of columns whose types were checked; labels as `read_labels` does.

    A row has at most `max_labels` different labels.
    """
    rows = len(columns)
    of_captions, of_references, of_labels = (np.zeros(rows, dtype=np.uint8) for _ in range(3))
    captions = _captions(columns.captions)
    for row in [row for row, caption in enumerate(captions) if caption is None]:
        of_captions[row], captions[row] = RANKS["bad caption"], ""
    references: list[Any] = [()] * rows
    if columns.references is not None:
        references = _references(columns.references)
        for row in [row for row, of_row in enumerate(references) if None in of_row]:
            of_references[row], references[row] = RANKS["bad references"], ()
    labels = RowLabels(rows)
    if columns.labels is not None:
        labels = read_labels(columns.labels, columns.label_scores, threshold, uncertain)
        of_labels[list(labels.problems)] = RANKS["bad labels"]
    asked = labels.asked if any(of_row is not None for of_row in labels.asked) else None

    characters = _lengths(captions)
    of_each, different = _lengths(chain.from_iterable(references)), _lengths(labels.counts)
    long_references = np.zeros(rows, dtype=bool)
    long_references[np.arange(rows).repeat(_lengths(references))[of_each > MOST_CHARACTERS]] = True
    read = TableRows(
        Rows(captions, references, objects=labels.counts, asked=asked),
        of_captions,
        of_references,
        of_labels,
        labels.problems,
        int(characters.sum() + of_each.sum() + 8 * different.sum()),
    )
    read.leave_out(characters > MOST_CHARACTERS, long_references, different > max_labels)
    return read


def _lengths(values: Iterable[Sized]) -> Integers:
    return np.fromiter(map(len, values), np.int64)


def _captions(column: Any) -> list[Any]:
    """Return the text of each row, which a list of one may spell; None for what is no text."""
    given = map(spelt, column) if isinstance(column, list) else texts(column).to_pylist()
    return [_only(text) if text and text[0] in "[( \t\n" else text for text in given]


def _only(text: str) -> str | None:
    """Return the caption that a text is, or that is alone in the list that it spells."""
    try:
        listed = listed_in(text, "", CaptionError, whole=False)
    except CaptionError:
        return None
    if listed is None:
        return text
    return spelt(listed[0]) if len(listed) == 1 else None


def _references(column: Any) -> list[Any]:
    """Return a list of texts for each row, with None for what is no text."""
    return list(map(_listed, column)) if isinstance(column, list) else split(*entries(column))


def _listed(row: Any) -> list[str | None]:
    if row is None:
        return []
    listed = row.tolist() if hasattr(row, "tolist") else row
    return list(map(spelt, listed)) if isinstance(listed, list | tuple) else [None]


def spelt(text: Any) -> str | None:
    """Return a string that UTF-8 can spell; None for what is not a string."""
    return text.encode(errors="replace").decode() if isinstance(text, str) else None
