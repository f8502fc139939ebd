"""Nouns of captions and labels: those that describe the next word, what a phrase is, how rare."""

from __future__ import annotations

import math
from collections.abc import Collection, Container, Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files

from ..remembered import Remembered
from .english import singular

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

    The words and their singular forms are as many as follow, or `REACH` of them; `names` are
    those of the object vocabulary.

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


# What begins a phrase that only says more of the noun before it: *a man in a red shirt*.
_AFTER_THE_NOUN = frozenset(
    "above at behind beside by holding in near next on riding sitting standing that under wearing "
    "which with".split()
)


def term_of(label: str, terms: Container[str]) -> str:
    """Return the term that a label of several words is of: the longest listed one that ends it.

    Where no listed one does, it is its last word, in the singular. What follows a preposition does
    not count. A single word, and a label that is listed as a whole, stay as they are. `terms` are
    the names that are listed, in the singular.

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


def lines_of(name: str) -> Iterator[str]:
    """Yield the lines of a text file of the package, without comments."""
    text = files(__package__).joinpath(name).read_text(encoding="utf-8")
    return (line for line in text.splitlines() if line and not line.startswith("#"))


def other_senses(name: str) -> frozenset[str]:
    """Return the names of what a thing's name, in singular or plural, may also mean.

    >>> sorted(other_senses("bikes"))
    ['motorcycle']
    """
    senses = _senses()
    return senses.get(name) or senses.get(singular(name), frozenset())


@cache
def _senses() -> Mapping[str, frozenset[str]]:
    return {
        name: frozenset(meant.strip().split(", "))
        for names, meant in (line.split(":") for line in lines_of("senses.txt"))
        for name in names.split(", ")
    }


#: The largest rarity, which a word has that is in none of the counted captions too.
LARGEST_RARITY = 6.0


@Remembered
def rarity(word: str) -> float:
    """Return the logarithm of how many images there are for one whose captions have a word.

    It is at most 6. The images are those of COCO val2017; ``caption_words.txt`` has the counts.

    >>> rarity("man") < rarity("giraffe") < rarity("saxophone")
    True
    """
    return _rarities().get(word, LARGEST_RARITY)


@cache
def _rarities() -> Mapping[str, float]:
    lines = map(str.split, lines_of("caption_words.txt"))
    counts = {word: int(count) for word, count in lines}
    images = counts.pop("*")
    return {word: min(LARGEST_RARITY, math.log(images / n)) for word, n in counts.items()}
