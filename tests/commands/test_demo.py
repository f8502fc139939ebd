"""The command ``vifidel-eval demo``."""

import json
from pathlib import Path

import vifidel_eval

EXAMPLES = Path(__file__).parents[2] / "examples"


def test_it_scores_the_example_and_writes_a_report(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = run("demo", "some/where")
    assert result.exit_code == 0, result.output
    assert "some/where/report.html" in result.stdout.splitlines()[-1]
    assert "What each system makes up" in Path("some/where/report.html").read_text("utf-8")
    expected = vifidel_eval.evaluate(
        {"careful": EXAMPLES / "captions_example_careful_results.json"},
        references=EXAMPLES / "captions_example.json",
        objects=EXAMPLES / "instances_example.json",
        metrics="VIFIDEL-PRF",
    ).scores["careful"]["VIFIDEL-F"]
    row = next(line for line in result.stdout.splitlines() if line.startswith("VIFIDEL-F"))
    assert row.split()[1] == f"*{expected:.4f}"  # the best of the three


def test_what_it_prints_can_be_run_again(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    _, _, *arguments = run("demo").stdout.splitlines()[0].split()
    assert run(*arguments).exit_code == 0
    assert run("demo").exit_code == 0
    assert len(json.loads(Path("vifidel_demo/careful.json").read_text("utf-8"))) == 28


def test_it_leaves_a_folder_of_other_files_alone(run, tmp_path):
    (tmp_path / "thesis.tex").write_text("x")
    result = run("demo", tmp_path)
    assert result.exit_code == 1
    assert "holds other files, such as thesis.tex" in result.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]
    (tmp_path / "file").write_text("x")
    assert "Error: " in run("demo", tmp_path / "file").stderr
