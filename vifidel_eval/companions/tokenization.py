"""Tokens for pycocoevalcap's metrics: its Penn Treebank tokenizer, and one without Java.

VIFIDEL itself reads captions as written; BLEU, METEOR, ROUGE-L, CIDEr and SPICE compare tokens.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Protocol

from ..errors import MetricUnavailable
from ..image_ids import ImageId
from ..remembered import ENTRY
from .java import PATIENCE, find_java, run_java
from .treebank import treebank_tokens

#: Each of these ends a line for Java or for Python: left in, a caption would become two rows and
#: all captions after it would move to the next image. As `str.translate` takes them.
LINE_BREAKS = dict.fromkeys(map(ord, "\r\n\v\f\x1c\x1d\x1e\x85\u2028\u2029"), " ")

#: How many captions, references included, are tokenised together: Java starts once for the systems
#: of a run that has no more.
MOST_TOGETHER = 1 << 20

# How many sets of captions are kept, and all that were tokenised together if those are more; and
# how many characters these have together, each caption with `ENTRY` more.
_KEPT, _MOST_CHARACTERS = 32, 1 << 27

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

    def tokenize_each(self, several: Sequence[Captions]) -> list[Tokens]:
        """Return what `tokenize` returns for each of several mappings."""


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
        text = _lines(captions)
        if not text:
            return {image_id: [] for image_id in captions}
        return self._regrouped(
            captions, self._run(stdin="\n".join(text).encode("utf-8", "replace"))
        )

    def tokenize_each(self, several: Sequence[Captions]) -> list[Tokens]:
        """Return what `tokenize` returns for each of several mappings, by one Java process.

        Each mapping is a file of its own, in a temporary folder: what a caption becomes can depend
        on the caption after it (whether the full stop of *U.S.* ends a sentence), so that those of
        one mapping must not follow those of another.

        Raises
        ------
        MetricUnavailable
            As `tokenize` raises it.
        """
        if len(several) == 1:
            return [self.tokenize(several[0])]
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            for at, captions in enumerate(several):
                text = "\n".join(_lines(captions)).encode("utf-8", "replace")
                (folder / f"{at}.txt").write_bytes(text)
            names = "".join(f"{at}.txt {at}.tok\n" for at in range(len(several)))
            (folder / "files").write_text(names, encoding="utf-8")
            self._run("-ioFileList", "files", cwd=folder)  # no blank may be in the names
            try:
                answers = [(folder / f"{at}.tok").read_bytes() for at in range(len(several))]
            except OSError as problem:
                raise MetricUnavailable(
                    f"pycocoevalcap's tokenizer: its Java process wrote no tokens ({problem})."
                ) from None
        return [
            self._regrouped(captions, answer)
            for captions, answer in zip(several, answers, strict=True)
        ]

    def _run(self, *arguments: str, stdin: bytes = b"", cwd: Path | None = None) -> bytes:
        from pycocoevalcap.tokenizer import ptbtokenizer

        jar = Path(ptbtokenizer.__file__).with_name(ptbtokenizer.STANFORD_CORENLP_3_4_1_JAR)
        return run_java(
            self._java,
            [
                # What runs for a second is not worth compiling twice: a third less time.
                "-XX:TieredStopAtLevel=1",
                "-cp",
                str(jar),
                "edu.stanford.nlp.process.PTBTokenizer",
                "-preserveLines",
                "-lowerCase",
                *arguments,
            ],
            "pycocoevalcap's tokenizer",
            PATIENCE,
            stdin=stdin,
            cwd=cwd,
        )

    def _regrouped(self, captions: Captions, answer: bytes) -> Tokens:
        """Return Java's rows as tokens of the captions that it was given."""
        from pycocoevalcap.tokenizer import ptbtokenizer

        expected = sum(len(texts) for texts in captions.values())
        rows = answer.decode("utf-8", "replace").replace("\r\n", "\n").split("\n")
        if len(rows) != max(expected, 1):
            raise MetricUnavailable(
                f"pycocoevalcap's tokenizer: {expected} captions gave {len(rows)} rows, so no row "
                "can be trusted."
            )
        punctuation = frozenset(ptbtokenizer.PUNCTUATIONS)

        @cache  # references come back in other draws and for other systems
        def without_punctuation(row: str) -> str:
            tokens = row.rstrip().split(" ")
            return " ".join([token for token in tokens if token not in punctuation])

        return _regrouped(captions, map(without_punctuation, rows))


