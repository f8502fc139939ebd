import dataclasses
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from pathlib import Path

import numpy as np
import pytest
from conftest import done

from vifidel_eval import VifidelError
from vifidel_eval.errors import VifidelWarning
from vifidel_eval.plugins.leaderboard.board import add as add_captions
from vifidel_eval.plugins.leaderboard.board import read
from vifidel_eval.scorers.base import Evaluation
from vifidel_eval.scores.alignment import System, align
from vifidel_eval.scores.scores import Scores

EXAMPLES = Path(__file__).parents[1] / "data"
REFERENCES = {1: ["a dog"], 2: ["a cat", "two cats"]}
SIGNATURES = {"VIFIDEL": "VIFIDEL|refs:yes|p:2|version:0.1.0", "CIDEr": "CIDEr|tok:ptb|version:1"}
DAY = date(2026, 11, 21)


def scored(signatures=SIGNATURES, ids=(1, 2), **systems):
    """Return Scores from {system: [score of each metric]}."""
    evaluations = {
        name: {
            metric: Evaluation(list(ids), np.full(len(ids), score))
            for metric, score in zip(signatures, row, strict=True)
        }
        for name, row in systems.items()
    }
    return Scores(dict(signatures), evaluations)


def add(path, scores, references, day, caption="a dog"):
    """Add systems that say the same of every image."""
    systems = [
        System(name, dict.fromkeys(next(iter(of.values())).ids, f"{name}: {caption}"))
        for name, of in scores.evaluations.items()
    ]
    add_captions(path, scores, systems, references, day)


@pytest.fixture
def board(tmp_path):
    path = tmp_path / "board.json"
    add(path, scored(mine=[0.8, 1.25], theirs=[0.5, 1.5]), REFERENCES, DAY)
    return path


def test_runs_are_collected_and_sorted(board, run):
    add(board, scored(mine=[0.25, 0.5], none=[np.nan, 1.0]), REFERENCES, date(2026, 12, 1))
    rows = [line.split(",") for line in run("leaderboard", board, "--format", "csv").stdout.split()]
    assert rows == [
        ["System", "Date", "VIFIDEL", "CIDEr"],
        ["theirs", "2026-11-21", "0.5", "1.5"],
        ["mine", "2026-12-01", "0.25", "0.5"],
        ["none", "2026-12-01", "", "1.0"],
    ]
    table = run("leaderboard", board, "--history", "--sort", "cider", "--format", "csv").stdout
    shown = [" ".join(line.split(",")[:2]) for line in table.splitlines()[1:]]
    assert shown[:2] == ["theirs 2026-11-21", "mine 2026-11-21"]
    assert shown[2:] == ["none 2026-12-01", "mine 2026-12-01"]


def test_where_lower_is_better_the_lowest_comes_first(tmp_path, run):
    path = tmp_path / "board.json"
    scores = scored(mine=[0.8, 1.25], theirs=[0.5, 1.5], others=[np.nan, 1.0])
    for of_metric in scores.evaluations.values():
        of_metric["VIFIDEL"] = dataclasses.replace(of_metric["VIFIDEL"], lower_is_better=True)
    add(path, scores, REFERENCES, DAY)
    assert read(path).lower_is_better == ("VIFIDEL",)
    # Another metric of a later run leaves the direction of the first as it is.
    add(path, scored({"WMD": "WMD|x"}, theirs=[0.25]), REFERENCES, DAY)
    shown = run("leaderboard", path, "--format", "markdown").stdout
    rows = [row.replace("|", " ").split() for row in shown.splitlines()[2:5]]
    assert [row[0] for row in rows] == ["theirs", "mine", "others"]
    assert [row[2] for row in rows] == ["0.5000", "0.8000", "-"]
    assert shown.splitlines()[-6:-4] == ["2 images", "VIFIDEL: lower is better."]


def test_a_difference_of_rounding_puts_nobody_first(tmp_path, run):
    path = tmp_path / "board.json"
    add(path, scored(b=[0.5 + 1e-15, 4.9e-45], a=[0.5, 1e-90]), REFERENCES, DAY)
    for metric in ("VIFIDEL", "CIDEr"):
        assert [of.system for of in read(path).ranked(metric).runs] == ["a", "b"]
    assert "**" not in run("leaderboard", path, "--format", "markdown").stdout  # nothing is tested


def test_captions_are_the_same_whatever_their_order_and_the_spelling_of_their_ids(board):
    ids = ["COCO_val2014_000000000002", "COCO_val2014_000000000001"]
    mine = System("mine", dict.fromkeys(ids, "mine: a dog"))
    systems = align([mine], REFERENCES).systems
    add_captions(board, scored({"WMD": "WMD|p:1"}, mine=[0.5]), systems, REFERENCES, DAY)
    assert read(board).runs[-1].scores == {"VIFIDEL": 0.8, "CIDEr": 1.25, "WMD": 0.5}


def test_a_run_of_other_captions_replaces_that_of_its_date_and_it_is_said(board):
    with pytest.warns(VifidelWarning) as warned:
        add(board, scored(mine=[0.75, 1.0]), REFERENCES, DAY, "a wolf")
    assert [str(warning.message) for warning in warned] == [
        f"{board}: the run of system 'mine' of 2026-11-21 had other captions and was replaced; "
        "give another --date to keep both."
    ]
    result = {one.system: one.scores["VIFIDEL"] for one in read(board).runs}
    assert result == {"theirs": 0.5, "mine": 0.75}


