"""Tokens for pycocoevalcap's metrics: its Penn Treebank tokenizer, and one without Java; and Java.

VIFIDEL itself reads captions as written; BLEU, METEOR, ROUGE-L, CIDEr and SPICE compare tokens.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from html import unescape
from pathlib import Path
from typing import Any, NamedTuple

from ..errors import MetricUnavailable
from ..io.image_ids import ImageId
from ..io.records import ENTRY

PATIENCE = 600.0  #: seconds without an answer after which a Java process counts as hung

# The machine's locale must not change what Java reads: another encoding garbles captions, a
# decimal comma makes METEOR misread its own numbers.
_SAME_EVERYWHERE = ("-Dfile.encoding=UTF-8", "-Duser.language=en", "-Duser.country=US")

_VERSION = re.compile(r'version "(?:1\.)?(\d+)')  # 1.8.0_312 is Java 8


class Java(NamedTuple):
    """A Java runtime that runs."""

    command: str  # the path of the program
    release: int  # 8, 11, 17 ...; 0 if it does not say

    def __str__(self) -> str:
        return f"{self.command}, Java {self.release}"

    def arguments(self, *arguments: str) -> list[str]:
        """Return the command line that runs Java with these arguments."""
        return [self.command, *_SAME_EVERYWHERE, *arguments]


def find_java(purpose: str) -> Java:
    """Return the Java runtime on the PATH; a MetricUnavailable names the purpose if none runs."""
    command = shutil.which("java")
    if command is None:
        raise MetricUnavailable(f"{purpose} needs Java, and no 'java' is on the PATH; install it.")
    found = _try_java(command)
    if isinstance(found, str):
        raise MetricUnavailable(f"{purpose} needs Java, and {command} does not run ({found}).")
    return found


@cache
def _try_java(command: str) -> Java | str:
    # macOS has a `java` that only says where to get one: its presence is not enough.
    try:
        answer = subprocess.run(
            [command, "-version"], capture_output=True, timeout=PATIENCE, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as problem:
        return str(problem)
    if answer.returncode != 0:
        return [f"exit status {answer.returncode}", *_lines(answer.stderr)][-1]
    version = _VERSION.search((answer.stderr + answer.stdout).decode(errors="replace"))
    return Java(command, int(version[1]) if version else 0)


def run_java(java: Java, arguments: Sequence[str], what: str, seconds: float, cwd: Path) -> None:
    """Run Java in a folder; a MetricUnavailable begins with `what` if it fails or is too slow."""
    try:
        answer = subprocess.run(
            java.arguments(*arguments),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            cwd=cwd,
            timeout=seconds,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise MetricUnavailable(
            f"{what}: its Java process did not end within {seconds:g} seconds and was killed."
        ) from None
    except OSError as problem:
        raise MetricUnavailable(f"{what}: Java cannot be started ({problem}).") from None
    if answer.returncode != 0:
        raise MetricUnavailable(
            f"{what}: its Java process failed ({why_ended(answer.returncode, answer.stderr)})."
        )


def why_ended(status: int, stderr: bytes) -> str:
    """Return the exit status and the most telling line of Java's error output."""
    lines = _lines(stderr)
    # A stack trace ends in line numbers of the program; its head is the reason.
    telling = [line for line in lines if "Exception" in line or "Error" in line] or lines[-1:]
    return f"exit status {status}" + (f": {telling[0]:.200}" if telling else "")


def _lines(output: bytes) -> list[str]:
    lines = map(str.strip, output.decode(errors="replace").splitlines())
    return [line for line in lines if line]


#: Each of these ends a line for Java or for Python, and would make two rows of a caption.
LINE_BREAKS = dict.fromkeys(map(ord, "\r\n\v\f\x1c\x1d\x1e\x85\u2028\u2029"), " ")

#: How many captions, references included, are tokenised together by one Java process.
MOST_TOGETHER = 1 << 20

# How many sets of captions are kept, unless more were tokenised together, and their characters.
_KEPT, _MOST_CHARACTERS = 32, 1 << 27

_PROGRAM = "edu.stanford.nlp.process.PTBTokenizer"

#: Image id to captions as written, and to as many captions of which each is its tokens.
Captions = Mapping[ImageId, Sequence[str]]
Tokens = dict[ImageId, list[str]]
_Key = tuple[tuple[Any, ...], ...]  # each image id with its captions, in order


