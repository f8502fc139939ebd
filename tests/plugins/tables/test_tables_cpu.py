"""VIFIDEL's distance in tables has the same bits whatever instructions the processor has."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("pyarrow", reason="needs pyarrow")

TESTS = Path(__file__).parents[2]
CODE = """\
from table_corpus import corpus
from vifidel_eval.tables import TableScorer

rows = corpus(300, seed=14)
for p in (1.0, 2.0):
    for refs in (None, rows.references):
        scores = TableScorer(p=p).score(rows.captions, rows.labels, references=refs)
        print([found and found.hex() for found in scores.field("distance").to_pylist()])
"""


def distances(**environment: str) -> str:
    environment["PYTHONPATH"] = os.pathsep.join(map(str, (TESTS, TESTS.parent)))
    command = [sys.executable, "-W", "error", "-c", CODE]
    return subprocess.check_output(command, env=os.environ | environment, text=True, timeout=120)


def test_distances_do_not_depend_on_the_processor():
    umath = pytest.importorskip("numpy._core._multiarray_umath", reason="needs NumPy's own list")
    features = [name for name in umath.__cpu_dispatch__ if umath.__cpu_features__.get(name)]
    if not features:
        pytest.skip("this processor has nothing beyond what NumPy takes for granted")
    everything = distances()
    assert everything.count("0x") > 600
    assert distances(NPY_DISABLE_CPU_FEATURES=" ".join(features)) == everything
