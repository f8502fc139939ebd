"""Where captions say what an explanation speaks of: the characters of each mention and word."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache

from ...nfc import nfc


def marks(caption: str, mentions: Sequence[str], words: Sequence[str]) -> list[int]:
    """Return where mentions and words start and end in a caption, in characters, left to right.

    Parameters
    ----------
    caption : str
        The caption as written.
    mentions : sequence of str
        Mentions of things, in the order of the caption.
    words : sequence of str
        The other words, each once; every occurrence outside the mentions is found.

    Returns
    -------
    list of int
        (start, end, number), ...; mentions are numbered from 0, words after them.

    Examples
    --------
    >>> marks("A Fire hydrant, dogs, a dog", ["fire hydrant", "dogs", "dog"], [])
    [2, 14, 0, 16, 20, 1, 24, 27, 2]
    """
    spans: list[tuple[int, int, int]] = []
    at = 0
    for number, mention in enumerate(mentions):
        found = _pattern(mention).search(caption, at)
        if found is not None:
            at = found.end()
            spans.append((*found.span(), number))
    if words:
        number_of = {word: number for number, word in enumerate(words, len(mentions))}
        spans += _others(caption, number_of, spans)
        spans.sort()
    return [place for span in spans for place in span]


def _others(
    caption: str, number_of: Mapping[str, int], taken: Sequence[tuple[int, int, int]]
) -> list[tuple[int, int, int]]:
    found = []
    for word in _word().finditer(caption):
        number = number_of.get(nfc(word.group()).lower())
        start, end = word.span()
        if number is not None and not any(start < b and a < end for a, b, _ in taken):
            found.append((start, end, number))
    return found


@lru_cache(maxsize=1 << 14)
def _pattern(mention: str) -> re.Pattern[str]:
    words = r"\W+".join(map(re.escape, mention.split()))
    return re.compile(rf"(?<!\w){words}(?!\w)", re.IGNORECASE)


@cache
def _word():  # type: ignore[no-untyped-def]
    import regex  # knows scripts and combining marks, which re does not; loads when first used

    return regex.compile(r"[\p{L}\p{N}][\p{L}\p{N}\p{M}]*")
