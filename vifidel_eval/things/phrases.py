"""Phrases as object labels: *a red double-decker bus* is a bus."""

from __future__ import annotations

from collections.abc import Container

from .words import singular

# What begins a phrase that only says more of the noun before it: *a man in a red shirt*.
_AFTER_THE_NOUN = frozenset(
    "above at behind beside by holding in near next on riding sitting standing that under wearing "
    "which with".split()
)


def term_of(label: str, terms: Container[str]) -> str:
    """Return the term that a label of several words is of: the longest listed one that ends it.

    Where no listed one does, it is its last word, in the singular. What follows a preposition does
    not count. A single word, and a label that is listed as a whole, stay as they are.

    Parameters
    ----------
    label : str
        As `vifidel_eval.annotations.clean_label` returns it.
    terms : container of str
        The names that are listed, in the singular.

    Examples
    --------
    >>> terms = {"bus", "dog", "hot dog", "man"}
    >>> [term_of(label, terms) for label in ("a red bus", "two hot dogs", "man in a suit")]
    ['bus', 'hot dog', 'man']
    """
    words = label.split()
    if len(words) < 2 or label in terms:
        return label
    after = next((at for at, word in enumerate(words) if at and word in _AFTER_THE_NOUN), None)
    words = words[:after]
    last = singular(words[-1])
    written, in_singular = " ".join(words), " ".join([*words[:-1], last])
    start = 0
    for word in words:
        for term in (written[start:], in_singular[start:]):
            if term in terms:
                return term
        start += len(word) + 1
    return last
