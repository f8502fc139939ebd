"""Emoji by the names that Unicode gives them: 🐕 is DOG, 🚗 is AUTOMOBILE."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection

_EMOJI = re.compile("[\u2600-\u27bf\u2b00-\u2bff\U0001f300-\U0001faff]")
# Emoji that decorate texts: a camera before a caption, a light bulb before an idea.
_DECORATIONS = frozenset("📷📸📹🎥🎬💡📌📍📎📝🔑🔒💬💭🗨🗯⭐🌟🏷🖼🏆🎯📖📚📢🔔🔍🔎👑💎🎉🎊🎈🔥🌍🌎🌏☀")
_OF_SEVERAL = frozenset("with and in of over behind without".split())
_SIGNS = frozenset("sign symbol button mark arrow heart square circle".split())


def apart(text: str) -> list[str]:
    """Return a text in pieces: what is between its emoji, and these, one after the other."""
    pieces, done = [], 0
    for found in _EMOJI.finditer(text):
        pieces += [text[done : found.start()], found[0]]
        done = found.end()
    return [*pieces, text[done:]]


def name_of_emoji(emoji: str, names: Collection[str]) -> str | None:
    """Return which of some names an emoji has; None if it shows none of these, or decorates."""
    if emoji in _DECORATIONS or not _EMOJI.fullmatch(emoji):
        return None
    name = unicodedata.name(emoji, "").lower().removeprefix("slice of ").removesuffix(" face")
    words = name.split()
    if not words or words[-1] in _SIGNS or not _OF_SEVERAL.isdisjoint(words):
        return None
    return next((one for one in (name, words[-1]) if one in names), None)
