import json
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from vifidel_eval import VifidelError
from vifidel_eval.cli import main
from vifidel_eval.harness import Scores
from vifidel_eval.leaderboard import Leaderboard, add, read
from vifidel_eval.scorers.base import Evaluation

EXAMPLES = Path(__file__).parent / "data"
REFERENCES = {1: ["a dog"], 2: ["a cat", "two cats"]}
SIGNATURES = {"VIFIDEL": "VIFIDEL|refs:yes|p:2|version:0.1.0", "CIDEr": "CIDEr|tok:ptb|version:1"}
DAY = date(2026, 11, 21)


def scored(signatures=SIGNATURES, ids=(1, 2), **systems):
    """Return Scores from {system: [score of each metric]}."""
    return Scores(
        dict(signatures),
        {
            name: {
                metric: Evaluation(list(ids), np.full(len(ids), score))
                for metric, score in zip(signatures, row, strict=True)
            }
            for name, row in systems.items()
        },
    )


@pytest.fixture
def board(tmp_path):
    path = tmp_path / "board.json"
    add(path, scored(mine=[0.8, 1.25], theirs=[0.5, 1.5]), REFERENCES, DAY)
    return path


def run(*arguments):
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


def test_runs_are_collected_and_sorted(board):
    add(board, scored(mine=[0.25, 0.5], none=[np.nan, 1.0]), REFERENCES, date(2026, 12, 1))
    rows = [line.split(",") for line in run("leaderboard", board, "--format", "csv").stdout.split()]
    assert rows == [
        ["System", "Date", "VIFIDEL", "CIDEr"],
        ["theirs", "2026-11-21", "0.5", "1.5"],
        ["mine", "2026-12-01", "0.25", "0.5"],
        ["none", "2026-12-01", "", "1.0"],
    ]
    table = run("leaderboard", board, "--history", "--sort", "cider", "--format", "csv").stdout
    assert [line.split(",")[:2] for line in table.splitlines()[1:]] == [
        ["theirs", "2026-11-21"],
        ["mine", "2026-11-21"],
        ["none", "2026-12-01"],
        ["mine", "2026-12-01"],
    ]


def test_every_format_shows_the_same(board):
    table = run("leaderboard", board).stdout
    assert table.splitlines()[2].split() == ["mine", "2026-11-21", "0.8000", "1.2500"]
    assert table.splitlines()[-3:] == ["2 images", *SIGNATURES.values()]
    markdown = run("leaderboard", board, "--format", "markdown").stdout
    assert "| mine     | 2026-11-21 | **0.8000** |     1.2500 |" in markdown
    assert "& \\textbf{1.5000} \\\\" in run("leaderboard", board, "--format", "latex").stdout
    document = json.loads(run("leaderboard", board, "--format", "json").stdout)
    assert document["runs"][1] == {
        "system": "theirs", "date": "2026-11-21", "scores": {"VIFIDEL": 0.5, "CIDEr": 1.5},
    }  # fmt: skip
    assert document["signatures"] == SIGNATURES


def test_a_second_run_of_a_date_replaces_the_first(board):
    add(board, scored(mine=[0.75, 1.0]), REFERENCES, DAY)
    assert [(run.system, run.scores["VIFIDEL"]) for run in read(board).runs] == [
        ("theirs", 0.5),
        ("mine", 0.75),
    ]


def test_a_later_run_may_bring_another_metric(board):
    add(board, scored({"WMD": "WMD|p:1"}, new=[0.5]), REFERENCES, DAY)
    last = run("leaderboard", board).stdout.splitlines()[4]
    assert last.split() == ["new", "2026-11-21", "-", "-", "0.5000"]


