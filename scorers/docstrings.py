"""Docstrings and signatures of scorers: settings are described once, in the class that has them."""

from __future__ import annotations

import inspect
import re
from typing import Any

_SECTION = re.compile(r"^(\w+)\n-+\n", re.M)


def with_settings(scorer: type[Any], base: type[Any]) -> str | None:
    """Return the docstring of a class with what its bases, down to one, say of settings."""
    settings: dict[str, str] = {}
    sections: dict[str, str] = {}
    for kind in reversed(scorer.__mro__):
        if issubclass(kind, base):
            head, *rest = _SECTION.split(inspect.cleandoc(kind.__doc__ or ""))
            own = dict(zip(rest[::2], map(str.strip, rest[1::2]), strict=True))
            sections = {"Raises": sections.get("Raises", ""), **own}
            for entry in re.split(r"\n(?=\S)", sections.pop("Parameters", "")):
                settings[entry.partition(" :")[0].lstrip("*")] = entry
    listed = [settings[name] for name in inspect.signature(scorer).parameters if name in settings]
    if not scorer.__doc__ or not listed:
        return scorer.__doc__
    sections = {"Parameters": "\n".join(listed), **sections}
    texts = [f"{title}\n{'-' * len(title)}\n{text}" for title, text in sections.items() if text]
    return "\n\n".join([head.strip(), *texts]) + "\n"


def say_settings(scorer: type[Any]) -> None:
    """Have a constructor say what its ``**settings`` are: those of the class above, by keyword."""
    signature = inspect.signature(scorer.__init__)
    *own, last = signature.parameters.values()
    if last.kind is inspect.Parameter.VAR_KEYWORD:
        taken = {setting.name for setting in own}.union(scorer._fixed)
        above = inspect.signature(scorer.__mro__[1]).parameters.values()
        own += [
            setting.replace(kind=inspect.Parameter.KEYWORD_ONLY)
            for setting in above
            if setting.name not in taken
        ]
        scorer.__init__.__signature__ = signature.replace(parameters=own)
