"""The command again: what an earlier run finished is kept, what is not ours is left alone."""

import os
import shutil

import pytest
from conftest import content, refused

pa = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

from table_runs import done, invoke, rows, tables  # noqa: E402


def scored_again(monkeypatch):
    """Return the list of the outputs that are scored from now on."""
    from vifidel_eval.plugins.tables.file_scoring import Work

    scored, original = [], Work._score

    def score(work, task, *others):
        scored.append(task.output)
        return original(work, task, *others)

    monkeypatch.setattr(Work, "_score", score)
    return scored


def test_a_run_that_ended_is_not_done_again(tmp_path, monkeypatch):
    source = tables(tmp_path / "in")
    first = done(source, "--output", tmp_path / "out")
    before, scored = content(tmp_path / "out"), scored_again(monkeypatch)
    again = done(source / "part-2.parquet", source / "part-0.parquet", source / "part-1.parquet",
                 "--output", tmp_path / "out")  # fmt: skip
    assert again.stdout == first.stdout
    assert content(tmp_path / "out") == before
    assert scored == []
    assert "All files were finished already" in again.stderr
    (tmp_path / "out" / "part-1.parquet").unlink()
    done(source, "--output", tmp_path / "out")
    assert content(tmp_path / "out") == before
    assert scored == ["part-1.parquet"]


def unfinished(tmp_path, monkeypatch, *arguments):
    """Return the folder of a run whose second file could not be written."""
    from vifidel_eval.plugins.tables import folder_runs as run

    source, original = tables(tmp_path / "in"), os.replace

    def full(one, other):
        if os.fspath(other).endswith("part-1.parquet"):
            raise OSError(28, "No space left on device")
        original(one, other)

    with monkeypatch.context() as patched:
        patched.setattr(run.os, "replace", full)
        result = invoke(source, "--output", tmp_path / "out", *arguments)
    refused(result, "part-1.parquet: cannot be written: no space left on device")
    assert set(content(tmp_path / "out")) == {"part-0.parquet", "manifest.json.unfinished"}
    return tmp_path / "out"


def test_a_read_only_folder_of_a_run_that_ended(tmp_path, monkeypatch):
    source, out = tables(tmp_path / "in"), tmp_path / "out"
    first = done(source, "--output", out)
    out.chmod(0o555)
    monkeypatch.setattr(os, "access", lambda path, mode: mode != os.W_OK)  # as root, too
    before = out.stat().st_mtime_ns
    again = done(source, "--output", out)
    assert again.stdout == first.stdout
    assert out.stat().st_mtime_ns == before  # nothing came or went
    out.chmod(0o755)


def test_finished_files_are_skipped_and_the_result_is_the_same(tmp_path, monkeypatch):
    out = unfinished(tmp_path, monkeypatch)
    (out / ".score-table-89abcdef-7.part").write_text("half")  # of a process that was killed
    (out / ".0123456789abcdef-7.part").write_text("somebody's")
    scored = scored_again(monkeypatch)
    done(tmp_path / "in", "--output", out)
    assert scored == ["part-1.parquet", "part-2.parquet"]
    done(tmp_path / "in", "--output", tmp_path / "undisturbed")
    result = content(out)
    assert result.pop(".0123456789abcdef-7.part") == b"somebody's"
    assert result == content(tmp_path / "undisturbed")


@pytest.mark.parametrize(
    ("arguments", "ended", "first"),
    [
        (["--keep", "VIFIDEL > 0"], False, 0),
        (["--metrics", "VIFIDEL"], True, 0),
        # Where labels have no scores, a threshold changes nothing, and no signature.
        (["--threshold", "0.3"], False, 1),
        (["--threshold", "0.3"], True, 3),
    ],
)
def test_with_other_settings_all_is_done_again(tmp_path, monkeypatch, arguments, ended, first):
    out = unfinished(tmp_path, monkeypatch)
    if ended:
        done(tmp_path / "in", "--output", out)
    scored = scored_again(monkeypatch)
    done(tmp_path / "in", "--output", out, *arguments)
    assert scored == [f"part-{at}.parquet" for at in range(first, 3)]
    done(tmp_path / "in", "--output", tmp_path / "undisturbed", *arguments)
    assert content(out) == content(tmp_path / "undisturbed")


@pytest.mark.parametrize("ended", [False, True])
def test_an_input_of_other_content_is_done_again_and_new_ones_join(tmp_path, monkeypatch, ended):
    out, source = unfinished(tmp_path, monkeypatch), tmp_path / "in"
    if ended:
        done(source, "--output", out)
    parquet.write_table(pa.Table.from_pylist(rows(40, seed=9)), source / "part-0.parquet")
    shutil.copy(source / "part-2.parquet", source / "part-3.parquet")
    scored = scored_again(monkeypatch)
    done(source, "--output", out)
    assert scored == [f"part-{at}.parquet" for at in ((0, 3) if ended else range(4))]
    done(source, "--output", tmp_path / "undisturbed")
    assert content(out) == content(tmp_path / "undisturbed")


@pytest.mark.parametrize("ended", [False, True])
def test_outputs_of_inputs_that_are_not_given_now_are_refused(tmp_path, monkeypatch, ended):
    out, source = unfinished(tmp_path, monkeypatch), tmp_path / "in"
    if ended:
        done(source, "--output", out)
    before = content(out)
    fewer = invoke(source / "part-2.parquet", "--output", out)
    refused(fewer, "holds part-0.parquet of the input part-0.parquet, which an earlier run wrote")
    refused(invoke(source, "--output", out, "--format", "arrow"), "give the same inputs and --form")
    assert content(out) == before


# What is not ours


@pytest.mark.parametrize(
    ("name", "ended"),
    [("part-0.parquet", False), ("part-1.parquet", False), ("part-1.parquet", True)],
)
def test_a_file_that_was_not_written_here_stays(tmp_path, monkeypatch, name, ended):
    out = unfinished(tmp_path, monkeypatch)
    if ended:
        done(tmp_path / "in", "--output", out)
    (out / name).write_bytes(b"precious")
    before = content(out)
    for arguments in ([], ["--metrics", "VIFIDEL"]):
        again = invoke(tmp_path / "in", "--output", out, *arguments)
        refused(again, f"{name}: was not written by this command, or has changed since")
        assert content(out) == before


def test_two_runs_at_once(tmp_path, monkeypatch):
    from filelock import FileLock

    out = unfinished(tmp_path, monkeypatch)
    with FileLock(out / "manifest.json.lock"):
        result = invoke(tmp_path / "in", "--output", out)
    refused(result, "another run is writing to this folder")
    done(tmp_path / "in", "--output", out)
