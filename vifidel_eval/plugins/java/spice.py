"""SPICE by pycocoevalcap's Java program, and the download of its models."""

from __future__ import annotations

import contextlib
import json
import math
import shutil
import sys
import tempfile
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

import numpy as np
import pycocoevalcap.spice as host_spice

from ...doors.arguments import constructor
from ...errors import MetricUnavailable
from ...evaluation import Column
from ...scorers.base import Progress
from ...scorers.ngram_metrics import Scoring, TokenColumn, TokenMetric
from ...scorers.papers import ANDERSON_2016
from ...scorers.record import Metric
from ...scorers.registry import register
from ...words.tokenization import Tokenization, Tokens
from . import PATIENCE, find_java, run_java

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


class Spice(TokenMetric):
    """SPICE: the F-score of scene graphs (Anderson et al., ECCV 2016).

    The first evaluation downloads 385 MB of Stanford models into pycocoevalcap's folder, as
    pycocoevalcap does. Captions are parsed every time: its cache of parses fails on many machines.
    A MetricUnavailable is raised if there is no Java 8 to 14 or, when scoring, if the download or
    SPICE's process fails.

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

    columns = (Column("SPICE"),)

    @constructor
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
            captions, result = Path(folder, "captions.json"), Path(folder, "scores.json")
            captions.write_text(json.dumps(images), encoding="utf-8")
            # pycocoevalcap's options, without its cache.
            options = (
                "-Xmx8G",
                "-jar",
                "spice-1.0.jar",
                str(captions),
                "-subset",
                "-silent",
                "-out",
            )
            seconds = PATIENCE + SPICE_SECONDS_PER_IMAGE * len(ids)
            run_java(self._java, [*options, str(result)], "SPICE", seconds, _SPICE_FOLDER)
            try:
                by_place = {
                    row["image_id"]: row["scores"] for row in json.loads(result.read_bytes())
                }
                # In this order, as pycocoevalcap: the last digit of a mean depends on it.
                found = [by_place[at]["All"]["f"] for at in range(len(ids))]
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
