"""Kinds of values that commands take: paths that are read or written, conditions on scores."""

from __future__ import annotations

import math
import operator
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import click

from ..errors import VifidelError
from ..io.digits import number_of
from ..io.files import STANDARD_INPUT, beside, is_address
from ..io.outputs import check_folder, check_output

_FORM = re.compile(
    r"\s*(?P<column>[^<>=!]*[^<>=!\s])\s*(?P<sign>>=|<=|==|!=|>|<|=)\s*(?P<number>\S+)\s*"
)
_SIGNS: dict[str, Callable[[Any, Any], bool]] = {
    ">=": operator.ge,
    ">": operator.gt,
    "<=": operator.le,
    "<": operator.lt,
    "==": operator.eq,
    "!=": operator.ne,
}


class Paths(click.Path):
    """A path; an empty one, as an unset shell variable gives it, is a usage error."""

    def __init__(self) -> None:
        super().__init__(path_type=Path)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        _check_text(self, os.fsdecode(value), param, ctx)
        return Path(os.fsdecode(super().convert(value, param, ctx)))


class Read(Paths):
    """A file or folder that is read, with its `companion`; ``-`` may mean standard input."""

    def __init__(
        self, companion: Callable[[Path], Path] | None = None, standard_input: bool = False
    ) -> None:
        super().__init__()
        self._companion = companion
        self._standard_input = standard_input

    def is_standard_input(self, value: os.PathLike[str]) -> bool:
        """Whether a value means standard input."""
        return self._standard_input and os.fspath(value) == STANDARD_INPUT

    def read(self, value: Any) -> list[Path]:
        path = Path(value)
        if self.is_standard_input(path):
            return []
        return [path, *([self._companion(path)] if self._companion is not None else [])]


@dataclass(frozen=True)
class SystemFile:
    """The result file of a system, and the system's name if the user gave one."""

    path: Path
    name: str | None = None

    def __fspath__(self) -> str:
        return str(self.path)


class ReadNamed(Read):
    """A result file: ``PATH`` or ``NAME=PATH``; what exists as a whole is a path."""

    def __init__(self, standard_input: bool = False, must_have_name: bool = False) -> None:
        super().__init__(standard_input=standard_input)
        self._must_have_name = must_have_name

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if isinstance(value, SystemFile):
            return value
        whole = super().convert(value, param, ctx)
        name, equals, path = os.fsdecode(value).partition("=")
        if not equals or os.path.lexists(whole):
            if self._must_have_name:
                self.fail(f"{os.fsdecode(value)!r} names no system; write SYSTEM=FILE.", param, ctx)
            return SystemFile(whole)
        if not name.strip():
            self.fail(f"{os.fsdecode(value)!r} has no name before '='.", param, ctx)
        return SystemFile(super().convert(path, param, ctx), name.strip())


def named(results: Sequence[SystemFile]) -> dict[str, Path | list[Path]]:
    """Return result files by system: by the name that the user gave, or one from the path.

    Several files that the user gave one name are one system.
    """
    from ..captions import system_names

    by_path = iter(system_names([result.path for result in results if result.name is None]))
    files: dict[str, list[SystemFile]] = {}
    for result in results:
        files.setdefault(next(by_path) if result.name is None else result.name, []).append(result)
    for name, of_system in files.items():
        if len(of_system) > 1 and any(result.name is None for result in of_system):
            raise click.UsageError(
                f"two systems are called {name!r}; rename one with NAME=PATH, or join the files "
                f"as one system with {name}=PATH for each."
            )
    paths = {name: [result.path for result in of_system] for name, of_system in files.items()}
    return {name: files[0] if len(files) == 1 else files for name, files in paths.items()}


class Written(Paths):
    """A file that is written, and files beside it with these suffixes, as `beside` names them."""

    def __init__(self, *suffixes: str) -> None:
        super().__init__()
        self._suffixes = suffixes

    def written(self, value: Path) -> list[Path]:
        if value.exists() and not value.is_file():  # a device, which has nothing beside it
            return [value]
        return [value, *(beside(value, suffix) for suffix in self._suffixes)]

    def check(self, value: Path, inputs: Iterable[Path]) -> None:
        if os.fspath(value) == STANDARD_INPUT:
            raise click.UsageError("outputs go to files; standard output is /dev/stdout, not -.")
        for path in self.written(value):
            check_output(path, inputs)


class WrittenFolder(Paths):
    """A folder that gets one file per image."""

    def check(self, value: Path, inputs: Iterable[Path]) -> None:
        if value.is_dir():
            check_output(value / "image.npz", inputs)


class WrittenTree(WrittenFolder):
    """A folder that gets files and folders, of a run that may go on later."""

    def check(self, value: Path, inputs: Iterable[Path]) -> None:
        if is_address(os.fspath(value)):
            raise VifidelError(f"{value}: is an address; name a local folder.")
        check_folder(value, inputs)


class ReadByName(click.types.StringParamType):
    """Text that may name files: word vectors, with gensim's arrays, or a pair of name and files."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        text = str(super().convert(value, param, ctx))
        _check_text(self, text, param, ctx)
        return text

    def read(self, value: str | tuple[str, str]) -> list[Path]:
        names = value[1].split(",") if isinstance(value, tuple) else [value]
        return [path for name in names for path in (Path(name), *_arrays_of(Path(name)))]


class Between(click.FloatRange):
    """A number in a range, which "nan" is not."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        number = super().convert(value, param, ctx)
        if math.isnan(number):
            self.fail(f"{value!r} is not a number.", param, ctx)
        return number


