import csv
import gzip
import io
import json
import os

import pytest

from vifidel_eval.errors import VifidelError

pa = pytest.importorskip("pyarrow")
feather = pytest.importorskip("pyarrow.feather")
parquet = pytest.importorskip("pyarrow.parquet")


from vifidel_eval.plugins.tables.columns import Columns  # noqa: E402
from vifidel_eval.plugins.tables.files import OpenTable, find_tables  # noqa: E402

COLUMNS = Columns("caption", "labels", None, None)
ROWS = [
    {"id": 1, "caption": "a dog", "labels": ["dog"]},
    {"id": 2, "caption": 'a "cat",\nasleep', "labels": ["cat", "b\u00e9d"]},
    {"id": 3, "caption": "2026-11-22", "labels": None},
    {"id": 4, "caption": "", "labels": []},
]


SCHEMA = pa.schema(
    [("id", pa.int64()), ("caption", pa.string()), ("labels", pa.list_(pa.string()))]
)


def write_table(path):
    """Write the rows in the format that a file's name says."""
    name = path.name.lower().removesuffix(".gz")
    table = pa.Table.from_pylist(ROWS, SCHEMA)
    if name.endswith((".parquet", ".pq")):
        parquet.write_table(table, path)
    elif name.endswith((".arrow", ".feather", ".ipc")):
        feather.write_feather(table, path)
    else:
        text = io.StringIO()
        if name.endswith((".jsonl", ".ndjson")):
            text.writelines(json.dumps(row) + "\n" for row in ROWS)
        else:
            between = "\t" if name.endswith(".tsv") else ","
            writer = csv.writer(text, csv.unix_dialect, delimiter=between)
            writer.writerow(ROWS[0])
            for row in ROWS:
                labels = "" if row["labels"] is None else json.dumps(row["labels"])
                writer.writerow([row["id"], row["caption"], labels])
        content = text.getvalue().encode()
        path.write_bytes(gzip.compress(content) if path.name.endswith(".gz") else content)


def read(path, columns=COLUMNS):
    (file,) = find_tables([str(path)])
    return [row for batch in OpenTable(file, columns).batches() for row in batch.to_pylist()]


@pytest.mark.parametrize(
    "name",
    ["a.parquet", "a.pq", "a.PARQUET", "a.arrow", "a.feather", "a.ipc", "a.csv", "a.tsv",
     "a.jsonl", "a.ndjson", "a.csv.gz", "a.tsv.gz", "a.jsonl.gz"],
)  # fmt: skip
def test_all_formats_have_the_same_rows(tmp_path, name):
    write_table(tmp_path / name)
    in_text = name.removesuffix(".gz").endswith((".csv", ".tsv"))
    spelled = ['["dog"]', '["cat", "b\\u00e9d"]', "", "[]"]
    as_text = [
        {**row, "id": str(row["id"]), "labels": labels}
        for row, labels in zip(ROWS, spelled, strict=True)
    ]
    expected = as_text if in_text else ROWS
    assert read(tmp_path / name) == expected
    assert read((tmp_path / name).as_uri()) == expected


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (['[["dog", 0.5], {"name": "cat", "confidence": 1}]', '["x"]', "[[1, 2]]"],
         [[{"label": "dog", "score": 0.5}, {"label": "cat", "score": 1.0}],
          [{"label": "x", "score": None}], [None]]),
        (["[('dog', 0.5), ['cat', 1]]"],
         [[{"label": "dog", "score": 0.5}, {"label": "cat", "score": 1.0}]]),
        (["{'dog': 2, 'cat': 0}", "dog | cat", ""], ["{'dog': 2, 'cat': 0}", "dog | cat", ""]),
    ],
)  # fmt: skip
def test_labels_in_text_are_lists_if_they_have_scores(tmp_path, cells, expected):
    parquet.write_table(pa.table({"caption": cells, "labels": cells}), tmp_path / "a.parquet")
    assert [row["labels"] for row in read(tmp_path / "a.parquet")] == expected


def test_references_in_text_may_be_one(tmp_path):
    cells = ["a dog", '["a", "b"]', "", '"Sit!" he says', "['no", "['a', 'b']", "[UNK] dog", "[a]"]
    parquet.write_table(pa.table({"caption": cells, "refs": cells}), tmp_path / "a.parquet")
    rows = read(tmp_path / "a.parquet", Columns("caption", None, None, "refs"))
    assert [row["refs"] for row in rows] == [
        ["a dog"], ["a", "b"], None, [cells[3]], [None], ["a", "b"], ["[UNK] dog"], [None],
    ]  # fmt: skip


def test_folders_are_searched_in_order(tmp_path):
    for name in ("b.csv", "x=1/a.csv", "x=1/_temporary/c.csv", ".hidden.csv", "_SUCCESS"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        write_table(tmp_path / name)
    assert [file.name for file in find_tables([str(tmp_path)])] == ["b.csv", "x=1/a.csv"]


@pytest.mark.parametrize(
    ("files", "sentence"),
    [
        ([], "this folder has no tables; expected a file that ends in .parquet"),
        (["_SUCCESS"], "this folder has no tables"),
        (["a.csv", "b.parquet"], r"this folder has CSV \(a.csv\) and Parquet \(b.parquet\)"),
        (["a.csv", "b.tsv"], "this folder has CSV"),
        (["a.csv", "readme.md"], "readme.md in this folder is not a table"),
        (["readme.md"], "this folder has no tables"),
    ],
)
def test_folders_that_are_no_table(tmp_path, files, sentence):
    for name in files:
        (tmp_path / name).write_text("caption\nx\n")
    with pytest.raises(VifidelError, match=sentence):
        find_tables([str(tmp_path)])


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("gone.parquet", "no such file or directory"),
        ("a.txt", "its name does not show the format"),
        ("a.parquet.gz", "its name does not show"),
        ("nosuch://bucket/a.parquet", "check the address"),
        ("/dev/null", "is a pipe or device"),
    ],
)
def test_what_is_no_table(tmp_path, monkeypatch, name, sentence):
    monkeypatch.chdir(tmp_path)
    for file in ("a.txt", "a.parquet.gz"):
        (tmp_path / file).write_text("")
    with pytest.raises(VifidelError, match=sentence):
        find_tables([name])


def test_damage_in_the_middle_is_named_with_its_place(tmp_path):
    path = tmp_path / "a.parquet"
    table = pa.table({"caption": ["a dog"] * 5000, "labels": [["dog"]] * 5000})
    parquet.write_table(table, path, compression="none", use_dictionary=False)
    content = bytearray(path.read_bytes())
    at = content.index(b"a dog")
    content[at + 100 : at + 4100] = b"\xff" * 4000
    path.write_bytes(content)
    with pytest.raises(VifidelError, match=r"a.parquet: cannot be read as Parquet after row 0: "):
        read(path)


def test_batches_of_large_rows_are_small(tmp_path):
    path = tmp_path / "a.parquet"
    pictures = [os.urandom(100_000) for _ in range(600)]
    table = pa.table({"caption": ["a"] * 600, "labels": [["a"]] * 600, "image": pictures})
    parquet.write_table(table, path)
    (file,) = find_tables([str(path)])
    sizes = [batch.nbytes for batch in OpenTable(file, COLUMNS).batches()]
    assert sum(sizes) > 60_000_000
    assert max(sizes) < 40_000_000
