"""Alternatives: of *a cat or a dog* a text claims one, so that the better one counts.

Disjoined noun phrases (Huddleston and Pullum, The Cambridge Grammar of the English Language, 2002,
chapter 15) with nothing between the nouns but a determiner and describing words.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from .word_classes import word_class

_MOST_BETWEEN = 6  # words
_DETERMINERS = frozenset(
    "a an the some any another other one two several his her its their this that".split()
)
_MAYBE = frozenset("maybe perhaps possibly probably even rather potentially likely".split())
_MARKS = frozenset(", ( either".split())


def alternatives(
    words: Sequence[str], places: Sequence[tuple[int, int]], asserted: Collection[int]
) -> Iterator[Sequence[int]]:
    """Yield the numbers of things of which a text asserts one.

    Parameters
    ----------
    words : sequence of str
        The words and marks of the text, in lower case.
    places : sequence of (int, int)
        Where each thing begins and ends among them, in order.
    asserted : collection of int
        The numbers of the things that the text does not deny, or name without a claim.
    """
    listed: list[int] = []  # things with a comma or an *or* between them
    has_or = False
    for at, (start, _) in enumerate(places):
        joined = ""
        if listed and at in asserted:
            joined = _joined_by(words[places[at - 1][1] : start])
        if not joined:
            if has_or:
                yield listed
            listed, has_or = [at] if at in asserted else [], False
            continue
        if joined == "," and has_or:  # a cat or a dog, a cow
            yield listed
            listed, has_or = [], False
        listed.append(at)
        has_or |= joined == "or"
    if has_or:
        yield listed


def _joined_by(between: Sequence[str]) -> str:
    """Return whether words between two things are *or* or a comma, beside what describes."""
    if not 0 < len(between) <= _MOST_BETWEEN:
        return ""
    rest = [word for word in between if word != "or" and word not in _MARKS]
    if any(
        word not in _DETERMINERS | _MAYBE and word_class(word)[:2] not in ("JJ", "VB", "NN", "CD")
        for word in rest
    ):
        return ""
    if between.count("or") == 1 and between.index("or") <= 1:
        return "or"
    return "," if between[0] == "," and "or" not in between else ""
