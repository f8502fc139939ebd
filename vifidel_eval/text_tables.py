"""Tables for terminals and papers: the same rows as plain text, Markdown, CSV or LaTeX."""

from __future__ import annotations

import csv
import html
import io
import math
import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace

from tabulate import tabulate

from .digits import deciding
from .files import printable

#: What ``--format`` accepts; ``json`` is not a table: whoever has the result writes it.
FORMATS = ("table", "markdown", "csv", "latex", "json")

_DECIMALS = 4
#: Decimals of scores with their differences, of which one cell has four: a line has room for three.
DIFFERENCE_DECIMALS = 3
_TABULATE = {"table": "simple", "markdown": "github", "latex": "latex_booktabs"}

# What stands for commands of LaTeX while tabulate lays out and escapes: noncharacters of Unicode,
# which `one_line` leaves in no name, and which are as wide as a letter wherever widths are looked
# up. The guard keeps a cell from being taken for an argument of the command before it.
_BOLD_FROM, _BOLD_TO, _GUARD, _MINUS, _ARROW, _BAR = map(chr, range(0xFDD0, 0xFDD6))
_LATEX = {
    _BOLD_FROM: r"\textbf{",
    _BOLD_TO: "}",
    _GUARD: "{}",
    _MINUS: "$-$",
    _ARROW: r"$\downarrow$",
    _BAR: r"\textbar{}",
}
_BOLD = {"markdown": ("**", "**"), "latex": (_BOLD_FROM, _BOLD_TO)}

#: What a table in LaTeX needs, as the comment above it says.
LATEX_PREAMBLE = r"% In the preamble: \usepackage{booktabs}"

_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ufdd0-\ufdef]")

# What Markdown would take for HTML, code, a link, an image, emphasis or a character reference, and
# what makes an address a link on GitHub. What is inside a word, as in `a_b`, and brackets alone, as
# in `[0.1, 0.2]`, mean nothing to it.
_MARKDOWN = re.compile(
    r"[\\`<*]|~(?=~)|\](?=[(\[:])|(?<!\w)_|_(?!\w)|&(?=#?\w+;)|:(?=//)|(?<=[wW]{3})\."
)

# A hyphen before a number; alone it stands for what is undefined.
_MINUS_SIGN = re.compile(r"-(?=\d)")

# What makes a spreadsheet run a cell:
# https://owasp.org/www-community/attacks/CSV_Injection
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")

Cell = str | int | float | None


class Figures(str):
    """Text made of numbers, such as an interval.

    LaTeX sets its hyphens as minus signs, and only its first number in bold.
    """

    __slots__ = ()


