"""ROUGE-L by longest common subsequences, to the last digit of pycocoevalcap's.

pycocoevalcap's ``Rouge`` fills a table of all pairs of tokens for each system and cannot take what
was made of the references before. The length of a longest common subsequence is a whole number, so
a faster way to it changes no digit: a bit for each token of the reference (Hyyro, 2004,
"Bit-parallel LCS-length computation revisited").
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

_BETA = 1.2  # pycocoevalcap's weight of recall


class Reference(NamedTuple):
    """A reference: how many tokens it has, and for each token the bits of its places."""

    length: int
    places: dict[str, int]


def rouge_l_references(references: Sequence[str]) -> list[Reference]:
    """Return what `rouge_l` needs of an image's references: tokens joined by blanks."""
    return [_reference(reference.split(" ")) for reference in references]


def _reference(tokens: Sequence[str]) -> Reference:
    places: dict[str, int] = {}
    for at, token in enumerate(tokens):
        places[token] = places.get(token, 0) | 1 << at
    return Reference(len(tokens), places)


def common(tokens: Sequence[str], reference: Reference) -> int:
    """Return the length of a longest common subsequence.

    >>> common("a dog on a mat".split(), _reference("the dog and a mat".split()))
    3
    """
    every = (1 << reference.length) - 1
    free = every
    for token in tokens:
        if match := free & reference.places.get(token, 0):
            free = (free + match | free - match) & every
    return reference.length - free.bit_count()


def rouge_l(candidate: str, references: Sequence[Reference]) -> float:
    """Return ROUGE-L as ``Rouge.calc_score`` computes it: the best precision with the best recall.

    Parameters
    ----------
    candidate : str
        Tokens joined by blanks.
    references : sequence of Reference
        At least one.
    """
    tokens = candidate.split(" ")
    lengths = [common(tokens, reference) for reference in references]
    precision = max(lengths) / len(tokens)
    recall = max(
        length / reference.length for length, reference in zip(lengths, references, strict=True)
    )
    if precision == 0 or recall == 0:
        return 0.0
    return ((1 + _BETA**2) * precision * recall) / (recall + _BETA**2 * precision)
