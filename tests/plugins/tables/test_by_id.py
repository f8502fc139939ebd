"""Objects of tables from a file by a column of image ids, against `score` and labels columns."""

import json
import pickle

import pytest
from conftest import call, done, refused

import vifidel_eval
from vifidel_eval import VifidelError

pa = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

CAPTIONS = [
    *((1, "a dog catches a frisbee"), (2, "a cat on a couch"), (1, "a cat")),
    (3, "a man rides a horse and a zebra"),
]
OBJECTS = {1: ["dog", "frisbee", "dog"], 2: ["cat", "couch"], 3: ["person", "horse"]}
METRICS = ["VIFIDEL", "VIFIDEL-PRF"]


def scorer(**settings):
    from vifidel_eval.tables import TableScorer

    return TableScorer(metrics=METRICS, **settings)


def table(ids=None):
    ids = [i for i, _ in CAPTIONS] if ids is None else ids
    return pa.table({"image_id": ids, "caption": [text for _, text in CAPTIONS]})


def numbers(scores):
    return [list(row.values())[:-1] for row in scores.fields.to_pylist()]


def test_scores_are_those_of_a_column_of_labels():
    labels = table().append_column("labels", [[OBJECTS[i] for i, _ in CAPTIONS]])
    by_id, by_column = scorer(objects=OBJECTS).evaluate(table()), scorer().evaluate(labels)
    assert numbers(by_id) == numbers(by_column)
    assert by_id.fields.to_pylist()[0]["status"] == "ok"


@pytest.mark.parametrize(
    "ids",
    [
        pa.array([1, 2, 1, 3], pa.int32()),
        pa.array([1.0, 2.0, 1.0, 3.0]),
        ["1", "2", "1", "3"],
        pa.array(["1", "2", "1", "3"]).dictionary_encode(),
        [f"val2017/{i:012}.jpg" for i, _ in CAPTIONS],
        [f"clips/{i}.mp4" for i, _ in CAPTIONS],
        pa.chunked_array([[1, 2], [1, 3]]),
    ],
)
def test_ids_mean_images_as_everywhere(ids):
    by_id = scorer(objects=OBJECTS)
    assert numbers(by_id.evaluate(table(ids))) == numbers(by_id.evaluate(table()))


def test_unknown_ids_are_bad_rows_or_images_in_which_nothing_was_found():
    ids = [1, 99, None, 3]
    result = scorer(objects=OBJECTS).evaluate(table(ids)).fields.to_pylist()
    assert [row["status"] for row in result] == ["ok", "bad labels", "bad labels", "ok"]
    assert result[1]["VIFIDEL"] is None
    with pytest.raises(VifidelError, match="row 1: the objects have no image 99"):
        scorer(objects=OBJECTS, strict=True).evaluate(table(ids))
    detections = vifidel_eval.annotations.ObjectLabels(
        {1: {"dog": 1}, 3: {"horse": 1}}, "detections", "d.json", 0.6, lists_every_image=False
    )
    result = scorer(objects=detections).evaluate(table(ids)).fields.to_pylist()
    assert [row["status"] for row in result] == ["ok", "no objects", "no objects", "ok"]


def test_a_scorer_pickles_and_its_signature_pins_the_objects(write):
    one = scorer(objects=write(OBJECTS))
    again = pickle.loads(pickle.dumps(one))
    assert numbers(again.evaluate(table())) == numbers(one.evaluate(table()))
    assert one.signature() == again.signature()
    assert "objects:labels#" in one.signature()
    assert scorer(objects={**OBJECTS, 9: ["dog"]}).signature() != one.signature()


@pytest.mark.parametrize(
    ("made", "sentence"),
    [
        (pa.table({"caption": ["a"]}), "the table has no column 'image_id'; its columns are cap"),
        (pa.table({"caption": ["a"], "image_id": [[1]]}), "'image_id' is of type list<.*image ids"),
    ],
)
def test_a_column_that_holds_no_ids_is_refused(made, sentence):
    with pytest.raises(VifidelError, match=sentence):
        scorer(objects=OBJECTS).evaluate(made)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--labels", "x"], "give --labels or --objects"),
        (["--no-labels", "--references", "r"], "give --no-labels or --objects"),
        (["--label-scores", "s"], "give --label-scores or --objects"),
        (["--id-column", "caption"], "the column 'caption' is named twice"),
    ],
)
def test_labels_come_from_one_place(tmp_path, write, options, sentence):
    parquet.write_table(table(), tmp_path / "in.parquet")
    given = tmp_path / "in.parquet", "--output", tmp_path / "out", "--objects", write(OBJECTS)
    refused(call("score-table", *given, *options), sentence, status=2)


# Columns named by a path


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
    result = scores(pa.Table.from_pylist(ROWS), **PATHS)
    assert result == scores(flat())
    assert [row["status"] for row in result] == ["ok", "ok", "bad caption", "no objects"]


def test_the_command_reads_json_lines_by_paths(tmp_path, run):
    source, objects = tmp_path / "in.jsonl", tmp_path / "objects.json"
    source.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    objects.write_text('{"1": ["dog", "frisbee"], "2": ["cat"]}')

    def rows(name, *options):
        arguments = [source, "--output", tmp_path / name, "--caption", "resps[0][0]", *options]
        done("score-table", *arguments, "--workers", "1", "--metrics", "VIFIDEL")
        return parquet.read_table(tmp_path / name / "in.parquet").to_pylist()

    by_labels = rows("labels", "--labels", "doc.tags")
    assert [row["VIFIDEL"] for row in by_labels] == [row["VIFIDEL"] for row in scores(flat())]
    by_id = rows("ids", "--objects", objects, "--id-column", "doc.id")
    assert [row["VIFIDEL"] for row in by_id][:2] == [row["VIFIDEL"] for row in by_labels][:2]
    assert by_id[3]["status"] == "bad labels"
