"""Tables for terminals and papers: the same rows as plain text, Markdown, CSV or LaTeX."""

from __future__ import annotations

import csv
import html
import io
import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import TYPE_CHECKING

from tabulate import LATEX_ESCAPE_RULES, DataRow, Line, TableFormat, tabulate
from wcwidth import wcswidth

from .digits import deciding, rounded
from .files import printable

if TYPE_CHECKING:
    from ..evaluation import Column

#: What ``--format`` accepts; ``json`` is not a table: whoever has the result writes it.
FORMATS = ("table", "markdown", "csv", "latex", "json")

_DECIMALS = 4
#: Decimals of scores with their differences, of which one cell has four: a line has room for three.
DIFFERENCE_DECIMALS = 3

_BOLD = {"markdown": ("**", "**"), "latex": (r"\textbf{", "}")}
_ARROW = r"$\downarrow$"
# In LaTeX's usual fonts a bar would be a dash.
_SIGNS = {"<": "$<$", ">": "$>$", "|": r"\textbar{}", "±": r"$\pm$"}
_LATEX = str.maketrans({**LATEX_ESCAPE_RULES, **_SIGNS})

#: What a table in LaTeX needs, as the comment above it says.
LATEX_PREAMBLE = r"% In the preamble: \usepackage{booktabs}"

_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufdd0-\ufdef]")

# What Markdown would take for HTML, code, a link, an image, emphasis or a character reference, and
# what makes an address a link on GitHub. What is inside a word, as in `a_b`, and brackets alone, as
# in `[0.1, 0.2]`, mean nothing to it.
_MARKDOWN = re.compile(
    r"[\\`<*]|~(?=~)|\](?=[(\[:])|(?<!\w)_|_(?!\w)|&(?=#?\w+;)|:(?=//)|(?<=[wW]{3})\."
)

# A hyphen before a number; alone it stands for what is undefined.
_MINUS_SIGN = re.compile(r"-(?=\d)")

# What makes a spreadsheet run a cell, also at full width:
# https://owasp.org/www-community/attacks/CSV_Injection
_FORMULA = tuple("=+-@\t\r\n\uff1d\uff0b\uff0d\uff20")

Value = str | int | float | None


class Figures(str):
    """Text made of numbers; LaTeX sets its hyphens as minus signs, and its first number in bold."""

    __slots__ = ()


@dataclass(frozen=True)
class Marked:
    """A cell in bold face, in Markdown and LaTeX; or, where lower is better, with LaTeX's arrow.

    In a terminal and in LaTeX, there is room for the text `room` behind it, which is not printed.
    """

    value: Value
    bold: bool = False
    lower: bool = False
    room: str = ""


Cell = Value | Marked


