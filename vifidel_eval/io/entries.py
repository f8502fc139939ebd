"""Entries of files: objects of JSON, lines of JSON Lines and rows of tables, with their places.

An `Entry` says in one sentence what is missing or of a wrong kind.
"""

from __future__ import annotations

import contextlib
import math
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from typing import Any

from ..doors.arguments import is_listed
from ..errors import VifidelError, warn
from .files import first_line
from .image_ids import ImageId, from_json_key, from_json_value, names_image

_LOOKED_AT = 100  # entries of a list, by which a format is recognised
_SHOWN = 6  # names of what is not recognised
_WORD = re.compile(r"\w+")
#: Flags by which data sets say that an entry is not to be used: VizWiz's ``is_rejected`` (spam) and
#: ``is_precanned`` (a fixed sentence that nothing can be seen), Label Studio's ``was_cancelled``
#: and ``skipped``, COCO Annotator's ``deleted``, and their usual spellings.
FLAGS = frozenset(
    "is_rejected rejected is_precanned precanned was_cancelled cancelled skipped is_skipped skip "
    "is_deleted deleted is_discarded discarded is_invalid invalid is_spam spam".split()
)
# What pandas writes into a cell of text for a missing value.
_NOTHING = frozenset(("nan", "NaN", "None", "<NA>", "NaT"))
# How pandas writes whole numbers of a column in which one is missing.
_FLOAT = re.compile(r"^(0|[1-9]\d{0,14})\.0$")
_RAISED = ("true", "1", "1.0", "yes")  # as text, of flags in CSV
# What readers run into where content is of another layout, or nested too deeply.
_FAILURES = (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError)


@dataclass(slots=True)
class Source:
    """What is read: what messages call it, the class of its errors, and the entry being read."""

    where: str
    error: type[VifidelError]
    reading: Entry | None = None

    @contextlib.contextmanager
    def reading_as(self, layout: str) -> Iterator[None]:
        """Say in one sentence where content is not of the layout as which it is read."""
        try:
            yield
        except VifidelError:
            raise
        except _FAILURES as problem:
            raise self.error(
                f"{self.reading or self.where}: cannot be read as {layout} "
                f"({type(problem).__name__}: {first_line(problem):.80}); correct it, or give "
                "another file."
            ) from problem


@dataclass(slots=True, eq=False)
class Entry:
    """An object of JSON, a line of JSON Lines or a row of a table; its text is its place."""

    content: Mapping[Any, Any]
    within: Entries
    ordinal: int | None
    image: ImageId | None = None

    def __str__(self) -> str:
        return self.at if self.image is None else f"{self.at} (image {self.image!r:.60})"

    @property
    def at(self) -> str:
        """The source and the place in it."""
        return self.within.at(self.ordinal)

    @property
    def place(self) -> str:
        """The place alone, such as ``line 2``."""
        return self.within.place(self.ordinal or 0)

    @property
    def source(self) -> Source:
        """Where it is from."""
        return self.within.source

    def __contains__(self, key: object) -> bool:
        return key in self.content

    def __getitem__(self, key: str) -> Any:
        if key not in self.content:
            raise self.error(f"{self}: {key!r:.40} is missing; every entry needs it.")
        return self.content[key]

    def get(self, key: str, default: Any = None) -> Any:
        """Return what the entry has under a key, if it has it."""
        return self.content.get(key, default)

    def error(self, message: str) -> VifidelError:
        """Return an error of the source's class."""
        return self.within.source.error(message)

    def refusal(self, key: str, expected: str) -> VifidelError:
        """Return the error for a key that is missing or does not hold what is expected."""
        return self.error(f"{self}: {key!r:.40} {self._found(key)}; expected {expected}.")

    def _found(self, key: str) -> str:
        if key not in self.content:
            return "is missing"
        value = self.content[key]
        blank = isinstance(value, str) and not value.strip()
        return "is null" if value is None else "is empty" if blank else f"is {value!r:.40}"

    @property
    def flag_against(self) -> str:
        """The flag that says not to use the entry; empty if there is none."""
        if FLAGS.isdisjoint(self.content):
            return ""
        raised = (
            name
            for name in self.content
            if name in FLAGS and str(self.content[name]).strip().lower() in _RAISED
        )
        return next(raised, "")

    def listed_twice(self) -> VifidelError:
        """Return the error for a second entry of an image."""
        return self.error(f"{self.at}: image {self.image!r:.60} is listed twice; keep one entry.")

    def image_id(self, key: str = "image_id") -> ImageId:
        """Return the image id under a key; from now on messages name the image."""
        value = self.content.get(key)
        if self.within.textual and isinstance(value, str):
            value = from_json_key(_FLOAT.sub(r"\1", value.strip()))
            value = "" if is_nothing(value) else value
        image_id = from_json_value(value)
        if image_id is None:
            raise self.error(
                f"{self}: {key!r:.40} {self._found(key)}; an image id is an integer or a string."
            )
        self.image = image_id
        return image_id

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
        value: Any = self.content.get(key)
        if type(value) not in (int, float) or not lowest <= value <= highest:
            raise self.refusal(key, f"a number from {lowest:g} to {highest:g}")
        return float(value)

    def members(self, key: str, kind: type = object, expected: str = "a list") -> list[Any]:
        """Return a list, all of whose members are of a kind."""
        value = self.content.get(key)
        if not isinstance(value, list) or not all(isinstance(member, kind) for member in value):
            raise self.refusal(key, expected)
        return value

    def texts(self, key: str) -> list[str]:
        """Return a list of strings."""
        return self.members(key, str, "a list of strings")

    def entries(self, key: str) -> Entries:
        """Return the objects of a list."""
        return Entries(self.members(key), self.within.source, self, key)


