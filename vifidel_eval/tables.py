"""Tables for terminals and papers: the same rows as plain text, Markdown, CSV or LaTeX."""

from __future__ import annotations

import csv
import io
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from tabulate import tabulate

#: What ``--format`` accepts; ``json`` is the business of whoever has the result.
FORMATS = ("table", "markdown", "csv", "latex", "json")

_SMALLEST_READABLE = 1e-4
_TABULATE = {"table": "simple", "markdown": "github", "latex": "latex_booktabs"}

# What marks bold cells while tabulate lays out and escapes: characters that no name has.
_BOLD_FROM, _BOLD_TO = "\x02", "\x03"
_BOLD = {"markdown": ("**", "**"), "latex": (_BOLD_FROM, _BOLD_TO)}

Cell = str | int | float | None


@dataclass(frozen=True)
class Table:
    """Rows under headers, and lines that explain them.

    Attributes
    ----------
    headers : sequence of str
        One a column.
    rows : sequence of sequences
        Text, whole numbers, floats (shown with four decimals, in CSV in full) or None.
    notes : sequence of str
        Lines below the table; comments in LaTeX, left out of CSV.
    texts : int
        How many columns, from the left, hold text; the others stand right.
    title : str
        A line above the table; a comment in LaTeX, left out of CSV.
    bold : collection of (row, column)
        Cells in bold face, in Markdown and LaTeX; see `best`.
    """

    headers: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    notes: Sequence[str] = ()
    texts: int = 1
    title: str = ""
    bold: Collection[tuple[int, int]] = ()

    def render(self, style: str) -> str:
        """Return the table as text, in one of `FORMATS` except ``json``.

        Without rows only title and notes are shown; CSV keeps its headers.
        """
        if style == "csv":
            text = io.StringIO()
            writer = csv.writer(text, lineterminator="\n")
            rows = (["" if cell is None else cell for cell in row] for row in self.rows)
            writer.writerows([self.headers, *rows])
            return text.getvalue().rstrip("\n")
        comment = "% " if style == "latex" else ""
        if not self.rows:
            said = [self.title, *self.notes] if self.title else self.notes
            return "\n".join(f"{comment}{line}" for line in said)
        table = tabulate(
            [
                [self._cell(cell, style, (at, column)) for column, cell in enumerate(row)]
                for at, row in enumerate(self.rows)
            ],
            [_escaped(header, style) for header in self.headers],
            _TABULATE[style],
            disable_numparse=True,
            colalign=["left"] * self.texts + ["right"] * (len(self.headers) - self.texts),
        )
        if style == "latex":  # only now: tabulate would escape the command
            table = table.replace(_BOLD_FROM, r"\textbf{").replace(_BOLD_TO, "}")
        above = [f"{comment}{self.title}", *([""] if style == "markdown" else [])]
        below = ["", *(f"{comment}{note}" for note in self.notes)] if self.notes else []
        return "\n".join([*(above if self.title else []), table, *below])

    def _cell(self, cell: Cell, style: str, place: tuple[int, int]) -> str:
        before, after = _BOLD.get(style, ("", "")) if place in self.bold else ("", "")
        return f"{before}{_escaped(_readable(cell), style)}{after}"


def best(rows: Sequence[Sequence[Cell]], columns: Iterable[int]) -> set[tuple[int, int]]:
    """Return the places of the highest numbers of columns, all that read the same.

    Columns without a choice have none: a single row, or no number at all.

    >>> sorted(best([["a", 0.51], ["b", 0.50996], ["c", None]], [1]))
    [(0, 1), (1, 1)]
    """
    places = set()
    for column in columns:
        numbers = {
            at: c for at, row in enumerate(rows) if isinstance(c := row[column], int | float)
        }
        if len(rows) > 1 and numbers:
            highest = _readable(max(numbers.values()))
            places |= {(at, column) for at, c in numbers.items() if _readable(c) == highest}
    return places


def _escaped(text: str, style: str) -> str:
    # tabulate escapes for LaTeX, but lets a bar end a Markdown cell.
    return text.replace("|", r"\|") if style == "markdown" else text


def _readable(cell: Cell) -> str:
    if isinstance(cell, float):
        return f"{cell:.4f}" if cell == 0 or abs(cell) >= _SMALLEST_READABLE else f"{cell:.1e}"
    return "-" if cell is None else str(cell)
