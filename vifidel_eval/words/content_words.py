"""Words of captions: content words, which say what is shown, how rare they are, and languages.

A caption and its Penn Treebank tokens, as pycocoevalcap's tokenizer writes them, have the same
content words. A word is a run of letters and digits of any script in lower case, accents kept; stop
words are dropped, and words of one character that is not Chinese, Japanese or Korean.
"""

from __future__ import annotations

import hashlib
import math
import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cache
from html import unescape
from importlib.resources import files
from itertools import islice

from ..annotations.labels import nfc
from ..doors.arguments import name_wrong_argument
from ..errors import VifidelError
from ..io.caches import Remembered


class _StopWords(frozenset[str]):
    """A set that signatures and pickles refer to by its name."""

    def __repr__(self) -> str:
        return "STOP_WORDS"

    def __reduce__(self) -> str:
        return "STOP_WORDS"


def lines_of(name: str) -> Iterator[str]:
    """Yield the lines of a text file of this package without comments."""
    lines = files(__package__).joinpath(name).read_text("utf-8").splitlines()
    return (line for line in lines if line and not line.startswith("#"))


#: What is left out of captions by default.
STOP_WORDS: frozenset[str] = _StopWords(" ".join(lines_of("stop_words.txt")).split())
#: gensim's whole list, as the metrics' papers and their programs leave such words out.
PAPER_STOP_WORDS = STOP_WORDS.union(
    "bill bottom computer cry empty fire mill mine system thick thin top".split()
)

# What the Penn Treebank makes of contractions without an apostrophe, and of brackets.
_TREEBANK_PIECES = frozenset(
    "gon gonna got gotta gim gimme lem lemme na ta wan wanna lrb rrb lcb rcb lsb rsb".split()
)

_PUNCTUATION = ".,;:!?\"'()-"
# isn't, is n't, can't, ca n't, it's, it 's, 'tis
_CONTRACTION = re.compile(r"(?:\b(?:ai|ca|sha|wo)\s*)?n't\b|'(?:s|re|ve|ll|d|m|tis|twas)\b")
# What `_patterns` finds in ASCII, without the time that its library takes to load.
_ASCII_WORD = re.compile("[A-Za-z0-9]+")
_ASCII_PART = re.compile("[A-Za-z0-9]+|[^A-Za-z0-9]+")


@name_wrong_argument
def content_words(caption: str, stop_words: Collection[str] = STOP_WORDS) -> list[str]:
    """Return the content words of a caption, in order, repeated words repeated.

    Parameters
    ----------
    caption : str
        A caption as written, or its tokens joined by blanks.
    stop_words : collection of str
        Lower-case words to leave out.

    Examples
    --------
    >>> content_words("A man isn't riding his bicycle near the fire-hydrant.")
    ['man', 'riding', 'bicycle', 'near', 'fire', 'hydrant']
    """
    return [
        word
        for piece in simplified(caption).split()
        for word in piece_words(piece)
        if word not in stop_words
    ]


_APOSTROPHES = "\u2018\u2019\u201b\u02bb\u02bc\u2032\uff07\u00b4"
_HYPHENS = "\u2010\u2011\u2043\u2212\ufe63\uff0d"
# Letters and digits in another form: full-width, a ligature, bold. Superscripts are notes.
_SAME_LETTER, _NOTES = ("<wide>", "<narrow>", "<font>", "<compat>"), ("<super>", "<sub>")
_LAST_OF_ASCII = 0x7F
_ZERO_WIDTH_SPACE = 0x200B  # may be all that is between two words, but of no Latin ones
_IN_LATIN = re.compile("(?<=[A-Za-z])\u200b(?=[A-Za-z])")
_JOINING_MARKS = frozenset((0x34F, *range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0)))
#: What `plain` has to look at.
NOT_PLAIN = re.compile(r"[\\<&\x1b\x80-\U0010ffff]|://")
# A line break or tab as it is written in code, and what sets a terminal's colours.
_ESCAPE = re.compile(r"\\(?:[nrtfv]|u[0-9a-f]{4})|\x1b\[[0-9;]{0,20}[a-z]", re.IGNORECASE)
_ADDRESS = re.compile(r"\b[a-z]{2,6}://[^\s<>\"]+", re.IGNORECASE)
_NO_CHARACTER = re.compile(r"&#0*(?:[0-9]{8,}|x0*[0-9a-f]{7,});?", re.IGNORECASE)
# What models and HTML write between angle brackets, the name by itself. Any other name is one if
# it is closed, or has a slash or a bar: </s>, <|end|>, <ref>a dog</ref>.
_TAG = re.compile(r"<[/|]{0,2}([a-z][\w.:-]{0,40})((?:[\s|/][^<>]{0,200})?)>", re.IGNORECASE)
_TAGS = frozenset(
    """
    b big blockquote bos box br center cls code div em eos font h1 h2 h3 h4 hr html i image img
    li loc mask obj ol p pad patch poly pre quad ref s sep small span strong sub sup table td text
    th tr u ul unk video
    """.split()
)


