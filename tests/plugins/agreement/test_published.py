"""Published tables are recomputed from made files in the published layouts."""

import csv
import io
import json
import math

import pytest
from conftest import call, done
from judgement_files import WRITERS, write_composite, write_flickr8k

from vifidel_eval.plugins.agreement.command import DATA_SETS
from vifidel_eval.plugins.agreement.published import published_tables

pytestmark = pytest.mark.usefixtures("fast")
TABLES = published_tables()


def reproduce(*arguments):
    result = done("agreement", "reproduce", *arguments)
    return result.stdout


WITH_CROWD = {"clipscore-2", "clipscore-4"}  # of files that the writers do not write


@pytest.mark.parametrize(
    "name", [n for n, t in TABLES.items() if t.data_set and n not in WITH_CROWD]
)
def test_every_table_has_the_numbers_of_its_data_set(name, tmp_path):
    table = TABLES[name]
    (tmp_path / "data").mkdir()
    path, output = WRITERS[table.data_set](tmp_path / "data"), tmp_path / "table.json"
    asked = (path, "--metrics", "ROUGE_L,CIDEr", "--draws", "2")
    shown = reproduce(name, *asked, "--output", output)
    assert table.title in shown
    rows = json.loads(output.read_text("utf-8"))["rows"]
    assert {row["metric"] for row in rows} == {"ROUGE_L", "CIDEr"}
    asked += ("--references", table.references, "--format", "csv")
    whole = csv.DictReader(io.StringIO(call("agreement", table.data_set, *asked).stdout))
    values = [row for row in whole if row["statistic"] == table.statistic]
    result = {(row["metric"], row[table.across]) for row in values}
    assert {(row["metric"], row["of"]) for row in rows} <= result
    for row in rows:
        assert row["published"] == table.values.get(row["metric"], {}).get(row["of"])
        if row["published"] is not None and row["ours"] is not None:
            assert row["difference"] == pytest.approx(row["ours"] - row["published"])


def test_a_difference_is_judged_by_the_tolerance_and_the_interval():
    table = TABLES["clipscore-abstract"]  # METEOR .79, tolerance .02
    row = {"statistic": "accuracy", "subset": "all", "metric": "METEOR", "low": 0.75, "high": 0.8}
    rows = [row | {"value": value} for value in (0.77, 0.765)]
    rows += [row | {"value": 0.7, "high": 0.71}, row | {"value": 0.7, "metric": "WMD"}]
    shown = table.table(table.compared(rows), ["a note"])
    verdicts = ["as published", "within our interval", "differs", "not quoted here"]
    assert [line[-1] for line in shown.rows] == verdicts
    assert shown.rows[0][2:5] == ["0.7900", "0.7700", "-0.0200"]
    assert shown.notes[0].startswith("a difference can be due to: how much of the data is there;")


def test_sources_of_objects_stand_side_by_side_with_and_without_frequency(tmp_path):
    (tmp_path / "data").mkdir()
    folder = write_composite(tmp_path / "data")
    images = ["1001_ab", "1002_cd", "COCO_val2014_000000000042"]
    for name, labels in {"gold": ["boy", "boy", "grass"], "d80": ["train", "girl"]}.items():
        objects = dict.fromkeys(images, labels)
        (tmp_path / f"{name}.json").write_text(json.dumps(objects), "utf-8")
    gold, d80 = (tmp_path / f"{name}.json" for name in ("gold", "d80"))
    sides = ("--ablation", f"gold={gold}", "--ablation", f"both={gold},{d80}")
    shown = reproduce("vifidel-3", folder, *sides, "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(shown)))
    assert list(dict.fromkeys(row["Metric"] for row in rows)) == [
        f"VIFIDEL {side} {how}" for side in ("gold", "both") for how in ("counts", "presence")
    ]
    assert [row["Of"] for row in rows[:4]] == ["relevance"] * 4


def test_the_table_of_descriptions_needs_no_data():
    rows = reproduce("kilickaya-2", "--format", "json")
    result = {row["of"]: row for row in json.loads(rows)["rows"]}
    assert result["original"]["ours"] == 1
    assert result["candidate"]["ours"] == result["word order"]["ours"]  # the same bag of words
    assert math.isclose(result["redundancy"]["published"], 0.18)
    assert result["synonyms"]["published"] is None


def test_chair_of_results_is_that_of_score(write):
    mine = write({"1": "a dog and a cat"}, "mine.json")
    asked = (mine, "--objects", write({"1": ["dog"]}, "objects.json"))
    references = write({"1": ["a dog"]}, "references.json")
    shown = reproduce("chair", *asked, "--captions", references, "--format", "csv")
    ours = {row["Metric"]: row["Ours"] for row in csv.DictReader(io.StringIO(shown))}
    assert (float(ours["CHAIRi"]), float(ours["CHAIRs"])) == (0.5, 1)
    result = call("agreement", "reproduce", "chair", *asked)
    assert (result.exit_code, "this table needs RESULTS, --captions" in result.stderr) == (2, True)
    result = call("agreement", "reproduce", "kilickaya-2", asked[0])
    assert (result.exit_code, "has its own captions; leave PATH" in result.stderr) == (2, True)


def test_tables_are_listed_and_others_refused():
    listed = reproduce("--format", "csv")
    assert [row["Table"] for row in csv.DictReader(io.StringIO(listed))] == [*TABLES]
    assert {table.data_set for table in TABLES.values()} <= {"", *(one.name for one in DATA_SETS)}
    for arguments, message in (
        (("x-1",), "no table 'x-1'; the tables are vifidel-1,"),
        (("clipscore-7",), "needs the files of pascal50s: FOLDER holds"),
    ):
        result = call("agreement", "reproduce", *arguments)
        assert (result.exit_code, message in result.stderr) == (2, True), result.stderr


def test_files_without_the_tables_numbers_are_said(tmp_path):
    asked = (write_flickr8k(tmp_path), "--metrics", "ROUGE_L")
    result = call("agreement", "reproduce", "clipscore-2", *asked)  # without the crowd's file
    assert (result.exit_code, result.stdout) == (1, "")
    assert "the files have no number of CLIPScore" in result.stderr
