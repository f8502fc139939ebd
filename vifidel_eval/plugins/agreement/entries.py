"""Entries of JSON files of human judgements, with errors that name the place."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from ...errors import AnnotationError
from ...io.files import parse_json, read_json, read_text
from ...io.image_ids import ImageId, from_json_key


class Entry(NamedTuple):
    """A JSON object of a file.

    Attributes
    ----------
    content : dict
        The object.
    where : str
        File and place, as errors name it.
    """

    content: dict[str, Any]
    where: str

    def refusal(self, key: str, expected: str) -> AnnotationError:
        """Return the error for a key that is missing or holds something else."""
        if key not in self.content:
            return AnnotationError(
                f"{self.where}: there is no {key!r}; expected {expected}. Is it the published file?"
            )
        return AnnotationError(
            f"{self.where}: {key!r} is {self.content[key]!r:.60}; expected {expected}."
        )

    def text(self, key: str) -> str:
        """Return a string that is not blank."""
        value = self.content.get(key)
        if not isinstance(value, str) or not value.strip():
            raise self.refusal(key, "text")
        return value

    def flag(self, key: str) -> bool:
        """Return true or false."""
        value = self.content.get(key)
        if not isinstance(value, bool):
            raise self.refusal(key, "true or false")
        return value

    def number(self, key: str, lowest: float, highest: float) -> float:
        """Return a number within bounds."""
        value = self.content.get(key)
        if (
            isinstance(value, bool)
            or not isinstance(value, int | float)
            or not lowest <= value <= highest
        ):
            raise self.refusal(key, f"a number from {lowest:g} to {highest:g}")
        return float(value)

    def texts(self, key: str) -> tuple[str, ...]:
        """Return a list of strings."""
        value = self.content.get(key)
        if not isinstance(value, list) or not all(isinstance(text, str) for text in value):
            raise self.refusal(key, "a list of strings")
        return tuple(value)

    def image(self, key: str) -> ImageId:
        """Return the image id that a file name means: its stem, a whole number as a number."""
        return from_json_key(PurePosixPath(self.text(key)).stem)


def read_entries(path: Path) -> Iterator[Entry]:
    """Yield the objects of a file that is a JSON list.

    Raises
    ------
    AnnotationError
        If the file cannot be read or is not a list of objects.
    """
    content = read_json(path, AnnotationError)
    if not isinstance(content, list) or not content:
        raise AnnotationError(
            f"{path}: expected a JSON list of objects, found {content!r:.40}; is it the published "
            "file?"
        )
    for number, entry in enumerate(content):
        yield _entry(entry, f"{path}: [{number}]")


def read_lines(path: Path) -> Iterator[Entry]:
    """Yield the objects of a JSON Lines file; blank lines are passed over.

    Raises
    ------
    AnnotationError
        If the file cannot be read, a line is not a JSON object, or there is none.
    """
    lines = read_text(path, AnnotationError).split("\n")
    filled = [(number, line) for number, line in enumerate(lines, 1) if line.strip()]
    if not filled:
        raise AnnotationError(f"{path}: the file is empty; get the published file again.")
    for number, line in filled:
        where = f"{path}: line {number}"
        yield _entry(parse_json(line, where, AnnotationError), where)


def _entry(value: Any, where: str) -> Entry:
    if not isinstance(value, dict):
        raise AnnotationError(f"{where}: expected a JSON object, found {value!r:.40}.")
    return Entry(value, where)
