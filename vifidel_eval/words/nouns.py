"""Nouns of captions and labels: those that describe the next word, what a phrase is, how rare."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Collection, Container, Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files

from ..io.caches import Remembered
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


#: Names of things that are also what somebody does.
_VERBS = frozenset(
    """
    bat bike boat book bowl bow box building canoe clip coat dock dress drink fan farm feather
    fence field file fish flash frosting garden grill grip groom hammer handle hook horn hose
    house icing jam kayak leaf leash light log lounge mask milk monitor mop mushroom nail nurse
    paddle painting paper parasail park pen pepper pet phone pilot pipe piping plant plate plow
    pop post pot purse raft ring rock rope saddle sail scale screen shield ship shop shower sign
    sink skateboard ski sled slide smoke snow snowboard spray stage stone store strap stream
    suit tag tape tie tire toast tower trail train trumpet videotape wall watch water wave wire
    """.split()
)
_MODALS = frozenset(
    "can could will would may might must shall should 'll 'd ca wo do does did let help helps "
    "please".split()
)
_BE = frozenset("is are was were be been being 's 're".split())
_PRONOUNS = frozenset("i he she it they we you who others everyone someone".split())
_EACH = frozenset(("another", "each"))
_ARTICLES = frozenset("a an every".split()) | _EACH
_DEFINITE = frozenset("the his her its their your my our".split())
_FEW = frozenset("few couple pair lot dozen".split())
_ADVERBS = frozenset("not n't also then just often always never still".split())
_BEFORE_TO = frozenset("next close closer adjacent due".split())
_OBJECTS = _DETERMINERS | _DEFINITE
_OBJECTS |= frozenset("it him them himself herself itself themselves something up out".split())
_PREPOSITIONS = frozenset(
    ". , and as while across against along around at away behind beside between by down during for "
    "from in inside into near next off on onto out outside over past through to together toward "
    "towards under up with".split()
)


def may_be_verb(name: str) -> bool:
    """Return whether a thing's name, in the singular, is also what somebody does: *watch*."""
    return name in _VERBS


def comes_between(word: str) -> bool:
    """Return whether a word may stand between a subject and what it does: *a dog also watches*."""
    return word in _ADVERBS or word.endswith("ly")


def is_verb(
    before: Sequence[str], word: str, after: str, acts: bool | None, number: tuple[bool, bool]
) -> bool:
    """Return whether a word of which `may_be_verb` holds is what somebody does, and no thing.

    `before` are the four words before it without those that come between, and `after` the next
    one. `acts` says whether they end with the name of a person or an animal, and is None if they
    end with no name of a thing. `number` tells whether the last of them and the word itself are
    singular.

    >>> is_verb("while a dog".split(), "watches", "the", True, (True, False))
    True
    >>> is_verb("two dogs with".split(), "watches", ".", None, (True, False))
    False
    """
    subject_is_one, is_base = number
    last, has_object = [".", *before][-1], after in _OBJECTS
    if word.endswith("ing"):
        return last in _BE or (bool(acts) and has_object)
    if is_base and last == "to":
        return before[-2:-1] == [] or before[-2] not in _BEFORE_TO
    does = last in _PRONOUNS or (is_base and last in _MODALS)
    does |= not is_base and (last in _EACH or (has_object and last in ("and", ",")))
    if does or is_base == subject_is_one:  # but: a dog watches, dogs watch
        return does
    goes_on = has_object or after in _PREPOSITIONS
    if acts is not None:
        article = next((at for at, one in enumerate(before) if one in _ARTICLES), None)
        agrees = not is_base and article is not None and "of" not in before[article:]
        return has_object or ((acts or agrees) and goes_on)
    if is_base or len(before) < 2 or last in _PREPOSITIONS | _FEW:
        return False
    return (before[-2] in _ARTICLES and goes_on) or (before[-2] in _DEFINITE and has_object)


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


_COUNTS = "caption_words.txt"
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
def rarities_signature() -> str:
    """Return what signatures say of the counts of words: the name of their file and a digest."""
    digest = hashlib.sha256("\n".join(lines_of(_COUNTS)).encode()).hexdigest()[:8]
    return f"rarities:{_COUNTS.removesuffix('.txt')}#{digest}"


@cache
def _rarities() -> Mapping[str, float]:
    lines = map(str.split, lines_of(_COUNTS))
    counts = {word: int(count) for word, count in lines}
    images = counts.pop("*")
    return {word: min(LARGEST_RARITY, math.log(images / n)) for word, n in counts.items()}