class Stated(click.types.StringParamType):
    """A text that states something, such as a condition; a `VifidelError` says that it does not."""

    def __init__(self, parse: Callable[[str], Any], name: str = "condition") -> None:
        self._parse, self.name = parse, name

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        try:
            return self._parse(value) if isinstance(value, str) else value
        except VifidelError as problem:
            self.fail(str(problem), param, ctx)


#: A file or folder that is read; a caption file, or standard input; result files, which may have
#: names; scores of systems, which must; a file that is written; word vectors and ``NAME=FILE``.
FILE = Read()
CAPTIONS = Read(standard_input=True)
RESULTS = ReadNamed(standard_input=True)
SCORES = ReadNamed(must_have_name=True)
OUTPUT = Written()
NAMED = ReadByName()


def guard(parameters: Sequence[tuple[click.ParamType[Any], Any]]) -> None:
    """Check every output among values of some kinds against all that is read or written."""
    from_input = sum(
        isinstance(kind, Read) and kind.is_standard_input(value) for kind, value in parameters
    )
    if from_input > 1:
        raise click.UsageError(
            f"{STANDARD_INPUT} (standard input) is given {from_input} times but can be "
            "read only once; write the others to files."
        )
    reading = [(kind, value) for kind, value in parameters if isinstance(kind, Read | ReadByName)]
    paths = [path for kind, value in reading for path in kind.read(value)]
    for kind, value in parameters:
        if isinstance(kind, Written | WrittenFolder):
            kind.check(value, paths)
        if isinstance(kind, Written):
            paths += kind.written(value)


def _arrays_of(path: Path) -> Iterator[Path]:
    try:
        names = os.listdir(path.parent)
    except (OSError, ValueError):
        return
    for name in names:
        if name.startswith(f"{path.name}.") and name.endswith(".npy"):
            yield path.with_name(name)


def _check_text(
    kind: click.ParamType[Any], text: str, param: click.Parameter | None, ctx: click.Context | None
) -> None:
    if not text:
        kind.fail("the path is empty; is a variable unset?", param, ctx)
    if "\0" in text:
        kind.fail(f"{text!r} holds a null character, which no path has.", param, ctx)


@dataclass(frozen=True)
class Condition:
    """A comparison of a column, of scores or of the input, with a finite number."""

    column: str
    sign: str
    number: int | float
    system: str | None = None  #: whose corpus score must meet it; None for all

    @classmethod
    def parse(cls, text: str) -> Condition:
        """Return the condition that a text such as ``VIFIDEL-P >= .3`` states."""
        match = _FORM.fullmatch(text)
        number = None if match is None else number_of(match["number"])
        if match is None or number is None:
            raise VifidelError(
                f"{text!r} is not a condition; expected a column, one of >=, >, <=, <, == and !=, "
                "and a number, such as 'VIFIDEL-P >= .3'."
            )
        return cls(match["column"], "==" if match["sign"] == "=" else match["sign"], number)

    def __str__(self) -> str:
        return f"{self.column} {self.sign} {self.number!r}"

    def holds(self, value: Any, bound: int | float | None = None) -> bool:
        """Return whether a number passes; None and NaN do not. A `bound` stands for `number`."""
        missing = value is None or value != value  # noqa: PLR0124 - NaN
        return not missing and _SIGNS[self.sign](value, self.number if bound is None else bound)


def requirement(text: str) -> Condition:
    """Return what a text such as ``mine: VIFIDEL-Hi <= .1`` requires of one system, or of all."""
    system, colon, condition = text.rpartition(":")
    if colon and not system.strip():
        raise VifidelError(f"{text!r} lacks the name of a system before the colon.")
    return replace(Condition.parse(condition), system=system.strip() or None)


def check_requirements(
    requirements: Iterable[Condition], columns: Iterable[str], systems: Iterable[str]
) -> list[Condition]:
    """Return requirements on the columns and systems of a run; others raise a VifidelError.

    With several captions per image, the plain name of a column is that of their mean.
    """
    from ..scores.scores import means_by_plain_name, unknown

    names = {"column": list(columns), "system": list(systems)}
    means = means_by_plain_name(names["column"])
    checked = []
    for condition in requirements:
        column, system = condition.column, condition.system
        if column not in names["column"]:
            column = means.get(column, column)
        for kind, name in (("column", column), ("system", system)):
            if name is not None and name not in names[kind]:
                whose = "" if system is None else f"{system}: "
                raise VifidelError(f"'{whose}{condition}': {unknown(kind, name, names[kind])}")
        checked.append(replace(condition, column=column))
    return checked


def failures(
    requirements: Iterable[Condition], scores: Mapping[str, Mapping[str, float]]
) -> list[str]:
    """Return a line for each requirement and system that fails; an undefined score meets none."""
    lines = []
    for condition in requirements:
        for system in scores if condition.system is None else [condition.system]:
            score = scores[system][condition.column]
            if not condition.holds(score):
                value = "undefined" if math.isnan(score) else f"{score:.10g}"
                lines.append(
                    f"{system}: {condition.column} is {value}, but {condition} is required."
                )
    return lines
