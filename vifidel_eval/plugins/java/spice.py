"""SPICE by pycocoevalcap's Java program, and the download of Stanford's jars, which it needs."""

from __future__ import annotations

import contextlib
import json
import math
import os
import shutil
import sys
import tempfile
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

import numpy as np
import pycocoevalcap.spice as host_spice

from ...doors.arguments import Option, constructor
from ...errors import MetricUnavailable
from ...evaluation import Column, Evaluation
from ...io.caches import cache_folder
from ...io.files import reason
from ...scorers.base import Progress
from ...scorers.record import ANDERSON_2016, Metric
from ...scorers.registry import register
from ...scorers.token_metric import Scoring, TokenMetric
from ...words.tokenization import Tokenization, Tokens
from . import PATIENCE, find_java, run_java

SPICE_SECONDS_PER_IMAGE = 60.0  #: seconds that SPICE may take for each image; it needs about one

# SPICE writes its result with Java's JavaScript engine, which Java 15 removed.
_LAST_JAVA_FOR_SPICE = 14
_SPICE_FOLDER = Path(host_spice.__file__).parent
_ARCHIVE = "stanford-corenlp-full-2015-12-09"  # as in pycocoevalcap's get_stanford_models.py
_ADDRESS = f"http://nlp.stanford.edu/software/{_ARCHIVE}.zip"
_JARS = ("stanford-corenlp-3.6.0.jar", "stanford-corenlp-3.6.0-models.jar")
_FROM_ARCHIVE = f"both are in {_ADDRESS}"
_STALLED_SECONDS = 60.0  # pycocoevalcap would wait for ever
_OPTION = Option(
    "spice_jars",
    f"For SPICE: the folder with {' and '.join(_JARS)}.  [default: they are downloaded once, 385 "
    "MB, to the cache folder]",
    rare=True,
)


class Spice(TokenMetric):
    """SPICE: the F-score of scene graphs (Anderson et al., ECCV 2016).

    It needs two jars of Stanford, 385 MB. Where neither the cache folder nor pycocoevalcap's has
    them, the first evaluation downloads them to the cache folder. Captions are parsed every time:
    SPICE's cache of parses fails on many machines. A MetricUnavailable is raised if there is no
    Java 8 to 14, if `jars` lacks a jar or, when scoring, if the download or SPICE's process fails.

    Parameters
    ----------
    tokenization : Tokenization, optional
        If all metrics of a run share one, captions are tokenised only once.
    undefined : float
        Value of an undefined score: NaN, or a number such as 0 for scripts that take plain
        means.
    jars : path, optional
        The folder with the jars; nothing is downloaded then.

    Raises
    ------
    VifidelError
        If `undefined` is not a number.
    """

    columns = (Column("SPICE"),)

    @constructor
    def __init__(
        self,
        tokenization: Tokenization | None = None,
        undefined: float = math.nan,
        *,
        jars: str | os.PathLike[str] | None = None,
    ) -> None:
        self._java = find_java("SPICE")
        if self._java.release > _LAST_JAVA_FOR_SPICE:
            raise MetricUnavailable(
                f"SPICE needs Java 8 to {_LAST_JAVA_FOR_SPICE}, because it uses their JavaScript "
                f"engine; {self._java.command} is Java {self._java.release}."
            )
        self._jars = None if jars is None else Path(jars).absolute()
        missing = [] if self._jars is None else [j for j in _JARS if not (self._jars / j).is_file()]
        if missing:
            raise MetricUnavailable(
                f"{self._jars}: SPICE needs {' and '.join(missing)} there; {_FROM_ARCHIVE}."
            )
        super().__init__(tokenization, undefined)

    def _scoring(self) -> AbstractContextManager[Scoring]:
        return nullcontext(self._f_scores)

    def _f_scores(self, gts: Tokens, res: Tokens, _: Progress) -> Sequence[Evaluation]:
        jars = self._jars or _folder_of_jars() or _download()
        ids = list(gts)
        with contextlib.suppress(TypeError):  # ids that cannot be compared stay as they are
            ids = sorted(gts)  # type: ignore[type-var] # pycocoevalcap's order
        # JSON would make strings of ids: SPICE gets positions.
        images = [
            {"image_id": at, "test": res[image_id][0], "refs": gts[image_id]}
            for at, image_id in enumerate(ids)
        ]
        with tempfile.TemporaryDirectory() as folder:
            captions, result = Path(folder, "captions.json"), Path(folder, "scores.json")
            captions.write_text(json.dumps(images), encoding="utf-8")
            # pycocoevalcap's options, without its cache; spice-1.0.jar names its other jars.
            classes = os.pathsep.join(["spice-1.0.jar", *(str(jars / jar) for jar in _JARS)])
            options = ["-Xmx8G", "-cp", classes, "edu.anu.spice.SpiceScorer", str(captions)]
            options += ["-subset", "-silent", "-out"]
            seconds = PATIENCE + SPICE_SECONDS_PER_IMAGE * len(ids)
            run_java(self._java, [*options, str(result)], "SPICE", seconds, _SPICE_FOLDER)
            try:
                by_place = {
                    row["image_id"]: row["scores"] for row in json.loads(result.read_bytes())
                }
                # In this order, as pycocoevalcap: the last digit of a mean depends on it.
                f_scores = [by_place[at]["All"]["f"] for at in range(len(ids))]
                row = [math.nan if f is None else float(f) for f in f_scores]
            except (OSError, ValueError, KeyError, TypeError):
                raise MetricUnavailable(
                    "SPICE: its Java process did not write a score for each image."
                ) from None
        of_image = dict(zip(ids, row, strict=True))
        scores = np.array([of_image[image_id] for image_id in gts])
        return [Evaluation(list(gts), scores, corpus_score=float(np.mean(row)))]


