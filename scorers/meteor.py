"""METEOR by pycocoevalcap's Java program, watched over so that it cannot hang."""

from __future__ import annotations

import contextlib
import math
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO

import pycocoevalcap.meteor.meteor as host_meteor

from ..errors import MetricUnavailable
from ..evaluation import Column
from ..text.java import find_java, why_ended
from ..text.tokenization import Tokenization, Tokens
from .base import Progress
from .coco import HostColumn, HostMetric
from .papers import DENKOWSKI_2014
from .record import Metric

#: Seconds without an answer after which METEOR counts as hung. One answer takes milliseconds;
#: its tables are read before the first.
METEOR_PATIENCE = 600.0


class Meteor(HostMetric):
    """METEOR 1.5: aligned words, stems, synonyms and paraphrases (Denkowski & Lavie, 2014).

    Each evaluation has a Java process of its own, which ends with it. The arguments are those of
    `HostMetric`.

    Raises
    ------
    MetricUnavailable
        If Java does not run here; when scoring, if METEOR's process fails or hangs.
    """

    _names = ("METEOR",)

    def __init__(
        self, tokenization: Tokenization | None = None, undefined: float = math.nan
    ) -> None:
        self._java = find_java("METEOR")
        super().__init__(tokenization, undefined)

    def _score(self, gts: Tokens, res: Tokens, on_progress: Progress) -> Sequence[HostColumn]:
        command = self._java.arguments(
            "-Xmx2G", "-jar", host_meteor.METEOR_JAR, "-", "-", "-stdio", "-l", "en", "-norm"
        )
        with (
            tempfile.TemporaryFile() as errors,
            _started(command, errors) as process,
            _Watchdog(process) as watchdog,
        ):
            answer = b""

            def ask(line: str) -> None:
                _pipe(process.stdin).write(f"{line}\n".encode())
                _pipe(process.stdin).flush()

            def hear() -> bytes:
                nonlocal answer
                answer = _pipe(process.stdout).readline()
                if not answer:
                    raise EOFError
                watchdog.calm()
                return answer

            # As pycocoevalcap's meteor.py: statistics of each caption, then all of them together
            # for the score of each and of the corpus.
            try:
                statistics = []
                for image_id, references in gts.items():
                    caption = res[image_id][0].replace("|||", "").replace("  ", " ")
                    ask(" ||| ".join(["SCORE", *references, caption]))
                    statistics.append(hear().decode().strip())
                    on_progress(1)
                ask(" ||| ".join(["EVAL", *statistics]))
                scores = [float(hear()) for _ in statistics]
                corpus_score = float(hear())
            except (EOFError, OSError):
                raise MetricUnavailable(_why_silent(watchdog, process, errors)) from None
            except ValueError:
                raise MetricUnavailable(
                    "METEOR: its Java process answered "
                    f"{answer.decode(errors='replace').strip()!r:.100}, not a number."
                ) from None
        return [HostColumn(corpus_score, scores)]


@contextlib.contextmanager
def _started(command: list[str], errors: IO[bytes]) -> Iterator[subprocess.Popen[bytes]]:
    """Give METEOR's process, and end it in every case."""
    try:
        process = subprocess.Popen(
            command,
            cwd=Path(host_meteor.__file__).parent,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,  # a file: pipes that nobody reads fill up and block
        )
    except OSError as problem:
        raise MetricUnavailable(f"METEOR: Java cannot be started ({problem}).") from None
    with process:
        try:
            yield process
        finally:
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


METEOR = Metric(
    "METEOR",
    "Aligned words, stems, synonyms and paraphrases",
    tuple(map(Column, Meteor._names)),
    lambda settings: Meteor(settings.tokenization),
    needs=("Java",),
    check=Meteor,
    papers=(DENKOWSKI_2014,),
)
