"""Options: what users choose, each declared once as a field of a record (a frozen dataclass).

The command's option, a function's argument and what docstrings say of it follow from the field.
"""

from __future__ import annotations

import inspect
import re
import textwrap
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, TypeVar

T = TypeVar("T", bound=Callable[..., Any])

#: The sections of a command's help.
INPUT, METRICS, OUTPUT = "Input", "Metrics", "Output"

_NAMED = re.compile(r"`(\w+)`")


@dataclass(frozen=True)
class Option:
    """A setting that users choose, in Python and on the command line."""

    #: As in Python: ``"tiger_features"``; the command has it as ``--tiger-features``.
    name: str
    #: What it is, in one sentence, or what returns it; other options are named between backticks.
    help: str | Callable[[], str]
    #: `Path` for a file or folder that is read, ``(Path, str)`` for a file or a name, `str`, `int`,
    #: `float` for a number from `lowest` to 1, `bool` for a switch, or a type of click.
    kind: Any = Path
    default: Any = None
    #: Whether the metric cannot be computed without it.
    required: bool = False
    #: From the file's path to that of another file, which is read with it.
    companion: Callable[[Path], Path] | None = None
    #: Where the command's help has it, and whether only ``--help-all`` shows it.
    section: str = METRICS
    rare: bool = False
    #: Whether it may be given several times.
    several: bool = False
    #: The values that it may have, if they are few.
    choices: tuple[int, ...] = ()
    #: What the help calls its value.
    metavar: str | None = None
    #: The command's switch that turns it off, where it is on by default: ``"--presence"``.
    off: str = ""
    #: From what the command was given to the value.
    read: Callable[[Any], Any] | None = None
    #: What docstrings say further of it.
    more: str = ""
    lowest: int = 0

    def says(self, spelled: Callable[[str], str]) -> str:
        """Return the help, in which `spelled` returns what the reader calls other options."""
        text = self.help if isinstance(self.help, str) else self.help()
        return _NAMED.sub(lambda named: spelled(named[1]), text)


def option(
    default: Any, says: str | Callable[[], str], kind: Any = Path, *, name: str = "", **how: Any
) -> Any:
    """Return the default of a dataclass's field that is an `Option`.

    `says` and `kind` are `Option.help` and `Option.kind`, `name` is what users call it, by default
    as the field is called, and `how` has other attributes.
    """
    return field(default=default, metadata={"option": Option(name, says, kind, default, **how)})


def options_of(record: type[Any]) -> Mapping[str, Option]:
    """Return the options that a record's fields are, by the names of the fields."""
    declared = {one.name: one.metadata["option"] for one in fields(record) if one.metadata}
    return {at: replace(one, name=one.name or at) for at, one in declared.items()}


def chosen(
    record: type[Any], only: Collection[str] | None = None, omit: Collection[str] = ()
) -> dict[str, Option]:
    """Return those options of a record that `only` names, by default all, without some."""
    known = options_of(record)
    names = known if only is None else only
    return {at: known[at] for at in names if at not in omit}


def taking(
    *records: type[Any], only: Collection[str] | None = None, omit: Collection[str] = ()
) -> Callable[[T], T]:
    """Let a function or class take the options of records, one by one and by keyword.

    Its own last parameter is ``**settings``, by which it gets them, or ``**options``, which may be
    more than those. Its signature has them behind its own, and its docstring before that one.
    """

    def decorate(function: T) -> T:
        called: Any = function.__init__ if inspect.isclass(function) else function
        *parameters, last = inspect.signature(called).parameters.values()
        entries = []
        for record in records:
            for at, one in chosen(record, only, omit).items():
                kind = record.__annotations__[at]  # a text, or what it stands for
                parameters.append(
                    inspect.Parameter(
                        one.name,
                        inspect.Parameter.KEYWORD_ONLY,
                        default=one.default,
                        annotation=kind,
                    )
                )
                entries.append(_entry(one, kind))
        kept = [last] if last.name == "options" else []
        called.__signature__ = inspect.signature(called).replace(parameters=[*parameters, *kept])
        called.__records__ = records
        said = inspect.cleandoc(function.__doc__ or "")
        head, entry, rest = re.split(rf"(\n\*\*{last.name}\n(?: .*\n)+)", said, maxsplit=1)
        function.__doc__ = "\n".join([head, *entries]) + (entry if kept else "\n") + rest
        return function

    return decorate


def _entry(one: Option, kind: Any) -> str:
    """Return what the docstring of a function says of an option."""
    text = one.says(lambda name: f"`{name}`")
    if one.off:
        text = f"False is ``{one.off}``: {text}"
    text = f"{text} {one.more}".rstrip()
    kind = kind if isinstance(kind, str) else inspect.formatannotation(kind)
    kind = kind.removesuffix(" | None") + ", optional" * (one.default is None)
    return f"{one.name} : {kind}\n{textwrap.indent(textwrap.fill(text, 92), '    ')}"
