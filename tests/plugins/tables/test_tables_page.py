"""The recipes of docs/tables.md run as they are printed there."""

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
    environment["PYTHONPATH"] = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "HOME": str(folder), **environment}
    subprocess.run([sys.executable, "-c", code], cwd=folder, env=environment, check=True)


@pytest.mark.engine
@pytest.mark.slow  # Ray starts several processes
def test_ray(folder):
    pytest.importorskip("ray.data", reason="needs ray")
    with tempfile.TemporaryDirectory() as short:  # Ray's sockets need a short path
        run_python(recipe("ray"), folder, RAY_TMPDIR=short, RAY_USAGE_STATS_ENABLED="0")
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
