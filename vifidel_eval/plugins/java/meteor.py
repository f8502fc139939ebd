"""METEOR by pycocoevalcap's Java program, watched over so that it cannot hang."""

from __future__ import annotations

import contextlib
import math
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path

import numpy as np
import pycocoevalcap.meteor.meteor as host_meteor

from ...doors.arguments import constructor
from ...errors import MetricUnavailable
from ...evaluation import Column, Evaluation
from ...scorers.base import Progress
from ...scorers.record import DENKOWSKI_2014, Metric
from ...scorers.registry import register
from ...scorers.token_metric import Scoring, TokenMetric
from ...words.tokenization import Tokenization, Tokens
from . import find_java, why_ended

#: Seconds without an answer after which METEOR counts as hung. One answer takes milliseconds;
#: its tables are read before the first.
METEOR_PATIENCE = 600.0


class Meteor(TokenMetric):
    """METEOR 1.5: aligned words, stems, synonyms and paraphrases (Denkowski & Lavie, 2014).

    Each run starts its own Java process, which ends with the run. A MetricUnavailable is raised if
    Java does not run here or, when scoring, if METEOR's process fails or hangs.

    Parameters
    ----------
    tokenization : Tokenization, optional
        If all metrics of a run share one, captions are tokenised only once.
    undefined : float
        Value of an undefined score: NaN, or a number such as 0 for scripts that take plain
        means.

    Raises
    ------
    VifidelError
        If `undefined` is not a number.
    """

    columns = (Column("METEOR"),)

    @constructor
    def __init__(
        self, tokenization: Tokenization | None = None, undefined: float = math.nan
    ) -> None:
        self._java = find_java("METEOR")
        super().__init__(tokenization, undefined)

    @contextmanager
    def _scoring(self) -> Iterator[Scoring]:
        # One thread asks and waits: collectors that run beside it cost a tenth more time.
        options = ("-Xmx2G", "-XX:+UseSerialGC", "-jar", host_meteor.METEOR_JAR)
        command = self._java.arguments(*options, "-", "-", "-stdio", "-l", "en", "-norm")
        process: _Process | None = None
        with ExitStack() as running:

            def score(gts: Tokens, res: Tokens, on_progress: Progress) -> list[Evaluation]:
                nonlocal process
                if process is None:
                    process = running.enter_context(_Process(command))
                try:
                    return [process.column(gts, res, on_progress)]
                except BaseException:  # it may be in the middle of an answer: the next one is new
                    process = None
                    running.close()
                    raise

            yield score


class _Process:
    """METEOR's process, which ends with the context, and is killed when it does not answer."""

    def __init__(self, command: list[str]) -> None:
        # A file: pipes that nobody reads fill up and block.
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - `__exit__` closes it
        try:
            self._process = subprocess.Popen(
                command,
                cwd=Path(host_meteor.__file__).parent,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._errors,
            )
        except OSError as problem:
            self._errors.close()
            raise MetricUnavailable(f"METEOR: Java cannot be started ({problem}).") from None
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._questions, self._answers = self._process.stdin, self._process.stdout
        self._answer = b""
        self._answered: float | None = None  # when it last did, or was first asked; None: it rests
        self._is_hung = False
        self._ended = threading.Event()
        self._watcher = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> _Process:
        self._watcher.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._watcher.join()
        with self._errors, self._process:
            self._process.kill()
            with contextlib.suppress(OSError):  # a dead process left some unread
                self._questions.close()

    def column(self, gts: Tokens, res: Tokens, on_progress: Progress) -> Evaluation:
        """Return METEOR's scores: statistics of each caption are sent back for all scores."""
        self._answered = time.monotonic()
        try:
            statistics = []
            for image_id, references in gts.items():
                caption = res[image_id][0].replace("|||", "").replace("  ", " ")
                self._ask("SCORE", *references, caption)
                statistics.append(self._hear().strip())
                on_progress(1)
            self._ask("EVAL", *statistics)
            scores = [float(self._hear()) for _ in statistics]
            return Evaluation(list(gts), np.array(scores), corpus_score=float(self._hear()))
        except (EOFError, OSError):
            raise MetricUnavailable(self._why_silent()) from None
        except ValueError:
            raise MetricUnavailable(
                "METEOR: its Java process answered "
                f"{self._answer.decode(errors='replace').strip()!r:.100}, not a number."
            ) from None
        finally:
            self._answered = None

    def _ask(self, *question: str) -> None:
        self._questions.write(f"{' ||| '.join(question)}\n".encode())
        self._questions.flush()

    def _hear(self) -> str:
        self._answer = self._answers.readline()
        if not self._answer:
            raise EOFError
        self._answered = time.monotonic()
        return self._answer.decode()

    def _watch(self) -> None:
        while not self._ended.wait(min(1.0, METEOR_PATIENCE)):
            answered = self._answered
            if answered is not None and time.monotonic() - answered > METEOR_PATIENCE:
                self._is_hung = True
                self._process.kill()  # whoever waits for it wakes up
                return

    def _why_silent(self) -> str:
        if self._is_hung:
            return (
                f"METEOR: its Java process gave no answer for {METEOR_PATIENCE:g} seconds and was "
                "killed."
            )
        try:
            status = self._process.wait(10)
        except subprocess.TimeoutExpired:  # it closed its output and is still running
            return "METEOR: its Java process stopped answering and was killed."
        self._errors.seek(0)
        why = why_ended(status, self._errors.read())
        return f"METEOR: its Java process ended early ({why})."


register(
    Metric(
        "METEOR",
        "Aligned words, stems, synonyms and paraphrases",
        Meteor,
        lambda settings: Meteor(settings.tokenization),
        rank=90,
        needs=("Java",),
        check=partial(find_java, "METEOR"),
        papers=(DENKOWSKI_2014,),
    )
)
