"""Nouns before nouns: in *dog house* and *car keys* the first describes, and names no thing.

The right-hand head rule of English compounds (Williams, Linguistic Inquiry 1981): the last noun
says what it is. What words are nouns is asked of Brill's lexicon (ANLP 1992), which TextBlob ships.
It has one class for each word, so that a word that may also be a verb is found by its other forms:
*walk*, *walking*. Where the second word may be what the first does (*a dog walks*), the first names
a thing.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from ..io.caches import Remembered
from .english import is_own_plural, singular, word_class
from .grammar import VERBS

#: How many words before a noun, and behind it, `describes_noun` looks at, at most.
BEFORE, BEHIND = 12, 2

# Words that say when, where or in what way, so that the noun before them is one by itself.
_ADVERBIAL = frozenset(
    """
    close downtown due east elect extra first firm good ill midair midstream midway native none
    north nude parallel plenty second solo south third uptown west
    afternoon back center centre day evening everything face front half hand home left lot midday
    midnight minute moment morning night nose noon nothing one part right second side something
    style summer time today tomorrow tonight top today upside way weekend winter yesterday
    """.split()
)
# Participles and adjectives behind a noun, unless a phrase ends there: *a dog cut in half*.
_BEHIND = frozenset(
    """
    beat become burst cast come content cut double hit hurt kind let level live mean put quit round
    run save set shed single sound split spread square trim
    """.split()
)
# What such a thing is a member or a part of: there is one.
_WHOLES = frozenset(
    """
    assortment band bunch colony community couple crew crowd duo family flock gang gathering group
    herd individual lot mob pack pair population pride school specimen swarm team trio troop
    body claw ear eye face fur head hoof horn leg mane mouth muzzle neck nose paw snout tail trunk
    tusk wing
    chunk combination combo cube device floret half item leaf piece pile portion slice stack wedge
    adult baby calf cub female foal kitten lamb male mother puppy pup
    """.split()
)
_DETERMINERS = frozenset(
    "a an the this that these those his her its their my your our one two three four some any no "
    "each every another".split()
)
_ONE = frozenset("a an one this each every another".split())
# What a verb without an ending may belong to: *they and the dog, does a dog, watches a dog*.
_BEFORE_BARE_VERBS = frozenset(
    """
    do does did can could will would may might must shall should please
    see sees saw seen seeing watch watches watched watching hear hears heard hearing let lets
    letting make makes made making help helps helped helping feel feels
    """.split()
)
_MANY = frozenset("and or nor plus both i you we they people men women children".split())
# Places, things and events for what is done: *a horse racing track*.
_FOR_DOING = frozenset(
    """
    area arena center centre class club competition contest course court equipment event facility
    gear ground lesson machine place point pole post rack range rink salon school service show
    space spot station table track trail trip zone
    """.split()
)
# What is done with a thing, and by none: *kite flying*.
_DONE_WITH_IT = frozenset(
    """
    baking biking boarding catching decorating driving eating feeding fishing flying grooming
    hunting making racing riding sailing skating throwing training walking watching
    """.split()
)
_NAMES_IN_ING = frozenset(
    """
    bedding building ceiling clothing covering crossing drawing dressing fencing flooring frosting
    icing landing lighting lining opening padding painting paving piping plumbing railing roofing
    seating siding stuffing topping trimming wiring
    """.split()
)
_COMES_NEXT = frozenset(". , ; : ! ? ) and or but".split())


def describes_noun(before: Sequence[str], word: str, behind: Sequence[str]) -> bool:
    """Return whether a noun in the singular describes the first word behind it, a noun.

    Parameters
    ----------
    before : sequence of str
        The last `BEFORE` words before it, in lower case, or all.
    word : str
        The noun as it is written.
    behind : sequence of str
        The first `BEHIND` words behind it, of which the first `may_be_described`.
    """
    head = behind[0]
    after = behind[1] if len(behind) > 1 else "."
    if word == head or (head in _BEHIND and after not in _COMES_NEXT):
        return False
    if head == "number" and (after.isdigit() or word_class(after) == "CD"):
        return False  # bus number two
    if _is_in_ing(head):
        return _is_name_in_ing(before, head, after)
    return not _may_do(before, word, head)


def may_be_described(word: str, is_thing: bool = False) -> bool:
    """Return whether a noun before a word may describe it, which may be the name of a thing."""
    if not word.isalpha() or word in _ADVERBIAL or singular(word) in _WHOLES:
        return False
    return _is_in_ing(word) or may_be_noun(word) or (is_thing and not word_class(word))


def _is_name_in_ing(before: Sequence[str], head: str, after: str) -> bool:
    """Return whether a noun and a word in -ing name a thing: over a zebra crossing."""
    # But: a zebra crossing the road; a dog running.
    _, governed, determiner = _phrase(before)
    is_noun = head in _NAMES_IN_ING and determiner != "" and after in _COMES_NEXT
    is_activity = head in _DONE_WITH_IT and determiner == "" and after in _COMES_NEXT
    if (
        is_activity
        and before
        and (word_class(before[-1]) in ("VBZ", "VBP") or before[-1] == "about")
    ):
        return True  # enjoys horse riding
    return governed and (singular(after) in _FOR_DOING or is_noun)


def _may_do(before: Sequence[str], word: str, head: str) -> bool:
    """Return whether the word behind a noun may be what that does."""
    start, governed, determiner = _phrase(before)
    is_many = head.endswith("s") and not head.endswith("ss")
    if not may_be_verb(head):
        return is_many and determiner in _ONE  # a clock strikes
    if is_many:
        # The dog barks; but: he holds his car keys.
        return not governed or determiner in _ONE or (determiner != "" and not _has_verb(before))
    # They and a dog drink, a herd of zebra drink; but: at a dog house, they have a dog house.
    outside, governor = before[:start], [".", *before[:start]][-1]
    if is_own_plural(word) or before[-1:] == ["of"] or governor in _BEFORE_BARE_VERBS:
        return True
    others = any(word_class(word) == "NNS" or word in _MANY for word in outside)
    is_one = determiner in _ONE and governor not in _MANY  # a dog design
    return others and (word_class(head) == "VB" or not (is_one or governed or _has_verb(before)))


def _phrase(before: Sequence[str]) -> tuple[int, bool, str]:
    """Return where the phrase of the noun behind some words begins, what it has, its determiner.

    It has a verb or preposition before it, or not.
    """
    at, determiner = len(before), ""
    while at and before[at - 1].isalpha():
        if word_class(before[at - 1]) in ("JJ", "VBN", "NN"):
            at -= 1
        elif at > 1 and before[at - 1] == "and" and word_class(before[at - 2]) == "JJ":
            at -= 2  # red and white
        else:
            break
    if at and before[at - 1] in _DETERMINERS:
        at -= 1
        determiner = before[at]
    governor = before[at - 1] if at else "."
    governed = word_class(governor)[:2] in ("VB", "IN", "TO") or may_be_verb(governor)
    return at, governed, determiner


def _has_verb(before: Sequence[str]) -> bool:
    """Return whether a clause has a finite verb: no other can follow."""
    return any(
        word_class(word) in ("VBZ", "VBP", "VBD")
        or (word_class(word) == "NNS" and word_class(noun) == "NN" and may_be_verb(word))
        for noun, word in pairwise(("", *before))
    )


def describes_word(word: str) -> bool:
    """Return whether a word behind a hyphen makes a description: *dog-friendly*, *cat-like*."""
    return word_class(word) in ("JJ", "JJR", "VBN", "VBD", "VBG", "IN", "RB", "RP") or (
        not word_class(word) and word.endswith(("ed", "ing", "less", "like", "proof"))
    )


def is_plural(word: str, form: str, name: str | None) -> bool:
    """Return whether a noun is a plural, which describes no noun.

    `form` is its singular form, and `name` what it is called.
    """
    known = word_class(word)
    return known == "NNS" or (known != "NN" and word not in (form, name))  # a bus, a Lexus


def may_be_noun(word: str) -> bool:
    """Return whether a word can be a noun: it is one, or its plural is."""
    known, plural = word_class(word), word_class(f"{word}s")
    if known == "JJ":  # a key, but not high, higher
        return plural == "NNS" and not word_class(f"{word}er") and not word_class(f"{word}ly")
    return known in ("NN", "NNS") or (known == "VB" and plural in ("NNS", "VBZ"))


@Remembered
def may_be_verb(word: str) -> bool:
    """Return whether a word can be a verb: a form of it is one."""
    stem = word[:-1] if word.endswith("s") and not word.endswith("ss") else word
    forms = (word, stem, f"{stem}ing", f"{stem[:-1]}ing", f"{stem}{stem[-1:]}ing", f"{stem}ed")
    return stem in VERBS or any(word_class(form)[:2] == "VB" for form in forms)


def _is_in_ing(word: str) -> bool:
    """Return whether a word is what somebody does, in -ing: no *ceiling*."""
    stem = word.removesuffix("ing")
    return stem != word and bool(
        word_class(word)[:2] == "VB" or word_class(stem) or word_class(f"{stem}e")
    )
