"""The command killed or interrupted: nothing is left running or half-written, and it goes on."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from conftest import content

pa = pytest.importorskip("pyarrow")
psutil = pytest.importorskip("psutil")
parquet = pytest.importorskip("pyarrow.parquet")

from table_runs import done, rows  # noqa: E402

ROOT = Path(__file__).parents[3]
KEEP = ("--keep", "VIFIDEL-P >= .4")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(os.name != "posix", reason="POSIX signals"),
]

CODE = """\
import signal

# As at a terminal, wherever these tests run: a job in the background ignores it.
signal.signal(signal.SIGINT, signal.default_int_handler)
from vifidel_eval.commands.main import main

main()
"""


def start(source, out, *arguments):
    given = ["score-table", source, "--output", out, "--workers", "2", *arguments]
    return subprocess.Popen(
        [sys.executable, "-c", CODE, *given], cwd=ROOT, text=True, start_new_session=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip


def wait_for(process, happened):
    """Wait until something happened or the process ended."""
    until = time.monotonic() + 120
    while process.poll() is None and time.monotonic() < until:
        result = happened()
        if result:
            return result
        time.sleep(0.005)
    return None


def children(process):
    result = psutil.Process(process.pid).children()
    return [child for child in result if any("spawn_main" in word for word in child.cmdline())]


def writing(out):
    return list(out.glob(".*.part"))


def recorded(out):
    """Return how many files are recorded as finished."""
    try:
        return (out / "manifest.json.unfinished").read_text().count("output_sha256")
    except OSError:
        return 0


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """Return tables and what an undisturbed run writes, in one process."""
    folder = tmp_path_factory.mktemp("undisturbed")
    source = folder / "in"
    source.mkdir()
    for at in range(6):
        table = pa.Table.from_pylist(rows(1500, seed=at))
        parquet.write_table(table, source / f"part-{at}.parquet", row_group_size=600)
    done(source, "--output", folder / "out", *KEEP)
    return source, content(folder / "out")


def assert_goes_on(source, out, expected):
    """Check that whole files are there, and that the same command writes the others."""
    left = content(out)
    left = {name: left[name] for name in left if name.endswith(".parquet") and name[0] != "."}
    assert left.items() <= expected.items()
    process = start(source, out, *KEEP)
    _, errors = process.communicate(timeout=240)
    assert process.returncode == 0, errors
    assert content(out) == expected


def test_a_worker_that_is_killed(tmp_path, undisturbed):
    source, expected = undisturbed
    out = tmp_path / "out"
    process = start(source, out, *KEEP)
    assert wait_for(process, lambda: recorded(out) and writing(out))
    children(process)[0].kill()
    _, errors = process.communicate(timeout=240)
    assert process.returncode == 1
    assert errors.splitlines()[-1].startswith("Error: a worker was killed, perhaps because memory")
    assert "Traceback" not in errors
    assert_goes_on(source, out, expected)


def test_workers_end_with_the_process_that_started_them(tmp_path, undisturbed):
    source, expected = undisturbed
    out = tmp_path / "out"
    process = start(source, out, *KEEP)
    assert wait_for(process, lambda: writing(out))
    workers = children(process)
    assert workers
    process.kill()
    process.communicate(timeout=60)
    _, alive = psutil.wait_procs(workers, timeout=60)
    assert not alive
    assert_goes_on(source, out, expected)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_leaves_no_process_and_nothing_half_written(tmp_path, undisturbed, number):
    source, expected = undisturbed
    out = tmp_path / "out"
    process = start(source, out, *KEEP)
    assert wait_for(process, lambda: writing(out) and recorded(out))
    workers = children(process)
    os.killpg(process.pid, number)  # as a terminal does
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 128 + number, errors
    assert "Traceback" not in errors
    assert "the same command continues after the finished files" in errors
    assert not psutil.wait_procs(workers, timeout=60)[1]
    assert not writing(out)
    assert_goes_on(source, out, expected)