def _folder_of_jars() -> Path | None:
    """Return the folder that has the jars: our cache's or pycocoevalcap's; None if none has."""
    folders = (cache_folder() / "spice", _SPICE_FOLDER / "lib")
    return next((f for f in folders if all((f / jar).is_file() for jar in _JARS)), None)


def _download() -> Path:
    """Download the jars to the cache folder; return where they are."""
    # The network's modules take longer to import than all other metrics together.
    import zipfile
    from http.client import HTTPException
    from urllib.request import build_opener

    cache = cache_folder() / "spice"
    print(f"SPICE downloads 385 MB of jars to {cache}, once.", file=sys.stderr)
    try:
        cache.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=cache) as folder, tempfile.TemporaryFile() as file:
            # Not urlopen, whose opener keeps the proxy of its first call.
            with build_opener().open(_ADDRESS, timeout=_STALLED_SECONDS) as answer:
                shutil.copyfileobj(answer, file)
            with zipfile.ZipFile(file) as archive:
                jars = [archive.extract(f"{_ARCHIVE}/{jar}", folder) for jar in _JARS]
            for jar in jars:
                Path(jar).replace(cache / Path(jar).name)
    # KeyError: an archive without them; HTTPException: an answer that is not HTTP.
    except (OSError, zipfile.BadZipFile, KeyError, HTTPException) as problem:
        why = problem.args[0] if isinstance(problem, KeyError) else problem
        if isinstance(problem, OSError) and problem.filename:
            why = f"{problem.filename}: {reason(problem)}"
        raise MetricUnavailable(
            f"SPICE needs {' and '.join(_JARS)}, and their download failed ({why}); "
            f"{_FROM_ARCHIVE}, and name their folder with --spice-jars."
        ) from None
    return cache


def _check() -> None:
    """Raise MetricUnavailable if SPICE cannot run here, or not before the jars are downloaded."""
    Spice()
    if _folder_of_jars() is None:
        raise MetricUnavailable(
            f"needs 385 MB of jars, which its first use downloads to {cache_folder() / 'spice'}."
        )


register(
    Metric(
        "SPICE",
        "F-score of scene graphs that are parsed from the captions",
        Spice,
        lambda settings: Spice(settings.tokenization, jars=settings.options.get(_OPTION.name)),
        rank=100,
        options=(_OPTION,),
        needs=(f"Java 8 to {_LAST_JAVA_FOR_SPICE}", "385 MB of jars"),
        check=_check,
        papers=(ANDERSON_2016,),
    )
)
