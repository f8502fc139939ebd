"""Names of systems and columns: looked up with an error that says which there are."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, TypeVar

from ..errors import UnknownName, VifidelError

if TYPE_CHECKING:
    from .harness import Scores

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


def chosen_columns(names: Iterable[str], metric_of: Mapping[str, str]) -> list[str]:
    """Return the columns that a user named, in that order.

    Parameters
    ----------
    names : iterable of str
        In any case; the name of a metric stands for all its columns.
    metric_of : mapping
        Every column, with the name of its metric.

    Raises
    ------
    VifidelError
        If there is no such column.
    """
    spellings: dict[str, list[str]] = {}
    for column, metric in metric_of.items():
        spellings.setdefault(metric.lower(), []).append(column)
    spellings |= {column.lower(): [column] for column in metric_of}
    found: list[str] = []
    for name in names:
        if name.lower() not in spellings:
            close = difflib.get_close_matches(name.lower(), spellings, n=1)
            meant = f" Did you mean {_spelled(close[0], metric_of)}?" if close else ""
            raise VifidelError(
                f"there is no column {name!r}.{meant} The columns are {', '.join(metric_of)}."
            )
        found += spellings[name.lower()]
    return list(dict.fromkeys(found))


def _spelled(lower: str, metric_of: Mapping[str, str]) -> str:
    names = [*metric_of, *metric_of.values()]
    return next(name for name in names if name.lower() == lower)


def metric_of_columns(scores: Scores) -> dict[str, str]:
    """Return every column with the name of its metric, as its signature says it."""
    return {column: text.partition("|")[0] for column, text in scores.signatures.items()}
