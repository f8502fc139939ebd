"""The command on tables: what it writes, and what it refuses."""

import csv
import json
import shutil

import numpy as np
import pytest
from conftest import content, refused

from vifidel_eval import Vifidel
from vifidel_eval.captions.rows import make_rows
from vifidel_eval.scorers import VifidelH, VifidelPRF

pa = pytest.importorskip("pyarrow")
feather = pytest.importorskip("pyarrow.feather")
parquet = pytest.importorskip("pyarrow.parquet")

import pytest  # noqa: E402
from table_runs import done, invoke, manifest, rows, sha256, tables  # noqa: E402


def test_columns_are_added_and_have_the_bits_of_the_scorers(tmp_path):
    source = tables(tmp_path / "in")
    done(source, "--output", tmp_path / "out")
    seen = []
    for at in range(3):
        given = parquet.read_table(source / f"part-{at}.parquet")
        table = parquet.read_table(tmp_path / "out" / f"part-{at}.parquet")
        assert table.select(given.schema.names).equals(given)
        assert table.schema.names[3:] == [
            "VIFIDEL", "distance", "VIFIDEL_P", "VIFIDEL_R", "VIFIDEL_F", "status",
        ]  # fmt: skip
        seen += table.to_pylist()
    captions, objects = [r["caption"] for r in seen], [r["labels"] for r in seen]
    for scorer in (Vifidel(references=False), VifidelPRF(references=False)):
        for name, scores in scorer.score_columns(captions, objects=objects).items():
            of_table = np.array([r[name.replace("-", "_")] for r in seen], float)
            np.testing.assert_array_equal(of_table, scores)
    message = manifest(tmp_path / "out")
    assert (message["rows"], message["kept"]) == (120, 120)
    assert message["statuses"]["no objects"] == sum(not labels for labels in objects)
    scored = [row["VIFIDEL"] for row in seen if row["VIFIDEL"] is not None]
    assert message["scores"]["VIFIDEL"]["rows"] == len(scored)
    assert message["scores"]["VIFIDEL"]["score"] == pytest.approx(sum(scored) / len(scored))
    assert "objects:rows|" in message["signature"]
    names = [f"part-{at}.parquet" for at in range(3)]
    for name, of_file in zip(names, message["files"], strict=True):
        assert (of_file["input"], of_file["output"]) == (name, name)
        assert of_file["input_sha256"] == sha256(source / name)
        assert of_file["output_sha256"] == sha256(tmp_path / "out" / name)
        assert of_file["rows"] == of_file["kept"] == sum(of_file["statuses"].values()) == 40
    assert str(tmp_path) not in json.dumps(message)


def test_shares_of_mentions_are_shares_of_the_run(tmp_path):
    seen = ["dog", "ball"]
    some = [
        {"caption": "a dog and a zebra", "labels": seen},  # 1 of 2 mentions is absent
        {"caption": "a dog chases a ball", "labels": seen},  # 0 of 2
        {"caption": "a zebra", "labels": seen},  # 1 of 1
        {"caption": "very nice", "labels": seen},  # mentions nothing, and is a caption
        {"caption": None, "labels": seen},
        {"caption": "a zebra", "labels": []},  # 1 of 1: nothing was found
        {"caption": "a zebra", "labels": None},
        {"caption": "a zebra", "labels": [None]},
    ]
    source = tmp_path / "in"
    source.mkdir()
    for at, part in enumerate((some[:3], some[3:])):
        parquet.write_table(pa.Table.from_pylist(part), source / f"{at}.parquet")
    options = ("--metrics", "VIFIDEL-H", "--looked-for", "all")
    result = done(source, "--output", tmp_path / "out", *options)
    message = manifest(tmp_path / "out")["scores"]
    assert message["VIFIDEL_Hi"] == {"score": 3 / 6, "rows": 5}
    assert message["VIFIDEL_Hs"] == {"score": 3 / 5, "rows": 5}
    assert message["VIFIDEL_T"]["rows"] == 4
    assert "VIFIDEL_Hi: 0.5000 (over 5 rows; lower is better)" in result.stdout
    scorer = VifidelH(references=False, looked_for="all")
    of_run = scorer.evaluate(make_rows(
        [row["caption"] for row in (*some[:4], some[5])],
        objects=[*[dict.fromkeys(seen, 1)] * 4, {}],
    ))  # fmt: skip
    for name, evaluation in of_run.items():
        assert message[name.replace("-", "_")]["score"] == pytest.approx(
            evaluation.score, abs=1e-15
        )


