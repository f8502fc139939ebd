"""Grammar of captions: what describes the next word, what somebody does, and what is denied.

A denial is a cue and the noun phrases right behind it: *there are no cars or buses*, *without a
dog*. Whatever is uncertain is no denial, so that a thing cannot be hidden behind one: what follows
must end the phrase (*no zebra could be happier*), no other negation may come before (*there is no
scene without a zebra*), and questions and sentences of what would be deny nothing.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence

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
REACH = 2 * _MOST_JOINED + 3  #: how many words from such a name on decide, at most


def describes(words: Sequence[str], forms: Sequence[str], names: Collection[str]) -> bool:
    """Return whether the first of `REACH` words describes the next one and names no thing."""
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


#: Names of things, in the singular, that are also what somebody does: *watch*.
VERBS = frozenset(
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


def comes_between(word: str) -> bool:
    """Return whether a word may stand between a subject and what it does: *a dog also watches*."""
    return word in _ADVERBS or word.endswith("ly")


def is_verb(
    before: Sequence[str], word: str, after: str, acts: bool | None, number: tuple[bool, bool]
) -> bool:
    """Return whether one of `VERBS` is what somebody does, and no thing."""
    # Before it are four words. They end with the name of a person or an animal, who `acts`, or
    # with that of another thing, or with none: None. Whether they and the word are singular:
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


THING = "\0"  #: what stands for a thing's name in the words that `denials` reads


def _any(words: str) -> str:
    return f"(?:{'|'.join(words.split())})"


_ARTICLE = _any("a an any")
_PLAIN = _any("visible apparent obvious discernible noticeable identifiable single actual real")
# There may be some, and these are not denied.
_FURTHER = _any("other additional further more extra")
_OF = rf"(?:{_any('sign signs trace traces evidence presence')} of )"
_NOUN = rf"(?:{_ARTICLE} )?(?:{_PLAIN} )?{_OF}?(?:{_ARTICLE} )?(?:{_FURTHER} )?{THING}"
_NEXT = rf"(?:{_ARTICLE} )?(?:{_PLAIN} )?{THING}"
_NOUNS = (
    rf"(?P<things>{_NOUN}"
    rf"(?:(?: , {_NEXT}){{0,9}}(?: ,)? (?:or|nor) {_NOUN}| and (?:no )?{THING})?)"
)

_SHOW = _any(
    "show shows showing display displays depict depicts feature features contain contains include "
    "includes have has had having see sees hold holds wear wears wearing carry carries"
)
_IS = _any("is are was were 's")
_NOT = _any("not n't")
# What a clause begins behind.
_CLAUSE = r"(?:^|(?<!\S)(?:[,;:()]|and|but|while|although|though|since|because|so) )"
# What may follow the nouns.
_SEEN = _any(
    "visible present shown seen depicted pictured there here anywhere nearby around whatsoever "
    "either"
)
_BE_SEEN = (
    rf"(?:{_IS}|can|appear|appears|seem|seems)(?: to)?(?: be)? "
    rf"(?:{_SEEN}|in the (?:picture|image|photo|photograph|scene|frame|background))"
)
_END = (
    rf"(?=$| (?:[,;:()]|and|while|although|though|{_SEEN}|{_BE_SEEN}|to be {_SEEN}|"
    "at all|in sight|in view)(?: |$))"
)
_PLACE = (
    "(?: (?:in front of|of|in|on|at|near|around|within|inside|behind|beside|under|along|across|"
    "among|outside) (?:it|him|her|them|(?:the|this|that|his|her|its|their)"
    "(?: (?!that|which|who|is|are|was|were)[^ ,;:()]+){1,2}))"
)
_END_OR_PLACE = rf"(?={_PLACE}{{0,3}}{_END})"

_DENIAL = re.compile(
    "|".join(
        (
            # No cars, as a clause: of *no zebra in the picture sleeps* nobody knows where it ends.
            rf"{_CLAUSE}(?:no|not a(?= single )) {_NOUNS.replace('things', 'of_clause')}{_END}",
            rf"(?<!\S)(?:{_CLAUSE}there {_IS}(?: also)? no|"
            rf"{_CLAUSE}there {_IS} {_NOT}(?= {_ARTICLE} )|"
            rf"{_any('do does did can ca could')} {_NOT} (?:show|display|depict|feature|contain|"
            rf"include|have|see|reveal)|(?:{_SHOW}|with) no|without|neither(?=[^,]{{0,200}} nor )|"
            rf"(?:free|devoid|empty|lack|absence) of|lacks?|lacking) {_NOUNS}{_END_OR_PLACE}",
        )
    )
)
_NEGATIVE = (
    "no not n't never nothing nobody none nor neither without hardly rarely barely scarcely seldom "
    "fail fails failing lack lacks lacking free false untrue wrong doubt deny denies impossible"
)
_CUES = frozenset("no not n't without neither free devoid empty lack lacks lacking absence".split())
_NEGATES = re.compile(rf"(?<!\S){_any(_NEGATIVE)}(?!\S)")
# What is asked, or would be.
_UNREAL = re.compile(
    rf"(?<!\S){_any('if unless whether would might should must wish imagine suppose')}(?!\S)|[?]"
)
_SENTENCE = re.compile(r"[^.!?;…]*[.!?;…]*")
_NEW_CLAUSE = re.compile(" , (?:and|but|while|although|though) ")


def may_deny(words: Iterable[str]) -> bool:
    """Return whether some words have one that a denial begins with."""
    return not _CUES.isdisjoint(words)


def denials(words: Iterable[str]) -> Iterator[tuple[int, bool]]:
    """Yield which things of a text are denied, from 0, and whether all: *no other dogs* is not."""
    text = " ".join(words)
    things = at = 0
    for sentence in _SENTENCE.finditer(text):
        if not _UNREAL.search(sentence[0]):
            said = sentence[0].strip(" .!;…")
            yield from ((things + thing, whole) for thing, whole in _in_sentence(said))
        things += text.count(THING, at, sentence.end())
        at = sentence.end()


def _in_sentence(said: str) -> Iterator[tuple[int, bool]]:
    things = 0
    for clause in _NEW_CLAUSE.split(said):
        at = done = 0
        for found in _DENIAL.finditer(clause):
            if _NEGATES.search(clause, done, found.start() + 1):
                break  # a double negation, or what is denied is no thing
            group = "things" if found["things"] else "of_clause"
            nouns, start = found[group], found.start(group)
            first = things + clause.count(THING, at, start)
            whole = not re.search(rf"{_FURTHER} ", nouns)
            yield from ((first + thing, whole) for thing in range(nouns.count(THING)))
            things, at, done = first, start, found.end()
        things += clause.count(THING, at)
