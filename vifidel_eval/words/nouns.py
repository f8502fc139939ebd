"""Nouns that name no thing: before other nouns, and with another meaning.

In *dog house* and *car keys* the first noun describes. The right-hand head rule of English
compounds (Williams, Linguistic Inquiry 1981): the last noun says what it is. Whether a word is a
noun is asked of Brill's lexicon (ANLP 1992), which TextBlob ships. It has one class for each word,
so that a word that may also be a verb is found by its other forms: *walk*, *walking*. Where the
second word may be what the first does (*a dog walks*), the first names a thing.

Names with more than one meaning may mean no thing: *is orange, the bowl* of a toilet. That a name
is an adjective too, such as *orange, remote* or *human*, is asked of the same lexicon.
"""

from __future__ import annotations

import re
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
_BE = frozenset(("is", "are", "was", "were"))
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
    return not _may_do(before, word, head, after)


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


def _may_do(before: Sequence[str], word: str, head: str, after: str) -> bool:
    """Return whether the word behind a noun may be what that does."""
    start, governed, determiner = _phrase(before)
    if after in _BE:
        return False  # the car keys are
    if word_class(head) == "VB" and after in _DETERMINERS:
        return True  # on the bench sit a man and a cat
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
    kind = word_class(word)
    return kind == "NNS" or (kind != "NN" and word not in (form, name))  # a bus, a Lexus


def may_be_noun(word: str) -> bool:
    """Return whether a word can be a noun: it is one, or its plural is."""
    kind, plural = word_class(word), word_class(f"{word}s")
    if kind == "JJ":  # *key* can be a noun; *high* cannot, because there is *higher*
        return plural == "NNS" and not word_class(f"{word}er") and not word_class(f"{word}ly")
    return kind in ("NN", "NNS") or (kind == "VB" and plural in ("NNS", "VBZ"))


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


#: How many words before a name `means_no_thing` looks at, at most.
MOST_BEFORE = 60

# *Looks at the camera*: whoever takes the picture has one.
_TO_THE_CAMERA = frozenset("at for to toward towards into facing face faces".split())
# Parts that have the name of a thing, and what they are parts of.
_PARTS = {
    "bowl": ("toilet",),
    "bed": ("truck",),
    "fork": ("bicycle", "bike"),
    "horn": ("car", "truck"),
    "keyboard": ("laptop", "macbook"),
    "cab": ("truck", "train", "locomotive", "engine", "trailers"),
}
_OWNED = ("its", "'s")
_HAS = ("with", "has", "have", "having")
_IDIOMS = frozenset(("sign", "camera", "car", *_PARTS))
_JOINING = frozenset(("and", "or", ","))

_CAPITALS = re.compile(r"(?<![\w&'-])[A-Z][\w&'-]*(?: [A-Z][\w&'-]*)+")
_BEFORE_KINDS = frozenset("a an the this that one two his her their its my your some".split())
_LONGEST_BEFORE = 24  # characters


def may_mean_no_thing(word: str, name: str) -> bool:
    """Return whether a name of a thing may mean something else: `means_no_thing` tells where."""
    return name in _IDIOMS or word_class(word) in ("JJ", "MD")


def means_no_thing(before: Sequence[str], word: str, name: str, behind: Sequence[str]) -> bool:
    """Return whether a name means no thing behind some words and before the next one."""
    last = before[-1] if before else ""
    if name == "sign":
        return last == "no" and behind[:1] == ["of"]
    if name == "camera":
        return not _TO_THE_CAMERA.isdisjoint(before[-2:] if last == "the" else [last])
    if name == "car":  # a train car is parked; the car is red
        return last == "the" and ("train", "car") in pairwise(before)
    if name in _PARTS:
        return _is_part(before, _PARTS[name])
    if word_class(word) == "MD":
        return _is_modal(before, behind)
    return _is_quality(before)


def _is_part(before: Sequence[str], wholes: Sequence[str]) -> bool:
    """Return whether words before a name say that it is a part: *its bowl, a laptop with a ...*."""
    at = len(before)
    while at and word_class(before[at - 1]) == "JJ":
        at -= 1
    *earlier, last = [".", ".", *before[:at]]
    if last in ("a", "an") and earlier[-1] in _HAS:
        return earlier[-2] in wholes
    return last in ("the", *_OWNED, *wholes) and not set(wholes).isdisjoint([*earlier, last])


def _is_modal(before: Sequence[str], behind: Sequence[str]) -> bool:
    """Return whether *can* is no thing: *a dog can jump*, and not *a soda can stands*."""
    last, following = [".", *before][-1], [*behind, "."][0]
    may_be_noun = word_class(last)[:2] in ("DT", "JJ", "NN", "CD", "PR", "VB")
    goes_on = following in ("be", "not", "n't", "have") or word_class(following)[:2] in ("VB", "RB")
    return not may_be_noun or (goes_on and word_class(following) not in ("VBZ", "VBN", "VBD"))


def _is_quality(before: Sequence[str]) -> bool:
    """Return whether a name behind some words says what something is like."""
    at = len(before)
    while at and before[at - 1] in _JOINING:
        at -= 1
    last = before[at - 1] if at else ""
    if at < len(before):  # black and orange
        return word_class(last) == "JJ"
    return word_class(last)[:2] in ("RB", "IN", "VB") and word_class(last) != "VBG"


def is_one_of_a_maker(before: Sequence[str]) -> bool:
    """Return whether the name of a maker means what it makes: *a red Toyota, two Harleys*."""
    at = len(before)
    while at and word_class(before[at - 1]) in ("JJ", "VBN"):
        at -= 1
    return at > 0 and (before[at - 1] in _BEFORE_KINDS or word_class(before[at - 1]) == "CD")


def proper_names(text: str) -> frozenset[tuple[str, str]]:
    """Return the words that follow each other in names of brands and places: *Toyota Trucks*."""
    if text[1:].islower():
        return frozenset()
    runs = list(_CAPITALS.finditer(text))
    words = [run[0].lower().split() for run in runs]
    if 2 * sum(map(len, words)) > text.count(" ") + 1:  # a title
        return frozenset()
    pairs: set[tuple[str, str]] = set()
    for run, capitals in zip(runs, words, strict=True):
        before = text[max(run.start() - _LONGEST_BEFORE, 0) : run.start()].rstrip(' "\u201c*_')
        if not before or before[-1] in ".!?:;\n":  # it begins a sentence
            capitals.pop(0)
        is_kind = before.lower().rpartition(" ")[2] in _BEFORE_KINDS  # a Golden Retriever
        pairs.update(pairwise(capitals[:-1] if is_kind else capitals))
    return frozenset(pairs)
