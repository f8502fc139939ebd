"""Records from any container: JSON, JSON Lines, CSV, TSV or Parquet, told apart by content."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ..errors import CaptionError
from ..files import (
    STANDARD_INPUT,
    as_text,
    is_json_lines,
    parse_json,
    parse_json_lines,
    read_bytes,
    read_standard_input,
)
from .columns import IMAGE_IDS, usual
from .layout import CAPTIONS, REFERENCES
from .tables import PARQUET, delimiter, read_delimited, read_parquet


@dataclass(frozen=True)
class Records:
    """Entries of a file, one per caption or per image.

    Attributes
    ----------
    where : str
        The file, for messages.
    entries : sequence
        Parsed JSON, or the rows of a table; dicts where the file is right.
    lines : sequence of int, optional
        The line or row of each entry, from 1; None for the entries of one JSON list.
    unit : str
        What `lines` counts: "line" or "row".
    textual : bool
        Whether all values are text, as in CSV, so that an id of digits is a number.
    """

    where: str
    entries: Sequence[Any]
    lines: Sequence[int] | None = None
    unit: str = "line"
    textual: bool = False

    def place(self, number: int) -> str:
        """Return where entry `number` is: ``[0]``, ``line 2`` or ``row 1``."""
        return f"[{number}]" if self.lines is None else f"{self.unit} {self.lines[number]}"

    def at(self, number: int) -> str:
        """Return the file and where entry `number` is in it."""
        return f"{self.where}: {self.place(number)}"

    @cached_property
    def names(self) -> list[str]:
        """The names of all fields that an entry has, in the order of the file.

        Raises
        ------
        CaptionError
            If an entry is not an object.
        """
        seen: dict[str, None] = {}
        for number, entry in enumerate(self.entries):
            if not isinstance(entry, dict):
                raise CaptionError(
                    f"{self.at(number)}: expected an object with an image id and a caption, found "
                    f"{entry!r:.40}."
                )
            if not entry.keys() <= seen.keys():
                seen.update(dict.fromkeys(entry))
        return list(seen)


def read_content(path: str | os.PathLike[str]) -> tuple[Records | dict[str, Any], str]:
    """Read a file, or standard input for ``-``, and say whether it holds records.

    Returns
    -------
    content : Records or dict
        A dict if the file is one JSON object that is not a record.
    where : str
        What messages call the file.

    Raises
    ------
    CaptionError
        If the file cannot be read or holds something else.
    """
    if os.fspath(path) == STANDARD_INPUT:
        where, raw = "standard input", read_standard_input(CaptionError)
    else:
        where, raw = str(path), read_bytes(path, CaptionError)
    return content_of(raw, where), where


def content_of(raw: bytes, where: str) -> Records | dict[str, Any]:
    """Return the content of a file's bytes as `read_content` does.

    Raises
    ------
    CaptionError
        If they are something else.
    """
    if raw.startswith(PARQUET):
        rows = read_parquet(raw, where)
        return Records(where, rows, range(1, len(rows) + 1), "row")
    text = as_text(raw, where, CaptionError)
    start = text.lstrip()[:1]
    if is_json_lines(text):
        entries, lines = parse_json_lines(text, where, CaptionError)
        return Records(where, entries, lines)
    between = delimiter(text)
    if start in ("{", "[") or between is None:
        return _from_json(parse_json(text, where, CaptionError), where)
    entries, lines = read_delimited(text, where, between)
    return Records(where, entries, lines, textual=True)


def _from_json(content: Any, where: str) -> Records | dict[str, Any]:
    if isinstance(content, list):
        return Records(where, content)
    if not isinstance(content, dict):
        raise CaptionError(
            f"{where}: {content!r:.40} is not a caption file; accepted: COCO's JSON, JSON Lines, "
            "CSV or TSV with a header, Parquet."
        )
    ids, captions = usual(content, IMAGE_IDS), usual(content, {*CAPTIONS, *REFERENCES})
    if not ids or not captions or "annotations" in content:
        return content
    if any(isinstance(content[name], dict | list) for name in ids):
        raise CaptionError(
            f"{where}: looks like a table written column by column; write one record per image, as "
            "JSON Lines or CSV."
        )
    return Records(where, [content])  # a file of one line