def plain(caption: str) -> str:
    """Return a caption as plain text: without markup and escapes, letters in their usual form."""
    if not NOT_PLAIN.search(caption):
        return caption
    if "&" in caption:
        # Python converts no number of thousands of digits.
        caption = unescape(_NO_CHARACTER.sub(" ", caption))
    if not caption.isascii():
        caption = _IN_LATIN.sub("", caption)
        caption = "".join(map(_plain_character.__getitem__, nfc(caption)))
    if "://" in caption:
        caption = _ADDRESS.sub(" ", caption)
    if "\\" in caption or "\x1b" in caption:
        caption = _ESCAPE.sub(" ", caption)
    if "<" in caption and ">" in caption:
        closed = {found[1].lower() for found in _TAG.finditer(caption) if found[0][1] == "/"}
        caption = _TAG.sub(lambda tag: " " if _is_markup(tag, closed) else tag[0], caption)
    return caption


def _is_markup(tag: re.Match[str], closed: Collection[str]) -> bool:
    name = tag[1].lower()
    return (
        name in closed
        or name.rstrip("0123456789_") in _TAGS
        or not tag[0][1].isalpha()
        or tag[0][-2] in "/|"
    )


@Remembered
def _plain_character(character: str) -> str:
    """Return what a character becomes in `plain`."""
    category, code = unicodedata.category(character), ord(character)
    form = unicodedata.decomposition(character).partition(" ")[0]
    if character in _APOSTROPHES:
        character = "'"
    elif character in _HYPHENS:
        character = "-"
    elif code in _JOINING_MARKS or (category == "Cf" and code != _ZERO_WIDTH_SPACE):
        character = ""
    elif code > _LAST_OF_ASCII and (category[0] in "CSZ" or category == "Me" or form in _NOTES):
        character = " "
    elif category[0] in "LN" and form in _SAME_LETTER:
        character = unicodedata.normalize("NFKC", character)
    return character


END = "\0"  #: the piece after the last piece of each caption


def simplified(caption: str, negation: str = "") -> str:
    """Return a caption in lower case, without contractions; `negation` is left of *n't*."""
    caption = plain(caption).lower()
    if "'" not in caption:
        return caption
    return _CONTRACTION.sub(lambda found: f" {negation} " if "n't" in found[0] else " ", caption)


def piece_words(piece: str) -> list[str]:
    """Return the words inside a piece of `joined` captions: ``fire-hydrant`` holds two."""
    return [
        word
        for word in piece_runs(piece)
        if len(word) > 1 or (not word.isascii() and _patterns()[1].match(word))
    ]


def piece_runs(piece: str) -> list[str]:
    """Return all runs of letters and digits in a piece, such as the article ``a`` too."""
    inner = piece.strip(_PUNCTUATION)
    if inner.isascii():
        runs = [inner] if inner.isalnum() else _ASCII_WORD.findall(inner)
    else:
        runs = _patterns()[0].findall(inner)
    return [word for word in runs if word not in _TREEBANK_PIECES]


def runs_and_marks(piece: str) -> list[str]:
    """Return the runs of letters and digits in a piece, and what is between them."""
    if piece.isascii():
        return _ASCII_PART.findall(piece)
    found, done = [], 0
    for run in _patterns()[0].finditer(piece):
        found += [piece[done : run.start()], run[0]]
        done = run.end()
    return [part for part in (*found, piece[done:]) if part]


def checked_stop_words(stop_words: Collection[str]) -> frozenset[str]:
    """Return stop words spelled as content words are; a VifidelError if they are no such words."""
    if stop_words is STOP_WORDS:
        return STOP_WORDS
    wrong = isinstance(stop_words, str | bytes) or not isinstance(stop_words, Iterable)
    words: list[str] = [] if wrong else list(stop_words)
    if wrong or not all(isinstance(word, str) for word in words):
        raise VifidelError(f"stop_words must be a collection of strings, not {stop_words!r:.40}.")
    return frozenset(nfc(word).lower() for word in words)


@cache
def _patterns():  # type: ignore[no-untyped-def]
    """Return the patterns of a word and of a word of one character."""
    import regex  # knows scripts and combining marks, which re does not; loads when first used

    # Variation selectors (U+FE00 to U+FE0F) are marks of emoji, not of words.
    word = r"[\p{L}\p{N}](?:[\p{L}\p{N}]|[[\p{Mn}\p{Mc}]--[\uFE00-\uFE0F]])*"
    alone = r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}]"
    return regex.compile(word, regex.V1), regex.compile(alone)


# So many texts, and characters of each, tell a language.
_MOST_READ, _MOST_CHARACTERS = 2_000, 1_000
# Fewer words, or letters, tell none.
_FEWEST_WORDS, _FEWEST_LETTERS = 20, 20
# The share of function words from which on a text is of a language; captions have .3 to .5.
_SHARE = 0.15
_TIMES_ENGLISH = 3
_SHOWN = 12  # characters of an example

_WORD = re.compile(r"[^\W\d_]+")

