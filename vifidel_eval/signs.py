"""Signs of a layout: paths of keys that tell what content is before anything of it is read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any


def shows(content: Any, signs: Iterable[str]) -> bool:
    """Return whether content has all of some signs.

    Parameters
    ----------
    content : object
        Parsed JSON, or columns as the keys of a mapping.
    signs : iterable of str
        Each is a path of keys from the outermost value on, such as ``images[].file_name``: a key,
        with ``[]`` behind it for a list, which the path continues in the first entry of, or ``=``
        for text or a whole number. Of paths with blanks between them, any one serves; a sign that
        begins with ``!`` must not be there.

    Examples
    --------
    >>> coco = {"images": [{"id": 1}], "annotations": {}}
    >>> shows(coco, ["annotations", "images[].id images[].file_name"])
    True
    >>> shows(coco, ["annotations[]"]), shows([{"id": 1}], ["[].id=", "![].objects"])
    (False, True)
    """
    return all(
        any(_leads(content, path) for path in sign.lstrip("!").split()) != sign.startswith("!")
        for sign in signs
    )


def _leads(found: Any, path: str) -> bool:
    steps = path.split(".")
    for number, step in enumerate(steps, 1):
        if key := step.rstrip("[]="):
            if not isinstance(found, Mapping) or key not in found:
                return False
            found = found[key]
        if step.endswith("[]"):
            if not is_listed(found):
                return False
            if number < len(steps):
                found = found[0] if len(found) else None
        elif step.endswith("=") and not isinstance(found, str | int):
            return False
    return True


def is_listed(values: Any) -> bool:
    """Return whether values are a list, a tuple, or an array or tensor of at least one axis."""
    return isinstance(values, list | tuple) or bool(
        hasattr(values, "tolist") and getattr(values, "ndim", 1)
    )