class CaptionTokenizer(ABC):
    """What makes tokens of captions; signatures have its name."""

    name: str

    def tokenize(self, captions: Captions) -> Tokens:
        """Return what `tokenize_each` returns for one mapping."""
        return self.tokenize_each([captions])[0]

    @abstractmethod
    def tokenize_each(self, several: Sequence[Captions]) -> list[Tokens]:
        """Return each caption as lower-case tokens joined by blanks, without punctuation."""


def tokenizer() -> CaptionTokenizer:
    """Return pycocoevalcap's tokenizer if Java runs here, else the one in Python."""
    try:
        return PtbTokenizer()
    except MetricUnavailable:
        return PythonTokenizer()


class PtbTokenizer(CaptionTokenizer):
    """pycocoevalcap's Penn Treebank tokenizer, if Java runs here, with its options."""

    name = "ptb"

    def __init__(self) -> None:
        self._java = find_java("pycocoevalcap's tokenizer")

    def tokenize_each(self, several: Sequence[Captions]) -> list[Tokens]:
        from pycocoevalcap.tokenizer import ptbtokenizer

        jar = Path(ptbtokenizer.__file__).with_name(ptbtokenizer.STANFORD_CORENLP_3_4_1_JAR)
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            # Files of their own: a caption's last full stop depends on the caption after it.
            for at, captions in enumerate(several):
                lines = (
                    text if text.isprintable() else text.translate(LINE_BREAKS)
                    for texts in captions.values()
                    for text in texts
                )
                # JSON can spell a lone surrogate, UTF-8 cannot.
                (folder / f"{at}.txt").write_bytes("\n".join(lines).encode("utf-8", "replace"))
            names = "".join(f"{at}.txt {at}.tok\n" for at in range(len(several)))
            (folder / "files").write_text(names, encoding="utf-8")
            # What runs for a second is not worth compiling twice: a third less time.
            options = ["-XX:TieredStopAtLevel=1", "-cp", str(jar), _PROGRAM, "-preserveLines"]
            options += ["-lowerCase", "-ioFileList", "files"]  # no blank may be in the names
            run_java(self._java, options, "pycocoevalcap's tokenizer", PATIENCE, folder)
            try:
                answers = [(folder / f"{at}.tok").read_bytes() for at in range(len(several))]
            except OSError as problem:
                raise MetricUnavailable(
                    f"pycocoevalcap's tokenizer: its Java process wrote no tokens ({problem})."
                ) from None
        punctuation = frozenset(ptbtokenizer.PUNCTUATIONS)

        @cache  # references come back in other draws and for other systems
        def without_punctuation(row: str) -> str:
            tokens = row.rstrip().split(" ")
            return " ".join([token for token in tokens if token not in punctuation])

        return [
            _answered(captions, answer, without_punctuation)
            for captions, answer in zip(several, answers, strict=True)
        ]


def _answered(captions: Captions, answer: bytes, plain: Callable[[str], str]) -> Tokens:
    """Return the rows that Java wrote for captions as their tokens, each made plain."""
    expected = sum(len(texts) for texts in captions.values())
    rows = answer.decode("utf-8", "replace").replace("\r\n", "\n").split("\n")
    if len(rows) != max(expected, 1):
        raise MetricUnavailable(
            f"pycocoevalcap's tokenizer: {expected} captions gave {len(rows)} rows, so none of "
            "them can be used."
        )
    row = map(plain, rows)
    return {image_id: [next(row) for _ in texts] for image_id, texts in captions.items()}


class PythonTokenizer(CaptionTokenizer):
    """Penn Treebank tokens without Java; `benchmarks/treebank_tokens.py` counts the differences."""

    name = "python"

    def tokenize_each(self, several: Sequence[Captions]) -> list[Tokens]:
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
        known = self._known
        given = {tuple((i, *texts) for i, texts in some.items()): some for some in several}
        new = {key: captions for key, captions in given.items() if key not in known}
        if new:
            results: Sequence[Tokens | str]
            try:
                results = self._tokenizer.tokenize_each(list(new.values()))
            except MetricUnavailable as problem:
                results = [str(problem)] * len(new)
            known = known | dict(zip(new, results, strict=True))
            kept, held = [], 0  # the last entries, with no more characters than may be kept
            for key in list(known)[: -max(_KEPT, len(given)) - 1 : -1]:
                held += sum(len(text) + ENTRY for _, *texts in key for text in texts)
                if held > _MOST_CHARACTERS:
                    break
                kept.append(key)
            self._known = {key: known[key] for key in reversed(kept)}
        return [known[key] for key in given]


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