# Scripts by the first word of their letters' names in Unicode.
_SCRIPTS = {
    "CJK": "Chinese", "HIRAGANA": "Japanese", "KATAKANA": "Japanese", "HANGUL": "Korean",
    "CYRILLIC": "Russian or another language in Cyrillic letters", "GREEK": "Greek",
    "ARABIC": "Arabic or another language in Arabic letters", "HEBREW": "Hebrew",
    "DEVANAGARI": "Hindi or another language in Devanagari", "BENGALI": "Bengali",
    "TAMIL": "Tamil", "THAI": "Thai",
}  # fmt: skip


# Scripts in which words have no blanks between them, by the first word of their letters' names. The
# numbers are letters between blanks, on average, from which on words were not segmented: Chinese
# and Japanese words have two, Thai words four or five.
_WITHOUT_BLANKS = dict.fromkeys(("CJK", "HIRAGANA", "KATAKANA"), 3)
_WITHOUT_BLANKS |= dict.fromkeys(("THAI", "LAO", "KHMER", "MYANMAR", "TIBETAN"), 8)
_LETTERS_OF_NO_WORD = 20  # of any other script: longer than Finnish or German words are on average


def foreign_language(texts: Iterable[str]) -> tuple[str, tuple[str, ...]] | None:
    """Return the language of texts that are plainly not English, with examples; else None.

    Examples are its most frequent words, or some text. Few texts have no language.
    """
    read = [text[:_MOST_CHARACTERS].casefold() for text in islice(texts, _MOST_READ)]
    return _language_by_script(read) or _language_by_words(read)


def unsegmented_text(texts: Iterable[str]) -> str | None:
    """Return the beginning of a text if texts have no blanks between words; else None."""
    read = [text[:_MOST_CHARACTERS] for text in islice(texts, _MOST_READ)]
    between_blanks = sum(len(text.split()) for text in read)
    if all(map(str.isascii, read)) and sum(map(len, read)) < _LETTERS_OF_NO_WORD * between_blanks:
        return None  # nearly all texts, at little cost
    scripts = _scripts(read)
    if scripts.total() < _FEWEST_LETTERS:
        return None
    without = {script: number for script, number in scripts.items() if script in _WITHOUT_BLANKS}
    longest = _LETTERS_OF_NO_WORD
    if sum(without.values()) > scripts.total() / 2:
        longest = _WITHOUT_BLANKS[max(without, key=lambda script: without[script])]
    pieces = sum(any(map(str.isalpha, piece)) for text in read for piece in text.split())
    if scripts.total() < longest * pieces:
        return None
    return next(text for text in read if any(map(str.isalpha, text)))[:_SHOWN]


def _scripts(texts: list[str]) -> Counter[str]:
    """Return how many letters texts have of each script."""
    letters = Counter(letter for text in texts for letter in text if letter.isalpha())
    scripts: Counter[str] = Counter()
    for letter, number in letters.items():
        scripts[unicodedata.name(letter, "").partition(" ")[0]] += number
    return scripts


def _language_by_script(texts: list[str]) -> tuple[str, tuple[str, ...]] | None:
    scripts = _scripts(texts)
    total = scripts.total()
    foreign_letters = sum(number for script, number in scripts.items() if script in _SCRIPTS)
    if total < _FEWEST_LETTERS or foreign_letters <= total / 2:
        return None
    kana = scripts["HIRAGANA"] + scripts["KATAKANA"]
    script = max(_SCRIPTS, key=lambda name: scripts[name])
    name = "Japanese" if kana > foreign_letters / 10 else _SCRIPTS[script]
    shown = next(t for t in texts if any(script in unicodedata.name(c, "") for c in t))
    return name, (shown[:_SHOWN],)


@cache
def _function_words() -> tuple[dict[str, frozenset[str]], frozenset[str]]:
    """Return the function words of other languages that are not English, and the English ones."""
    lines = (line.partition(":") for line in lines_of("function_words.txt"))
    listed = {name: frozenset(words.split()) for name, _, words in lines}
    english = listed.pop("English")
    return {name: words - english for name, words in listed.items()}, english


def _language_by_words(texts: list[str]) -> tuple[str, tuple[str, ...]] | None:
    words = Counter(word for text in texts for word in _WORD.findall(text))
    total = words.total()
    if total < _FEWEST_WORDS:
        return None
    languages, in_english = _function_words()
    counted = {name: sum(words[word] for word in listed) for name, listed in languages.items()}
    name = max(counted, key=lambda language: counted[language])
    english = sum(words[word] for word in in_english)
    if counted[name] < max(_SHARE * total, _TIMES_ENGLISH * english):
        return None
    seen = sorted(languages[name], key=lambda word: (-words[word], word))
    return name, tuple(word for word in seen[:3] if words[word])


_COUNTS = "caption_words.txt"
LARGEST_RARITY = 6.0  #: that of all words that no counted caption has


@Remembered
def rarity(word: str) -> float:
    """Return the logarithm of the number of val2017's images per image with a word, at most 6."""
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
