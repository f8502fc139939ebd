"""Tables and signatures that fit where they are shown: a terminal, a pipe or a paper."""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial

from click import IntRange

from ..doors.arguments import OUTPUT, option
from ..io.digits import rounded
from ..io.text_tables import Table, columns_of, readable

#: Characters in a line of what is printed into a file or pipe, whatever the machine.
PIPED_WIDTH = 100

#: What begins the line of short signatures.
SIGNATURES = "Signatures:"

# Characters in a line of LaTeX's class article, one column at 10 pt, and in that of a narrow table:
# \linewidth is 345 pt.
_PAPER_WIDTH, _NARROW_WIDTH = 57, 72
# Rows on a page of that class, whose \textheight is 550 pt: 12 pt each, with header and rules.
_PAGE_ROWS = 40


_option = partial(option, section=OUTPUT)


@dataclass(frozen=True)
class TableLayout:
    """How scores are shown; `percent` multiplies them, but not those of the columns `kept`."""

    columns: tuple[str, ...] | None = None
    full: bool = _option(False, "Show every column, count and signature.", bool)
    percent: bool = _option(False, "Show scores times 100.", bool)
    digits: int | None = _option(
        None, "Decimals.  [default: 4; percent 2; CSV all]", IntRange(0, 10), metavar="N"
    )
    width: int = PIPED_WIDTH
    counts: bool = _option(False, "Show counts in LaTeX and with --baseline too.", bool, rare=True)
    baseline: str | None = _option(
        None, "Compare every system with this one: differences, intervals, p.", str, metavar="NAME"
    )
    scores_only: bool = _option(
        False, "Print the table of scores without the comparison.", bool, rare=True
    )
    pairs: bool = _option(False, "Add places and pairs to Markdown and LaTeX.", bool, rare=True)
    signatures: bool = _option(
        False, "Print full signatures. They pin everything that changes a score.", bool, rare=True
    )
    kept: frozenset[str] = frozenset()

    @property
    def first_screen(self) -> bool:
        """Whether nothing was asked of the table, so that a terminal shows the first screen."""
        asked = self.columns, self.digits, self.baseline
        flags = self.full, self.percent, self.counts, self.scores_only, self.signatures
        return asked == (None, None, None) and not any(flags)

    def decimals(self, style: str) -> int | None:
        """Return the decimals of a style; None for those of `Table`."""
        if self.digits is not None or style == "csv":
            return self.digits
        return 2 if self.percent else None

    def shown(self, score: float, column: str) -> float | None:
        """Return a score of a column as it is shown; None if it is undefined."""
        number = rounded(score)
        if number is None or not self.percent or column in self.kept:
            return number
        return rounded(100 * number)

    def text(self, score: float, column: str) -> str:
        """Return a defined score of a column as sentences below tables show it."""
        return readable(self.shown(score, column), self.decimals("table"))


def line_width() -> int:
    """Return the width of the terminal; of a pipe, COLUMNS or `PIPED_WIDTH`."""
    gone = sys.stdout is None or getattr(sys.stdout, "closed", False)
    if gone or not sys.stdout.isatty():
        columns = os.environ.get("COLUMNS", "")
        return int(columns) if columns.isdecimal() and int(columns) else PIPED_WIDTH
    return shutil.get_terminal_size().columns


def fitted(
    table: Table, style: str, width: int, corner: str = "", rather: Iterable[Table] = ()
) -> list[Table]:
    """Return a table as it is, turned (with a first column `corner`), or in parts that fit.

    If there is room for one of the tables `rather`, which have more in them, it is shown instead.
    """
    if style not in ("table", "latex") or not table.rows:
        return [table]
    narrow = replace(table, narrow=True)
    shapes = [*rather, table, narrow]
    if corner:
        shapes = [turned for shape in shapes for turned in (shape, shape.turned(corner))]
    whole = next((shape for shape in shapes if _fits(shape, style, width)), None)
    parts = list(_cut(narrow, style, width)) if whole is None else [whole]
    if style != "latex":
        return parts
    first, *others = [page for part in parts for page in _pages(part)]
    return [first, *(replace(page, caption="") for page in others)]


