"""What stands around a caption: fences, quotation marks, JSON, announcements such as *Caption:*."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence

_WORDS = re.compile(r"[A-Za-z]+")
_FENCE = re.compile(r"(`{3,}|~{3,})(?:[ \t]*[\w-]{0,20}[ \t]*\n)?")
PAIRS = {
    **{mark: mark for mark in "\"'`"},
    **dict(zip("\u201c\u2018\u00ab\u201e\u300c", "\u201d\u2019\u00bb\u201c\u300d", strict=True)),
}
MARKUP = "*_#> \t"
_INTERJECTION = re.compile(
    r"(?:sure(?: thing)?|certainly|of course|absolutely|okay|ok|alright|got it|great question|no "
    r"problem|i(?:['\u2019]d| would) be (?:happy|glad) to[^.!?\n]{0,80}|(?:happy|glad) to "
    r"(?:help|assist)(?: you| with (?:that|this))?)\s?[!.,]+(?:\s+|$)",
    re.I,
)
# The last paragraph of an answer that talks to who asked.
_CLOSING = re.compile(
    r"\s*(?:please )?(?:let me know|feel free|(?:i )?hope (?:this|that) helps|would you like|"
    r"do you want me|is there anything|if you (?:need|want|would like|have any|['\u2019]d like))"
    r"\b[^\n]*",
    re.I,
)
_LONGEST_ANNOUNCEMENT = 250
_NAMES_A_TEXT = frozenset(
    "caption captions description descriptions answer response output summary alt json".split()
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
    if text.startswith(("{", "[")):
        return _in_json(text)
    interjection = _INTERJECTION.match(text)
    if interjection is not None:
        return text[interjection.end() :]
    inside = _in_quotes(text)
    if inside is not None:
        return inside
    caption, _, last = text.rpartition("\n\n")
    if caption and _CLOSING.fullmatch(last):
        return caption
    return next((text[end:].lstrip(MARKUP) for end in _announcements(text)), None)


def _in_quotes(text: str) -> str | None:
    """Return what a text has in quotation marks, in ``**`` or in lines that begin with ``>``."""
    closing = PAIRS.get(text[:1])
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
    """Return the only caption of a JSON object, by its name, or the only text of a list."""
    try:
        found = json.loads(text)
    except (RecursionError, ValueError):
        return None
    if isinstance(found, dict):
        found = [caption for name, caption in found.items() if _is_label(_words_of(name))]
    if not isinstance(found, list) or len(found) != 1 or not isinstance(found[0], str | None):
        return None
    return found[0] or ""


def _words_of(text: str) -> list[str]:
    return [word.lower() for word in _WORDS.findall(text)]


def _is_label(words: Sequence[str]) -> bool:
    """Return whether words name the text of a caption and nothing else."""
    return not _NAMES_A_TEXT.isdisjoint(words) and _OF_LABELS.issuperset(words)


def _announcements(text: str) -> Iterator[int]:
    """Yield where an announcement such as *Here is a caption:* ends, if a text begins with one."""
    line = text.find("\n", 0, _LONGEST_ANNOUNCEMENT)
    colon = text.find(":", 0, _LONGEST_ANNOUNCEMENT)
    for end in sorted(at for at in (line, colon) if at >= 0):
        head = text[:end].strip(f"{MARKUP}.!:")
        if any(mark in head for mark in ".!?\n"):
            return
        words = _words_of(head)
        if words and (_is_label(words) or _announces(words)):
            yield end + 1


def _announces(words: Sequence[str]) -> bool:
    """Return whether a line is about what follows: *here*, *below* or *the following*.

    In *A caption below the photo* and *A sign with the following answer*, it is the picture's.
    """
    if words[-3:] in _HERE:
        return True
    names_it = not _NAMES_A_TEXT.isdisjoint(words)
    return names_it and (
        "here" in words or "below" in (words[0], words[-1]) or "following" in words[:4]
    )
