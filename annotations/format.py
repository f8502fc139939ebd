"""Parts of a format of objects: its record, what carries it, and the entries of its lists.

A format is a module of this package, or a part of one, that ends with its record, a `Format`, and a
line in the table of `.read`. All readers raise `AnnotationError` where content is wrong; it begins
with the file and the entry.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

from ..errors import AnnotationError
from ..io.arguments import shows
from ..io.files import as_text, is_json_lines, parse_json, parse_json_lines, read_bytes
from ..io.image_ids import ImageId, from_json_key, from_json_value
from .instances import Instances
from .objects import ObjectLabels

#: What content comes as: a JSON object or Python mapping, a JSON list or JSON Lines, text that is
#: not JSON, the bytes of an XML file, a folder with one file per image; or something else.
Carrier: TypeAlias = Literal["object", "list", "table", "xml", "folder", "other"]


@dataclass(frozen=True)
class Way:
    """One of the ways in which a format comes, or something that people give instead of it.

    It is recognised by signs (`vifidel_eval.io.arguments`), of a table by names of its columns; or
    a
    function tells it from the whole content. What reads it takes the content, fills an `Instances`,
    and returns the labels; or a companion that renames the images of other sources (`.nocaps`). A
    text is for content that is refused: what is wrong with it and what to do, without its name.
    """

    carrier: Carrier
    recognised: tuple[str, ...] | Callable[[Any], bool]
    read: str | Callable[[Any, Instances], ObjectLabels | Any]


@dataclass(frozen=True)
class Format:
    """A format of objects: what messages and help call it, its row in docs/objects.md, its ways.

    The row says in Markdown what it is, the lowest score that counts, and what else to know.
    """

    name: str
    source: str
    scores: str
    notes: str
    ways: tuple[Way, ...]


class Lines(list[Any]):
    """The values of JSON Lines, with the line of each, from 1, as `numbers`."""

    def __init__(self, values: Iterable[Any], numbers: Sequence[int]) -> None:
        super().__init__(values)
        self.numbers = numbers


def content_of(path: Path) -> tuple[Carrier, Any]:
    """Return the carrier of a file or folder, and its content.

    The keys of a JSON object are image ids: whole numbers among them become numbers.
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
    if is_json_lines(text):
        return "list", Lines(*parse_json_lines(text, where, AnnotationError))
    content = parse_json(text, where, AnnotationError)
    if isinstance(content, dict) and content:
        return "object", {from_json_key(key): value for key, value in content.items()}
    return "list" if isinstance(content, list) else "other", content


def entries(content: Any, where: str, key: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the entries of a list, which may be called `key`, each after what messages call it.

    >>> list(entries([{}], "f.json", "images")), list(entries(Lines([{}], [3]), "f.jsonl"))
    ([('f.json: images[0]', {})], [('f.jsonl: line 3', {})])
    """
    if not isinstance(content, list):
        raise AnnotationError(f"{where}: '{key}' is not a list; is it the right file?")
    if isinstance(content, Lines):
        numbers, before, after = content.numbers, f"{where}: line ", ""
    else:
        numbers, before, after = range(len(content)), f"{where}: {key}[", "]"
    for number, entry in zip(numbers, content, strict=True):
        at = f"{before}{number}{after}"
        if not isinstance(entry, dict):
            raise AnnotationError(f"{at} is {entry!r:.40}, not an object.")
        yield at, entry


def image_id_of(entry: Mapping[str, Any], key: str, at: str) -> ImageId:
    """Return the image id of an entry."""
    image_id = from_json_value(entry.get(key))
    if image_id is None:
        what = f"'{key}' is {entry[key]!r:.40}" if key in entry else f"'{key}' is missing"
        raise AnnotationError(f"{at}: {what}; an image id is an integer or a string.")
    return image_id


def first_key(records: list[Any], keys: Sequence[str]) -> str:
    """Return the first of some keys that the first record has; if it has none, the first."""
    return next((key for key in keys if shows(records, [f"[].{key}"])), keys[0])


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
    """Return the classes that a header declares; None if it does not."""
    classes = header.get("classes")
    if classes is None:
        return None
    if not isinstance(classes, list) or not all(isinstance(n, str) and n.strip() for n in classes):
        raise AnnotationError(f"{where}: line 1: 'classes' is not a list of names; write one.")
    return classes
