"""Spelling: what two names are compared by, wherever they are no different in words.

*Trafficlight*, *traffic-light* and *traffic light* are one name, and so are *grey wolf* and *gray
wolf*. The British forms are those that Peters lists (The Cambridge Guide to English Usage, 2004):
endings by rule, single words by a table. A rule may change a word that has one form only, such as
*fence*: its spelling is compared, and never shown.
"""

from __future__ import annotations

import re
import unicodedata

from ..annotations.labels import nfc
from ..io.caches import Remembered
from .english import irregular_plural, singular

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
    """Return what a lower-case name is compared by: its words in American form, joined.

    >>> spelling("traffic-light"), spelling("grey wolf")
    ('trafficlight', 'graywolf')
    """
    return "".join(map(american, words_in(name)))


@Remembered
def in_singular(name: str) -> str:
    """Return a lower-case name, with blanks for hyphens, whose last word is in the singular."""
    *words, last = words_in(name) or [""]
    return " ".join([*words, singular(last)])


@Remembered
def spellings_in_number(name: str) -> tuple[str, ...]:
    """Return the spellings of a lower-case name as it is, in the singular and in the plural.

    A plural may be that of two words, and is both in the singular: *hoody* and *hoodie*.

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
    """Return what a lower-case name may be in the singular."""
    single = in_singular(name)
    is_plural = name.endswith("s") and not name.endswith(("ss", "us", "is"))
    return (single, name[:-1]) if is_plural else (single,)


def words_in(name: str) -> list[str]:
    """Return the words of a lower-case name, at blanks, hyphens and underscores."""
    return name.replace("-", " ").replace("_", " ").split()
