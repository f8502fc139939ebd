"""pycocoevalcap's Penn Treebank tokenizer, a Java program of Stanford."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

from ...errors import MetricUnavailable
from ...words.tokenization import LINE_BREAKS, Captions, Tokens, TreebankTokenizer
from . import PATIENCE, find_java, run_java

_PROGRAM = "edu.stanford.nlp.process.PTBTokenizer"


class PtbTokenizer(TreebankTokenizer):
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