@dataclass(frozen=True)
class Table:
    """Rows under headers, a title above, and notes below; these are comments in LaTeX, not in CSV.

    The first `texts` columns hold text; the others are aligned right. Floats have `digits`
    decimals, by default four, in CSV all. LaTeX sets a `narrow` table in smaller type,
    and one with a `caption` as a float with a label.
    """

    headers: Sequence[str | Marked]
    rows: Sequence[Sequence[Cell]]
    notes: Sequence[str] = ()
    texts: int = 1
    title: str = ""
    digits: int | None = None
    narrow: bool = False
    caption: str = ""

    def render(self, style: str) -> str:
        """Return the table as text in one of `FORMATS` except ``json``; title and notes if no rows.

        Control characters become blanks, in CSV escapes; there text that a spreadsheet would run as
        a formula gets an apostrophe; Markdown's HTML, links and images are escaped.
        """
        if style == "csv":
            text = io.StringIO()
            writer = csv.writer(text, lineterminator="\n")
            writer.writerows(map(self._csv_cell, row) for row in (self.headers, *self.rows))
            return text.getvalue().rstrip("\n")
        comment = "% " if style == "latex" else ""
        title = [f"{comment}{_plain(self.title, style)}"] if self.title else []
        notes = [f"{comment}{_plain(note, style)}" for note in self.notes]
        if not self.rows:
            return "\n".join([*title, *notes])
        headers, *rows = self._cells(style)
        sides = ["left"] * self.texts + ["right"] * (len(self.headers) - self.texts)
        if style == "table":
            table = "\n".join(aligned([headers, *rows], sides, 2))
        else:
            form = _tabular(sides) if style == "latex" else "pipe"
            table = tabulate(rows, headers, form, disable_numparse=True, colalign=sides)
        if style == "latex":
            title.append(LATEX_PREAMBLE)
            if self.narrow:
                table = f"{{\\small\\setlength{{\\tabcolsep}}{{3pt}}%\n{table}}}"
            if self.caption:
                caption = f"\\caption{{{escaped_for_latex(self.caption)}}}\n\\label{{tab:scores}}"
                table = f"\\begin{{table}}\n\\centering\n{caption}\n{table}\n\\end{{table}}"
        elif title and style == "markdown":
            title.append("")
        return "\n".join([*title, table, *(["", *notes] if notes else [])])

    def html(self) -> str:
        """Return the table as HTML: ``<table>``, and a paragraph per note."""
        head = self._html_row(self.headers, len(self.headers))
        body = [self._html_row(row, self.texts) for row in self.rows]
        notes = [f"<p>{html.escape(one_line(note))}</p>" for note in self.notes]
        return "\n".join(
            ["<table>", f"<thead>{head}</thead>", "<tbody>", *body, "</tbody>", "</table>", *notes]
        )

    def _html_row(self, row: Sequence[Cell], heads: int) -> str:
        """Return a row whose first `heads` cells are headers."""
        cells = []
        for at, cell in enumerate(row):
            kind = "th" if at < heads else "td"
            side = "left" if at < self.texts else "right"
            text = html.escape(self._shown(cell, "table", at))
            if isinstance(cell, Marked) and cell.bold:
                text = f"<b>{text}</b>"
            cells.append(f'<{kind} style="text-align: {side}">{text}</{kind}>')
        return f"<tr>{''.join(cells)}</tr>"

    def _cells(self, style: str) -> list[list[str]]:
        """Return headers and rows as a style shows them."""
        return [
            [self._shown(cell, style, at) for at, cell in enumerate(row)]
            for row in (self.headers, *self.rows)
        ]

    def turned(self, corner: str) -> Table:
        """Return the table with its columns as rows, below `corner`; only the first is text."""
        first, *columns = zip(*self.rows, strict=True)
        return replace(
            self,
            headers=[corner, *map(str, first)],
            rows=[[header, *c] for header, c in zip(self.headers[1:], columns, strict=True)],
        )

    def with_columns(self, places: Sequence[int]) -> Table:
        """Return the table with some of its columns, those of text first."""
        return replace(
            self,
            headers=[self.headers[place] for place in places],
            rows=[[row[place] for place in places] for row in self.rows],
        )

    def _shown(self, cell: Cell, style: str, column: int) -> str:
        marked = cell if isinstance(cell, Marked) else Marked(cell)
        value = marked.value
        if isinstance(value, str) and not isinstance(value, Figures):
            shown = _escaped(value, style, column)
            if marked.lower and style == "latex":
                shown = f"{shown} {_ARROW}"
        else:
            shown = readable(value, self.digits)
            if style == "latex":
                shown = _MINUS_SIGN.sub("$-$", shown.translate(_LATEX))
        if marked.bold and style in _BOLD:
            before, after = _BOLD[style]
            beside = ""
            if isinstance(value, Figures):  # the score alone, not what is in parentheses
                shown, blank, beside = shown.partition(" ")
                beside = blank + beside
            shown = f"{before}{shown}{after}{beside}"
        if marked.room and style == "latex":
            shown += rf"\phantom{{{_MINUS_SIGN.sub('$-$', marked.room.translate(_LATEX))}}}"
        return shown + " " * len(marked.room) if style == "table" else shown

    def _csv_cell(self, cell: Cell) -> Value:
        """Return a cell that no spreadsheet runs."""
        value = cell.value if isinstance(cell, Marked) else cell
        if isinstance(value, float):
            value = rounded(value) if self.digits is None else readable(value, self.digits)
        elif isinstance(value, str):
            value = "'" * value.startswith(_FORMULA) + printable(value)
        return "" if value is None else value


def columns_of(text: str) -> int:
    """Return how many columns of a terminal a text takes: wide characters take two."""
    if text.isascii():
        return len(text)
    columns: int = wcswidth(text)
    return columns if columns >= 0 else len(text)


def beginning(text: str, columns: int) -> str:
    """Return as many of a text's first characters as so many columns hold."""
    ends = accumulate(map(columns_of, text))
    return text[: sum(end <= columns for end in ends)]


def aligned(rows: Sequence[Sequence[str]], sides: Sequence[str], blanks: int = 0) -> list[str]:
    """Return the lines of a table in a terminal, the first row above a rule.

    Columns are aligned ``"left"`` or ``"right"``, and have `blanks` more room than their headers.
    """
    widths = [max(map(columns_of, column)) for column in zip(*rows, strict=True)]
    widths = [max(w, columns_of(h) + blanks) for w, h in zip(widths, rows[0], strict=True)]

    def line(cells: Sequence[str]) -> str:
        padded = []
        for cell, side, width in zip(cells, sides, widths, strict=True):
            room = " " * (width - columns_of(cell))
            padded.append(room + cell if side == "right" else cell + room)
        return "  ".join(padded).rstrip()

    lines = list(map(line, rows))
    return [lines[0], "  ".join("-" * width for width in widths), *lines[1:]]


def _tabular(sides: Iterable[str]) -> TableFormat:
    """Return tabulate's ``latex_booktabs`` for cells that are escaped already."""
    columns = "".join(side[0] for side in sides)
    row = DataRow("", "&", r"\\")
    return TableFormat(
        lineabove=Line(rf"\begin{{tabular}}{{{columns}}}" "\n" r"\toprule", "", "", ""),
        linebelowheader=Line(r"\midrule", "", "", ""),
        linebetweenrows=None,
        linebelow=Line("\\bottomrule\n\\end{tabular}", "", "", ""),
        headerrow=row,
        datarow=row,
        padding=1,
        with_header_hide=None,
    )


