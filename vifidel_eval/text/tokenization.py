"""Tokens for pycocoevalcap's metrics: its Penn Treebank tokenizer, and one without Java.

VIFIDEL itself reads captions as written; BLEU, METEOR, ROUGE-L, CIDEr and SPICE compare tokens.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from html import unescape
from pathlib import Path
from typing import Any, Protocol

from ..errors import MetricUnavailable
from ..image_ids import ImageId
from .java import PATIENCE, find_java, run_java

#: Each of these ends a line for Java or for Python: left in, a caption would become two rows and
#: all captions after it would move to the next image. As `str.translate` takes them.
LINE_BREAKS = dict.fromkeys(map(ord, "\r\n\v\f\x1c\x1d\x1e\x85\u2028\u2029"), " ")

_SYSTEMS_REMEMBERED = 16

#: Image id to captions as written, and to as many captions of which each is its tokens.
Captions = Mapping[ImageId, Sequence[str]]
Tokens = dict[ImageId, list[str]]


class Tokenizer(Protocol):
    """What makes tokens of captions."""

    @property
    def name(self) -> str:
        """The name in signatures."""

    def tokenize(self, captions: Captions) -> Tokens:
        """Return each caption as lower-case tokens joined by blanks, punctuation removed.

        Parameters
        ----------
        captions : mapping
            Image id to captions as written.

        Returns
        -------
        dict
            The same ids in the same order, each with as many captions; a caption without a
            token is ''.
        """


def tokenizer() -> Tokenizer:
    """Return pycocoevalcap's tokenizer if Java runs here, else the one in Python."""
    try:
        return PtbTokenizer()
    except MetricUnavailable:
        return PythonTokenizer()


class PtbTokenizer:
    """pycocoevalcap's Penn Treebank tokenizer, without its trouble.

    Its Java program runs with its options, and its list of punctuation is removed. Line breaks
    inside captions become blanks first, and no file is written.

    Raises
    ------
    MetricUnavailable
        If Java does not run here.
    """

    name = "ptb"

    def __init__(self) -> None:
        self._java = find_java("pycocoevalcap's tokenizer")

    def tokenize(self, captions: Captions) -> Tokens:
        """Return each caption as tokens, as described at `Tokenizer.tokenize`.

        Raises
        ------
        MetricUnavailable
            If the Java process fails or does not answer with one row for each caption.
        """
        from pycocoevalcap.tokenizer import ptbtokenizer

        text = [caption.translate(LINE_BREAKS) for texts in captions.values() for caption in texts]
        if not text:
            return {image_id: [] for image_id in captions}
        jar = Path(ptbtokenizer.__file__).with_name(ptbtokenizer.STANFORD_CORENLP_3_4_1_JAR)
        answer = run_java(
            self._java,
            [
                "-cp",
                str(jar),
                "edu.stanford.nlp.process.PTBTokenizer",
                "-preserveLines",
                "-lowerCase",
            ],
            "pycocoevalcap's tokenizer",
            PATIENCE,
            # JSON can spell a lone surrogate, UTF-8 cannot.
            stdin="\n".join(text).encode("utf-8", "replace"),
        )
        rows = answer.decode("utf-8", "replace").replace("\r\n", "\n").split("\n")
        if len(rows) != len(text):
            raise MetricUnavailable(
                f"pycocoevalcap's tokenizer: {len(text)} captions gave {len(rows)} rows, so no row "
                "can be trusted."
            )
        punctuation = frozenset(ptbtokenizer.PUNCTUATIONS)
        return _regrouped(
            captions, (_without(row.rstrip().split(" "), punctuation) for row in rows)
        )


class PythonTokenizer:
    """Penn Treebank tokens of captions in pure Python, for machines without Java.

    It follows what `PtbTokenizer` does to captions; ``benchmarks/treebank_tokens.py`` counts the
    captions for which the two differ.

    Examples
    --------
    >>> PythonTokenizer().tokenize({1: ["The dog isn't here (yet), it's on St. John's Ave."]})
    {1: ["the dog is n't here -lrb- yet -rrb- it 's on st. john 's ave."]}
    """

    name = "python"

    def tokenize(self, captions: Captions) -> Tokens:
        """Return each caption as tokens, as described at `Tokenizer.tokenize`."""
        return _regrouped(
            captions, (" ".join(_tokens(text)) for texts in captions.values() for text in texts)
        )


class Tokenization:
    """Tokens of the last references and of the last candidates, made once for several metrics.

    A run goes metric by metric: the candidates of its systems are remembered together. Threads
    may share it; it pickles as its tokenizer.

    Parameters
    ----------
    with_tokenizer : Tokenizer, optional
        By default what `tokenizer` returns.
    """

    def __init__(self, with_tokenizer: Tokenizer | None = None) -> None:
        self._tokenizer = tokenizer() if with_tokenizer is None else with_tokenizer
        self._references = _Last(self._tokenizer.tokenize, 1)
        self._candidates = _Last(self._tokenizer.tokenize, _SYSTEMS_REMEMBERED)

    def __reduce__(self) -> tuple[Any, ...]:
        return Tokenization, (self._tokenizer,)

    @property
    def name(self) -> str:
        """The tokenizer's name in signatures."""
        return self._tokenizer.name

    def references(self, gts: Captions) -> Tokens:
        """Return the tokens of references; do not change them."""
        return self._references(gts)

    def candidates(self, res: Captions) -> Tokens:
        """Return the tokens of candidates; do not change them."""
        return self._candidates(res)


class _Last:
    """A function of captions that remembers its last results, or why there is none."""

    def __init__(self, function: Callable[[Captions], Tokens], results: int) -> None:
        self._function = function
        self._most = results
        # Never changed, only replaced: another thread sees all of it or none.
        self._known: tuple[tuple[list[tuple[ImageId, list[str]]], Tokens | str], ...] = ()

    def __call__(self, captions: Captions) -> Tokens:
        # A list of copies: the caller may change its captions, and their order counts.
        given = [(image_id, list(texts)) for image_id, texts in captions.items()]
        result = next((known for captions, known in self._known if captions == given), None)
        if result is None:
            try:
                result = self._function(captions)
            except MetricUnavailable as problem:
                result = str(problem)
            self._known = (*self._known, (given, result))[-self._most :]
        if isinstance(result, str):
            raise MetricUnavailable(result)
        return result


def _regrouped(captions: Captions, rows: Iterable[str]) -> Tokens:
    row = iter(rows)
    return {image_id: [next(row) for _ in texts] for image_id, texts in captions.items()}


def _without(tokens: Iterable[str], punctuation: frozenset[str]) -> str:
    return " ".join(token for token in tokens if token not in punctuation)


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


def _tokens(caption: str) -> Iterable[str]:
    """Yield the tokens of one caption."""
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