def _cut(table: Table, style: str, width: int) -> Iterator[Table]:
    """Yield a table in parts that fit; each has the columns of text, and at least one other."""
    texts = list(range(table.texts))
    left = list(range(table.texts, len(table.headers)))
    if not left:
        yield table
    title = table.title
    while left:
        columns = 1
        part = table.with_columns(texts + left[:columns])
        while columns < len(left):
            wider = table.with_columns(texts + left[: columns + 1])
            if not _fits(wider, style, width):
                break
            part, columns = wider, columns + 1
        left = left[columns:]
        yield replace(part, title=title, notes=() if left else table.notes)
        title = ""


def _pages(table: Table) -> Iterator[Table]:
    """Yield a table in parts of a page each, cut where the first column changes if it can be."""
    rows, title = table.rows, table.title
    while len(rows) > _PAGE_ROWS:
        ends = (end for end in range(_PAGE_ROWS, 0, -1) if rows[end][0] != rows[end - 1][0])
        end = next(ends, _PAGE_ROWS)
        yield replace(table, rows=rows[:end], title=title, notes=())
        rows, title = rows[end:], ""
    yield replace(table, rows=rows, title=title)


def _fits(table: Table, style: str, width: int) -> bool:
    rule = replace(table, title="", notes=()).render("table").splitlines()[1]
    if style == "latex":
        width = _NARROW_WIDTH if table.narrow else _PAPER_WIDTH
    return len(rule) <= width


def wrapped(notes: Iterable[str], width: int) -> Iterator[str]:
    """Yield notes in lines that fit."""
    width = max(width, 20)
    for note in notes:
        # The indented part of a signature has no blanks.
        if columns_of(note) <= width or " " not in note.strip():
            yield note
            continue
        line, *words = note.split()
        for word in words:
            if columns_of(line) + 1 + columns_of(word) > width:
                yield line
                line = " "  # the next lines are indented
            line += f" {word}"
        yield line


def printed(tables: Iterable[Table], style: str, width: int) -> str:
    """Return tables as text; in a terminal, their notes are in lines that fit."""
    if style == "table":
        tables = [replace(table, notes=list(wrapped(table.notes, width))) for table in tables]
    return "\n\n".join(table.render(style) for table in tables)


def in_brief(signatures: Iterable[str], whole: str = "with --signatures, and in --output") -> str:
    """Return one line with metrics, eight digits of SHA-256, and where signatures are `whole`."""
    brief = [
        f"{line.partition('|')[0]}#{hashlib.sha256(line.encode()).hexdigest()[:8]}"
        for line in dict.fromkeys(signatures)
    ]
    return f"{SIGNATURES} {', '.join(brief)} (whole {whole})."


def folded(signatures: Iterable[str], width: int) -> list[str]:
    """Return lines that say each part of signatures once, behind the metrics that have it."""
    whole = list(dict.fromkeys(signatures))
    # Those of combinations hold those of their parts, and one metric may have two.
    plain = [signature.split("|") for signature in whole if "(" not in signature]
    parts = {name: parts_of_signature for name, *parts_of_signature in plain}
    lines = whole
    if len(parts) == len(plain) > 1:
        owners: dict[str, list[str]] = {}
        for name, parts_of_signature in parts.items():
            for part in dict.fromkeys(parts_of_signature):
                owners.setdefault(part, []).append(name)
        shared: dict[tuple[str, ...], list[str]] = {}
        for part, names in owners.items():
            shared.setdefault(tuple(names), []).append(part)
        by_number = sorted(shared.items(), key=lambda item: len(item[0]))
        alone = {m[0]: "|".join([*m, *own]) for m, own in by_number if len(m) == 1}
        lines = [alone[name] for name in parts if name in alone]
        for metrics, common in by_number:
            if len(metrics) > 1:
                listed = "All" if len(metrics) == len(whole) else ", ".join(metrics)
                lines.append(f"{listed}: {'|'.join(common)}")
        lines += [signature for signature in whole if "(" in signature]
    return [broken for line in lines for broken in _broken(line, width)]


def _broken(line: str, width: int) -> list[str]:
    """Return a line in pieces that fit, broken before bars and indented."""
    first, *parts = line.split("|")
    pieces = [first]
    for part in parts:
        if len(pieces[-1]) + len(part) < width:
            pieces[-1] += f"|{part}"
        else:
            pieces.append(f"  |{part}")
    return pieces
