"""SPICE by pycocoevalcap's Java program, its download and its rows made safe."""

from __future__ import annotations

import contextlib
import json
import math
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pycocoevalcap.spice as host_spice

from ..errors import MetricUnavailable
from ..evaluation import Column
from ..image_ids import ImageId
from ..text.java import PATIENCE, find_java, last_line, run_java
from ..text.tokenization import Tokenization
from .base import Progress
from .coco import HostColumn, HostMetric, Tokens
from .record import Metric

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

    _names = ("SPICE",)

    def __init__(self, tokenization: Tokenization | None = None) -> None:
        self._java = find_java("SPICE")
        if self._java.release > _LAST_JAVA_FOR_SPICE:
            raise MetricUnavailable(
                f"SPICE needs Java 8 to {_LAST_JAVA_FOR_SPICE}, whose JavaScript engine it uses; "
                f"{self._java.command} is Java {self._java.release}."
            )
        super().__init__(tokenization)

    def _score(self, gts: Tokens, res: Tokens, on_progress: Progress) -> Sequence[HostColumn]:
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
        return [HostColumn(float(np.mean(row)), [of_image[image_id] for image_id in gts])]


def _sorted_if_possible(gts: Tokens) -> list[ImageId]:
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


SPICE = Metric(
    "SPICE",
    "F-score of scene graphs that are parsed from the captions",
    tuple(map(Column, Spice._names)),
    lambda settings: Spice(settings.tokenization),
    needs=(f"Java 8 to {_LAST_JAVA_FOR_SPICE}", "a download of 385 MB"),
    check=Spice,
)
