"""Grammar of captions: what describes the next word, what somebody does, what *or* joins."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from .english import word_class

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
    whose with within without looks sits stands can does nor seem appear look lie sit stand
    """.split()
)
_AND = frozenset(("and", "or", ","))
_DETERMINERS = frozenset(
    "a an any another both one other some the these this those three two".split()
)

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
            and after not in _AFTER_A_NOUN
            and after not in _DETERMINERS
            and forms[at + 2] not in names
        )
    is_verb_form = word_class(follower) in ("VBZ", "VBD", "VBP", "MD", "RB", "IN", "WDT")
    return (
        follower[0].isalpha()
        and follower not in _AFTER_A_NOUN
        and not follower.endswith("ing")
        and not is_verb_form
    )


#: Names of things, in the singular, that are also what somebody does: *watch*.
VERBS = frozenset(
    """
    bat bear bike boat book bowl bow box building canoe clip coat dock dress drink fan farm feather
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
    # `before` are the four words before it. If they end with a name, `acts` says whether that is of
    # a person or an animal; else it is None. `number` says whether they and the word are singular.
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
        article = next((at for at, word in enumerate(before) if word in _ARTICLES), None)
        agrees = not is_base and article is not None and "of" not in before[article:]
        return has_object or ((acts or agrees) and goes_on)
    if is_base or len(before) < 2 or last in _PREPOSITIONS or last in _FEW:
        return False
    return (before[-2] in _ARTICLES and goes_on) or (before[-2] in _DEFINITE and has_object)


_MOST_BETWEEN = 6  # words
_CHOOSING = frozenset(
    "a an the some any another other one two several his her its their this that".split()
)
_MAYBE = frozenset("maybe perhaps possibly probably even rather potentially likely".split())
_MARKS = frozenset(", ( either".split())


def alternatives(
    words: Sequence[str], places: Sequence[tuple[int, int]], asserted: Collection[int]
) -> Iterator[Sequence[int]]:
    """Yield the numbers of things of which a text asserts one: *a cat or a dog*.

    These are disjoined noun phrases (Huddleston and Pullum, The Cambridge Grammar of the English
    Language, 2002, chapter 15) with nothing between the nouns but a determiner and describing
    words.

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
        word not in _CHOOSING
        and word not in _MAYBE
        and word_class(word)[:2] not in ("JJ", "VB", "NN", "CD")
        for word in rest
    ):
        return ""
    if between.count("or") == 1 and between.index("or") <= 1:
        return "or"
    return "," if between[0] == "," and "or" not in between else ""


QUOTES = frozenset("\" ' '' ` `` “ ”".split())
# What is written, in quotes, on what bears it: *a sign that reads "Dog"*.
_WRITTEN = frozenset("read reads reading say says saying words word text labeled labelled".split())
_BEARERS = frozenset(
    "sign signs banner poster billboard board shirt t-shirt cap mug label plate sticker words word "
    "text wall screen".split()
)


def quoted(words: Sequence[str]) -> Iterator[int]:
    """Yield where the words of a sentence are that are written on something."""
    opening = 0
    while opening := next((at for at in range(opening + 1, len(words)) if words[at] in QUOTES), 0):
        closing = (at for at in range(opening + 1, len(words)) if words[at] in QUOTES)
        end = next(closing, opening if words[opening] == "'" else len(words))
        before = [word.rpartition(" ")[2] for word in words[max(opening - 12, 0) : opening]]
        if not (_WRITTEN.isdisjoint(before[-4:]) or _BEARERS.isdisjoint(before)):
            yield from range(opening + 1, end)
        opening = end
