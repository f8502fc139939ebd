"""The recipes of docs/tables.md run as they are printed there."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

pytest.importorskip("pyarrow", reason="needs pyarrow")

from tables_page import check_scored, recipe, write_captions

ROOT = Path(__file__).parents[3]


@pytest.fixture
def folder(tmp_path) -> Path:
    write_captions(tmp_path)
    return tmp_path


def run_python(code: str, folder: Path, **environment: str) -> None:
    """Run lines of Python in a process of their own, in a folder with the table."""
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=folder,
        env={**os.environ, "HOME": str(folder), "PYTHONPATH": path, **environment},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.engine
@pytest.mark.slow  # Ray starts several processes
def test_ray(folder):
    pytest.importorskip("ray.data", reason="needs ray")
    with tempfile.TemporaryDirectory() as short:  # Ray's sockets need a short path
        run_python(recipe("ray"), folder, RAY_TMPDIR=short, RAY_USAGE_STATS_ENABLED="0")
    check_scored(folder / "scored")


KILLED = """\
import os, signal, ray
from vifidel_eval.tables import TableScorer

def killing(batch):
    try:  # the first task that gets here has its worker killed
        os.close(os.open("killed", os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return batch
    os.kill(os.getpid(), signal.SIGKILL)

ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
rows = ray.data.read_parquet("captions").repartition(5)
rows = rows.map_batches(TableScorer(), batch_format="pyarrow")
rows.map_batches(killing, batch_format="pyarrow").write_parquet("scored")
"""


@pytest.mark.engine
@pytest.mark.slow  # Ray starts several processes
@pytest.mark.skipif(os.name != "posix", reason="POSIX signals")
def test_ray_with_a_killed_worker(folder):
    pytest.importorskip("ray.data", reason="needs ray")
    code = KILLED.replace('"killed"', repr(str(folder / "killed")))
    code = code.replace('"captions"', repr(str(folder / "captions")))
    code = code.replace('"scored"', repr(str(folder / "scored")))
    with tempfile.TemporaryDirectory() as short:
        run_python(code, folder, RAY_TMPDIR=short, RAY_USAGE_STATS_ENABLED="0")
    assert (folder / "killed").exists()
    check_scored(folder / "scored")


@pytest.mark.engine
def test_duckdb(folder):
    pytest.importorskip("duckdb", reason="needs duckdb")
    run_python(recipe("duckdb"), folder)
    check_scored(folder / "scored.parquet")


@pytest.mark.engine
def test_datasets(folder):
    pytest.importorskip("datasets", reason="needs datasets")
    run_python(recipe("datasets"), folder, HF_HUB_OFFLINE="1")
    check_scored(folder / "scored.parquet")


def test_python(folder):
    run_python(recipe("python"), folder)
    check_scored(folder / "scored.parquet")


def test_command(folder):
    program, *arguments = recipe("score-table").replace("\\\n", "").split()
    assert program == "vifidel-eval"
    run_python(f"from vifidel_eval.commands.main import main; main({arguments!r})", folder)
    check_scored(folder / "scored")
