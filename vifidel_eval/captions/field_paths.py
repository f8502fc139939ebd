"""Paths into records: ``doc.image_id``, ``filtered_resps[0]``.

A path that a user names becomes a field of its own, so that everything after it reads plain fields.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ..errors import CaptionError
from .columns import listed
from .layout import MISSING, Wanted
from .records import Records

# Keys with dots between them, each with places in lists behind it.
_PATH = re.compile(r"[^.\[\]]+(?:\[-?\d{1,9}\])*(?:\.[^.\[\]]+(?:\[-?\d{1,9}\])*)*")
_STEP = re.compile(r"\[(-?\d+)\]|[^.\[\]]+")


def steps_of(name: str) -> list[str | int]:
    """Return the keys, and places in lists, of a path; a name that is no path is its only key.

    >>> steps_of("doc.image_id"), steps_of("resps[0][-1]"), steps_of("image id")
    (['doc', 'image_id'], ['resps', 0, -1], ['image id'])
    """
    if not _PATH.fullmatch(name):
        return [name]
    return [int(step[1]) if step[1] else step[0] for step in _STEP.finditer(name)]


def value_at(entry: Any, steps: Iterable[str | int]) -> Any:
    """Return what a path leads to in an entry; `MISSING` if it leads nowhere.

    >>> value_at({"resps": [["a dog"]]}, ["resps", 0, 0])
    'a dog'
    """
    for step in steps:
        if isinstance(step, str):
            if not isinstance(entry, Mapping) or step not in entry:
                return MISSING
            entry = entry[step]
        elif isinstance(entry, list | tuple) and -len(entry) <= step < len(entry):
            entry = entry[step]
        else:
            return MISSING
    return entry


def with_paths(records: Records, wanted: Wanted) -> Records:
    """Return records in which the paths that a user names are fields of those names.

    A field of exactly that name goes before the path; of several paths, those are left out that
    lead nowhere in any entry.

    Parameters
    ----------
    records : Records
        The entries of a file.
    wanted : Wanted
        The fields that the user names.

    Raises
    ------
    CaptionError
        If an entry lacks a part of a path.
    """
    fields: dict[str, list[Any]] = {}
    for asked, option in (
        (wanted.id_fields, "--id-field"),
        (wanted.caption_fields, wanted.option),
    ):
        for name in asked:
            if name in records.names:
                break
            steps = steps_of(name)
            if len(steps) == 1:
                continue
            values = [value_at(entry, steps) for entry in records.entries]
            nowhere = all(value is MISSING for value in values)
            if nowhere and len(asked) > 1:
                continue
            for number, value in enumerate(values):
                if value is MISSING:
                    raise _missing_part(records, number, steps, f"{option} {name}")
            fields[name] = values
            break
    if not fields:
        return records
    of_entries = zip(*fields.values(), strict=True)
    entries = [
        {**entry, **dict(zip(fields, values, strict=True))}
        for entry, values in zip(records.entries, of_entries, strict=True)
    ]
    return replace(records, entries=entries)


def _missing_part(
    records: Records, number: int, steps: Sequence[str | int], option: str
) -> CaptionError:
    """Return the error for an entry in which a path ends too early."""
    entry = records.entries[number]
    ends = next(at for at in range(len(steps)) if value_at(entry, steps[: at + 1]) is MISSING)
    step, holder = steps[ends], value_at(entry, steps[:ends])
    within = f" in {spelled(steps[:ends])!r:.60}" if ends else ""
    if isinstance(step, str) and isinstance(holder, Mapping):
        keys = [str(key) for key in holder]
        there = f"which has {listed(keys)}" if keys else "which is empty"
    elif isinstance(step, int) and isinstance(holder, list | tuple):
        entries = "entry" if len(holder) == 1 else "entries"
        there = f"which has {len(holder)} {entries}"
    else:
        found = "null" if holder is None else f"{holder!r:.40}"
        there = f"which is {found}, not {'an object' if isinstance(step, str) else 'a list'}"
    missing = f"{step!r:.60}" if isinstance(step, str) else f"[{step}]"
    if not ends:
        there = there.replace("which", "it", 1)
        return CaptionError(f"{records.at(number)}: no field {missing} ({option}); {there}.")
    return CaptionError(f"{records.at(number)}: no {missing}{within} ({option}), {there}.")


def spelled(steps: Iterable[str | int]) -> str:
    """Return a path as it is typed.

    >>> spelled(["resps", 0, "text"])
    'resps[0].text'
    """
    text = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in steps)
    return text.removeprefix(".")
