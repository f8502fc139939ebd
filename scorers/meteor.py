"""METEOR by pycocoevalcap's Java program, watched over so that it cannot hang."""

from __future__ import annotations

import contextlib
import math
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import IO, Protocol, TypeVar

import pycocoevalcap.meteor.meteor as host_meteor

from ..companions.java import find_java, why_ended
from ..companions.tokenization import Tokenization, Tokens
from ..errors import MetricUnavailable
from ..evaluation import Column
from .base import Progress
from .companion import Companion, CompanionColumn, Scoring, shared_tokenization
from .papers import DENKOWSKI_2014
from .record import Metric
from .registry import register

#: Seconds without an answer after which METEOR counts as hung. One answer takes milliseconds;
#: its tables are read before the first.
METEOR_PATIENCE = 600.0


class Meteor(Companion):
    """METEOR 1.5: aligned words, stems, synonyms and paraphrases (Denkowski & Lavie, 2014).

    Each run has a Java process of its own, which ends with it.

    Raises
    ------
    MetricUnavailable
        If Java does not run here; when scoring, if METEOR's process fails or hangs.
    """

    columns = (Column("METEOR"),)

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
        process = _Process(command)
        try:
            yield partial(_meteor_column, process)
        finally:
            process.end()


def _meteor_column(
    process: _Process, gts: Tokens, res: Tokens, on_progress: Progress
) -> list[CompanionColumn]:
    """Return METEOR's scores, asked for as pycocoevalcap's meteor.py does.

    That is: statistics of each caption, then all of them together for the score of each and of the
    corpus.
    """
    with process.asked() as (ask, hear):
        statistics = []
        for image_id, references in gts.items():
            caption = res[image_id][0].replace("|||", "").replace("  ", " ")
            ask(" ||| ".join(["SCORE", *references, caption]))
            statistics.append(hear(str.strip))
            on_progress(1)
        ask(" ||| ".join(["EVAL", *statistics]))
        scores = [hear(float) for _ in statistics]
        return [CompanionColumn(hear(float), scores)]


_Answer = TypeVar("_Answer")


class _Hear(Protocol):
    def __call__(self, read: Callable[[str], _Answer]) -> _Answer:
        """Return the next line of the answer, as `read` reads it."""


class _Process:
    """METEOR's process: started when it is first asked something, ended with the run.

    Its tables take seconds to read, so that all systems of a run share it. One that failed or was
    interrupted in the middle is ended; the next question starts another.
    """

    def __init__(self, command: list[str]) -> None:
        self._command = command
        self._running: tuple[subprocess.Popen[bytes], IO[bytes]] | None = None
        self._ending = contextlib.ExitStack()

    def end(self) -> None:
        """End the process if it runs."""
        self._running = None
        self._ending.close()

    @contextmanager
    def asked(self) -> Iterator[tuple[Callable[[str], None], _Hear]]:
        """Give functions that ask and hear, under watch.

        Raises
        ------
        MetricUnavailable
            If the process fails, hangs or says what cannot be read.
        """
        process, errors = self._started()
        answer = b""

        def ask(line: str) -> None:
            _pipe(process.stdin).write(f"{line}\n".encode())
            _pipe(process.stdin).flush()

        def hear(read: Callable[[str], _Answer]) -> _Answer:
            nonlocal answer
            answer = _pipe(process.stdout).readline()
            if not answer:
                raise EOFError
            watchdog.calm()
            return read(answer.decode())

        try:
            with _Watchdog(process) as watchdog:
                try:
                    yield ask, hear
                except (EOFError, OSError):
                    raise MetricUnavailable(_why_silent(watchdog, process, errors)) from None
                except ValueError:
                    raise MetricUnavailable(
                        "METEOR: its Java process answered "
                        f"{answer.decode(errors='replace').strip()!r:.100}, not a number."
                    ) from None
        except BaseException:
            self.end()  # it may be in the middle of an answer
            raise

    def _started(self) -> tuple[subprocess.Popen[bytes], IO[bytes]]:
        """Return the process and its errors."""
        if self._running is None:
            # A file: pipes that nobody reads fill up and block.
            errors = tempfile.TemporaryFile()  # noqa: SIM115 - `end` closes it
            self._ending.callback(errors.close)
            try:
                process = subprocess.Popen(
                    self._command,
                    cwd=Path(host_meteor.__file__).parent,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=errors,
                )
            except OSError as problem:
                self.end()
                raise MetricUnavailable(f"METEOR: Java cannot be started ({problem}).") from None
            self._ending.callback(_end, process)
            self._running = process, errors
        return self._running


def _end(process: subprocess.Popen[bytes]) -> None:
    with process:
        process.kill()
        with contextlib.suppress(OSError):  # what a dead process did not read
            _pipe(process.stdin).close()


def _pipe(stream: IO[bytes] | None) -> IO[bytes]:
    assert stream is not None, "the process was started with pipes"
    return stream


class _Watchdog:
    """Kills a process that gives no answer for `METEOR_PATIENCE` seconds."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.has_killed = False
        self._process = process
        self._last_answered = time.monotonic()
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> _Watchdog:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopped.set()
        self._thread.join()

    def calm(self) -> None:
        """Say that the process has answered."""
        self._last_answered = time.monotonic()

    def _watch(self) -> None:
        while not self._stopped.wait(min(1.0, METEOR_PATIENCE)):
            if time.monotonic() - self._last_answered > METEOR_PATIENCE:
                self.has_killed = True
                self._process.kill()  # whoever waits for it wakes up
                return


def _why_silent(watchdog: _Watchdog, process: subprocess.Popen[bytes], errors: IO[bytes]) -> str:
    if watchdog.has_killed:
        return (
            f"METEOR: its Java process gave no answer for {METEOR_PATIENCE:g} seconds and was "
            "killed."
        )
    try:
        status = process.wait(10)
    except subprocess.TimeoutExpired:  # it closed its output and is still running
        return "METEOR: its Java process stopped answering and was killed."
    errors.seek(0)
    return f"METEOR: its Java process ended in the middle ({why_ended(status, errors.read())})."


register(
    Metric(
        "METEOR",
        "Aligned words, stems, synonyms and paraphrases",
        Meteor,
        lambda settings: Meteor(shared_tokenization(settings)),
        rank=90,
        needs=("Java",),
        check=partial(find_java, "METEOR"),
        papers=(DENKOWSKI_2014,),
    )
)
