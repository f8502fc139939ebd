"""Penn Treebank tokens of captions in pure Python, for machines without Java."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape

# What a single character becomes.
_CHARACTERS = str.maketrans(
    {
        "\u2019": "'",
        "\u2018": "'",
        "\u201c": '"',
        "\u201d": '"',
        "\u2013": "--",
        "\u2014": "--",
        "\u2026": "...",
        "\u00a3": "#",
        "\u20ac": "$",
        "\u00a2": " cents ",
        "\u00bd": " 1/2 ",
        "\u00bc": " 1/4 ",
        "\u00be": " 3/4 ",
        "\u00ad": None,
        "\u200b": " ",
        "\ufeff": " ",
    }
)
_BRACKETS = {"(": "-lrb-", ")": "-rrb-", "[": "-lsb-", "]": "-rsb-", "{": "-lcb-", "}": "-rcb-"}

# Abbreviations of captions that keep their full stop.
_ABBREVIATIONS = (
    "mr mrs ms dr prof rev gen col lt sgt capt gov sen st ste ave blvd rd hwy dept mt ft "
    "jr sr inc co corp ltd bros vs etc no nos vol jan feb mar apr jun jul aug sept sep oct nov dec "
    "ala ariz calif colo conn fla ill ky la mass mich minn miss mo nev okla ore pa tenn tex va wis"
)

_TOKEN = re.compile(
    rf"""
    </?[a-z][^<>\s]*>                                        # a tag
  | (?:https?://|www\.)[^\s<>"]*[^\s<>".,!?;:)]              # an address
  | (?<![\w.+-])[\w.+-]+@[\w-]+(?:\.[\w-]+)+               # tried once per run of these
  | @\w+
  | [^\W\d_](?:\.[^\W\d_])+(?!\w)\.?                         # u.s. and u.s.a
  | (?:{_ABBREVIATIONS.replace(" ", "|")})\.(?!\w)
  | [^\W\d_]\.(?=\s+\S)                                      # an initial, unless it ends all
  | (?<![\w-])[-+]?\d+(?::\d+)+                              # a time of day
  | (?<![\w-])[-+]?(?:\d+(?:[.,]\d+)*|\.\d+)(?![\w/'-])      # a number
  | (?<!\w)'(?:\d0s|em|cause|n'?)(?!\w)
  | '(?:s|re|ve|ll|d|m)(?!\w)                                # what is left of a contraction
  | n't(?!\w)
  | (?:(?!n't\b)\w)+?(?=n't\b)                               # do of don't
  | -[lr][rcs]b-                                             # a bracket, already named
  | \w+(?:[-/&.!?]\w+|'(?!(?:s|re|ve|ll|d|m)\b)\w+)*         # hot-dog, black/white, o'clock
  | \.\.+ | --+ | [!?]+
  | \S
    """,
    re.VERBOSE | re.IGNORECASE,
)

# Words that the Treebank takes apart.
_TWO_WORDS = {
    "cannot": ("can", "not"),
    "gonna": ("gon", "na"),
    "gotta": ("got", "ta"),
    "wanna": ("wan", "na"),
    "lemme": ("lem", "me"),
    "gimme": ("gim", "me"),
}

_PUNCTUATION = frozenset([*"'`\".?!,:;", "``", "''"])
_LEADING_ZEROS = re.compile(r"&#0+(?=[0-9])")
_NO_CHARACTER = re.compile(r"&#[1-9][0-9]{7,};?")
_DOTS_OR_DASHES = re.compile(r"\.+|-+")


def treebank_tokens(caption: str) -> Iterator[str]:
    """Yield the tokens of a caption: lower case, no punctuation."""
    if "&" in caption:
        # Python converts no number of thousands of digits; from eight on no character has it.
        caption = unescape(_NO_CHARACTER.sub("\ufffd", _LEADING_ZEROS.sub("&#", caption)))
    if not caption.isascii():
        caption = caption.translate(_CHARACTERS).encode("utf-8", "replace").decode()
    for token in _TOKEN.findall(caption.lower()):
        if token in _PUNCTUATION or _DOTS_OR_DASHES.fullmatch(token):
            continue
        # Characters beyond the 16-bit range, such as emoji, are not tokens to the Treebank.
        if len(token) == 1 and token > "\uffff":
            continue
        yield from _TWO_WORDS.get(token, (_BRACKETS.get(token, token),))
