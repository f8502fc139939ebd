"""VIFIDEL's distance in tables has the same bits whatever instructions the processor has."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("pyarrow", reason="needs pyarrow")

ROOT = Path(__file__).parents[3]
CODE = """\
import random
from vifidel_eval.tables import TableScorer

nouns = "dog cat horse bird sheep cow bear zebra car bus train truck boat bicycle table".split()
draw = random.Random(14)
captions = [" and ".join(draw.sample(nouns, draw.randint(1, 8))) for _ in range(300)]
labels = [draw.choices(nouns, k=draw.randint(1, 6)) for _ in captions]
references = [[" near ".join(draw.sample(nouns, 3)) for _ in range(4)] for _ in captions]
for p in (1.0, 2.0):
    for refs in (None, references):
        scores = TableScorer(p=p).score(captions, labels, references=refs)
        print([distance.hex() for distance in scores.field("distance").to_pylist()])
"""


def distances(**environment: str) -> str:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", CODE],
        env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_distances_do_not_depend_on_the_processor():
    umath = pytest.importorskip("numpy._core._multiarray_umath", reason="needs NumPy's own list")
    features = [name for name in umath.__cpu_dispatch__ if umath.__cpu_features__.get(name)]
    if not features:
        pytest.skip("this processor has nothing beyond what NumPy takes for granted")
    everything = distances()
    assert everything.count("0x") == 4 * 300
    assert distances(NPY_DISABLE_CPU_FEATURES=" ".join(features)) == everything
