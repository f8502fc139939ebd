"""Names of systems and columns: looked up with an error that says which there are."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from typing import TypeVar

from ..errors import UnknownName

_Value = TypeVar("_Value")


class ByName(dict[str, _Value]):
    """Values by the names of systems or columns.

    A dict, but a name that is not there is an `UnknownName` that says which names are.

    Parameters
    ----------
    what : str
        What the names are of: ``"system"`` or ``"column"``.
    values : mapping
        Name to value.
    """

    def __init__(self, what: str, values: Mapping[str, _Value]) -> None:
        super().__init__(values)
        self._what = what

    def __missing__(self, name: object) -> _Value:
        raise unknown(self._what, name, self)


def unknown(what: str, name: object, names: Iterable[str]) -> UnknownName:
    """Return the error of a name that is not there.

    Parameters
    ----------
    what : str
        What has names: ``"system"`` or ``"column"``.
    name : object
        The one that was asked for.
    names : iterable of str
        Those that there are.
    """
    names = list(names)
    close = difflib.get_close_matches(str(name), names, n=1)
    meant = f" Did you mean {close[0]!r}?" if close else ""
    there = f"The {what}s are {', '.join(names)}." if names else f"There is no {what} at all."
    return UnknownName(f"there is no {what} {name!r}.{meant} {there}")
