"""pycocoevalcap's own metrics: its numbers, without what makes it stop or shift rows.

All take captions as written and tokenise them alike. On captions without line breaks the numbers
are those of ``COCOEvalCap``, to the last digit. An image without references has no score: NaN.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import IO, Any, ClassVar, NamedTuple

import numpy as np
import pycocoevalcap.meteor.meteor as host_meteor
import pycocoevalcap.spice as host_spice
from numpy.typing import NDArray
from pycocoevalcap.bleu.bleu_scorer import BleuScorer
from pycocoevalcap.cider.cider import Cider as HostCider
from pycocoevalcap.rouge.rouge import Rouge as HostRouge

from ..bags import Floats
from ..errors import MetricUnavailable
from ..image_ids import ImageId
from ..java import PATIENCE, find_java, last_line, run_java, why_ended
from ..tokenization import Tokenization
from .base import Evaluation, Scorer, Statistics, candidates, check_references

#: Seconds without an answer after which METEOR counts as hung. One answer takes milliseconds;
#: its tables are read before the first.
METEOR_PATIENCE = 600.0
#: Seconds that SPICE may take for each image; it needs about one.
SPICE_SECONDS_PER_IMAGE = 60.0

# SPICE writes its result with Java's JavaScript engine, which Java 15 removed.
_LAST_JAVA_FOR_SPICE = 14
_SPICE_FOLDER = Path(host_spice.__file__).parent
# A stalled download fails after a minute; pycocoevalcap alone would wait for ever.
_DOWNLOAD = """
import runpy, socket, sys
socket.setdefaulttimeout(60)
runpy.run_path(sys.argv[1], run_name="__main__")
"""

_Tokens = dict[ImageId, list[str]]
_Progress = Callable[[int], object]


class _Column(NamedTuple):
    """What a metric says of the images that have references."""

    corpus_score: float
    scores: Sequence[float]
    statistics: Statistics | None = None


class HostMetric(Scorer):
    """A metric of pycocoevalcap.

    Parameters
    ----------
    tokenization : Tokenization, optional
        Give all metrics of a run the same one, and captions are tokenised once.

    Attributes
    ----------
    columns : tuple of str
        The names of the metric's scores, as pycocoevalcap writes them.
    """

    columns: ClassVar[tuple[str, ...]]

    def __init__(self, tokenization: Tokenization | None = None) -> None:
        self._tokenization = Tokenization() if tokenization is None else tokenization

    def method(self) -> str:
        return self.columns[-1]

    def signature(self) -> str:
        return self._pinned(f"tok:{self._tokenization.name}", package="pycocoevalcap")

    def evaluate(
        self,
        gts: Mapping[ImageId, Sequence[str]],
        res: Mapping[ImageId, Sequence[str]],
        on_progress: _Progress | None = None,
    ) -> Evaluation:
        return self.evaluate_columns(gts, res, on_progress)[self.columns[-1]]

    def evaluate_columns(
        self,
        gts: Mapping[ImageId, Sequence[str]],
        res: Mapping[ImageId, Sequence[str]],
        on_progress: _Progress | None = None,
    ) -> dict[str, Evaluation]:
        candidates(gts, res)
        for image_id, references in gts.items():
            check_references(image_id, references)
        done = 0

        def advance(images: int) -> None:
            nonlocal done
            done += images
            if on_progress is not None:
                on_progress(images)

        is_scored = np.array([len(references) > 0 for references in gts.values()], dtype=bool)
        columns: Sequence[_Column] = [_Column(math.nan, [])] * len(self.columns)
        if is_scored.any():
            of_references = self._tokenization.references(gts)
            of_candidates = self._tokenization.candidates({i: res[i] for i in gts})
            scored = [image_id for image_id, references in gts.items() if references]
            columns = self._score(
                {image_id: of_references[image_id] for image_id in scored},
                {image_id: of_candidates[image_id] for image_id in scored},
                advance,
            )
        advance(len(gts) - done)
        return {
            name: Evaluation(
                list(gts),
                _spread(column.scores, is_scored),
                corpus_score=float(column.corpus_score),
                statistics=column.statistics
                and replace(
                    column.statistics, of_images=_spread(column.statistics.of_images, is_scored)
                ),
            )
            for name, column in zip(self.columns, columns, strict=True)
        }

    @abstractmethod
    def _score(self, gts: _Tokens, res: _Tokens, on_progress: _Progress) -> Sequence[_Column]:
        """Return each column, with its scores of the images in the order of `gts`.

        There is at least one image, and each has a reference.
        """


def _spread(rows: Sequence[float] | Floats, is_scored: NDArray[np.bool_]) -> Floats:
    """Return rows for all images, NaN where an image has none."""
    spread = np.full((len(is_scored), *np.shape(rows)[1:]), np.nan)
    spread[is_scored] = rows
    return spread


class Bleu(HostMetric):
    """BLEU with n-grams of up to 1, 2, 3 and 4 tokens (Papineni et al., ACL 2002).

    As one number (`evaluate`) it is BLEU-4.
    """

    columns = ("Bleu_1", "Bleu_2", "Bleu_3", "Bleu_4")

    def method(self) -> str:
        return "Bleu"

    def compute_score(  # type: ignore[override]  # so does pycocoevalcap's
        self, gts: Mapping[ImageId, Sequence[str]], res: Mapping[ImageId, Sequence[str]]
    ) -> tuple[list[float], list[list[float]]]:
        """Return the four corpus scores, and four lists of scores in the order of `gts`.

        Raises
        ------
        VifidelError
            If ids or captions are not as described at `Scorer.compute_score`.
        """
        columns = self.evaluate_columns(gts, res).values()
        return [column.score for column in columns], [column.scores.tolist() for column in columns]

    def _score(self, gts: _Tokens, res: _Tokens, on_progress: _Progress) -> Sequence[_Column]:
        scorer = BleuScorer(n=4)
        for image_id, references in gts.items():
            scorer += (res[image_id][0], references)
        corpus_scores, rows = scorer.compute_score(option="closest", verbose=0)
        counts = np.array([_bleu_counts(caption) for caption in scorer.ctest], dtype=float)
        return [
            _Column(corpus_score, row, Statistics(counts, partial(_bleu, n=n)))
            for n, (corpus_score, row) in enumerate(zip(corpus_scores, rows, strict=True), 1)
        ]


def _bleu_counts(caption: dict[str, Any]) -> list[int]:
    """Return a caption's length, its closest reference's, and its n-grams: correct, then all."""
    length = caption["testlen"]
    _, closest = min((abs(reference - length), reference) for reference in caption["reflen"])
    return [length, closest, *caption["correct"], *caption["guess"]]


def _bleu(sums: Floats, n: int) -> Floats:
    """Return BLEU-n of summed counts, by pycocoevalcap's formula."""
    small, tiny = 1e-9, 1e-15
    length, closest = sums[..., 0], sums[..., 1]
    product = np.ones(length.shape)
    for order in range(n):
        product = product * (sums[..., 2 + order] + tiny) / (sums[..., 6 + order] + small)
    ratio = (length + tiny) / (closest + small)
    return product ** (1 / n) * np.exp(np.minimum(1 - 1 / ratio, 0))