def test_what_was_looked_for_is_said_by_the_table_or_by_the_user(tmp_path):
    lines = [
        {"caption": "a squirrel, a nut and a lamp", "labels": [("squirrel", 1), ("nut", 0)]},
        {"caption": "a nut", "labels": [("squirrel", 1)]},
    ]
    source = tmp_path / "in"
    source.mkdir()
    kind = pa.schema([("caption", pa.string()), ("labels", pa.map_(pa.string(), pa.int64()))])
    parquet.write_table(pa.Table.from_pylist(lines, kind), source / "a.parquet")
    result = done(source, "--output", tmp_path / "out", "--metrics", "VIFIDEL-H")
    message = manifest(tmp_path / "out")
    assert message["scores"]["VIFIDEL_Hi"] == {"score": 1 / 2, "rows": 1}
    assert message["statuses"]["nothing looked for"] == 1
    assert message["unconfirmed"] == 2
    assert "mentions unconfirmed: 2" in result.stdout
    warned = " ".join(result.stderr.split())
    assert "the objects of 1 caption do not say what was looked for" in warned
    declared = ("--metrics", "VIFIDEL-H", "--looked-for", "all")
    done(source, "--output", tmp_path / "all", *declared)
    assert manifest(tmp_path / "all")["scores"]["VIFIDEL_Hi"] == {"score": 3 / 4, "rows": 2}
    assert "looked-for:all" in manifest(tmp_path / "all")["signature"]


def test_rows_that_pass_are_kept_and_the_others_counted(tmp_path):
    source = tables(tmp_path / "in")
    done(source, "--output", tmp_path / "all")
    conditions = ["--keep", "VIFIDEL-P >= .5", "--keep", "id < 30"]
    result = done(source, "--output", tmp_path / "some", *conditions)
    kept = 0
    for at in range(3):
        every = parquet.read_table(tmp_path / "all" / f"part-{at}.parquet").to_pylist()
        some = parquet.read_table(tmp_path / "some" / f"part-{at}.parquet").to_pylist()
        assert some == [row for row in every if (row["VIFIDEL_P"] or 0) >= 0.5 and row["id"] < 30]
        kept += len(some)
    assert 0 < kept < 90
    assert f"120 rows in 3 files, {kept} kept ({kept / 120:.1%})" in result.stdout
    message, of_all = manifest(tmp_path / "some"), manifest(tmp_path / "all")
    assert (message["kept"], message["rows"]) == (kept, 120)
    for same in ("scores", "statuses", "signature"):
        assert message[same] == of_all[same]


@pytest.mark.parametrize("style", ["parquet", "arrow"])
def test_a_file_of_which_no_row_passes_is_there(tmp_path, style):
    source = tables(tmp_path / "in", files=1)
    parquet.write_table(pa.Table.from_pylist(rows(1)).slice(1), source / "empty.parquet")
    result = done(source, "--output", tmp_path / "out", "--keep", "VIFIDEL > 1", "--format", style)
    for name in ("part-0", "empty"):
        path = tmp_path / "out" / f"{name}.{style}"
        read = parquet.read_table if style == "parquet" else feather.read_table
        table = read(path)
        assert len(table) == 0
        assert table.schema.field("VIFIDEL_P").type == pa.float64()
    assert "40 rows in 2 files, 0 kept (0.0%)" in result.stdout


def test_bad_rows_stop_nothing_unless_strict(tmp_path):
    some = [
        {"caption": "<think>a cat</think>a dog", "labels": ["dog"]},
        {"caption": None, "labels": ["dog"]},
        {"caption": "a dog", "labels": ["dog", None]},
        {"caption": "the of", "labels": ["dog"]},
        {"caption": "a dog", "labels": None},
    ]
    parquet.write_table(pa.Table.from_pylist(some), tmp_path / "a.parquet")
    result = done(tmp_path / "a.parquet", "--output", tmp_path / "out")
    statuses = parquet.read_table(tmp_path / "out" / "a.parquet")["status"].to_pylist()
    assert statuses == ["ok", "bad caption", "bad labels", "no words", "no objects"]
    assert "  bad labels: 1" in result.stdout.splitlines()
    assert manifest(tmp_path / "out")["reasoning"] == 1
    strict = invoke(tmp_path / "a.parquet", "--output", tmp_path / "strict", "--strict")
    refused(strict, "a.parquet: row 1: the caption is ")
    assert not (tmp_path / "strict").exists()


def test_references_and_scores_in_a_column_of_their_own(tmp_path):
    table = pa.table({
        "text": ["a dog", "a cat"], "refs": [["a dog runs"], ["a cat sits"]],
        "names": [["dog", "boat"], ["cat"]], "confidence": [[0.9, 0.2], [0.7]],
    })  # fmt: skip
    parquet.write_table(table, tmp_path / "a.parquet")
    columns = ["--caption", "text", "--references", "refs"]
    done(tmp_path / "a.parquet", "--output", tmp_path / "out", *columns, "--labels", "names",
         "--label-scores", "confidence", "--metrics", "vifidel,wmd,vifidel-h")  # fmt: skip
    message = manifest(tmp_path / "out")
    assert "objects:rows>=0.6" in message["signature"]
    assert message["settings"]["metrics"] == ["VIFIDEL", "WMD", "VIFIDEL-H"]
    result = done(tmp_path / "a.parquet", "--output", tmp_path / "bare", *columns, "--no-labels")
    assert "VIFIDEL_P: " in result.stdout


