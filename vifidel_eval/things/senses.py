"""Senses of names: what else a name of a thing may mean beside its class."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.resources import files

from .words import singular


def other_senses(name: str) -> frozenset[str]:
    """Return the names of what a thing's name, in singular or plural, may also mean.

    >>> sorted(other_senses("bikes"))
    ['motorcycle']
    """
    senses = _senses()
    return senses.get(name) or senses.get(singular(name), frozenset())


@cache
def _senses() -> Mapping[str, frozenset[str]]:
    text = files(__package__).joinpath("senses.txt").read_text(encoding="utf-8")
    lines = (line for line in text.splitlines() if line and not line.startswith("#"))
    return {
        name: frozenset(meant.strip().split(", "))
        for names, meant in (line.split(":") for line in lines)
        for name in names.split(", ")
    }
