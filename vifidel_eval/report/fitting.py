"""Tables that fit where they are shown: a terminal, a pipe, or a column of a paper.

What is too wide is turned, so that columns become rows, or else cut into several tables.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace

from ..text_tables import Table, in_print

#: Characters in a line of what is printed into a file or pipe, whatever the machine.
PIPED_WIDTH = 100

# A line of LaTeX's class article, one column at 10 pt: \linewidth is 345 pt.
_LINEWIDTH = 345.0
# Space on both sides of a column: twice \tabcolsep, which is 6 pt, or 3 pt in a narrow table.
_COLUMN_SPACE, _NARROW_SPACE = 12.0, 6.0
# cmr9, which \small takes, beside cmr10; cmbx10 beside cmr10, for the letters that gain most.
_SMALL, _BOLD = 0.93, 1.18
# Rows on a page of that class, whose \textheight is 550 pt: 12 pt each, with header and rules.
_PAGE_ROWS = 40

# Widths of characters of Computer Modern in pt at 10 pt, rounded up (cmr10.tfm).
_WIDTHS = {
    **dict.fromkeys("0123456789agovxyk*/$", 5.3),
    **dict.fromkeys("bdhnpqu", 5.6),
    **dict.fromkeys("cezrst", 4.5),
    **dict.fromkeys("filjI.,;:'!()[]- ", 3.9),
    **dict.fromkeys("STBEFLPJ", 7.3),
    **dict.fromkeys("ACDGHKNOQRUVXYZw&+=<>", 7.9),
    **dict.fromkeys("mM#%", 9.3),
    "_": 5.3,
}
_WIDEST = 10.3


def line_width() -> int:
    """Return how many characters fit in a line of standard output.

    In a terminal it is the terminal's width; a file or pipe gets the same bytes everywhere.
    """
    gone = sys.stdout is None or getattr(sys.stdout, "closed", False)
    if gone or not sys.stdout.isatty():
        return PIPED_WIDTH
    return shutil.get_terminal_size().columns


def fitted(table: Table, style: str, width: int, corner: str = "") -> list[Table]:
    """Return a table as it is, turned, or cut into several, so that it fits.

    Parameters
    ----------
    table : Table
        Notes go below the last part, the title above the first.
    style : str
        Markdown and CSV have no width and stay as they are.
    width : int
        Characters in a line, for the style ``table``; LaTeX has the column and page of a paper.
    corner : str
        What the first column of the turned table is called; without it the table is not turned.
    """
    if style not in ("table", "latex") or not table.rows:
        return [table]
    if style == "latex":
        parts = _in_width(table, replace(table, narrow=True), _fits_paper, corner)
        return [page for part in parts for page in _pages(part)]
    return _in_width(table, table, lambda part: _characters(part) <= width, corner)


def _in_width(
    table: Table, narrow: Table, fits: Callable[[Table], bool], corner: str
) -> list[Table]:
    if fits(table):
        return [table]
    if corner and fits(turned := table.turned(corner)):
        return [turned]
    if fits(narrow):
        return [narrow]
    if corner and fits(turned := narrow.turned(corner)):
        return [turned]
    return list(_parts(narrow, fits))


def _parts(table: Table, fits: Callable[[Table], bool]) -> Iterator[Table]:
    """Yield a table in parts that fit; each has the columns of text, and at least one other."""
    texts = list(range(table.texts))
    left = list(range(table.texts, len(table.headers)))
    if not left:
        yield table
    title, notes = table.title, table.notes
    while left:
        taken = 1
        while taken < len(left) and fits(table.with_columns(texts + left[: taken + 1])):
            taken += 1
        part = table.with_columns(texts + left[:taken])
        left = left[taken:]
        yield replace(part, title=title, notes=() if left else notes)
        title = ""


def _pages(table: Table) -> Iterator[Table]:
    """Yield a table in parts of a page each, cut where the first column changes if it can be."""
    start, rows = 0, table.rows
    while len(rows) - start > _PAGE_ROWS:
        last = start + _PAGE_ROWS
        ends = (end for end in range(last, start, -1) if rows[end][0] != rows[end - 1][0])
        end = next(ends, last)
        yield replace(table.with_rows(start, end), title="" if start else table.title, notes=())
        start = end
    rest = table.with_rows(start, len(rows)) if start else table
    yield replace(rest, title="") if start else rest


def _characters(table: Table) -> int:
    """Return how wide a table is: its rule has a hyphen for each column of the terminal."""
    return len(replace(table, title="", notes=()).render("table").splitlines()[1])


def _fits_paper(table: Table) -> bool:
    space = _NARROW_SPACE if table.narrow else _COLUMN_SPACE
    size = _SMALL if table.narrow else 1.0
    columns = zip(*table.cells("latex"), strict=True)
    return sum(size * max(map(_points, column)) + space for column in columns) <= _LINEWIDTH


def _points(cell: str) -> float:
    """Return how wide a cell is in print, at most."""
    shown, bold = in_print(cell)
    points = sum(_WIDTHS.get(character, _WIDEST) for character in shown)
    return _BOLD * points if bold else points
