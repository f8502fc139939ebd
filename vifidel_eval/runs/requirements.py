"""Requirements on corpus scores, such as ``VIFIDEL-Hi <= .1``, for continuous integration."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ..conditions import Condition
from ..errors import VifidelError


@dataclass(frozen=True)
class Requirement:
    """A condition that the corpus score of every system, or of one, must meet."""

    condition: Condition
    system: str | None = None

    @classmethod
    def parse(cls, text: str) -> Requirement:
        """Return the requirement that a text states.

        >>> Requirement.parse("mine: VIFIDEL-Hi <= .1").system
        'mine'

        Raises a VifidelError if it is not a condition, with or without the name of a system and a
        colon before it.
        """
        system, colon, condition = text.rpartition(":")
        if not colon:
            return cls(Condition.parse(text))
        if not system.strip():
            raise VifidelError(f"{text!r} lacks the name of a system before the colon.")
        return cls(Condition.parse(condition), system.strip())

    def __str__(self) -> str:
        return str(self.condition) if self.system is None else f"{self.system}: {self.condition}"


def check_requirements(
    requirements: Iterable[Requirement], columns: Iterable[str], systems: Iterable[str]
) -> None:
    """Raise a VifidelError if requirements are on other columns or systems than those of a run."""
    names = {"column": list(columns), "system": list(systems)}
    for requirement in requirements:
        asked = {"column": requirement.condition.column, "system": requirement.system}
        for what, name in asked.items():
            if name is not None and name not in names[what]:
                raise VifidelError(
                    f"'{requirement}': there is no {what} {name!r}; there are "
                    f"{', '.join(names[what])}."
                )


def failures(
    requirements: Iterable[Requirement], scores: Mapping[str, Mapping[str, float]]
) -> list[str]:
    """Return a line for every requirement and system that fails.

    The scores are by system and column; an undefined one, NaN, meets no requirement.
    """
    lines = []
    for requirement in requirements:
        condition = requirement.condition
        for system in scores if requirement.system is None else [requirement.system]:
            score = scores[system][condition.column]
            if not condition.holds(score):
                value = "undefined" if math.isnan(score) else f"{score:.10g}"
                lines.append(f"{system}: {condition.column} is {value}; required is {condition}.")
    return lines
