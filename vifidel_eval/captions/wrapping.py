"""What stands around a caption: fences, quotation marks, JSON, announcements such as *Caption:*."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence

_WORDS = re.compile(r"[A-Za-z]+")
_FENCE = re.compile(r"(`{3,}|~{3,})(?:[ \t]*[\w-]{0,20}[ \t]*\n)?")
_PAIRS = {'"': '"', "'": "'", "\u201c": "\u201d", "\u2018": "\u2019", "\u00ab": "\u00bb", "`": "`"}
MARKUP = "*_#> \t"
_INTERJECTION = re.compile(
    r"(?:sure(?: thing)?|certainly|of course|absolutely|okay|ok|alright|got it|great question|no "
    r"problem|(?:i(?:['\u2019]d| would) be )?(?:happy|glad) to[^.!?\n]{0,80})\s?[!.,]+\s+",
    re.I,
)
_LONGEST_ANNOUNCEMENT = 250
_NAMES_A_TEXT = frozenset(
    "caption captions description descriptions answer response output summary alt".split()
)
_HERE = ["what", "i", "see"], ["here", "you", "go"], ["here", "it", "is"]
_OF_LABELS = _NAMES_A_TEXT | frozenset(
    "a an the my your this that it its is s final short brief detailed concise one sentence single "
    "possible suggested generated image picture photo scene for of in english text and good could "
    "would might may be".split()
)


def unwrapped(text: str) -> str | None:
    """Return a text without its outermost fence, quotation marks or announcement; None if bare."""
    fence = _FENCE.match(text)
    if fence is not None:
        return text[fence.end() :].partition(fence[1])[0].strip()
    if text.startswith("{"):
        return _in_json(text)
    interjection = _INTERJECTION.match(text)
    if interjection is not None:
        return text[interjection.end() :]
    inside = _in_quotes(text)
    if inside is not None:
        return inside
    return next((text[end:].lstrip(MARKUP) for end in _announcements(text)), None)


def _in_quotes(text: str) -> str | None:
    """Return what a text has in quotation marks, in ``**`` or in lines that begin with ``>``."""
    closing = _PAIRS.get(text[:1])
    if closing and len(text) > 1 and text.endswith(closing):
        inside = text[1:-1]
        if text[0] not in inside and closing not in inside.replace("n't", "").replace("'s", ""):
            return inside
    if text.startswith("**") and text.endswith("**") and len(text) > 4 and "**" not in text[2:-2]:
        return text[2:-2]
    lines = text.splitlines() if text.startswith(">") else []
    if lines and all(line.startswith(">") for line in lines):
        return "\n".join(line[1:].strip() for line in lines)
    return None


def _in_json(text: str) -> str | None:
    """Return the only value of a JSON object, if it is a caption by its name."""
    try:
        [(name, value)] = json.loads(text).items()
    except (AttributeError, RecursionError, ValueError):
        return None
    return value if isinstance(value, str) and name.lower() in _NAMES_A_TEXT else None


def _announcements(text: str) -> Iterator[int]:
    """Yield where an announcement such as *Here is a caption:* ends, if a text begins with one."""
    line = text.find("\n", 0, _LONGEST_ANNOUNCEMENT)
    colon = text.find(":", 0, _LONGEST_ANNOUNCEMENT)
    for end in sorted(at for at in (line, colon) if at >= 0):
        head = text[:end].strip(f"{MARKUP}.!:")
        if any(mark in head for mark in ".!?\n"):
            return
        words = [word.lower() for word in _WORDS.findall(head)]
        names_it = not _NAMES_A_TEXT.isdisjoint(words) or words[-3:] in _HERE
        if names_it and (_announces(words) or _OF_LABELS.issuperset(words)):
            yield end + 1


def _announces(words: Sequence[str]) -> bool:
    """Return whether a line is about what follows: *here*, *below* or *the following*.

    In *A caption below the photo* and *A sign with the following answer*, it is the picture's.
    """
    return "here" in words or "below" in (words[0], words[-1]) or "following" in words[:4]
