"""Tables for terminals and papers: the same rows as plain text, Markdown, CSV or LaTeX."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass

from tabulate import tabulate

#: What ``--format`` accepts; ``json`` is the business of whoever has the result.
FORMATS = ("table", "markdown", "csv", "latex", "json")

_SMALLEST_READABLE = 1e-4
_TABULATE = {"table": "simple", "markdown": "github", "latex": "latex_booktabs"}

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
    """

    headers: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    notes: Sequence[str] = ()
    texts: int = 1
    title: str = ""

    def render(self, style: str) -> str:
        """Return the table as text, in one of `FORMATS` except ``json``."""
        if style == "csv":
            text = io.StringIO()
            writer = csv.writer(text, lineterminator="\n")
            rows = (["" if cell is None else cell for cell in row] for row in self.rows)
            writer.writerows([self.headers, *rows])
            return text.getvalue().rstrip("\n")
        bar = r"\|" if style == "markdown" else "|"
        table = tabulate(
            [[_readable(cell).replace("|", bar) for cell in row] for row in self.rows],
            self.headers,
            _TABULATE[style],
            disable_numparse=True,
            colalign=["left"] * self.texts + ["right"] * (len(self.headers) - self.texts),
        )
        comment = "% " if style == "latex" else ""
        above = [f"{comment}{self.title}", *([""] if style == "markdown" else [])]
        below = ["", *(f"{comment}{note}" for note in self.notes)] if self.notes else []
        return "\n".join([*(above if self.title else []), table, *below])


def _readable(cell: Cell) -> str:
    if isinstance(cell, float):
        return f"{cell:.4f}" if cell == 0 or abs(cell) >= _SMALLEST_READABLE else f"{cell:.1e}"
    return "-" if cell is None else str(cell)
