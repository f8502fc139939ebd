"""Terms: names as tokens of captions and in labels, and how spellings of a name are compared.

*Trafficlight*, *traffic-light* and *traffic light* are one name, and so are *grey wolf* and *gray
wolf*. The British forms are those that Peters lists (The Cambridge Guide to English Usage, 2004):
endings by rule, single words by a table. A rule may change a word that has one form only, such as
*fence*: its spelling is compared, and never shown.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import NamedTuple

from ..annotations.labels import nfc
from ..io.caches import Remembered
from .content_words import STOP_WORDS
from .english import irregular_plural, singular, tokens

_AMERICAN = {
    "aeroplane": "airplane", "aluminium": "aluminum", "artefact": "artifact", "axe": "ax",
    "barbeque": "barbecue", "chilli": "chili", "cosy": "cozy", "doughnut": "donut",
    "draught": "draft", "grey": "gray", "jewellery": "jewelry", "kerb": "curb",
    "liquorice": "licorice", "moustache": "mustache", "omelette": "omelet", "plough": "plow",
    "programme": "program", "pyjama": "pajama", "pyjamas": "pajamas", "racquet": "racket",
    "traveller": "traveler", "waggon": "wagon", "whiskey": "whisky", "woollen": "woolen",
    "yoghurt": "yogurt",
}  # fmt: skip

# Each with what it becomes: harbour, tumour; centre, fibre; tyre; catalogue; steriliser; licence;
# oedema; anaemia, haematoma; foetus; mould; sulphur.
_RULES = [
    (re.compile(r"(?<=[a-z][a-z])our(?=$|ed$|ing$|ful$|hood$)"), "or"),
    (re.compile(r"(?<=[a-z][a-z])([tb])re$"), r"\1er"),
    (re.compile(r"yre$"), "ire"),
    (re.compile(r"(?<=[a-z][a-z])ogue$"), "og"),
    (re.compile(r"(?<=[a-z][a-z][a-z])is(?=(?:e|ed|er|ing|ation)$)"), "iz"),
    (re.compile(r"ence$"), "ense"),
    (re.compile(r"^oe(?=[dns])"), "e"),
    (re.compile(r"ae(?=[a-z])"), "e"),
    (re.compile(r"^foet"), "fet"),
    (re.compile(r"^mould"), "mold"),
    (re.compile(r"sulph"), "sulf"),
]
_ACCENTS = re.compile("(?<=[a-z])[\u0300-\u036f]+")  # of Latin letters: café is a cafe
_LONGEST_WORD = 100  # sorting a run of accents takes the square of its length
# What a word has that any of them changes.
_MAY = re.compile("our|re|gue|is|ence|oe|ae|mould|sulph")


@Remembered
def american(word: str) -> str:
    """Return the American form of a lower-case word, without accents, for comparisons."""
    if not word.isascii() and len(word) <= _LONGEST_WORD:
        word = nfc(_ACCENTS.sub("", unicodedata.normalize("NFD", word)))
    if word in _AMERICAN:
        return _AMERICAN[word]
    if not _MAY.search(word):
        return word
    for pattern, becomes in _RULES:
        word = pattern.sub(becomes, word)
    return word


@Remembered
def spelling(name: str) -> str:
    """Return the key by which lower-case names are compared: their words in American form, joined.

    >>> spelling("traffic-light"), spelling("grey wolf")
    ('trafficlight', 'graywolf')
    """
    return "".join(map(american, words_in(name)))


@Remembered
def spellings_in_number(name: str) -> tuple[str, ...]:
    """Return the spellings of a lower-case name as it is, in the singular and in the plural.

    Two words may have one plural, which is both in the singular: *hoody* and *hoodie*.

    >>> spellings_in_number("hoodies"), spellings_in_number("shelf")
    (('hoodies', 'hoody', 'hoodie'), ('shelf', 'shelves'))
    """
    names = [name, *singulars(name)]
    words = words_in(name)
    plural = irregular_plural(words[-1]) if words else None
    if plural is not None and not name.endswith("s"):
        names.append(" ".join([*words[:-1], plural]))
    return tuple(dict.fromkeys(map(spelling, names)))


def singulars(name: str) -> tuple[str, ...]:
    """Return what a lower-case name may be in the singular, the first with blanks for hyphens."""
    *words, last = words_in(name) or [""]
    single = " ".join([*words, singular(last)])
    is_plural = name.endswith("s") and not name.endswith(("ss", "us", "is"))
    return (single, name[:-1]) if is_plural else (single,)


def words_in(name: str) -> list[str]:
    """Return the words of a lower-case name, at blanks, hyphens and underscores."""
    return name.replace("-", " ").replace("_", " ").split()


_SHORTEST_PART = 3  # of a name that is written as two words
_PARTICLES = frozenset("away by down in off on out over up".split())  # *pick-up* is no *pick up*

_YOUNG_OR_GROWN = ("baby", "adult")
#: Classes of animals by CHAIR's rules.
ANIMALS = "bird cat dog horse sheep cow elephant bear zebra giraffe animal cub".split()

#: What can do something, as the subject of a verb.
ACTING = ["person", "bicycle", "motorcycle", "car", "bus", "truck", "train", "boat", "airplane"]
ACTING += ANIMALS

#: What two words become. Terms that are of no class keep their words from being looked up.
TERMS = {
    **{
        term: term
        for term in (
            "motor bike", "motor cycle", "air plane", "traffic light", "street light",
            "traffic signal", "stop light", "fire hydrant", "stop sign", "parking meter",
            "suit case", "sports ball", "baseball bat", "baseball glove", "tennis racket",
            "wine glass", "hot dog", "cell phone", "mobile phone", "teddy bear", "hair drier",
            "potted plant", "laptop computer", "home plate", "train track",
        )
    },
    "wine glas": "wine glass",  # the singular form by the published rules
    "bow tie": "tie",
    "toilet seat": "toilet",
    "passenger jet": "jet",
    "passenger train": "train",
    **{f"{age} {animal}": animal for age in _YOUNG_OR_GROWN for animal in ANIMALS},
}  # fmt: skip


class Term(NamedTuple):
    """Tokens that are one name together."""

    words: tuple[str, ...]
    becomes: str
    as_written: bool  # whether a word may match as it is, not only in its singular form
    order: int  # the lowest one is found of terms that are equally long


class Terms(dict[str, "Terms"]):
    """Terms that begin alike, by their next word; `whole` are those that end here."""

    whole: tuple[Term, ...] = ()


def spellings(
    class_of: Mapping[str, str | None],
    user_names: Collection[str],
    order: int,
    simplify: Callable[[str], str] | None,
) -> tuple[dict[str, str], list[Term]]:
    """Return the words, and the terms from a number on, that stand for names as written.

    `class_of` has the names, each with its class if it has one. `simplify` is what texts go through
    before they are read; None for the published program, which knows no other spellings.
    """
    spelled: dict[str, str] = {}
    in_two_words: dict[tuple[str, ...], str] = {}
    for name in class_of:
        before, blank, last = name.rpartition(" ")
        plural = irregular_plural(last)
        if plural is not None:
            spelled[f"{before}{blank}{plural}"] = name
        words = words_in(name)
        if simplify is not None and _PARTICLES.isdisjoint(words[1:]):
            spelled.setdefault(" ".join(map(american, words)), name)
        if name in user_names:
            spelled |= dict.fromkeys(singulars(name), name)
            in_two_words |= dict.fromkeys(_split_in_two(name), name)
        elif simplify is not None and class_of[name] is not None:
            nouns = (
                pair for pair in _split_in_two(name) if class_of.get(pair[1]) != class_of[name]
            )
            in_two_words |= dict.fromkeys(filter(_may_be_noun, nouns), name)
    as_written: dict[str, str] = {}
    terms: list[Term] = []
    for written, name in {**spelled, **{name: name for name in class_of}}.items():
        for text in dict.fromkeys((written, (simplify or str)(written))):  # as captions are read
            in_tokens = tuple(tokens(f"{text} .")[:-1])  # before other text, "t.v." is one token
            if len(in_tokens) == 1:
                as_written[in_tokens[0]] = name
            elif in_tokens:
                terms.append(Term(in_tokens, name, True, order + len(terms)))
    listed = {term.words for term in terms}
    further = ((words, name) for words, name in in_two_words.items() if words not in listed)
    first = order + len(terms)
    terms += [Term(words, name, True, n) for n, (words, name) in enumerate(further, first)]
    return as_written, terms


def term_forms(word: str, form: str) -> tuple[str, ...]:
    """Return the words that a token, in the singular a form, may be in a term."""
    return tuple(dict.fromkeys((form, word, american(form), american(word))))


def term_tree(terms: Iterable[Term]) -> Terms:
    """Return terms by their first tokens."""
    root = Terms()
    for term in terms:
        branch = root
        for word in term.words:
            branch = branch.setdefault(word, Terms())
        branch.whole = (*branch.whole, term)
    return root


def spelled_by_users(names: Iterable[str]) -> dict[str, str]:
    """Return names by their spelling, also in the other number: a label may be a plural."""
    names = sorted(names, reverse=True)  # the first one is the class of all that are alike
    in_number = {form: name for name in names for form in spellings_in_number(name)}
    return {**in_number, **{spelling(name): name for name in names}}


def _split_in_two(name: str) -> Iterator[tuple[str, ...]]:
    """Yield the ways to write a name of one word as two: *heli pad*."""
    if name.isalpha():
        for at in range(_SHORTEST_PART, len(name) - _SHORTEST_PART + 1):
            yield name[:at], name[at:]


def _may_be_noun(words: tuple[str, ...]) -> bool:
    """Return whether two words may be one noun: *pine apple*, and no *ham per*."""
    return STOP_WORDS.isdisjoint(words) and singular(words[0]) == words[0]


# What begins a phrase that only says more of the noun before it: *a man in a red shirt*.
_AFTER_THE_NOUN = frozenset(
    "above at behind beside by holding in near next on riding sitting standing that under wearing "
    "which with".split()
)
_NUMBERED = re.compile(r"(?P<name>.*[^\W\d_])[-_ #]?\d{1,4}")  # person-1, dog2, car 03


def end_of(label: str, term: Callable[[str], str | None]) -> str | None:
    """Return the longest name that ends a phrase, as `term` spells it; None without any.

    What follows a preposition does not count: *a man in a red shirt* is a man.
    """
    words = _before_preposition(label)
    starts = range(len(words) == len(words_in(label)), len(words))
    return next(filter(None, (term(" ".join(words[start:])) for start in starts)), None)


def _before_preposition(label: str) -> list[str]:
    words = words_in(label)
    after = next((at for at, word in enumerate(words) if at and word in _AFTER_THE_NOUN), None)
    return words[:after]


def last_of(label: str) -> str:
    """Return the last word of a phrase in the singular; a single word as it is."""
    words = _before_preposition(label)
    return label if len(words_in(label)) < 2 else singular(words[-1])


def unnumbered(label: str, is_name: Callable[[str], object]) -> str:
    """Return a label without the number of its instance, if what precedes that ends with a name.

    *person-1* is a person; *boeing 747*, *type 2* and *h2o* are what they are.
    """
    numbered = None if is_name(label) else _NUMBERED.fullmatch(label)
    if numbered is None:
        return label
    name = numbered["name"]
    last = name.rpartition(" ")[2]
    return name if any(map(is_name, (name, singular(name), last, singular(last)))) else label