@dataclass(eq=False)
class Entries:
    """The objects of a list, of JSON Lines or of a table, in order."""

    values: Sequence[Any]
    source: Source
    parent: Entry | None = None  # which holds the list under `key`
    key: str = ""
    numbers: Sequence[int] | None = None  # the `unit` of each, "line" or "row"
    unit: str = ""
    textual: bool = False  # whether all values are text: an image id of digits is a number

    def __len__(self) -> int:
        return len(self.values)

    def __iter__(self) -> Iterator[Entry]:
        numbers = range(len(self.values)) if self.numbers is None else self.numbers
        for number, value in zip(numbers, self.values, strict=True):
            yield self._entry(value, number)

    def __getitem__(self, index: int) -> Entry:
        return self._entry(self.values[index], self.numbers[index] if self.numbers else index)

    def _entry(self, value: Any, number: int) -> Entry:
        if type(value) is not dict and not isinstance(value, Mapping):
            raise self.source.error(f"{self.at(number)}: expected an object, found {value!r:.40}.")
        entry = self.source.reading = Entry(value, self, number)
        return entry

    def at(self, number: int | None) -> str:
        """Return the source and the place of an entry, or that of the list for None."""
        above = self.source.where if self.parent is None else str(self.parent)
        return above if number is None else f"{above}: {self.place(number)}"

    def place(self, number: int) -> str:
        """Return the place of an entry: ``images[0]``, ``line 2`` or ``row 1``."""
        return f"{self.unit} {number}" if self.unit else f"{self.key}[{number}]"

    @classmethod
    def of_frame(cls, frame: Any, source: Source) -> Entries:
        """Return the rows of a table that `is_frame`; missing values, also as text, are None."""
        names = list(map(str, getattr(frame, "column_names", frame.columns)))
        twice = next((name for name, times in Counter(names).items() if times > 1), None)
        if twice is not None:
            raise source.error(f"{source.where}: the column {twice!r:.40} appears twice; keep one.")
        if hasattr(frame, "notna"):  # pandas
            records = frame.astype(object).where(frame.notna(), None).to_dict("records")
        else:
            records = frame.to_pylist() if hasattr(frame, "to_pylist") else frame.to_dicts()
        rows = [
            {name: None if is_nothing(cell) else cell for name, cell in record.items()}
            for record in records
        ]
        return cls(rows, source, numbers=range(len(rows)), unit="row")

    @cached_property
    def names(self) -> list[str]:
        """The names of all fields that an entry has, in the order of the source."""
        names: dict[str, None] = {}
        for entry in self:
            if not entry.content.keys() <= names.keys():
                names.update(dict.fromkeys(entry.content))
        return list(names)

    @property
    def first(self) -> list[Mapping[Any, Any]]:
        """The first entries, as far as they are objects, by which a format is recognised."""
        return [value for value in self.values[:_LOOKED_AT] if isinstance(value, Mapping)]

    def first_key(self, keys: Sequence[str]) -> str:
        """Return the key that most of the first entries have; of several, the first."""
        return max(keys, key=lambda key: sum(key in value for value in self.first))

    def after_header(self) -> Entries:
        """Return the entries after the first."""
        numbers = None if self.numbers is None else self.numbers[1:]
        return replace(self, values=self.values[1:], numbers=numbers)

    def with_values(self, values: Sequence[Any]) -> Entries:
        """Return as many other values in the same places."""
        return replace(self, values=values)


def root(content: Mapping[Any, Any], source: Source) -> Entry:
    """Return a whole JSON object, or a mapping of a program, as an entry."""
    return Entry(content, Entries((), source), None)


def is_frame(table: Any) -> bool:
    """Return whether something is a DataFrame of pandas or polars, or a Table of pyarrow."""
    return hasattr(table, "columns") and any(
        hasattr(table, method) for method in ("to_dict", "to_dicts", "to_pylist")
    )


