"""Carriers of objects: what a file or folder holds before its format is known."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, TypeAlias

from ..arguments import shows
from ..errors import AnnotationError
from ..files import as_text, is_json_lines, parse_json, parse_json_lines, read_bytes
from ..image_ids import from_json_key

#: What content comes as: a JSON object or Python mapping, a JSON list or JSON Lines, text that is
#: not JSON, the bytes of an XML file, a folder with one file per image; or something else.
Carrier: TypeAlias = Literal["object", "list", "table", "xml", "folder", "other"]


class Lines(list[Any]):
    """The values of JSON Lines: a list that knows which line each is from.

    Attributes
    ----------
    numbers : sequence of int
        The line of each value, from 1.
    """

    def __init__(self, values: Iterable[Any], numbers: Sequence[int]) -> None:
        super().__init__(values)
        self.numbers = numbers


def places(entries: Sequence[Any], where: str, key: str = "") -> Iterator[str]:
    """Return what messages call each entry of a list, which may be called `key`.

    >>> list(places(["a"], "f.json", "images")), list(places(Lines(["a"], [3]), "f.jsonl"))
    (['f.json: images[0]'], ['f.jsonl: line 3'])
    """
    if isinstance(entries, Lines):
        return (f"{where}: line {number}" for number in entries.numbers)
    return (f"{where}: {key}[{number}]" for number in range(len(entries)))


#: The signs of a record of an image; a JSON object that has them is JSON Lines of one line.
RECORD = (
    "image_id= image= img_path= file_name= filename= id=",
    "objects thing entity_info text",
)


def below_header(records: list[Any]) -> tuple[Mapping[str, Any], list[Any]]:
    """Return the first record if it says something of all others, else nothing, and the others."""
    if not shows(records, ["[].classes [].vifidel_eval", "![].objects", "![].image_id"]):
        return {}, records
    if isinstance(records, Lines):
        return records[0], Lines(records[1:], records.numbers[1:])
    return records[0], records[1:]


def classes_of(header: Mapping[str, Any], where: str) -> list[str] | None:
    """Return the classes that a header declares; None if it does not.

    Raises
    ------
    AnnotationError
        If they are no list of names.
    """
    classes = header.get("classes")
    if classes is None:
        return None
    if not isinstance(classes, list) or not all(isinstance(n, str) and n.strip() for n in classes):
        raise AnnotationError(f"{where}: line 1: 'classes' is not a list of names; write one.")
    return classes


def content_of(path: Path) -> tuple[Carrier, Any]:
    """Return the carrier of a file or folder, and its content.

    The keys of a JSON object are image ids: whole numbers among them become numbers.

    Raises
    ------
    AnnotationError
        If the file cannot be read or is empty, or its JSON is broken.
    """
    if os.path.isdir(path):
        return "folder", path
    where = str(path)
    raw = read_bytes(path, AnnotationError)  # opened once: it may be a pipe
    if raw[:64].removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"<"):
        return "xml", raw  # the file itself declares its encoding
    text = as_text(raw, where, AnnotationError)
    if not text.strip():
        raise AnnotationError(f"{where}: the file is empty; write it again.")
    if text.lstrip()[0] not in "{[" and path.suffix.lower() != ".json":
        return "table", text
    return _of_json(text, where)


def _of_json(text: str, where: str) -> tuple[Carrier, Any]:
    if is_json_lines(text):
        return "list", Lines(*parse_json_lines(text, where, AnnotationError))
    content = parse_json(text, where, AnnotationError)
    if isinstance(content, list):
        return "list", content
    if isinstance(content, dict) and content:
        return "object", {from_json_key(key): value for key, value in content.items()}
    return "other", content
