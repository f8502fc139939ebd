"""Tokens for pycocoevalcap's metrics, kept for all metrics of a run; a tokenizer without Java.

VIFIDEL itself reads captions as written; BLEU, METEOR, ROUGE-L, CIDEr and SPICE compare tokens.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from html import unescape
from typing import Any

from ..doors.entry_points import service
from ..errors import MetricUnavailable, VifidelError
from ..io.caches import ENTRY
from ..io.image_ids import ImageId

#: Each of these ends a line for Java or for Python, and would make two rows of a caption.
LINE_BREAKS = dict.fromkeys(map(ord, "\r\n\v\f\x1c\x1d\x1e\x85\u2028\u2029"), " ")

#: How many captions, references included, are tokenised together by one Java process.
MOST_TOGETHER = 1 << 20

# How many sets of captions are kept, unless more were tokenised together, and their characters.
_KEPT, _MOST_CHARACTERS = 32, 1 << 27

#: Image id to captions as written, and to as many captions of which each is its tokens.
Captions = Mapping[ImageId, Sequence[str]]
Tokens = dict[ImageId, list[str]]
_Key = tuple[tuple[Any, ...], ...]  # each image id with its captions, in order


class CaptionTokenizer(ABC):
    """Penn Treebank tokens; captions that are such tokens already stay as they are.

    So do those that pycocoevalcap's metrics are given, after its tokenizer: to tokenise val2017's
    again takes half of the time of a BLEU.
    """

    name: str  # in signatures

    def tokenize(self, captions: Captions) -> Tokens:
        """Return what `tokenize_each` returns for one mapping."""
        return self.tokenize_each([captions])[0]

    def tokenize_each(self, several: Sequence[Captions]) -> list[Tokens]:
        """Return each caption as lower-case tokens joined by blanks, without punctuation."""
        are_tokens = [_are_tokens(captions) for captions in several]
        written = [c for c, are in zip(several, are_tokens, strict=True) if not are]
        tokenized = iter(self.tokenize_written(written) if written else ())
        return [
            {i: list(texts) for i, texts in captions.items()} if are else next(tokenized)
            for captions, are in zip(several, are_tokens, strict=True)
        ]

    @abstractmethod
    def tokenize_written(self, several: Sequence[Captions]) -> list[Tokens]:
        """Return the tokens of captions that are not tokens yet, of one mapping or more."""


def tokenizer() -> CaptionTokenizer:
    """Return pycocoevalcap's tokenizer if a plug-in has it and it runs here, else Python's."""
    try:
        return _treebank_tokenizer()()
    except VifidelError:
        return PythonTokenizer()


@cache
def _treebank_tokenizer() -> Callable[[], CaptionTokenizer]:
    tokenizer: Callable[[], CaptionTokenizer] = service("treebank_tokenizer")
    return tokenizer


class PythonTokenizer(CaptionTokenizer):
    """Penn Treebank tokens without Java; `benchmarks/treebank_tokens.py` counts the differences."""

    name = "python"

    def tokenize_written(self, several: Sequence[Captions]) -> list[Tokens]:
        return [
            {
                image_id: [" ".join(treebank_tokens(text)) for text in texts]
                for image_id, texts in captions.items()
            }
            for captions in several
        ]


class Tokenization:
    """Tokens of the last references and candidates, made once for several metrics and threads."""

    def __init__(self, with_tokenizer: CaptionTokenizer | None = None) -> None:
        self._tokenizer = tokenizer() if with_tokenizer is None else with_tokenizer
        self.name = self._tokenizer.name  # in signatures
        # By the captions: tokens, or why there are none. Never changed, only replaced: another
        # thread sees all of it or none.
        self._known: dict[_Key, Tokens | str] = {}

    def __reduce__(self) -> tuple[Any, ...]:
        return Tokenization, (self._tokenizer,)

    def tokens(self, captions: Captions) -> Tokens:
        """Return the tokens of references or candidates; do not change them."""
        [tokens] = self.prepare([captions])
        if isinstance(tokens, str):
            raise MetricUnavailable(tokens)
        return tokens

    def prepare(self, several: Iterable[Captions]) -> list[Tokens | str]:
        """Return the tokens of each mapping that differs, made together, or why there are none."""
        tokens = self._known
        inputs = {tuple((i, *texts) for i, texts in some.items()): some for some in several}
        new = {key: captions for key, captions in inputs.items() if key not in tokens}
        if new:
            results: Sequence[Tokens | str]
            try:
                results = self._tokenizer.tokenize_each(list(new.values()))
            except MetricUnavailable as problem:
                results = [str(problem)] * len(new)
            tokens = tokens | dict(zip(new, results, strict=True))
            newest, held = [], 0  # the last entries, with no more characters than may be kept
            for key in list(tokens)[: -max(_KEPT, len(inputs)) - 1 : -1]:
                held += sum(len(text) + ENTRY for _, *texts in key for text in texts)
                if held > _MOST_CHARACTERS:
                    break
                newest.append(key)
            self._known = {key: tokens[key] for key in reversed(newest)}
        return [tokens[key] for key in inputs]


# What a single character becomes.
_CHARACTERS = str.maketrans({
    "\u2019": "'", "\u2018": "'", "\u201c": '"', "\u201d": '"', "\u2013": "--", "\u2014": "--",
    "\u2026": "...", "\u00a3": "#", "\u20ac": "$", "\u00a2": " cents ", "\u00bd": " 1/2 ",
    "\u00bc": " 1/4 ", "\u00be": " 3/4 ", "\u00ad": None, "\u200b": " ", "\ufeff": " ",
})  # fmt: skip
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
    "cannot": ("can", "not"), "gonna": ("gon", "na"), "gotta": ("got", "ta"),
    "wanna": ("wan", "na"), "lemme": ("lem", "me"), "gimme": ("gim", "me"),
}  # fmt: skip

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


_BOTH = "|".join(_TWO_WORDS)
_PLAIN = rf"(?:(?!(?:{_BOTH})\b)[a-z]+(?:-[a-z]+)*|[0-9]+|'s|n't)"  # most tokens, which stay
_PLAIN_TOKENS = re.compile(f"{_PLAIN}(?: {_PLAIN})*")
_MIXED_NUMBER = re.compile(r"(?<=[0-9])\xa0(?=[0-9]+/[0-9])")  # one token: 22 3/4


def _are_tokens(captions: Captions) -> bool:
    """Return whether all captions are tokens, as the Treebank's tokenizer writes them."""
    return all(
        _PLAIN_TOKENS.fullmatch(text)
        or " ".join(treebank_tokens(text)) == _MIXED_NUMBER.sub(" ", text)
        for texts in captions.values()
        for text in texts
    )