@dataclass(frozen=True)
class Table:
    """Rows under headers, and lines that explain them.

    Attributes
    ----------
    headers : sequence of str
        One per column.
    rows : sequence of sequences
        Text, whole numbers, floats or None.
    notes : sequence of str
        Lines below the table; comments in LaTeX, left out of CSV.
    texts : int
        How many columns, from the left, hold text; the others are aligned right.
    title : str
        A line above the table; a comment in LaTeX, left out of CSV.
    bold : collection of (row, column)
        Cells in bold face, in Markdown and LaTeX; see `best`.
    digits : int, optional
        Decimals of floats; by default four, and in CSV all.
    lower : collection of (row, column)
        Names of what is better where it is lower, which get an arrow in LaTeX; the headers are
        row -1.
    narrow : bool
        Whether LaTeX sets it in smaller type with little space between columns.
    """

    headers: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    notes: Sequence[str] = ()
    texts: int = 1
    title: str = ""
    bold: Collection[tuple[int, int]] = ()
    digits: int | None = None
    lower: Collection[tuple[int, int]] = ()
    narrow: bool = False

    def render(self, style: str) -> str:
        """Return the table as text, in one of `FORMATS` except ``json``.

        Line breaks and control characters become blanks; in CSV, where line breaks stay, control
        characters become escapes, and text that a spreadsheet would take for a formula gets an
        apostrophe before it; in Markdown, what would be HTML, a link or an image is escaped.
        Without rows only title and notes are shown; CSV keeps its headers.
        """
        if style == "csv":
            text = io.StringIO()
            writer = csv.writer(text, lineterminator="\n")
            writer.writerow(map(_defused, self.headers))
            writer.writerows([self._csv_cell(cell) for cell in row] for row in self.rows)
            return text.getvalue().rstrip("\n")
        comment = "% " if style == "latex" else ""
        title = [f"{comment}{_plain(self.title, style)}"] if self.title else []
        notes = [f"{comment}{_plain(note, style)}" for note in self.notes]
        if not self.rows:
            return "\n".join([*title, *notes])
        headers, *rows = self.cells(style)
        table = tabulate(
            rows,
            headers,
            _TABULATE[style],
            disable_numparse=True,
            colalign=["left"] * self.texts + ["right"] * (len(self.headers) - self.texts),
        )
        above = title
        if style == "latex":  # only now: tabulate would escape the commands
            for mark, command in _LATEX.items():
                table = table.replace(mark, command)
            if self.narrow:
                table = f"{{\\small\\setlength{{\\tabcolsep}}{{3pt}}%\n{table}}}"
            above = [*title, LATEX_PREAMBLE]
        elif title and style == "markdown":
            above = [*title, ""]
        return "\n".join([*above, table, *(["", *notes] if notes else [])])

    def html(self) -> str:
        """Return the table as HTML: ``<table>``, and a paragraph per note."""
        headers, *rows = self.cells("table")
        head = "".join(self._html_cell(text, (-1, at)) for at, text in enumerate(headers))
        body = [
            "".join(self._html_cell(text, (row, at)) for at, text in enumerate(cells))
            for row, cells in enumerate(rows)
        ]
        lines = ["<table>", f"<thead><tr>{head}</tr></thead>", "<tbody>"]
        lines += [*(f"<tr>{row}</tr>" for row in body), "</tbody>", "</table>"]
        return "\n".join(
            [*lines, *(f"<p>{html.escape(one_line(note))}</p>" for note in self.notes)]
        )

    def _html_cell(self, text: str, place: tuple[int, int]) -> str:
        row, column = place
        kind = "th" if row < 0 or column < self.texts else "td"
        side = "left" if column < self.texts else "right"
        shown = html.escape(text)
        if place in self.bold:
            shown = f"<b>{shown}</b>"
        return f'<{kind} style="text-align: {side}">{shown}</{kind}>'

    def cells(self, style: str) -> list[list[str]]:
        """Return headers and rows as a style shows them, before they are laid out.

        LaTeX's commands are still single characters; see `in_print`.
        """
        headers = [self._named(header, style, (-1, at)) for at, header in enumerate(self.headers)]
        return [headers] + [
            [self._cell(cell, style, (at, column)) for column, cell in enumerate(row)]
            for at, row in enumerate(self.rows)
        ]

    def turned(self, corner: str) -> Table:
        """Return the table with its columns as rows; only the first column may hold text.

        Parameters
        ----------
        corner : str
            What the new first column is called.
        """
        first, *columns = zip(*self.rows, strict=True)
        return replace(
            self,
            headers=[corner, *map(str, first)],
            rows=[[header, *c] for header, c in zip(self.headers[1:], columns, strict=True)],
            bold={(column - 1, row + 1) for row, column in self.bold},
            lower={(column - 1, row + 1) for row, column in self.lower},
        )

    def with_columns(self, places: Sequence[int]) -> Table:
        """Return the table with some of its columns, those of text first."""
        at = {place: new for new, place in enumerate(places)}
        return replace(
            self,
            headers=[self.headers[place] for place in places],
            rows=[[row[place] for place in places] for row in self.rows],
            bold={(row, at[column]) for row, column in self.bold if column in at},
            lower={(row, at[column]) for row, column in self.lower if column in at},
        )

    def with_rows(self, start: int, end: int) -> Table:
        """Return the table with the rows from `start` to before `end`."""
        kept = range(start, end)
        return replace(
            self,
            rows=self.rows[start:end],
            bold={(row - start, column) for row, column in self.bold if row in kept},
            lower={
                (row if row < 0 else row - start, column)
                for row, column in self.lower
                if row < 0 or row in kept
            },
        )

    def _cell(self, cell: Cell, style: str, place: tuple[int, int]) -> str:
        if isinstance(cell, str) and not isinstance(cell, Figures):
            shown = self._named(cell, style, place)
        else:
            shown = readable(cell, self.digits)
            if style == "latex":
                shown = _MINUS_SIGN.sub(_MINUS, shown)
        before, after = _BOLD.get(style, ("", "")) if place in self.bold else ("", "")
        if isinstance(cell, Figures):  # the score alone, not what is in parentheses
            number, blank, beside = shown.partition(" ")
            return f"{before}{number}{after}{blank}{beside}"
        return f"{before}{shown}{after}"

    def _named(self, text: str, style: str, place: tuple[int, int]) -> str:
        arrow = f" {_ARROW}" if style == "latex" and place in self.lower else ""
        return f"{_escaped(text, style, place[1])}{arrow}"

    def _csv_cell(self, cell: Cell) -> Cell:
        if isinstance(cell, float) and self.digits is not None:
            return readable(cell, self.digits)
        return _defused(cell)


