"""The command ``vifidel-eval demo``."""

import json
from pathlib import Path

import pytest
from example_files import EXAMPLE

import vifidel_eval


def test_it_scores_the_example_and_writes_a_report(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = run("demo", "some/where")
    assert result.exit_code == 0, result.output
    assert "some/where/report.html" in result.stdout.splitlines()[-1]
    assert "What each system makes up" in Path("some/where/report.html").read_text("utf-8")
    careful, _, *sides = EXAMPLE
    scores = vifidel_eval.evaluate(careful, *sides, "VIFIDEL-PRF").scores
    expected = scores["careful"]["VIFIDEL-F"]
    assert f"careful describes the images best: VIFIDEL-F .{1000 * expected:.0f}," in result.stdout


def test_what_it_prints_can_be_run_again(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    _, _, *arguments = run("demo").stdout.splitlines()[0].split()
    assert run(*arguments).exit_code == 0
    assert len(json.loads(Path("vifidel_demo/careful.json").read_text("utf-8"))) == 28


@pytest.mark.parametrize("there", ["careful.json", "report.html", "thesis.tex"])
def test_it_leaves_a_folder_that_holds_anything_alone(run, tmp_path, there):
    (tmp_path / "demo").mkdir()
    (tmp_path / "demo" / there).write_text("x")
    (tmp_path / "demo-2").symlink_to("gone")
    result = run("demo", tmp_path / "demo")
    assert result.exit_code == 1
    assert f"demo: is there already; name a new folder: demo {tmp_path}/demo-3." in result.stderr
    assert [path.read_text() for path in (tmp_path / "demo").iterdir()] == ["x"]


@pytest.mark.parametrize("make", [Path.touch, lambda path: path.symlink_to("gone")])
def test_it_writes_through_no_file_or_link(run, tmp_path, make):
    make(tmp_path / "demo")
    assert "is there already" in run("demo", tmp_path / "demo").stderr
    assert not (tmp_path / "gone").exists()