def is_nothing(cell: Any) -> bool:
    """Return whether a cell is NaN, or text that pandas writes for a missing value."""
    if isinstance(cell, float):
        return math.isnan(cell)
    return isinstance(cell, str) and cell.strip() in _NOTHING


class LeftOut(Counter[str]):
    """How many entries of a file were left out for each reason."""

    nothing = 0  #: how many cells had what pandas writes for a missing value

    def cell(self, cell: Any) -> Any:
        """Return a cell of a table, empty where it `is_nothing`, which is then counted."""
        if is_nothing(cell):
            self.nothing += 1
            return ""
        return cell

    def flagged(self, entry: Entry) -> bool:
        """Return whether a flag says not to use an entry, which is then counted."""
        flag = entry.flag_against
        if flag:
            self[f"flagged {flag}"] += 1
        return bool(flag)

    def warn(self, where: str, noun: str, images: Mapping[Any, Collection[Any]]) -> None:
        """Say how many entries (`noun` they are) were left out, and how many images have none."""
        number = self.total()
        if self.nothing and not self["empty"]:
            are = " is" if self.nothing == 1 else "s are"
            warn(
                f"{where}: {self.nothing} {noun}{are} read as empty: nan, None and the like are "
                "what pandas writes for a missing value."
            )
        if not number:
            return
        reasons = ", ".join(f"{times} {reason}" for reason, times in sorted(self.items()))
        bare = sum(not of_image for of_image in images.values())
        no_other = f"; {bare} image{' has' if bare == 1 else 's have'} no other" if bare else ""
        warn(
            f"{where}: {number} {noun}{' is' if number == 1 else 's are'} left out ({reasons})"
            f"{no_other}."
        )


def listed_images(content: Entry) -> dict[ImageId, Entry]:
    """Return the images that a COCO file lists; an image may have two entries if they are equal."""
    listed: dict[ImageId, Entry] = {}
    for image in content.entries("images") if content.get("images") else ():
        image_id = image.image_id("id")
        if listed.setdefault(image_id, image).content != image.content:
            raise image.listed_twice()
    return listed


def listed_image(annotation: Entry, listed: Collection[ImageId], noun: str) -> ImageId:
    """Return the image of an annotation (`noun` it is): one that is listed, if any is."""
    image_id = annotation.image_id()
    if listed and image_id not in listed:
        raise annotation.error(
            f"{annotation.at}: image {image_id!r:.40} is not among the file's images; list it, or "
            f"leave its {noun} out."
        )
    return image_id


def unknown(seen: Iterable[Any] | str, known: Mapping[str, str]) -> str:
    """Return a clause: what was seen (names or a text), and the two layouts most like it."""
    names = [] if isinstance(seen, str) else [str(name) for name in seen]
    shown = ", ".join(f"{name!r:.30}" for name in names[:_SHOWN]) or "no key"
    shown += ", ..." if len(names) > _SHOWN else ""
    shown = f"begins with {seen.strip()!r:.40}" if isinstance(seen, str) else f"has {shown}"
    words = {name for name in names if len(name) > 1}
    common = {name: len(words & {*_WORD.findall(text)}) for name, text in known.items()}
    nearest = sorted(known, key=lambda name: -common[name])[:2]
    return f"no known layout {shown}; the nearest are {' and '.join(nearest)}"


def keyed_by_image(content: Mapping[Any, Any], fits: Callable[[Any], bool]) -> bool:
    """Return whether keys may be image ids: most values fit, or one key can be nothing else."""
    fitting = sum(map(fits, content.values()))
    return 2 * fitting > len(content) or any(names_image(str(key)) for key in content)


def shows(content: Any, signs: Iterable[str]) -> bool:
    """Return whether content has all of some signs, by which a format is recognised.

    The content is parsed JSON, or columns as the keys of a mapping. A sign is a path of keys from
    the outermost value on, such as ``images[].file_name``: a key, with ``[]`` behind it for a list,
    which the path continues in any of its first entries, ``{}`` for an object, or ``=`` for text or
    a whole number. Of paths with blanks between them, any one serves; a sign that begins with ``!``
    must not be there.
    """
    return all(
        any(_leads(content, path.split(".")) for path in sign.lstrip("!").split())
        != sign.startswith("!")
        for sign in signs
    )


def _leads(value: Any, steps: Sequence[str]) -> bool:
    step, *rest = steps
    if key := step.rstrip("[]{}="):
        if not isinstance(value, Mapping) or key not in value:
            return False
        value = value[key]
    if step.endswith("[]"):
        entries = islice(value, _LOOKED_AT) if is_listed(value) else ()
        return is_listed(value) and (not rest or any(_leads(entry, rest) for entry in entries))
    if step.endswith("{}") and not isinstance(value, Mapping):
        return False
    if step.endswith("=") and not isinstance(value, str | int):
        return False
    return not rest or _leads(value, rest)
