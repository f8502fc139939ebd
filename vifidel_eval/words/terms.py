"""Terms: names as tokens of captions, in every spelling that stands for them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from typing import NamedTuple

from .english import irregular_plural, tokens
from .spelling import american, in_singular, spelling, words_in

_SHORTEST_PART = 3  # of a name that is written as two words
_PARTICLES = frozenset("away by down in off on out over up".split())  # *pick-up* is no *pick up*


class Term(NamedTuple):
    """Tokens that are one name together."""

    words: tuple[str, ...]
    becomes: str
    as_written: bool  # whether a word may match as it is, not only in its singular form
    order: int  # of terms that are equally long, the first one is found


class Terms(dict[str, "Terms"]):
    """Terms that begin alike, by their next word, so that this is compared once; and whole ones."""

    whole: tuple[Term, ...] = ()


def spellings(
    names: Iterable[str],
    of_users: Collection[str],
    order: int,
    as_read: Callable[[str], str] | None,
) -> tuple[dict[str, str], list[Term]]:
    """Return the words, and the terms from a number on, that stand for names as written.

    `as_read` is what becomes of a text before it is read; None for the published program, for which
    there are no other spellings.
    """
    spelled: dict[str, str] = {}
    for name in names:
        before, blank, last = name.rpartition(" ")
        plural = irregular_plural(last)
        if plural is not None:
            spelled[f"{before}{blank}{plural}"] = name
        words = words_in(name)
        if as_read is not None and _PARTICLES.isdisjoint(words[1:]):
            spelled.setdefault(" ".join(map(american, words)), name)
        if name in of_users:
            spelled |= dict.fromkeys([in_singular(name), *_parted(name)], name)
    as_written: dict[str, str] = {}
    terms: list[Term] = []
    for written, name in {**spelled, **{name: name for name in names}}.items():
        for text in dict.fromkeys((written, (as_read or str)(written))):  # as captions are read
            in_tokens = tuple(tokens(f"{text} .")[:-1])  # before other text "t.v." is one
            if len(in_tokens) == 1:
                as_written[in_tokens[0]] = name
            elif in_tokens:
                terms.append(Term(in_tokens, name, True, order + len(terms)))
    return as_written, terms


def ways(word: str, form: str) -> tuple[str, ...]:
    """Return the words that a token, in the singular a form, may be in a term."""
    return tuple(dict.fromkeys((form, word, american(form), american(word))))


def tree(terms: Iterable[Term]) -> Terms:
    """Return terms by their first tokens."""
    root = Terms()
    for term in terms:
        alike = root
        for word in term.words:
            alike = alike.setdefault(word, Terms())
        alike.whole = (*alike.whole, term)
    return root


def spelled_by_users(names: Iterable[str]) -> dict[str, str]:
    """Return names by their spelling, also in the singular: a label may be in the plural."""
    names = sorted(names, reverse=True)  # the first one is the class of all that are alike
    singular_ones = {spelling(in_singular(name)): name for name in names}
    return {**singular_ones, **{spelling(name): name for name in names}}


def _parted(name: str) -> Iterator[str]:
    """Yield the ways to write a name of one word as two: *heli pad*."""
    if name.isalpha():
        for at in range(_SHORTEST_PART, len(name) - _SHORTEST_PART + 1):
            yield f"{name[:at]} {name[at:]}"