def best(
    rows: Sequence[Sequence[Cell]], column: int, lower: bool, digits: int | None = None
) -> list[int]:
    """Return the rows with the best number of a column, all that read the same; none of one row."""
    cells = [(at, row[column]) for at, row in enumerate(rows)]
    numbers = {at: deciding(cell) for at, cell in cells if isinstance(cell, int | float)}
    if len(rows) < 2 or not numbers:
        return []
    shown = readable((min if lower else max)(numbers.values()), digits)
    return [at for at, number in numbers.items() if readable(number, digits) == shown]


def direction_notes(columns: Iterable[Column]) -> list[str]:
    """Return the notes below a table with columns in which higher is not better."""
    columns = list(columns)
    notes = {
        "lower is better": [c.name for c in columns if c.lower_is_better],
        "neither higher nor lower is better": [c.name for c in columns if not c.ranked],
    }
    return [f"{', '.join(names)}: {note}." for note, names in notes.items() if names]


def one_line(text: str) -> str:
    """Return text with blanks for line breaks, control characters and noncharacters."""
    return _CONTROL.sub(" ", text)


def escaped_for_latex(text: str) -> str:
    """Return text on one line, of which LaTeX sets every character as it is."""
    return one_line(text).translate(_LATEX)


def _plain(text: str, style: str) -> str:
    """Return text on one line, of which Markdown shows every character as it is."""
    text = one_line(text)
    return _MARKDOWN.sub(r"\\\g<0>", text) if style == "markdown" else text


def _escaped(text: str, style: str, column: int) -> str:
    text = _plain(text, style)
    if style == "markdown":  # where tabulate lets a bar end a cell
        return text.replace("|", r"\|")
    if style != "latex":
        return text
    # The end of a row would take what follows it for its argument.
    guard = "{}" if column == 0 and text.lstrip().startswith(("[", "*")) else ""
    return guard + text.translate(_LATEX)


def readable(cell: Value, digits: int | None = None) -> str:
    """Return a cell as people read it, a float with four decimals unless told otherwise."""
    if isinstance(cell, float):
        shown = f"{cell:.{_DECIMALS if digits is None else digits}f}"
        return shown if shown.strip("-0.") else shown.removeprefix("-")
    return "-" if cell is None else str(cell)


def counted(number: int, noun: str, style: str = "") -> str:
    """Return a number of things: ``1 row``, ``2000 rows``, in the style "," ``2,000 rows``."""
    return f"{number:{style}} {noun}" + ("" if number == 1 else "s")


def in_a_row(names: Iterable[str]) -> str:
    """Return names as sentences list them: ``a, b and c``."""
    *most, last = names
    return f"{', '.join(most)} and {last}" if most else last


def interval(low: Value, high: Value, digits: int | None = None) -> Figures:
    """Return an interval as people read it, such as ``[-0.0100, 0.2500]``."""
    return Figures(f"[{readable(low, digits)}, {readable(high, digits)}]")


def with_half(score: Value, half: Value, digits: int | None = None) -> str:
    """Return a score with half of its interval, such as ``0.7519 ±0.0205``."""
    return f"{readable(score, digits)} ±{readable(half, digits)}"


def with_difference(
    score: Value,
    difference: Value,
    low: Value,
    high: Value,
    p: str,
    digits: int = DIFFERENCE_DECIMALS,
) -> Figures:
    """Return a score, such as ``0.512 (+0.021 [0.010, 0.032], p=.002)``; `p` is ``= .002``.

    Of one image there is no interval: `low` is None or NaN.
    """
    has_interval = low is not None and low == low  # noqa: PLR0124 - NaN
    between = f" {interval(low, high, digits)}" if has_interval else ", no interval"
    return Figures(
        f"{readable(score, digits)} ({gain(difference, digits)}{between}, p{p.replace(' ', '')})"
    )


def with_gain(
    score: Value, difference: Value, significant: bool, digits: int = DIFFERENCE_DECIMALS
) -> Figures:
    """Return a score with its difference, such as ``0.512 (+0.021)*`` if that is significant."""
    by = readable(difference, digits)
    sign = "" if by.startswith("-") else "+"  # 0 has one too: digits stand below digits
    return Figures(f"{readable(score, digits)} ({sign}{by}){'*' * significant}")


def gain(difference: Value, digits: int = DIFFERENCE_DECIMALS) -> str:
    """Return a difference with its sign."""
    by = readable(difference, digits)
    return f"+{by}" if by.strip("-0.") and not by.startswith("-") else by


def p_value(value: float) -> str:
    """Return a p-value as papers print it, such as ``.031``, ``<.001`` or ``1``."""
    if math.isnan(value):
        return readable(None)
    return "<.001" if value < 0.001 else f"{value:.3f}".removeprefix("0").removesuffix(".000")
