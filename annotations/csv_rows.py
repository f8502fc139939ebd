"""Rows of CSV and TSV files, each with its line number."""

from __future__ import annotations

import csv
from collections.abc import Iterator

from ..errors import AnnotationError


def rows(text: str, where: str, delimiter: str = ",") -> Iterator[tuple[int, list[str]]]:
    """Yield the rows of a file that are not blank, with their line numbers.

    A field that runs over the end of its line is a quote that nobody closed.

    Raises
    ------
    AnnotationError
        If a line is not CSV.
    """
    for line, row in enumerate((_parsed(line, delimiter) for line in text.split("\n")), 1):
        if row is None:
            raise AnnotationError(
                f"{where}: line {line} is not CSV (an unclosed quote, or a field of more "
                "than 100,000 characters); is it the right file?"
            )
        if row:
            yield line, row


def header(text: str) -> tuple[list[str], str]:
    """Return the fields of the first line that is not blank, and what separates them."""
    first = text.lstrip("\n").partition("\n")[0]
    delimiter = "\t" if "\t" in first else ";" if first.count(";") > first.count(",") else ","
    return _parsed(first, delimiter) or [], delimiter


def _parsed(line: str, delimiter: str) -> list[str] | None:
    try:
        return next(csv.reader([line], delimiter=delimiter, strict=True), [])
    except csv.Error:
        return None
