"""Tables for terminals and papers: the same rows as plain text, Markdown, CSV or LaTeX."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from tabulate import tabulate

from .files import printable

#: What ``--format`` accepts; ``json`` is not a table: whoever has the result writes it.
FORMATS = ("table", "markdown", "csv", "latex", "json")

_SMALLEST_READABLE = 1e-4
_TABULATE = {"table": "simple", "markdown": "github", "latex": "latex_booktabs"}

# What marks bold cells, and cells that LaTeX would take for an argument of the command before them,
# while tabulate lays out and escapes: characters that `one_line` leaves in no name.
_BOLD_FROM, _BOLD_TO, _GUARD = "\x02", "\x03", "\x04"
_BOLD = {"markdown": ("**", "**"), "latex": (_BOLD_FROM, _BOLD_TO)}

_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")

# What makes a spreadsheet run a cell:
# https://owasp.org/www-community/attacks/CSV_Injection
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")

Cell = str | int | float | None


@dataclass(frozen=True)
class Table:
    """Rows under headers, and lines that explain them.

    Attributes
    ----------
    headers : sequence of str
        One per column.
    rows : sequence of sequences
        Text, whole numbers, floats (with four decimals; in full in CSV) or None.
    notes : sequence of str
        Lines below the table; comments in LaTeX, left out of CSV.
    texts : int
        How many columns, from the left, hold text; the others are aligned right.
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

        Line breaks and control characters become blanks; in CSV, where line breaks stay, control
        characters become escapes, and text that a spreadsheet would take for a formula gets an
        apostrophe before it. Without rows only title
        and notes are shown; CSV keeps its headers.
        """
        if style == "csv":
            text = io.StringIO()
            writer = csv.writer(text, lineterminator="\n")
            writer.writerows([_defused(cell) for cell in row] for row in [self.headers, *self.rows])
            return text.getvalue().rstrip("\n")
        comment = "% " if style == "latex" else ""
        title = [f"{comment}{one_line(self.title)}"] if self.title else []
        notes = [f"{comment}{one_line(note)}" for note in self.notes]
        if not self.rows:
            return "\n".join([*title, *notes])
        table = tabulate(
            [
                [self._cell(cell, style, (at, column)) for column, cell in enumerate(row)]
                for at, row in enumerate(self.rows)
            ],
            [_escaped(header, style, at) for at, header in enumerate(self.headers)],
            _TABULATE[style],
            disable_numparse=True,
            colalign=["left"] * self.texts + ["right"] * (len(self.headers) - self.texts),
        )
        if style == "latex":  # only now: tabulate would escape the command
            table = table.replace(_BOLD_FROM, r"\textbf{").replace(_BOLD_TO, "}")
            table = table.replace(_GUARD, "{}")
        above = [*title, ""] if title and style == "markdown" else title
        return "\n".join([*above, table, *(["", *notes] if notes else [])])

    def _cell(self, cell: Cell, style: str, place: tuple[int, int]) -> str:
        before, after = _BOLD.get(style, ("", "")) if place in self.bold else ("", "")
        return f"{before}{_escaped(_readable(cell), style, place[1])}{after}"


def best(
    rows: Sequence[Sequence[Cell]], columns: Iterable[int], lower: Collection[int] = ()
) -> set[tuple[int, int]]:
    """Return the places of the best numbers of columns, all that read the same.

    The best is the highest, or the lowest in the columns of `lower`.

    A column has none where there is nothing to choose from: a single row, or no number.

    >>> sorted(best([["a", 0.51], ["b", 0.50996], ["c", None]], [1]))
    [(0, 1), (1, 1)]
    """
    places = set()
    for column in columns:
        numbers = {
            at: c for at, row in enumerate(rows) if isinstance(c := row[column], int | float)
        }
        if len(rows) > 1 and numbers:
            best_of = min if column in lower else max
            shown = _readable(best_of(numbers.values()))
            places |= {(at, column) for at, c in numbers.items() if _readable(c) == shown}
    return places


def direction_notes(lower: Sequence[str], unranked: Sequence[str] = ()) -> list[str]:
    """Return the notes below a table with columns in which higher is not better.

    >>> direction_notes(["CHAIRi", "CHAIRs"], ["CHAIR-Len"])
    ['CHAIRi, CHAIRs: lower is better.', 'CHAIR-Len: neither higher nor lower is better.']
    """
    said = {"lower is better": lower, "neither higher nor lower is better": unranked}
    return [f"{', '.join(columns)}: {what}." for what, columns in said.items() if columns]


def one_line(text: str) -> str:
    r"""Return text with blanks for line breaks and control characters.

    >>> one_line("a\nb")
    'a b'
    """
    return _CONTROL.sub(" ", text)


def _defused(cell: Cell) -> Cell:
    """Return a cell of CSV that no spreadsheet runs."""
    if not isinstance(cell, str):
        return "" if cell is None else cell
    return f"'{printable(cell)}" if cell.startswith(_FORMULA) else printable(cell)


def _escaped(text: str, style: str, column: int) -> str:
    text = one_line(text)
    # tabulate escapes for LaTeX, but lets a bar end a Markdown cell.
    if style == "markdown":
        return text.replace("|", r"\|")
    takes = style == "latex" and column == 0 and text.lstrip().startswith(("[", "*"))
    return f"{_GUARD}{text}" if takes else text


def _readable(cell: Cell) -> str:
    if isinstance(cell, float):
        return f"{cell:.4f}" if cell == 0 or abs(cell) >= _SMALLEST_READABLE else f"{cell:.1e}"
    return "-" if cell is None else str(cell)
