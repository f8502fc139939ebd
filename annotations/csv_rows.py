"""Rows of CSV and TSV files, each with its line number."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator

from ..errors import AnnotationError
from .scores import check_score


def rows(text: str, where: str, delimiter: str = ",") -> Iterator[tuple[int, list[str]]]:
    """Yield the rows of a file that are not blank, with their line numbers.

    A field that runs over the end of its line is a quote that nobody closed.
    """
    for line, row in enumerate((_parsed(line, delimiter) for line in text.split("\n")), 1):
        if row is None:
            raise AnnotationError(
                f"{where}: line {line} is not CSV (an unclosed quote, or a field of more "
                "than 100,000 characters); is it the right file?"
            )
        if row:
            yield line, row


def records(
    text: str, where: str, delimiter: str = ",", spelling: Callable[[str], str] = str
) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the rows below the header: what messages call each, and its fields by column.

    `spelling` returns what a column is called.
    """
    table = rows(text, where, delimiter)
    _, header = next(table, (1, []))
    names = list(map(spelling, header))
    for line, row in table:
        if len(row) != len(names):
            raise AnnotationError(
                f"{where}: line {line} has {len(row)} fields but the header has {len(names)}; "
                "fix the line."
            )
        yield f"{where}: line {line}", dict(zip(names, row, strict=False))


def header_of(text: str) -> tuple[list[str], str]:
    """Return the fields of the first line that is not blank, and what separates them."""
    first = text.lstrip("\n").partition("\n")[0]
    delimiter = "\t" if "\t" in first else ";" if first.count(";") > first.count(",") else ","
    return _parsed(first, delimiter) or [], delimiter


def check_named_once(names: list[str], name: str, shown: str, where: str) -> None:
    """Check that a header has a column once."""
    if names.count(name) > 1:
        raise AnnotationError(f"{where}: line 1 names the column {shown} twice; keep one.")


def number_of(text: str | None) -> float | None:
    """Return the number that a text is, or None."""
    try:
        return float(text or "")
    except ValueError:
        return None


def score_of(text: str, at: str) -> float:
    """Return the score from 0 to 1 that a field holds; `at` names the file and the line."""
    number = number_of(text)
    return check_score(text if number is None else number, at)


def _parsed(line: str, delimiter: str) -> list[str] | None:
    # Most lines, in a fifth of the time.
    if len(line) < 1000 and '"' not in line and "\r" not in line and "\0" not in line:
        return line.split(delimiter) if line else []
    try:
        return next(csv.reader([line], delimiter=delimiter, strict=True), [])
    except csv.Error:
        return None