@pytest.mark.parametrize(
    ("scores", "references", "message"),
    [
        (scored(SIGNATURES | {"VIFIDEL": "VIFIDEL|refs:yes|p:1|version:0.1.0"}, z=[1, 1]),
         REFERENCES, "VIFIDEL has another signature there, p:2 instead of p:1;"),
        (scored(SIGNATURES | {"CIDEr": "CIDEr|tok:ptb|idf:x|version:1"}, z=[1, 1]), REFERENCES,
         "CIDEr has another signature there, nothing instead of idf:x;"),
        (scored(ids=[1], z=[1, 1]), REFERENCES, "scored on 1 images, the runs there on 2;"),
        (scored(ids=[1, 3], z=[1, 1]), {**REFERENCES, 3: []}, "2 images, the runs there on others"),
        (scored(z=[1, 1]), {**REFERENCES, 1: ["a wolf"]}, "the runs there have other references"),
        (scored(z=[1, 1]), None, "the runs there have other references"),
        (scored({"S": "S|scaled:run|(x)"}, z=[1]), REFERENCES, "S is scaled over the systems"),
    ],
)  # fmt: skip
def test_what_cannot_be_compared_is_refused_and_nothing_is_written(
    board, scores, references, message
):
    before = board.read_bytes()
    with pytest.raises(VifidelError, match="system 'z' cannot be added: ") as refused:
        add(board, scores, references, DAY)
    assert message in str(refused.value)
    assert board.read_bytes() == before


def test_the_order_of_the_images_does_not_matter(board):
    add(board, scored(ids=[2, 1], other=[1, 1]), dict(reversed(REFERENCES.items())), DAY)
    assert len(read(board).runs) == 3


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "the JSON ends too early"),
        ("[]", "not a leaderboard that score --leaderboard has written"),
        ('{"systems": {}}', "not a leaderboard that score --leaderboard has written"),
        ('{"leaderboard": 1, "runs": [{"system": "x"}]}', "the leaderboard is damaged"),
        ('{"leaderboard": 1, "runs": 7}', "the leaderboard is damaged"),
    ],
)
def test_other_files_are_refused(tmp_path, content, message):
    path = tmp_path / "board.json"
    path.write_text(content, "utf-8")
    result = run("leaderboard", path)
    assert result.exit_code == 1
    assert result.stderr.startswith(f"Error: {path}: ")
    assert message in result.stderr
    assert result.stderr.count("\n") == 1
    with pytest.raises(VifidelError, match=message):
        add(path, scored(mine=[1, 1]), REFERENCES, DAY)
    assert path.read_text("utf-8") == content


def test_a_missing_file_and_an_unknown_metric_are_said(board, tmp_path):
    assert "no such file, or no run in it;" in run("leaderboard", tmp_path / "none").stderr
    unknown = run("leaderboard", board, "--sort", "SPICE").stderr
    assert "has no metric 'SPICE'; it has VIFIDEL, CIDEr." in unknown


def test_no_run_is_lost_when_many_add_at_a_time(tmp_path):
    path = tmp_path / "board.json"

    def add_one(number):
        add(path, scored(**{f"system {number}": [0.5, 0.5]}), REFERENCES, DAY)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(add_one, range(24)))
    assert len(read(path).runs) == 24


def test_score_adds_to_a_leaderboard(tmp_path):
    path = tmp_path / "board.json"
    common = (
        *("--references", EXAMPLES / "captions_example.json"),
        *("--objects", EXAMPLES / "instances_example.json"),
        *("--metrics", "VIFIDEL", "--format", "csv", "--leaderboard", path),
    )
    careful = EXAMPLES / "captions_example_careful_results.json"
    dreaming = EXAMPLES / "captions_example_dreaming_results.json"
    first = run("score", careful, *common, "--date", "2026-11-20")
    assert (first.exit_code, first.stderr) == (0, "")
    assert run("score", dreaming, *common, "--date", "2026-11-21").exit_code == 0
    shown = run("leaderboard", path, "--format", "csv").stdout
    assert [line.rpartition(",")[0] for line in shown.splitlines()[1:]] == [
        "careful,2026-11-20",
        "dreaming,2026-11-21",
    ]
    assert shown.splitlines()[1].split(",")[2] == first.stdout.splitlines()[1].split(",")[1]
    before = path.read_bytes()
    refused = run("score", careful, *common, "--p", "1")
    assert refused.exit_code == 1
    assert refused.stdout.startswith("System,VIFIDEL")  # what was computed is not lost
    assert "p:2 instead of p:1" in refused.stderr
    assert path.read_bytes() == before
    without = run("score", careful, *common[2:], "--no-references")
    assert "VIFIDEL has another signature there, refs:yes instead of refs:no;" in without.stderr
    assert run("score", careful, *common, "--date", "yesterday").exit_code == 2
    replaced = run("score", careful, *common[:-1], careful)
    assert "would replace an input" in replaced.stderr


def test_an_empty_leaderboard_has_no_rows():
    assert Leaderboard().ranked().table().rows == []
