"""Columns of tables that are named by a path, as fields of caption files are."""

import json

import pytest

pa = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

ROWS = [
    {"doc": {"id": 1, "tags": ["dog", "frisbee"]}, "resps": [["a dog catches a frisbee", "no"]]},
    {"doc": {"id": 2, "tags": ["cat"]}, "resps": [["a dog", "no"]]},
    {"doc": {"id": 1, "tags": ["dog"]}, "resps": []},
    {"doc": None, "resps": [["a cat", "no"]]},
]
PATHS = {"captions": "resps[0][0]", "labels": "doc.tags"}


def flat():
    captions = ["a dog catches a frisbee", "a dog", None, "a cat"]
    tags = [["dog", "frisbee"], ["cat"], ["dog"], None]
    return pa.table({"caption": captions, "labels": tags})


def scores(table, **settings):
    from vifidel_eval.tables import TableScorer

    return TableScorer(**settings).evaluate(table).fields.to_pylist()


def test_paths_lead_to_captions_and_labels():
    found = scores(pa.Table.from_pylist(ROWS), **PATHS)
    assert found == scores(flat())
    assert [row["status"] for row in found] == ["ok", "ok", "bad caption", "no objects"]


def test_the_command_reads_json_lines_by_paths(tmp_path, run):
    source, objects = tmp_path / "in.jsonl", tmp_path / "objects.json"
    source.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    objects.write_text('{"1": ["dog", "frisbee"], "2": ["cat"]}')

    def rows(name, *options):
        arguments = [source, "--output", tmp_path / name, "--caption", "resps[0][0]", *options]
        result = run("score-table", *arguments, "--workers", "1", "--metrics", "VIFIDEL")
        assert result.exit_code == 0, result.output
        return parquet.read_table(tmp_path / name / "in.parquet").to_pylist()

    by_labels = rows("labels", "--labels", "doc.tags")
    assert [row["VIFIDEL"] for row in by_labels] == [row["VIFIDEL"] for row in scores(flat())]
    by_id = rows("ids", "--objects", objects, "--id-column", "doc.id")
    assert [row["VIFIDEL"] for row in by_id][:2] == [row["VIFIDEL"] for row in by_labels][:2]
    assert by_id[3]["status"] == "bad labels"
