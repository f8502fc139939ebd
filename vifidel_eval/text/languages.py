"""The language that captions are in, where it is plainly not English.

It is guessed from function words and scripts; nothing is downloaded. The guess only tells
English from other languages where that is plain. It counts the words that every sentence of a
language has, articles, prepositions and conjunctions, without those that are English words too,
such as *die* and *in*.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice

# So many texts, and characters of each, tell a language.
_MOST_READ, _MOST_CHARACTERS = 2_000, 1_000
# Fewer words, or letters, tell none.
_FEWEST_WORDS, _FEWEST_LETTERS = 20, 20
# The share of function words from which on a text is of a language; captions have .3 to .5.
_SHARE = 0.15
_TIMES_ENGLISH = 3

_WORD = re.compile(r"[^\W\d_]+")

_ENGLISH = frozenset(
    """
    a an the of on in at to and is are with by for from that this it its his her their there two as
    while near next into over under behind some
    """.split()
)
# Words that captions of a language cannot do without and that captions in English hardly have.
_FUNCTION_WORDS = {
    "German": """
        der das den dem des ein eine einen einem einer eines und ist sind auf mit im am von vom zum
        zur sich vor neben einige zwei wird sie er nicht auch aus bei nach über unter während
        """,
    "French": """
        le la les des du un une et est sont dans sur avec aux au qui en il elle deux pour par ses
        sa près devant ou ne pas
        """,
    "Spanish": """
        el la los las un una unos unas de del y en con que es está están por para sobre junto su
        sus dos al hay
        """,
    "Italian": """
        il lo la gli le un una uno di del della dei delle e è sono in con che su sul sulla nel nella
        al alla da due per mentre
        """,
    "Portuguese": """
        o os as um uma uns umas de da das do dos e em na no nas nos com que é está estão por para
        sobre ao dois duas seu sua
        """,
    "Dutch": """
        het een van op en met zijn naast voor bij aan naar uit zit staat ligt twee hun haar wordt
        over onder deze dat
        """,
    "Swedish": """
        en ett och på med är av som i sig till för vid från två det den står sitter bredvid
        """,
    "Danish or Norwegian": """
        en et og på med er av af som i seg sig til for ved fra to det den står sitter sidder
        """,
    "Polish": """
        w na z i jest są się do przy obok przed pod nad oraz ze która który dwa dwie po
        """,
    "Turkish": """
        bir ve ile bu da de için iki olan üzerinde önünde içinde var
        """,
    "Indonesian": """
        yang di dan dengan sebuah seorang seekor dari pada untuk ini itu sedang ada atas dua
        """,
    "Vietnamese": """
        một và trên của với trong có đang những các cái con người là bên đứng ngồi
        """,
}
_LANGUAGES = {name: frozenset(words.split()) - _ENGLISH for name, words in _FUNCTION_WORDS.items()}

# Scripts by the first word of their letters' names in Unicode.
_SCRIPTS = {
    "CJK": "Chinese",
    "HIRAGANA": "Japanese",
    "KATAKANA": "Japanese",
    "HANGUL": "Korean",
    "CYRILLIC": "Russian or another language in Cyrillic letters",
    "GREEK": "Greek",
    "ARABIC": "Arabic or another language in Arabic letters",
    "HEBREW": "Hebrew",
    "DEVANAGARI": "Hindi or another language in Devanagari",
    "BENGALI": "Bengali",
    "TAMIL": "Tamil",
    "THAI": "Thai",
}


@dataclass(frozen=True)
class Language:
    """What texts seem to be written in."""

    #: In English.
    name: str
    #: The most frequent words, or some text, that show it.
    examples: tuple[str, ...]


def foreign(texts: Iterable[str]) -> Language | None:
    """Return the language of texts that are plainly not English; None of all others.

    Few words, lists of names, and English with some words of another language are no evidence.

    >>> foreign(["ein Hund läuft auf der Wiese und ein Kind sitzt neben dem Hund"] * 2).name
    'German'
    >>> foreign(["a die and a fan on the table with the sign of an inn"] * 2)
    """
    read = [text[:_MOST_CHARACTERS].casefold() for text in islice(texts, _MOST_READ)]
    return _of_script(read) or _of_words(read)


def _of_script(texts: list[str]) -> Language | None:
    letters = Counter(letter for text in texts for letter in text if letter.isalpha())
    scripts: Counter[str] = Counter()
    for letter, number in letters.items():
        scripts[unicodedata.name(letter, "").partition(" ")[0]] += number
    total = letters.total()
    foreign_letters = sum(number for script, number in scripts.items() if script in _SCRIPTS)
    if total < _FEWEST_LETTERS or foreign_letters <= total / 2:
        return None
    kana = scripts["HIRAGANA"] + scripts["KATAKANA"]
    script = max(_SCRIPTS, key=lambda name: scripts[name])
    name = "Japanese" if kana > foreign_letters / 10 else _SCRIPTS[script]
    shown = next(t for t in texts if any(script in unicodedata.name(c, "") for c in t))
    return Language(name, (shown[:12],))


def _of_words(texts: list[str]) -> Language | None:
    words = Counter(word for text in texts for word in _WORD.findall(text))
    total = words.total()
    if total < _FEWEST_WORDS:
        return None
    counted = {name: sum(words[word] for word in function) for name, function in _LANGUAGES.items()}
    name = max(counted, key=lambda one: counted[one])
    english = sum(words[word] for word in _ENGLISH)
    if counted[name] < max(_SHARE * total, _TIMES_ENGLISH * english):
        return None
    seen = sorted(_LANGUAGES[name], key=lambda word: (-words[word], word))
    return Language(name, tuple(word for word in seen[:3] if words[word]))