class RougeL(HostMetric):
    """ROUGE-L: the longest common subsequence (Lin, 2004)."""

    columns = ("ROUGE_L",)

    def _score(self, gts: _Tokens, res: _Tokens, on_progress: _Progress) -> Sequence[_Column]:
        corpus_score, row = HostRouge().compute_score(gts, res)
        return [_Column(corpus_score, row)]


class Cider(HostMetric):
    """CIDEr-D: n-grams weighted by how few images' references have them (Vedantam et al., 2015).

    The references of the run are the corpus: an image alone in its run always gets 0.
    """

    columns = ("CIDEr",)

    def _score(self, gts: _Tokens, res: _Tokens, on_progress: _Progress) -> Sequence[_Column]:
        if not any(reference.split() for references in gts.values() for reference in references):
            # pycocoevalcap gives 0 to an image whose references have no token, but fails where
            # that is so for all images.
            return [_Column(0.0, [0.0] * len(gts))]
        corpus_score, row = HostCider().compute_score(gts, res)
        return [_Column(corpus_score, row)]


class Meteor(HostMetric):
    """METEOR 1.5: aligned words, stems, synonyms and paraphrases (Denkowski & Lavie, 2014).

    Each evaluation has a Java process of its own, which ends with it.

    Raises
    ------
    MetricUnavailable
        If Java does not run here; when scoring, if METEOR's process fails or hangs.
    """

    columns = ("METEOR",)

    def __init__(self, tokenization: Tokenization | None = None) -> None:
        self._java = find_java("METEOR")
        super().__init__(tokenization)

    def _score(self, gts: _Tokens, res: _Tokens, on_progress: _Progress) -> Sequence[_Column]:
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
        return [_Column(corpus_score, row)]


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
        self, process: subprocess.Popen[bytes], images: int, on_progress: _Progress
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


