"""Names of systems and columns: looked up with an error that says which there are."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from typing import TypeVar

from ..errors import UnknownName, VifidelError

_Value = TypeVar("_Value")


class ByName(dict[str, _Value]):
    """Values by the names of what there is: ``"system"`` or ``"column"``.

    A dict, but a name that is not there is an `UnknownName` that says which names are.
    """

    def __init__(self, what: str, values: Mapping[str, _Value]) -> None:
        super().__init__(values)
        self._what = what

    def __missing__(self, name: object) -> _Value:
        raise unknown(self._what, name, self)


def unknown(what: str, name: object, names: Iterable[str]) -> UnknownName:
    """Return the error of a name of a ``"system"`` or ``"column"`` that is not among those."""
    names = list(names)
    close = difflib.get_close_matches(str(name), names, n=1)
    meant = f" Did you mean {close[0]!r}?" if close else ""
    there = f"The {what}s are {', '.join(names)}." if names else f"There is no {what} at all."
    return UnknownName(f"there is no {what} {name!r}.{meant} {there}")


def chosen_columns(names: Iterable[str], metric_of: Mapping[str, str]) -> list[str]:
    """Return the columns that a user named in any case, in that order.

    The name of a metric, which `metric_of` has for every column, stands for all its columns.

    Raises a VifidelError if there is no such column.
    """
    # How each name is written, and the columns that it stands for.
    meaning: dict[str, tuple[str, list[str]]] = {}
    for column, metric in metric_of.items():
        meaning.setdefault(metric.lower(), (metric, []))[1].append(column)
    meaning |= {column.lower(): (column, [column]) for column in metric_of}
    found: list[str] = []
    for name in names:
        if name.lower() not in meaning:
            close = difflib.get_close_matches(name.lower(), meaning, n=1)
            meant = f" Did you mean {meaning[close[0]][0]}?" if close else ""
            raise VifidelError(
                f"there is no column {name!r}.{meant} The columns are {', '.join(metric_of)}."
            )
        found += meaning[name.lower()][1]
    return list(dict.fromkeys(found))
