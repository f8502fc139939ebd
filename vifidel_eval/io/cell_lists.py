"""Lists in cells: text that spells a list, as tables of text hold it.

``["a dog", "a cat"]`` is JSON, and ``['a dog', 'a cat']`` what Python writes, and so what pandas
writes into CSV. Nothing is evaluated: what Python writes is turned into JSON, string by string. So
strings without a comma between them, as NumPy prints an array, are no list, although Python would
join them.
"""

from __future__ import annotations

import json
import re
from typing import Any

from ..errors import VifidelError

# What Python spells differently from JSON: strings, constants, tuples, a comma before the end. A
# quote that nothing closes comes last: it ends the reading, so that each character is seen once.
_OF_PYTHON = re.compile(
    r"'([^'\\]*(?:\\.[^'\\]*)*)'"
    r'|"([^"\\]*(?:\\.[^"\\]*)*)"'
    r"|\b(None|True|False)\b|,(?=\s*[\])}])|[()'\"]",
    re.DOTALL,
)
_IN_JSON = {"None": "null", "True": "true", "False": "false", "(": "[", ")": "]", ",": ""}
_ESCAPED = re.compile(r"\\x([0-9a-f]{2})|\\U([0-9a-f]{8})|\\.|\"", re.DOTALL)


def parsed(text: str) -> Any:
    """Return what a text says in JSON, or in Python's literals.

    Raises
    ------
    ValueError
        If it is neither, or nested too deeply.

    >>> parsed('["a dog"]'), parsed("[('dog', 0.9), None]")
    (['a dog'], [['dog', 0.9], None])
    """
    try:
        try:
            return json.loads(text)
        except ValueError:
            return json.loads(_OF_PYTHON.sub(_as_json, text), strict=False)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def listed_in(text: str, at: str, error: type[VifidelError], whole: bool = True) -> Any:
    """Return the list that a text spells; None if it spells none.

    What begins with a bracket and a quotation mark is a list, unless text follows the last bracket;
    with `whole`, anything in square brackets is, such as ``[a dog, a cat]``, which cannot be read,
    and so are sets and mappings.

    Raises
    ------
    VifidelError
        Of the class `error`, which begins with `at`: if the text looks like a list and cannot be
        read as one.

    >>> listed_in("['a dog', 'a cat']", "line 2", VifidelError)
    ['a dog', 'a cat']
    >>> listed_in("[UNK] dog", "line 2", VifidelError)
    """
    stripped = text.strip()
    if stripped[:1] not in ("[", "(", "{") or not _looks_listed(stripped, whole):
        return None
    try:
        found = parsed(stripped)
    except ValueError:
        found = None
    if not isinstance(found, list):
        raise error(
            f"{at}: {stripped!r:.60} looks like a list and cannot be read as one; write it as "
            'JSON, such as ["a", "b"], or as Python writes a list (of an array, its tolist()).'
        )
    return found


def _looks_listed(text: str, whole: bool) -> bool:
    inner = text.lstrip("[({ \t\n")
    quoted, ends = inner[:1] in ("'", '"'), text[-1] in "])}"
    if text[0] == "(":  # a caption may be in parentheses
        return quoted and ends and text[:-1].rstrip(", ")[-1:] in ("'", '"')
    if quoted and (whole or text[0] == "["):
        return ends or "]" not in text  # the end may be lost
    return text[0] == "[" and ends and (whole or inner == "]")


def _as_json(found: re.Match[str]) -> str:
    single, double = found[1], found[2]
    if single is None and double is None:
        if found[0] in ("'", '"'):
            raise ValueError("a string that does not end")
        return _IN_JSON[found[0]]
    return f'"{_ESCAPED.sub(_escaped, single if double is None else double)}"'


def _escaped(found: re.Match[str]) -> str:
    if found[1] is not None:
        return rf"\u00{found[1]}"
    if found[2] is not None:
        return json.dumps(chr(int(found[2], 16)))[1:-1]
    return {'"': r"\"", r"\'": "'"}.get(found[0], found[0])
