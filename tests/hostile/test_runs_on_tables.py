"""Disturbances of a run of ``score-table``: foreign state, odd numbers, damaged files."""

import json
import os
import random
import shutil
import subprocess
import sys
from itertools import product

import pytest
from conftest import call, content, refused
from hostile.command import ROOT
from hostile.test_doors import changed, places

from vifidel_eval.errors import VifidelError

pa = pytest.importorskip("pyarrow", reason="needs pyarrow")
feather = pytest.importorskip("pyarrow.feather")
parquet = pytest.importorskip("pyarrow.parquet")


def tables(folder, files=3, rows=50):
    folder.mkdir()
    for at in range(files):
        table = pa.table({
            "id": range(rows), "caption": [f"a dog and {at} cats"] * rows,
            "labels": [["dog", "cat"][: 1 + at % 2]] * rows, "text": [os.urandom(40).hex()] * rows,
        })  # fmt: skip
        parquet.write_table(table, folder / f"part-{at}.parquet")
    return folder


def score(source, output, *arguments):
    options = ("--output", output, "--workers", "1", "--metrics", "VIFIDEL-PRF", *arguments)
    return call("score-table", source, *options)


def done(result):
    assert result.exit_code == 0, result.output


HOSTILE = [None, True, -1, 1e999, 10**400, "", "../precious", "x" * 5000, "\0", [], {}, [[]]]


@pytest.mark.slow
def test_a_manifest_with_any_other_value(tmp_path):
    """Whatever is changed, all is scored anew, or one sentence refuses; and nothing is lost."""
    source = tables(tmp_path / "in", files=1)
    done(score(source, tmp_path / "good"))
    (tmp_path / "precious").write_text("precious")
    good = content(tmp_path / "good")
    state = json.loads(good["manifest.json"])
    chance = random.Random(0)
    # Of the numbers of a run nothing is read again; each value of the rest becomes another one.
    read = [path for path in places(state) if path[:1] in ((), ("files",), ("versions",))]
    read += [("settings",), ("signature",), ("command",)]
    out = tmp_path / "out"
    for path in read:
        for value in chance.sample(HOSTILE, 3):
            shutil.rmtree(out, ignore_errors=True)
            shutil.copytree(tmp_path / "good", out)
            (out / "manifest.json").write_text(json.dumps(changed(state, path, value)))
            before, result = content(out), score(source, out)
            if result.exit_code:
                refused(result, str(out))
                assert content(out) == before
            else:
                assert content(out) == good, (path, value)
    assert (tmp_path / "precious").read_text() == "precious"


@pytest.mark.parametrize(
    "number", ["1e400", "-1E+400", "1" * 5000, "1" * 400 + ".5", '{"a": [1e999]}'], ids=range(5)
)
def test_numbers_of_json_lines_that_no_table_holds(tmp_path, number):
    source, out = tmp_path / "in.jsonl", tmp_path / "out"
    row = '{"caption": "a dog", "labels": ["dog"], "x": %s}\n'
    source.write_text(row % "5" + "\n" + row % number)
    refused(score(source, out), "in.jsonl: ", "line 3")
    source.write_text(row % "5" + row % "1.7e308" + row % '"1e400"' + row % "1e-400")
    done(score(source, out))
    result = parquet.read_table(out / "in.parquet").column("x").to_pylist()
    assert result == ["5", "1.7e+308", "1e400", "0.0"]


# Damage

DAMAGED = """
from pathlib import Path
from hostile.test_runs_on_tables import score
for path in Path().glob("*.arrow"):
    style = path.name.partition("-")[0]
    r = score(path, f"of {path}", "--format", style, "--keep", "VIFIDEL-P >= 0")
    assert r.exception is None or isinstance(r.exception, SystemExit), (path, r.exception)
    print(r.exit_code, r.stderr)
"""


@pytest.mark.slow
def test_damaged_arrow_files_do_not_kill_the_process(tmp_path):
    """In a process of its own, so that a crash would be seen."""
    rows = 300
    words = pa.array([f"word {at % 7}" for at in range(rows)])
    table = pa.table({
        "caption": ["a dog", "a cat", "b"] * 100, "labels": [["dog"], ["cat", "x"], []] * 100,
        "word": words.dictionary_encode(), "map": pa.array(
            [[("a", 1)], None, []] * 100, pa.map_(pa.string(), pa.int64())),
        "nest": [{"a": ["x"]}, None, {"a": None}] * 100,
        "large": pa.array(["x", "yy", None] * 100, pa.large_string()),
        "view": pa.array(["x" * 20, None, "y"] * 100, pa.string_view()),
    })  # fmt: skip
    chance = random.Random(9)
    for style, compression in product(("arrow", "parquet"), ("uncompressed", "lz4", "zstd")):
        of_style = table if style == "arrow" else table.drop(["word"])
        feather.write_feather(of_style, tmp_path / "a.arrow", compression=compression)
        whole = (tmp_path / "a.arrow").read_bytes()
        for at in range(12):
            damaged = bytearray(whole)
            for _ in range(chance.choice([1, 4, 16])):
                place = chance.randrange(len(whole) * 2 // 3)
                damaged[place] = chance.choice([0, 127, 255, chance.randrange(256)])
            (tmp_path / f"{style}-{compression}-{at}.arrow").write_bytes(damaged)
    (tmp_path / "a.arrow").unlink()
    environment = {**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'tests'}"}
    result = subprocess.run(
        [sys.executable, "-c", DAMAGED], cwd=tmp_path, env=environment, timeout=240,
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert result.returncode == 0, result.stderr[-2000:]
    assert result.stdout.count("cannot be read as Arrow") > 10


def test_damaged_batches_are_refused():
    from vifidel_eval.tables import TableScorer

    offsets = pa.py_buffer(b"".join(n.to_bytes(4, "little") for n in (0, 2**31 - 1, 3, 5)))
    text = pa.StringArray.from_buffers(3, offsets, pa.py_buffer(b"a dog"))
    lists = pa.Array.from_buffers(
        pa.list_(pa.string()), 3, [None, offsets], children=[pa.array(["dog"] * 5)]
    )
    good = pa.array([["dog"]] * 3)
    scorer = TableScorer(references="refs")
    for of, columns in (
        ("captions", (text, good, good)),
        ("labels", (pa.array(["a dog"] * 3), lists, good)),
        ("references", (pa.array(["a dog"] * 3), good, lists)),
    ):
        batch = pa.record_batch(list(columns), ["caption", "labels", "refs"])
        for damaged in (batch, pa.Table.from_batches([batch])):
            with pytest.raises(VifidelError, match=f"the column of {of} is damaged"):
                scorer(damaged)
