"""English of captions: sentences, tokens and singular forms as CHAIR reads them; classes of words.

Tokens are those of the Penn Treebank's tokeniser on lower-case sentences. NLTK, which the published
program uses, is an order of magnitude slower; ``benchmarks/chair.py`` counts the differences.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib.machinery import ModuleSpec, SourceFileLoader
from itertools import chain, islice
from pathlib import Path
from typing import Any, TypeAlias

from ..io.caches import Remembered

# Words whose full stop does not end a sentence while more text follows.
_ABBREVIATIONS = frozenset(
    """
    a.m approx apt ave bldg blvd capt co corp dept dr e.g etc fig ft gov i.e inc jr lb lbs lt ltd
    mr mrs ms mt oz p.m prof rd sgt sr st t.v u.k u.s u.s.a vs
    """.split()
)
# ruff: noqa: RUF001 - typographic quotes are meant.
_CLOSERS = r"""[\])}>"'”’»*_]*"""
_SENTENCE_END = re.compile(rf"(?<![.!?…])(?P<stop>[.!?…]+){_CLOSERS}(?=\s|\Z)")
_AT_END = re.compile(rf"{_CLOSERS}\s*\Z")
_OPENERS = "\"'([{“‘*_"

_FULL_STOP = re.compile(rf"(?<=[^.\s])\.(?={_CLOSERS}(?:\s|\Z))")
_PUNCTUATION = re.compile(
    r"""\.{2,}|--|''|`+|[;@#$%&?!*()\[\]{}<>"“”„«»‘’\u2012-\u2015]|[:,](?!\d)"""
)
_OPENING_APOSTROPHE = re.compile(r"(?<!\w)'(?!(?:re|ve|ll|m|t|s|d|n)\b)(?=\w)")
_ENDING = re.compile(r"(?<=[^' ])('(?:s|m|d|ll|re|ve)?|n't)(?='?(?:\s|\Z))")  # man's, dogs', isn't
# What begins words that the Treebank takes for two: can not, d 'ye, gim me.
_FIRST_OF_TWO = re.compile(
    r"\b(can(?=not\b)|d(?='ye\b)|gim(?=me\b)|gon(?=na\b)|got(?=ta\b)|lem(?=me\b)|more(?='n\b)"
    r"|wan(?=na\b))"
)
# Rules for singular forms that only take an s away: "(shoe)s$", "s$".
_TAKES_S = re.compile(r"(\(\?i\))?(\([a-z]+\))?s\$")
_LONGEST_BY_PIECE = 500
_FARTHEST = 1 << 12  # characters between two words, such as markup

#: Where a word is: its first character, the one behind its last, and the number of its sentence.
Place: TypeAlias = tuple[int, int, int]

_LINE_END = re.compile(r"\n+")
_MAY_END = re.compile("[.!?…\n]")
_MANY_APOSTROPHES = "'" * 100


def tokens(caption: str) -> list[str]:
    """Return the lower-case tokens of a caption, punctuation and each full stop included."""
    # The Treebank's tokeniser, which expects one sentence, would leave *dog.* inside a text.
    text = caption.lower().strip()
    body = text.removesuffix(".")
    if "." in body or len(text) > _LONGEST_BY_PIECE:
        return _tokens(text)
    # Only full stops within a text mean different things in different texts.
    found = list(chain.from_iterable(map(_piece_tokens.__getitem__, body.split())))
    if body is not text:
        found.append(".")
    return found


@Remembered
def _piece_tokens(piece: str) -> tuple[str, ...]:
    """Return the tokens of what is between two blanks."""
    return tuple(_tokens(piece))


def _tokens(text: str) -> list[str]:
    """Return the tokens of a lower-case text without blanks at its ends."""
    if "'" in text:
        text = _OPENING_APOSTROPHE.sub("' ", text)
    if "." in text:
        ends = _Ends(text)
        text = _FULL_STOP.sub(lambda stop: " ." if ends(stop.start()) else ".", text)
    text = _PUNCTUATION.sub(r" \g<0> ", text)
    if "'" in text:
        text = _ENDING.sub(r" \1", text)
    return _FIRST_OF_TWO.sub(r"\1 ", text).split()


def drop_incomplete(caption: str) -> str:
    """Return the caption without a last sentence that has no end, if a complete one precedes it."""
    end = max(sentence_ends(caption), default=None)
    if end is None or not any(character.isalnum() for character in caption[end:]):
        return caption
    return caption[:end]


def sentence_ends(text: str) -> Iterator[int]:
    """Yield the place behind each sentence of a text that has an end, closing quotes included."""
    ends = _Ends(text)
    for found in _SENTENCE_END.finditer(text):
        if found["stop"] != "." or ends(found.start()):
            yield found.end()


def has_several_sentences(text: str) -> bool:
    """Return whether a text has more than one sentence."""
    return len(list(islice(sentence_places(text), 2))) == 2


def sentence_places(text: str) -> Iterator[tuple[int, int]]:
    """Yield where each sentence, or line, of a text starts and ends, without blanks around it."""
    if text[:1].strip() and text[-1:].strip() and not _MAY_END.search(text, 0, len(text) - 1):
        yield 0, len(text)  # as most captions
        return
    ends = {*sentence_ends(text), *(end.end() for end in _LINE_END.finditer(text)), len(text)}
    at = 0
    for end in sorted(ends):
        sentence = text[at:end]
        stripped = sentence.strip()
        if stripped:
            start = at + len(sentence) - len(sentence.lstrip())
            yield start, start + len(stripped)
        at = end


