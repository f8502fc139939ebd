"""METEOR and SPICE by pycocoevalcap's Java programs, watched over so that they cannot hang."""

from __future__ import annotations

import contextlib
import json
import math
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from functools import partial
from pathlib import Path

import numpy as np
import pycocoevalcap.meteor.meteor as host_meteor
import pycocoevalcap.spice as host_spice

from ..errors import MetricUnavailable
from ..evaluation import Column
from ..words.tokenization import PATIENCE, Tokenization, Tokens, find_java, run_java, why_ended
from .base import Progress
from .ngram_metrics import Scoring, TokenColumn, TokenMetric
from .papers import ANDERSON_2016, DENKOWSKI_2014
from .record import Metric
from .registry import register

#: Seconds without an answer after which METEOR counts as hung. One answer takes milliseconds;
#: its tables are read before the first.
METEOR_PATIENCE = 600.0
SPICE_SECONDS_PER_IMAGE = 60.0  #: seconds that SPICE may take for each image; it needs about one

# SPICE writes its result with Java's JavaScript engine, which Java 15 removed.
_LAST_JAVA_FOR_SPICE = 14
_SPICE_FOLDER = Path(host_spice.__file__).parent
# As in pycocoevalcap's get_stanford_models.py, which would wait for ever for a stalled download.
# It takes the second jar for the sign that all is there.
_MODELS = "stanford-corenlp-full-2015-12-09"
_MODELS_URL = f"http://nlp.stanford.edu/software/{_MODELS}.zip"
_JARS = ("stanford-corenlp-3.6.0-models.jar", "stanford-corenlp-3.6.0.jar")
_STALLED_SECONDS = 60.0


class Meteor(TokenMetric):
    """METEOR 1.5: aligned words, stems, synonyms and paraphrases (Denkowski & Lavie, 2014).

    Each run starts its own Java process, which ends with the run. A MetricUnavailable is raised if
    Java does not run here or, when scoring, if METEOR's process fails or hangs.
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
        process: _Process | None = None
        with ExitStack() as running:

            def score(gts: Tokens, res: Tokens, on_progress: Progress) -> list[TokenColumn]:
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
            with contextlib.suppress(OSError):  # what a dead process did not read
                self._questions.close()

    def column(self, gts: Tokens, res: Tokens, on_progress: Progress) -> TokenColumn:
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
            return TokenColumn(float(self._hear()), scores)
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


class Spice(TokenMetric):
    """SPICE: the F-score of scene graphs (Anderson et al., ECCV 2016).

    The first evaluation downloads 385 MB of Stanford models into pycocoevalcap's folder, as
    pycocoevalcap does. Captions are parsed every time: its cache of parses fails on many machines.
    A MetricUnavailable is raised if there is no Java 8 to 14 or, when scoring, if the download or
    SPICE's process fails.
    """

    columns = (Column("SPICE"),)

    def __init__(
        self, tokenization: Tokenization | None = None, undefined: float = math.nan
    ) -> None:
        self._java = find_java("SPICE")
        if self._java.release > _LAST_JAVA_FOR_SPICE:
            raise MetricUnavailable(
                f"SPICE needs Java 8 to {_LAST_JAVA_FOR_SPICE}, because it uses their JavaScript "
                f"engine; {self._java.command} is Java {self._java.release}."
            )
        super().__init__(tokenization, undefined)

    def _scoring(self) -> AbstractContextManager[Scoring]:
        return nullcontext(self._f_scores)

    def _f_scores(self, gts: Tokens, res: Tokens, _: Progress) -> Sequence[TokenColumn]:
        _fetch_stanford_models()
        ids = list(gts)
        with contextlib.suppress(TypeError):  # ids that cannot be compared stay as they are
            ids = sorted(gts)  # type: ignore[type-var] # pycocoevalcap's order
        # JSON would make strings of ids: SPICE gets positions.
        images = [
            {"image_id": at, "test": res[image_id][0], "refs": gts[image_id]}
            for at, image_id in enumerate(ids)
        ]
        with tempfile.TemporaryDirectory() as folder:
            given, result = Path(folder, "captions.json"), Path(folder, "scores.json")
            given.write_text(json.dumps(images), encoding="utf-8")
            # pycocoevalcap's options, without its cache.
            options = ("-Xmx8G", "-jar", "spice-1.0.jar", str(given), "-subset", "-silent", "-out")
            seconds = PATIENCE + SPICE_SECONDS_PER_IMAGE * len(ids)
            run_java(self._java, [*options, str(result)], "SPICE", seconds, _SPICE_FOLDER)
            try:
                said = {row["image_id"]: row["scores"] for row in json.loads(result.read_bytes())}
                # In this order, as pycocoevalcap: the last digit of a mean depends on it.
                found = [said[at]["All"]["f"] for at in range(len(ids))]
                row = [math.nan if f is None else float(f) for f in found]
            except (OSError, ValueError, KeyError, TypeError):
                raise MetricUnavailable(
                    "SPICE: its Java process did not write a score for each image."
                ) from None
        of_image = dict(zip(ids, row, strict=True))
        return [TokenColumn(float(np.mean(row)), [of_image[image_id] for image_id in gts])]


def _fetch_stanford_models() -> None:
    """Download SPICE's models if they are not there, to where pycocoevalcap puts them."""
    # The network's modules take longer to import than all other metrics together.
    import zipfile
    from http.client import HTTPException
    from urllib.request import build_opener

    lib = _SPICE_FOLDER / "lib"
    if all((lib / jar).is_file() for jar in _JARS):
        return
    print("SPICE downloads 385 MB of Stanford models, once.", file=sys.stderr)
    try:
        with tempfile.TemporaryDirectory(dir=lib) as folder, tempfile.TemporaryFile() as file:
            # Not urlopen, whose opener keeps the proxy of its first call.
            with build_opener().open(_MODELS_URL, timeout=_STALLED_SECONDS) as answer:
                shutil.copyfileobj(answer, file)
            with zipfile.ZipFile(file) as archive:
                jars = [archive.extract(f"{_MODELS}/{jar}", folder) for jar in _JARS]
            for jar in jars:
                Path(jar).replace(lib / Path(jar).name)
    # KeyError: an archive without them; HTTPException: an answer that is not HTTP.
    except (OSError, zipfile.BadZipFile, KeyError, HTTPException) as problem:
        why = problem.args[0] if isinstance(problem, KeyError) else problem
        raise MetricUnavailable(
            f"SPICE downloads 385 MB of Stanford models on first use, and that failed ({why})."
        ) from None


register(
    Metric(
        "SPICE",
        "F-score of scene graphs that are parsed from the captions",
        Spice,
        lambda settings: Spice(settings.tokenization),
        rank=100,
        needs=(f"Java 8 to {_LAST_JAVA_FOR_SPICE}", "a download of 385 MB"),
        check=Spice,
        papers=(ANDERSON_2016,),
    )
)
