"""Java, how it is found and run, and pycocoevalcap's Penn Treebank tokenizer, a program in it.

Its metrics, METEOR and SPICE, have modules of their own.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

from ...errors import MetricUnavailable
from ...words.tokenization import LINE_BREAKS, Captions, CaptionTokenizer, Tokens

PATIENCE = 600.0  #: a Java process that gives no answer for so many seconds has hung

# The machine's locale must not change what Java reads: another encoding garbles captions, a
# decimal comma makes METEOR misread its own numbers.
_SAME_EVERYWHERE = ("-Dfile.encoding=UTF-8", "-Duser.language=en", "-Duser.country=US")

_TOKENIZER = "edu.stanford.nlp.process.PTBTokenizer"

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
    java = _try_java(command)
    if isinstance(java, str):
        raise MetricUnavailable(f"{purpose} needs Java, and {command} does not run ({java}).")
    return java


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


def run_java(java: Java, arguments: Sequence[str], name: str, seconds: float, cwd: Path) -> None:
    """Run Java in a folder; a MetricUnavailable begins with `name` if it fails or is too slow."""
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
            f"{name}: its Java process did not end within {seconds:g} seconds and was killed."
        ) from None
    except OSError as problem:
        raise MetricUnavailable(f"{name}: Java cannot be started ({problem}).") from None
    if answer.returncode != 0:
        raise MetricUnavailable(
            f"{name}: its Java process failed ({why_ended(answer.returncode, answer.stderr)})."
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


class PtbTokenizer(CaptionTokenizer):
    """pycocoevalcap's Penn Treebank tokenizer, if Java runs here, with its options."""

    name = "ptb"

    def __init__(self) -> None:
        self._java = find_java("pycocoevalcap's tokenizer")

    def tokenize_written(self, several: Sequence[Captions]) -> list[Tokens]:
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
            options = ["-XX:TieredStopAtLevel=1", "-cp", str(jar), _TOKENIZER, "-preserveLines"]
            options += ["-lowerCase", "-ioFileList", "files"]  # no blank may be in the names
            run_java(self._java, options, "pycocoevalcap's tokenizer", PATIENCE, folder)
            try:
                answers = [(folder / f"{at}.tok").read_bytes() for at in range(len(several))]
            except OSError as problem:
                raise MetricUnavailable(
                    f"pycocoevalcap's tokenizer: its Java process wrote no tokens ({problem})."
                ) from None
        punctuation = frozenset(ptbtokenizer.PUNCTUATIONS)
        return [
            _answered(captions, answer, punctuation)
            for captions, answer in zip(several, answers, strict=True)
        ]


def _answered(captions: Captions, answer: bytes, punctuation: frozenset[str]) -> Tokens:
    """Return the rows that Java wrote for captions as their tokens, without punctuation."""
    expected = sum(len(texts) for texts in captions.values())
    rows = answer.decode("utf-8", "replace").replace("\r\n", "\n").split("\n")
    if len(rows) != max(expected, 1):
        raise MetricUnavailable(
            f"pycocoevalcap's tokenizer: {expected} captions gave {len(rows)} rows, so none of "
            "them can be used."
        )
    tokens = (row.rstrip().split(" ") for row in rows)
    plain = (" ".join([token for token in row if token not in punctuation]) for row in tokens)
    return {image_id: [next(plain) for _ in texts] for image_id, texts in captions.items()}