def word_places(
    text: str, words: Sequence[str], sentences: Sequence[tuple[int, int]]
) -> list[Place]:
    """Return where words, in lower case and in order, are in a text.

    A word that is written otherwise there, such as a mark, has the place of the whole text.
    """
    lower, at, sentence = text.lower(), 0, 0
    if len(lower) != len(text):
        lower = "".join(letter.lower() if len(letter.lower()) == 1 else letter for letter in text)
    whole = (sentences[0][0], sentences[-1][1], 0) if sentences else (0, 0, 0)
    end = sentences[0][1] if sentences else 0
    places = []
    for word in words:
        start = -1
        if word[0].isalnum() or not word.isascii():
            start = lower.find(word, at, at + _FARTHEST)
        if start < 0:
            places.append(whole)
            continue
        at = start + len(word)
        while end <= start:
            sentence += 1
            end = sentences[sentence][1]
        places.append((start, at, sentence))
    return places


@Remembered
def singular(word: str) -> str:
    """Return the singular form of a lower-case word by TextBlob's rules, slips too: *bus*, *bu*."""
    if word.isascii() and word.isalpha() and not word.startswith("oxen"):
        endings, uninflected = _endings()
        if not word.endswith(endings) and word not in uninflected:
            # No rule changes most words, and of the others the last rule takes most.
            return word.removesuffix("s")
    if word.endswith(_MANY_APOSTROPHES):
        return word  # each rule takes one apostrophe, in a call of its own: that would take long
    return str(_rules().singularize(word))


@Remembered  # two lists share most names
def irregular_plural(word: str) -> str | None:
    """Return the plural of a lower-case word if `singular` does not lead back from it."""
    plural = str(_rules().pluralize(word))
    return None if singular(plural) == word else plural


@Remembered
def is_own_plural(word: str) -> bool:
    """Return whether a lower-case word is its own plural: *sheep*, but not *luggage*."""
    rules = _rules()
    return str(rules.pluralize(word)) == word and word not in rules.singular_uncountable


class _Ends:
    """Tells which full stops of a text, from left to right, end a sentence, in linear time."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._since = 0  # behind the full stop before

    def __call__(self, stop: int) -> bool:
        """Return whether the full stop at `stop` ends a sentence; a blank follows its closers."""
        text, since = self._text, self._since
        self._since = stop + 1
        if _AT_END.match(text, stop + 1):
            return True
        line = text.rfind("\n", since, stop) + 1
        start = max(line, text.rfind(" ", since, stop) + 1)
        if since and not start:  # one word with the full stop before, and no abbreviation
            return True
        word = text[start:stop].lstrip(_OPENERS)
        if word.isdecimal():  # the number of a list's item if nothing stands before it
            return bool((since and not line) or text[line:start].strip())
        return word.lower() not in _ABBREVIATIONS and not (len(word) == 1 and word.isalpha())


def _textblob_file(name: str) -> Path:
    """Return a file of TextBlob's English."""
    package = importlib.util.find_spec("textblob")
    if package is None or package.origin is None:
        raise ModuleNotFoundError("textblob is missing: pip install textblob")
    return Path(package.origin).with_name("en") / name


@cache
def _rules() -> Any:
    # The module needs only `re`; the package around it loads NLTK, and with it SciPy and
    # scikit-learn where they are installed.
    loader = SourceFileLoader("vifidel_eval._singular_rules", str(_textblob_file("inflect.py")))
    rules = importlib.util.module_from_spec(ModuleSpec(loader.name, loader))
    loader.exec_module(rules)
    return rules


@cache
def _endings() -> tuple[tuple[str, ...], frozenset[str]]:
    """Return endings and words of which the rules take more than an *s* at the end."""
    rules = _rules()
    of_rules = (
        re.search(r"[a-z]*\$$", pattern.pattern)
        for pattern, inflection in rules.singular_rules
        if not (_TAKES_S.fullmatch(pattern.pattern) and inflection in ("", r"\1"))
    )
    endings = (
        *{ending[0][:-1] for ending in of_rules if ending},
        *rules.singular_irregular,
        *(f"{word}s" for word in rules.singular_ie),
        *(f"{word}es" for word in rules.singular_s),
    )
    # The rules ask whether these end with the word.
    whole = (*rules.singular_uninflected, *rules.singular_uncountable)
    return endings, frozenset(word[at:] for word in whole for at in range(len(word)))


def lemmatizer() -> str:
    """Return what makes words singular and its version, as signatures show it."""
    return f"textblob:{importlib.metadata.version('textblob')}"


_LISTED = re.compile(r"^([^\W\d_]\S*) (\S+)$", re.MULTILINE)  # a word and its class

# Nouns that the lexicon has as adjectives.
_NOUNS = frozenset(
    "bible bulldog cherry crepe husky iguana mammoth mum ostrich platter raspberry".split()
)


def word_class(word: str) -> str:
    """Return the class of a lower-case word in the tags of the Penn Treebank, or nothing."""
    return "NN" if word in _NOUNS else _lexicon().get(word, "")


def is_listed(word: str) -> bool:
    """Return whether the lexicon has a word; names of people and places begin with a capital."""
    return word in _lexicon()


@cache
def _lexicon() -> Mapping[str, str]:
    return dict(_LISTED.findall(_textblob_file("en-lexicon.txt").read_text(encoding="utf-8")))
