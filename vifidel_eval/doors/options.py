"""Options: what users choose, each declared once.

An option is a field of a record (a frozen dataclass). The command's option follows from it; a
function that takes the options of a record has them in its signature, and a test compares the two.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

#: The sections of a command's help.
INPUT, METRICS, OUTPUT = "Input", "Metrics", "Output"

_NAMED = re.compile(r"`(\w+)`")


@dataclass(frozen=True)
class Option:
    """A setting that users choose, in Python and on the command line."""

    name: str  #: as in Python: "tiger_features"; the command has it as --tiger-features
    #: What it is, in one sentence, or what returns it; other options are named between backticks.
    help: str | Callable[[], str]
    #: `Path` for a file or folder that is read, ``(Path, str)`` for a file or a name, `str`, `int`,
    #: `float` for a number from `lowest` to 1, `bool` for a switch, or a type of click.
    kind: Any = Path
    default: Any = None
    required: bool = False  #: whether the metric cannot be computed without it
    #: From the file's path to that of another file, which is read with it.
    companion: Callable[[Path], Path] | None = None
    #: Where the command's help has it, and whether only ``--help-all`` shows it.
    section: str = METRICS
    rare: bool = False
    several: bool = False  #: whether it may be given several times
    choices: tuple[int, ...] = ()  #: the values that it may have, if they are few
    metavar: str | None = None  #: what the help calls its value
    off: str = ""  #: the switch that turns off what is on by default: "--presence"
    read: Callable[[Any], Any] | None = None  #: from what the command was given to the value
    lowest: int = 0

    def says(self, spelled: Callable[[str], str]) -> str:
        """Return the help, in which `spelled` returns what the reader calls other options."""
        text = self.help if isinstance(self.help, str) else self.help()
        return _NAMED.sub(lambda named: spelled(named[1]), text)


def option(
    default: Any, says: str | Callable[[], str], kind: Any = Path, *, name: str = "", **more: Any
) -> Any:
    """Return the default of a dataclass's field that is an `Option` with these attributes."""
    return field(default=default, metadata={"option": Option(name, says, kind, default, **more)})


def options_of(
    record: type[Any], only: Collection[str] | None = None, omit: Collection[str] = ()
) -> dict[str, Option]:
    """Return the options that a record's fields are, by field: those of `only`, or all in order."""
    declared = {f.name: f.metadata["option"] for f in fields(record) if f.metadata}
    names = declared if only is None else only
    return {
        at: replace(declared[at], name=declared[at].name or at) for at in names if at not in omit
    }