def test_the_last_run_that_has_the_metric_is_shown(board):
    add(board, scored({"WMD": "WMD|p:1"}, mine=[0.5], new=[0.25]), REFERENCES, date(2026, 12, 1))
    shown = [
        [(row.system, row.date[5:]) for row in read(board).ranked(metric).runs]
        for metric in (None, "WMD")
    ]
    assert shown[0] == [("mine", "11-21"), ("theirs", "11-21"), ("new", "12-01")]
    assert shown[1] == [("mine", "12-01"), ("new", "12-01"), ("theirs", "11-21")]


@pytest.mark.parametrize(
    ("scores", "references", "message"),
    [
        (scored(SIGNATURES | {"VIFIDEL": "VIFIDEL|refs:yes|p:1|version:0.1.0"}, z=[1, 1]),
         REFERENCES, "VIFIDEL has another signature there, p:2 instead of p:1;"),
        (scored(SIGNATURES | {"CIDEr": "CIDEr|tok:ptb|idf:x|version:1"}, z=[1, 1]), REFERENCES,
         "CIDEr has another signature there, nothing instead of idf:x;"),
        (scored(ids=[1], z=[1, 1]), REFERENCES, "scored on 1 images, and the runs there on 2;"),
        (scored(ids=[1, 3], z=[1, 1]), {**REFERENCES, 3: []}, "2 images, and the runs there on o"),
        (scored(z=[1, 1]), {**REFERENCES, 1: ["a wolf"]}, "the runs there have other references"),
        (scored(z=[1, 1]), {1: [], 2: []}, "the runs there have other references"),
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


def damaged(images="2", score="0.5"):
    return (
        f'{{"leaderboard": 1, "images": {images}, "image_ids": "", "references": "", "signatures": '
        '{"VIFIDEL": "VIFIDEL"}, "runs": [{"system": "x", "date": "2026-11-21", "captions": "", '
        f'"scores": {{"VIFIDEL": {score}}}}}]}}'
    )


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("[]", "not a leaderboard that score --leaderboard has written"),
        ('{"systems": {}}', "not a leaderboard that score --leaderboard has written"),
        ('{"leaderboard": 1, "runs": [{"system": "x"}]}', "the leaderboard is damaged"),
        ('{"leaderboard": 1, "runs": 7}', "the leaderboard is damaged"),
        ('{"leaderboard": true, "runs": []}', "not a leaderboard that"),
        ('{"leaderboard": 0, "runs": []}', "not a leaderboard that"),
        ('{"leaderboard": 2, "results": []}', "written by a newer version of vifidel-eval"),
        *((damaged(score=score), "the score ") for score in ("NaN", "-Infinity", "1e999", "true")),
        (damaged(score='"0.5"'), "the score '0.5'"),
        (damaged(score="1" + 400 * "0"), "the leaderboard is damaged"),
        *((damaged(images=images), " images") for images in ("1e999", "NaN", "2.5")),
    ],
)
def test_other_files_are_refused(tmp_path, content, message, run):
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


def test_a_missing_file_and_an_unknown_metric_are_said(board, tmp_path, run):
    assert "no such file, or it has no runs;" in run("leaderboard", tmp_path / "none").stderr
    unknown = run("leaderboard", board, "--sort", "SPICE").stderr
    assert "has no metric 'SPICE'; it has VIFIDEL, CIDEr." in unknown


def test_no_run_is_lost_when_many_add_at_a_time(tmp_path):
    path = tmp_path / "board.json"

    def add_one(number):
        add(path, scored(**{f"system {number}": [0.5, 0.5]}), REFERENCES, DAY)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(add_one, range(24)))
    assert len(read(path).runs) == 24


def test_score_adds_to_a_leaderboard(tmp_path, run):
    path = tmp_path / "board.json"
    common = (
        *("--references", EXAMPLES / "captions_example.json"),
        *("--objects", EXAMPLES / "instances_example.json"),
        *("--metrics", "VIFIDEL", "--format", "csv", "--leaderboard", path),
    )
    careful = EXAMPLES / "captions_example_careful_results.json"
    dreaming = EXAMPLES / "captions_example_dreaming_results.json"
    first = done("score", careful, *common, "--date", "2026-11-20")
    assert first.stderr.startswith("VIFIDEL|refs:yes|")
    assert [line.split(": ")[0] for line in first.stderr.splitlines()[1:]] == [str(path)]
    assert run("score", dreaming, *common, "--date", "2026-11-21").exit_code == 0
    shown = run("leaderboard", path, "--format", "csv").stdout
    _, *rows = (line.split(",") for line in shown.splitlines())
    assert [row[:2] for row in rows] == [["careful", "2026-11-20"], ["dreaming", "2026-11-21"]]
    assert rows[0][2] == first.stdout.splitlines()[1].split(",")[1]
    before = path.read_bytes()
    refused = run("score", careful, *common, "--p", "1")
    assert refused.exit_code == 1
    assert refused.stdout.startswith("System,VIFIDEL")  # what was computed is not lost
    assert "p:2 instead of p:1" in refused.stderr
    assert path.read_bytes() == before
    without = run("score", careful, *common[2:], "--no-references")
    assert "VIFIDEL has another signature there, refs:yes instead of refs:no;" in without.stderr
    assert run("score", careful, *common, "--date", "yesterday").exit_code == 2


def test_a_terminal_shows_it_in_parts_that_fit_with_short_signatures(board, run, monkeypatch):
    monkeypatch.setattr("vifidel_eval.plugins.leaderboard.line_width", lambda: 32)
    lines = run("leaderboard", board).stdout.splitlines()
    heads = [line.split() for line in lines if line.startswith("System")]
    assert heads == [["System", "Date", "VIFIDEL"], ["System", "Date", "CIDEr"]]
    assert max(map(len, lines)) <= 32
    assert "(whole with --format json)." in " ".join(" ".join(lines).split())
    assert not any(line in SIGNATURES.values() for line in lines)