def _lines(captions: Captions) -> list[str]:
    """Return captions as lines for Java; JSON can spell a lone surrogate, UTF-8 cannot."""
    return [
        text if text.isprintable() else text.translate(LINE_BREAKS)
        for texts in captions.values()
        for text in texts
    ]


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
            captions,
            (" ".join(treebank_tokens(text)) for texts in captions.values() for text in texts),
        )

    def tokenize_each(self, several: Sequence[Captions]) -> list[Tokens]:
        """Return what `tokenize` returns for each of several mappings."""
        return [self.tokenize(captions) for captions in several]


class Tokenization:
    """Tokens of the last references and of the last candidates, made once for several metrics.

    A run goes metric by metric: the captions of its systems are remembered together. Threads
    may share it; it pickles as its tokenizer.

    Parameters
    ----------
    with_tokenizer : Tokenizer, optional
        By default what `tokenizer` returns.
    """

    def __init__(self, with_tokenizer: Tokenizer | None = None) -> None:
        self._tokenizer = tokenizer() if with_tokenizer is None else with_tokenizer
        self._last = _Last(self._tokenizer.tokenize_each)

    def __reduce__(self) -> tuple[Any, ...]:
        return Tokenization, (self._tokenizer,)

    @property
    def name(self) -> str:
        """The tokenizer's name in signatures."""
        return self._tokenizer.name

    def prepare(self, several: Iterable[Captions]) -> None:
        """Tokenise together what is about to be asked for: Java starts once.

        Parameters
        ----------
        several : iterable of mappings
            References and candidates, at most `MOST_TOGETHER` captions.
        """
        self._last.make(several)

    def tokens(self, captions: Captions) -> Tokens:
        """Return the tokens of references or candidates; do not change them.

        Raises
        ------
        MetricUnavailable
            If the tokenizer fails.
        """
        result = self._last.make([captions])[0]
        if isinstance(result, str):
            raise MetricUnavailable(result)
        return result


class _Last:
    """A function of captions that remembers its last results, or why there is none."""

    def __init__(self, function: Callable[[Sequence[Captions]], list[Tokens]]) -> None:
        self._function = function
        # Never changed, only replaced: another thread sees all of it or none.
        self._known: tuple[tuple[Captions, Tokens | str], ...] = ()

    def make(self, several: Iterable[Captions]) -> list[Tokens | str]:
        """Return the tokens of each mapping, or the reason why there are none."""
        known = self._known
        given = list(several)
        new: list[tuple[Captions, str]] = []
        for captions in given:
            if _find(known, captions) is None and _find(new, captions) is None:
                # A copy: the caller may change its captions.
                new.append(({i: texts[:] for i, texts in captions.items()}, ""))
        if new:
            results: Sequence[Tokens | str]
            try:
                results = self._function([captions for captions, _ in new])
            except MetricUnavailable as problem:
                results = [str(problem)] * len(new)
            made = tuple(zip((captions for captions, _ in new), results, strict=True))
            known = (*known, *made)
            self._known = _last((*self._known, *made)[-max(_KEPT, len(given)) :])
        return [found for captions in given if (found := _find(known, captions)) is not None]


def _last(known: tuple[tuple[Captions, Any], ...]) -> tuple[tuple[Captions, Any], ...]:
    """Return as many of the last sets as have no more characters than may be kept."""
    held = 0
    for number, (captions, _) in enumerate(reversed(known)):
        held += sum(len(text) + ENTRY for texts in captions.values() for text in texts)
        if held > _MOST_CHARACTERS:
            return known[len(known) - number :]
    return known


def _find(known: Iterable[tuple[Captions, Any]], captions: Captions) -> Any:
    """Return what stands beside the same captions in the same order."""
    return next((found for one, found in known if one == captions and [*one] == [*captions]), None)


def _regrouped(captions: Captions, rows: Iterable[str]) -> Tokens:
    row = iter(rows)
    return {image_id: [next(row) for _ in texts] for image_id, texts in captions.items()}
