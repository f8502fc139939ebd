"""Names of things that may only describe the next word: *orange cat*, *passenger train*."""

from __future__ import annotations

from collections.abc import Collection, Sequence

#: Names that describe the next word as often as they name a thing: "a baby goat".
DESCRIBING = frozenset(
    """
    adult baby chocolate double-decker driver female glass lemon lime male mother olive orange paper
    passenger peach pedestrian rose tourist toy
    """.split()
)
# What may follow a noun that does not describe another; so may forms in -ing.
_AFTER_A_NOUN = frozenset(
    """
    's about above across after against along among around as at before behind below beneath beside
    between but by down during for from has have having he her his if in inside into is are it its
    like near next of off on onto or out outside over past she than that the their there they this
    through to together towards under underneath until up upon was were when where which while who
    whose with within without looks sits stands can does
    """.split()
)
_AND = frozenset(("and", "or", ","))
_DETERMINERS = frozenset("a an another both one some the these this those three two".split())

_MOST_JOINED = 3
#: How many words from such a name on decide, at most.
REACH = 2 * _MOST_JOINED + 3


def describes(words: Sequence[str], forms: Sequence[str], names: Collection[str]) -> bool:
    """Return whether the first of some words describes the next one rather than naming a thing.

    Parameters
    ----------
    words, forms : sequence of str
        The words and their singular forms, as many as follow, or `REACH` of them.
    names : collection of str
        The names of things.

    Examples
    --------
    >>> words = "baby and adult elephants".split()
    >>> describes(words, words, ["elephant"]), describes(["baby", "in"], ["baby", "in"], [])
    (True, False)
    """
    at = 0
    for _ in range(_MOST_JOINED):  # "an adult and baby goat"; bounded, for texts of any length
        if not (_AND.issuperset(words[at + 1 : at + 2]) and words[at + 2 : at + 3]):
            break
        if words[at + 2] in DESCRIBING:
            at += 2
    follower, after = [*words[at + 1 : at + 3], ".", "."][:2]
    if follower in _AND:
        return (
            after[0].isalpha()
            and after not in _AFTER_A_NOUN | _DETERMINERS
            and forms[at + 2] not in names
        )
    return follower[0].isalpha() and follower not in _AFTER_A_NOUN and not follower.endswith("ing")
