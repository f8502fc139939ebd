"""METEOR by pycocoevalcap's Java program, watched over so that it cannot hang."""

from __future__ import annotations

import contextlib
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import IO

import pycocoevalcap.meteor.meteor as host_meteor

from ..errors import MetricUnavailable
from ..evaluation import Column
from ..text.java import find_java, why_ended
from ..text.tokenization import Tokenization
from .base import Progress
from .coco import HostColumn, HostMetric, Tokens
from .record import Metric

#: Seconds without an answer after which METEOR counts as hung. One answer takes milliseconds;
#: its tables are read before the first.
METEOR_PATIENCE = 600.0


class Meteor(HostMetric):
    """METEOR 1.5: aligned words, stems, synonyms and paraphrases (Denkowski & Lavie, 2014).

    Each evaluation has a Java process of its own, which ends with it.

    Raises
    ------
    MetricUnavailable
        If Java does not run here; when scoring, if METEOR's process fails or hangs.
    """

    _names = ("METEOR",)

    def __init__(self, tokenization: Tokenization | None = None) -> None:
        self._java = find_java("METEOR")
        super().__init__(tokenization)

    def _score(self, gts: Tokens, res: Tokens, on_progress: Progress) -> Sequence[HostColumn]:
        command = self._java.arguments(
            "-Xmx2G", "-jar", host_meteor.METEOR_JAR, "-", "-", "-stdio", "-l", "en", "-norm"
        )
        with tempfile.TemporaryFile() as errors, _started(command, errors) as process:
            watched = _WatchedMeteor(process, len(gts), on_progress)
            try:
                corpus_score, row = watched.compute_score(gts, res)
            except (EOFError, OSError):
                raise MetricUnavailable(_why_silent(watched, process, errors)) from None
            except ValueError:
                raise MetricUnavailable(
                    "METEOR: its Java process answered "
                    f"{watched.last_answer.decode(errors='replace').strip()!r:.100}, not a number."
                ) from None
            finally:
                watched.stop_watching()
        return [HostColumn(corpus_score, row)]


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


class _WatchedMeteor(host_meteor.Meteor):  # type: ignore[misc]
    """pycocoevalcap's METEOR on a process that is killed when it does not answer."""

    def __init__(
        self, process: subprocess.Popen[bytes], images: int, on_progress: Progress
    ) -> None:
        # Its own __init__ would start Java in the machine's locale. What its methods use:
        self.lock = threading.Lock()
        self.meteor_p = SimpleNamespace(
            stdin=process.stdin, stdout=SimpleNamespace(readline=self._answer)
        )
        self.last_answer = b""
        self.hung = False
        self._process = process
        self._images = images
        self._on_progress = on_progress
        self._answers = 0
        self._last_answered = time.monotonic()
        self._stopped = threading.Event()
        self._watchdog = threading.Thread(target=self._watch, daemon=True)
        self._watchdog.start()

    def __del__(self) -> None:
        """Do nothing: its own waits for a lock that an error leaves locked."""

    def stop_watching(self) -> None:
        self._stopped.set()
        self._watchdog.join()

    def _answer(self) -> bytes:
        self.last_answer = _pipe(self._process.stdout).readline()
        if not self.last_answer:
            raise EOFError
        self._answers += 1
        self._last_answered = time.monotonic()
        if self._answers <= self._images:  # afterwards it adds up
            self._on_progress(1)
        return self.last_answer

    def _watch(self) -> None:
        while not self._stopped.wait(min(1.0, METEOR_PATIENCE)):
            if time.monotonic() - self._last_answered > METEOR_PATIENCE:
                self.hung = True
                self._process.kill()  # whoever waits for it wakes up
                return


def _why_silent(
    watched: _WatchedMeteor, process: subprocess.Popen[bytes], errors: IO[bytes]
) -> str:
    if watched.hung:
        return (
            f"METEOR: its Java process gave no answer for {METEOR_PATIENCE:g} seconds and was "
            "killed."
        )
    try:
        status = process.wait(10)
    except subprocess.TimeoutExpired:  # it closed its output and lives on
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
)