def in_print(cell: str) -> tuple[str, bool]:
    """Return what is printed of a cell of LaTeX, from `Table.cells`, and whether it is bold."""
    shown = cell.translate({ord(_BOLD_FROM): None, ord(_BOLD_TO): None, ord(_GUARD): None})
    return shown.replace(_MINUS, "+").replace(_ARROW, "+").replace(_BAR, "m"), _BOLD_FROM in cell


def best(
    rows: Sequence[Sequence[Cell]],
    columns: Iterable[int],
    lower: Collection[int] = (),
    digits: int | None = None,
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
            at: deciding(c)
            for at, row in enumerate(rows)
            if isinstance(c := row[column], int | float)
        }
        if len(rows) > 1 and numbers:
            best_of = min if column in lower else max
            shown = readable(best_of(numbers.values()), digits)
            places |= {(at, column) for at, n in numbers.items() if readable(n, digits) == shown}
    return places


def direction_notes(lower: Sequence[str], unranked: Sequence[str] = ()) -> list[str]:
    """Return the notes below a table with columns in which higher is not better.

    >>> direction_notes(["CHAIRi", "CHAIRs"], ["CHAIR-Len"])
    ['CHAIRi, CHAIRs: lower is better.', 'CHAIR-Len: neither higher nor lower is better.']
    """
    said = {"lower is better": lower, "neither higher nor lower is better": unranked}
    return [f"{', '.join(columns)}: {what}." for what, columns in said.items() if columns]


def one_line(text: str) -> str:
    r"""Return text with blanks for line breaks, control characters and noncharacters.

    >>> one_line("a\nb")
    'a b'
    """
    return _CONTROL.sub(" ", text)


def _defused(cell: Cell) -> Cell:
    """Return a cell of CSV that no spreadsheet runs."""
    if not isinstance(cell, str):
        return "" if cell is None else cell
    return f"'{printable(cell)}" if cell.startswith(_FORMULA) else printable(cell)


def _plain(text: str, style: str) -> str:
    """Return text on one line, of which Markdown shows every character as it is."""
    text = one_line(text)
    return _MARKDOWN.sub(r"\\\g<0>", text) if style == "markdown" else text


def _escaped(text: str, style: str, column: int) -> str:
    text = _plain(text, style)
    # tabulate escapes for LaTeX, but lets a bar end a Markdown cell.
    if style == "markdown":
        return text.replace("|", r"\|")
    if style == "latex":  # where a bar of the usual fonts is a dash
        text = text.replace("|", _BAR)
    takes = style == "latex" and column == 0 and text.lstrip().startswith(("[", "*"))
    return f"{_GUARD}{text}" if takes else text


def readable(cell: Cell, digits: int | None = None) -> str:
    """Return a cell as people read it, a float with four decimals unless told otherwise.

    >>> readable(0.51234), readable(-1e-102), readable(51.234, 1), readable(None)
    ('0.5123', '0.0000', '51.2', '-')
    """
    if isinstance(cell, float):
        shown = f"{cell:.{_DECIMALS if digits is None else digits}f}"
        return shown if shown.strip("-0.") else shown.removeprefix("-")
    return "-" if cell is None else str(cell)


def interval(low: Cell, high: Cell, digits: int | None = None) -> Figures:
    """Return an interval as people read it.

    >>> interval(-0.01, 0.25)
    '[-0.0100, 0.2500]'
    """
    return Figures(f"[{readable(low, digits)}, {readable(high, digits)}]")


def with_difference(
    score: Cell,
    difference: Cell,
    low: Cell,
    high: Cell,
    p: float,
    digits: int = DIFFERENCE_DECIMALS,
) -> Figures:
    """Return a score with what it differs by from another one, as tables of paired tests have it.

    Parameters
    ----------
    score : float, optional
        Of the system.
    difference, low, high : float, optional
        What it has more than the other one, and the interval of that.
    p : float
        Of the difference.
    digits : int
        Decimals of all but `p`.

    Examples
    --------
    >>> with_difference(0.512, 0.021, 0.01, 0.032, 0.002)
    '0.512 (+0.021 [0.010, 0.032], p=.002)'
    """
    by, said = readable(difference, digits), p_value(p)
    sign = "+" if by.strip("-0.") and not by.startswith("-") else ""
    return Figures(
        f"{readable(score, digits)} ({sign}{by} {interval(low, high, digits)}, "
        f"p{said if said.startswith('<') else f'={said}'})"
    )


def p_value(value: float) -> str:
    """Return a p-value as papers print it.

    >>> p_value(0.0312), p_value(0.0002), p_value(1.0), p_value(0.9996)
    ('.031', '<.001', '1', '1')
    """
    if math.isnan(value):
        return readable(None)
    return "<.001" if value < 0.001 else f"{value:.3f}".removeprefix("0").removesuffix(".000")
