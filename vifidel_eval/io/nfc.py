"""Unicode's composed form (NFC), in a time that grows with the text and not with its square."""

from __future__ import annotations

import unicodedata

# Sorting a run of combining marks takes the square of its length. Below this length of a text that
# does not matter.
_SHORT = 1000
# Unicode's Stream-Safe Text Format (UAX #15, section 13) allows no longer runs of marks: real text
# has at most three.
_MOST_MARKS = 30
_JOINER = "\u034f"  # combining grapheme joiner: ends a run, and changes nothing else


def nfc(text: str) -> str:
    """Return a text in NFC; in a long one, runs of more than 30 combining marks are divided.

    >>> nfc("cafe\u0301") == "caf\u00e9"
    True
    """
    if len(text) > _SHORT and not text.isascii():
        text = _stream_safe(text)
    return unicodedata.normalize("NFC", text)


def _stream_safe(text: str) -> str:
    divided: list[str] = []
    marks = 0
    for character in text:
        marks = marks + 1 if unicodedata.combining(character) else 0
        if marks > _MOST_MARKS:
            divided.append(_JOINER)
            marks = 1
        divided.append(character)
    return "".join(divided)
