"""Places in captions of what an explanation speaks of: the characters of mentions and words."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache

from ...nfc import nfc

_PLAIN_WORD = re.compile("[a-z0-9]+")


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
    if caption.isascii() and "_" not in caption:
        plain = [of_mention for of_mention in map(_plain_words, mentions) if of_mention]
        if len(plain) == len(mentions):
            return _plain_marks(caption, plain, words)
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


def _plain_marks(
    caption: str, mentions: Sequence[tuple[str, ...]], words: Sequence[str]
) -> list[int]:
    """Return the marks of a caption of plain English words, as nearly all are: the same, faster."""
    caption = caption.lower()
    said = _PLAIN_WORD.findall(caption)
    spans = [word.span() for word in _PLAIN_WORD.finditer(caption)]
    number_of = dict(zip(words, range(len(mentions), len(mentions) + len(words)), strict=True))
    numbers = list(map(number_of.get, said))
    marks: list[tuple[int, int, int]] = []
    at = 0
    for number, mention in enumerate(mentions):
        start = _found(mention, said, at)
        if start is not None:
            at = start + len(mention)
            marks.append((spans[start][0], spans[at - 1][1], number))
            numbers[start:at] = [None] * len(mention)
    marks += [(*span, n) for span, n in zip(spans, numbers, strict=True) if n is not None]
    marks.sort()
    return [place for mark in marks for place in mark]


def _found(mention: tuple[str, ...], said: list[str], at: int) -> int | None:
    """Return where words follow each other, from a place on."""
    for start in range(at, len(said) - len(mention) + 1):
        if said[start] == mention[0] and tuple(said[start : start + len(mention)]) == mention:
            return start
    return None


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
def _plain_words(mention: str) -> tuple[str, ...] | None:
    """Return the words of a mention; None if there is more in it than plain words and blanks."""
    words = tuple(mention.split())
    return words if words and all(map(_PLAIN_WORD.fullmatch, words)) else None


@lru_cache(maxsize=1 << 14)
def _pattern(mention: str) -> re.Pattern[str]:
    words = r"\W+".join(map(re.escape, mention.split()))
    return re.compile(rf"(?<!\w){words}(?!\w)", re.IGNORECASE)


@cache
def _word():  # type: ignore[no-untyped-def]
    import regex  # knows scripts and combining marks, which re does not; loads when first used

    return regex.compile(r"[\p{L}\p{N}][\p{L}\p{N}\p{M}]*")