# What is refused


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--keep", "VIFIDEL"], "is not a condition"),
        (["--threshold", "nan"], "not a number"),
        (["--no-labels"], "give --references"),
        (["--id-column", "id"], "--id-column is only for --objects"),
        (["--no-labels", "--label-scores", "a", "--references", "b"], "needs --labels"),
        (["--references", "caption"], "the column 'caption' is named twice"),
    ],
)
def test_usage(tmp_path, arguments, sentence):
    source = tables(tmp_path / "in", files=1)
    refused(invoke(source, "--output", tmp_path / "out", *arguments), sentence, status=2)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--caption", "text"], "no column 'text'; its columns are id, caption, labels"),
        (["--labels", "tags"], "name the column of object labels (--labels, labels=...), or give"),
        (["--keep", "nosuch > 1"], "--keep 'nosuch > 1': there is no column 'nosuch'"),
        (["--keep", "caption > 1"], "the column 'caption' holds string"),
        (["--keep", "status >= 1"], "the column 'status' holds string"),
        (["--vectors", "./gone.txt"], "gone.txt"),
    ],
)
def test_what_does_not_fit_is_refused_before_the_first_row(tmp_path, arguments, sentence):
    source = tables(tmp_path / "in")
    refused(invoke(source, "--output", tmp_path / "out", *arguments), sentence)
    assert not (tmp_path / "out").exists()


def test_a_bad_file_is_refused_before_the_first_row(tmp_path):
    source = tables(tmp_path / "in")
    parquet.write_table(pa.table({"caption": ["a"]}), source / "z.parquet")
    refused(invoke(source, "--output", tmp_path / "out"), "z.parquet: the table has no column")
    (source / "z.parquet").write_bytes((source / "part-0.parquet").read_bytes()[:-9])
    refused(invoke(source, "--output", tmp_path / "out"), "z.parquet: cannot be read as Parquet")
    scored = [[{"label": "dog", "score": 0.5}]]
    parquet.write_table(pa.table({"caption": ["a"], "labels": scored}), source / "z.parquet")
    refused(invoke(source, "--output", tmp_path / "out"), "labels have scores in one of them only")
    (source / "z.parquet").unlink()
    done(source, "--output", tmp_path / "out")
    again = invoke(tmp_path / "out" / "part-0.parquet", "--output", tmp_path / "again")
    refused(again, "part-0.parquet: the table already has a column 'VIFIDEL'")


def test_outputs_of_one_name(tmp_path):
    one, other = tables(tmp_path / "one", files=1), tables(tmp_path / "other", files=1)
    result = invoke(one, other, "--output", tmp_path / "out")
    refused(result, "both would be written to part-0.parquet", str(one), str(other))
    result = invoke(one, one / "part-0.parquet", "--output", tmp_path / "out")
    refused(result, "is given twice")
    (one / "A.csv").write_text("caption,labels\n")
    shutil.copy(one / "part-0.parquet", other / "a.parquet")
    result = invoke(one / "A.csv", other / "a.parquet", "--output", tmp_path / "out")
    refused(result, "both would be written to")


def test_folders_that_cannot_be_the_output(tmp_path):
    source = tables(tmp_path / "in", files=1)
    table = source / "part-0.parquet"
    (tmp_path / "file").write_text("precious")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "notes.txt").write_text("precious")
    before = content(tmp_path)
    for given, output, message in (
        (source, source, "the output would replace an input"),
        (source, source / "out", "would be in a folder that is read"),
        (source, source / "gone" / "out", "would be in a folder that is read"),
        (table, source, "is in the folder of the output"),
        (table, tmp_path, "is in the folder of the output"),
        (table, table, "the output would replace an input"),
        (table, tmp_path / "file", "is a file; name a folder"),
        (table, tmp_path / "file" / "out", "there is no folder above it"),
        (table, tmp_path / "full", "the folder is not empty"),
        (table, tmp_path / "gone" / "out", "there is no folder above it"),
        (table, "s3://bucket/out", "is an address; name a local folder"),
    ):
        refused(invoke(given, "--output", output), message)
    assert content(tmp_path) == before