class Spice(HostMetric):
    """SPICE: the F-score of scene graphs (Anderson et al., ECCV 2016).

    The first evaluation downloads 385 MB of Stanford models into pycocoevalcap's folder, as
    pycocoevalcap does. Captions are parsed anew each time: its cache of parses fails on many
    machines.

    Raises
    ------
    MetricUnavailable
        If there is no Java 8 to 14; when scoring, if the download or SPICE's process fails.
    """

    columns = ("SPICE",)

    def __init__(self, tokenization: Tokenization | None = None) -> None:
        self._java = find_java("SPICE")
        if self._java.release > _LAST_JAVA_FOR_SPICE:
            raise MetricUnavailable(
                f"SPICE needs Java 8 to {_LAST_JAVA_FOR_SPICE}, whose JavaScript engine it uses; "
                f"{self._java.command} is Java {self._java.release}."
            )
        super().__init__(tokenization)

    def _score(self, gts: _Tokens, res: _Tokens, on_progress: _Progress) -> Sequence[_Column]:
        _fetch_stanford_models()
        ids = _sorted_if_possible(gts)
        # JSON would make strings of ids: SPICE gets positions.
        images = [
            {"image_id": at, "test": res[image_id][0], "refs": gts[image_id]}
            for at, image_id in enumerate(ids)
        ]
        with tempfile.TemporaryDirectory() as folder:
            given, result = Path(folder, "captions.json"), Path(folder, "scores.json")
            given.write_text(json.dumps(images), encoding="utf-8")
            run_java(
                self._java,
                # pycocoevalcap's options, without its cache.
                [
                    "-Xmx8G",
                    "-jar",
                    "spice-1.0.jar",
                    str(given),
                    "-subset",
                    "-silent",
                    "-out",
                    str(result),
                ],
                "SPICE",
                PATIENCE + SPICE_SECONDS_PER_IMAGE * len(ids),
                cwd=_SPICE_FOLDER,
            )
            try:
                f_scores = {
                    row["image_id"]: _number(row["scores"]["All"]["f"])
                    for row in json.loads(result.read_bytes())
                }
                # In this order, as pycocoevalcap: the last digit of a mean depends on it.
                row = [f_scores[at] for at in range(len(ids))]
            except (OSError, ValueError, KeyError, TypeError):
                raise MetricUnavailable(
                    "SPICE: its Java process did not write a score for each image."
                ) from None
        of_image = dict(zip(ids, row, strict=True))
        return [_Column(float(np.mean(row)), [of_image[image_id] for image_id in gts])]


def _sorted_if_possible(gts: _Tokens) -> list[ImageId]:
    """Return the ids in pycocoevalcap's order; ids that cannot be compared stay as they are."""
    try:
        return sorted(gts)  # type: ignore[type-var]
    except TypeError:
        return list(gts)


def _number(value: float | None) -> float:
    return math.nan if value is None else float(value)


def _fetch_stanford_models() -> None:
    """Download SPICE's models if they are not there, by pycocoevalcap's own script.

    Raises
    ------
    MetricUnavailable
        If that fails; nothing half downloaded is left.
    """
    if all(jar.is_file() for jar in _stanford_jars()):
        return
    # A half from an earlier failure: pycocoevalcap would take it for the whole.
    _remove_half_fetched()
    print("SPICE downloads 385 MB of Stanford models, once.", file=sys.stderr)
    with tempfile.TemporaryDirectory() as folder:
        places = dict.fromkeys(["TMPDIR", "TEMP", "TMP"], folder)
        script = _SPICE_FOLDER / "get_stanford_models.py"
        try:
            answer = subprocess.run(
                [sys.executable, "-c", _DOWNLOAD, str(script)],
                env={**os.environ, **places},
                stdin=subprocess.DEVNULL,
                capture_output=True,
                check=False,
            )
            if answer.returncode != 0:
                why = last_line(answer.stderr) or f"exit status {answer.returncode}"
                raise MetricUnavailable(
                    f"SPICE downloads 385 MB of Stanford models on first use, and that failed "
                    f"({why})."
                )
        except OSError as problem:
            raise MetricUnavailable(
                f"SPICE downloads 385 MB of Stanford models on first use, and that failed "
                f"({problem})."
            ) from None
        finally:
            if not all(jar.is_file() for jar in _stanford_jars()):
                _remove_half_fetched()


def _stanford_jars() -> list[Path]:
    # In the order in which they are put there.
    names = "stanford-corenlp-3.6.0.jar", "stanford-corenlp-3.6.0-models.jar"
    return [_SPICE_FOLDER / "lib" / name for name in names]


def _remove_half_fetched() -> None:
    with contextlib.suppress(OSError):  # a folder that cannot be written has no halves of ours
        for jar in _stanford_jars():
            jar.unlink(missing_ok=True)
    shutil.rmtree(_SPICE_FOLDER / "stanford-corenlp-full-2015-12-09", ignore_errors=True)