def test_lists_in_cells_are_references_and_a_caption_may_be_alone_in_one(tmp_path):
    captions = ["a dog runs", "[UNK] dog", "a cat", "a cat"]
    references = [["a dog.", "a brown dog."], ["it's a dog"], ["a cat"], []]
    labels = [["dog"], ["dog", "ball"], ["cat"], ["cat"]]
    cells = ["['a dog runs']", "[UNK] dog", "['a cat', 'a sofa']", "['a cat' 'a sofa']"]
    plain = {"caption": captions, "refs": references, "labels": labels}
    parquet.write_table(pa.table(plain), tmp_path / "lists.parquet")
    in_text = {"caption": cells, "refs": map(str, references), "labels": map(str, labels)}
    with (tmp_path / "cells.csv").open("w", newline="") as file:
        csv.writer(file).writerows([in_text, *zip(*in_text.values(), strict=True)])
    options = ["--references", "refs", "--metrics", "VIFIDEL,WMD"]
    result = {}
    for name in ("lists.parquet", "cells.csv"):
        out = tmp_path / f"of-{name}"
        done(tmp_path / name, "--output", out, *options)
        result[name] = parquet.read_table(next(out.glob("*.parquet"))).to_pylist()
    for expected, row in zip(result["lists.parquet"][:2], result["cells.csv"], strict=False):
        assert (row["VIFIDEL"], row["WMD"]) == (expected["VIFIDEL"], expected["WMD"])
        assert row["status"] == "ok"
    assert [row["status"] for row in result["cells.csv"][2:]] == ["bad caption"] * 2
    strict = invoke(tmp_path / "cells.csv", "--output", tmp_path / "s", *options, "--strict")
    assert "cells.csv: row 2: the caption is neither a string nor a list of one" in (strict.stderr)


# Text that is not UTF-8


def not_utf8(values):
    return pa.array(values, pa.binary()).view(pa.string())


@pytest.mark.parametrize("end", ["parquet", "arrow"])
def test_text_that_is_not_utf8_makes_a_bad_row(tmp_path, end):
    captions = not_utf8([b"a dog", b"caf\xe9", b"a dog", b"a dog"])
    labels, refs = not_utf8([b"dog", b"dog", b"d\xffg", b"dog"]), not_utf8([b"dog"] * 3 + [b"\x80"])
    offsets = pa.array(range(5), pa.int32())
    table = pa.table({
        "caption": captions, "labels": pa.ListArray.from_arrays(offsets, labels),
        "refs": pa.ListArray.from_arrays(offsets, refs), "other": captions,
    })  # fmt: skip
    path = tmp_path / f"a.{end}"
    parquet.write_table(table, path) if end == "parquet" else feather.write_feather(table, path)
    done(path, "--output", tmp_path / "out", "--references", "refs")
    written = parquet.read_table(tmp_path / "out" / "a.parquet")
    statuses = ["ok", "bad caption", "bad labels", "bad references"]
    assert written["status"].to_pylist() == statuses
    assert written["VIFIDEL"].to_pylist() == [1.0, None, None, None]
    for name in ("caption", "other"):
        assert written[name].cast(pa.binary()).to_pylist() == captions.cast(pa.binary()).to_pylist()


@pytest.mark.parametrize("end", ["csv", "jsonl"])
def test_bytes_of_text_files_that_are_not_utf8_make_a_bad_row(tmp_path, end):
    rows_of_text = [(b"a dog", b"dog"), (b"caf\xe9", b"dog"), (b"a dog", b"d\xffg")]
    head, row = {
        "csv": (b"caption,labels\n", b'%b,"[""%b""]"\n'),
        "jsonl": (b"", b'{"caption": "%b", "labels": ["%b"]}\n'),
    }[end]
    (tmp_path / f"a.{end}").write_bytes(head + b"".join(row % texts for texts in rows_of_text))
    done(tmp_path / f"a.{end}", "--output", tmp_path / "out")
    table = parquet.read_table(tmp_path / "out" / "a.parquet")
    assert table["status"].to_pylist() == ["ok", "bad caption", "bad labels"]
    assert table["caption"].cast(pa.binary())[1].as_py() == b"caf\xe9"


GERMAN = ["Ein Hund läuft mit dem Ball über die Wiese.", "Eine Katze sitzt auf dem Sofa."]


@pytest.mark.parametrize(
    ("captions", "sentence"),
    [
        (GERMAN * 5, "seem to be German"),
        (["犬がdogと草原を走る"] * 5, "have no blanks between words"),
        (["a dog runs on the grass with a ball"] * 5, ""),
    ],
)
def test_a_language_that_is_not_english_is_warned_of(tmp_path, captions, sentence):
    source = tmp_path / "a.parquet"
    parquet.write_table(
        pa.table({"caption": captions, "labels": [["dog"]] * len(captions)}), source
    )
    shown = done(source, "--output", tmp_path / "out").stderr
    assert (f"captions of {source} {sentence}" if sentence else "") in shown
    assert ("captions of" in shown) == bool(sentence)
