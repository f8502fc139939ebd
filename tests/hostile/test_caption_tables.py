"""Tables and records of captions that are broken, contradict themselves or are odd."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from conftest import refused
from hostile import command
from hostile.command import OBJECTS, REFERENCES, RESULTS
from hostile.test_readers import mutated_bytes, reads_or_refuses
from hypothesis import given, settings
from hypothesis import strategies as st

from vifidel_eval import VifidelError
from vifidel_eval.captions import read_references, read_results

DATA = Path(__file__).parents[1] / "data" / "captions"
HEAD = "image_id,caption\n"
RECORD = '{"image_id": 1, "caption": "A dog."}\n'

BROKEN = [
    # quotes
    (HEAD + '1,"A dog.\n2,A cat.\n', "line 2 is not CSV"),
    (HEAD + '1,"A dog.\n2,"A cat."\n', "line 2 is not CSV"),
    (HEAD + '1,"A "brown" dog."\n', "line 2 is not CSV"),
    (HEAD + '1,"A\ndog."\n2,"A cat.\n', "line 4 is not CSV"),
    ("image_id\tcaption\n1\t\"A dog.\n", "line 2 is not TSV"),
    ('"image_id,caption\n1,A dog.\n', "line 1 is not CSV"),
    # fields
    (HEAD + "1,A dog, a cat.\n", "line 2 has 3 fields but the header has 2"),
    (HEAD + "1,A dog.\n\n2\n", "line 4 has 1 fields but the header has 2"),
    (HEAD + '1,"A\ndog."\n2,A,cat.\n', "line 4 has 3 fields"),
    (HEAD + "1," + "a" * (1 << 21) + "\n", "line 2 is not CSV (field larger than field limit"),
    # header
    ("image_id,caption,caption\n1,A dog.,A cat.\n", "names the column 'caption' twice"),
    ("image_id,image_id,caption\n1,2,A cat.\n", "names the column 'image_id' twice"),
    ("1,A dog.\n2,A cat.\n", "no known layout has '1', 'A dog.'"),
    ("image_id,caption\n", "there is no caption in it"),
    (HEAD.replace(",", ";") + "1;A dog, a cat.\n1;A cat.\n", "two captions for image 1"),
    # ids
    (HEAD + "1,A dog.\n1,A cat.\n", "two captions for image 1 (line 2 and line 3); keep one (if "),
    (HEAD + "1,A dog.\n000000000001,A cat.\n", "mean the same image"),
    (HEAD + "1,A dog.\n,A cat.\n", "line 3: 'image_id' is empty"),
    (HEAD + "1,A dog.\n  ,A cat.\n", "line 3: 'image_id' is empty"),
    # JSON Lines
    (RECORD + '{"image_id": 2, "caption": "A c\n', "line 2 is not JSON (column 28"),
    (RECORD + '{"image_id": 2, "caption": "A cat."}, \n', "line 2 is not JSON"),
    (RECORD + "\n" + RECORD, "two captions for image 1 (line 1 and line 3)"),
    (RECORD + '{"image_id": 2, "caption": "a", "caption": "b"}', "line 2: the key 'caption' "),
    (RECORD + '{"image_id": 2}', "line 2 (image 2): the caption is missing"),
    (RECORD + '{"caption": "A cat."}', "line 2: 'image_id' is missing"),
    (RECORD + '{"image_id": {"path": "a"}, "caption": "A cat."}', "line 2: 'image_id' is {'path'"),
    (RECORD + '{"image_id": 2, "caption": ["a", "b"]}', "line 2 (image 2): 2 captions for one"),
    (RECORD + '{"image_id": 2, "caption": [{}]}', "line 2 (image 2): the caption is {}, not a str"),
    (RECORD + '{"image_id": 2, "caption": ' + "[" * 100_000 + "}", "line 2"),
    (RECORD + '{"image_id": ' + "1" * 5000 + "}", "line 2"),
    (RECORD + "[1, 2]", "not JSON (line 2"),
    # other shapes
    ('{"image_id": {"0": 1}, "caption": {"0": "A dog."}}', "a table written column by column"),
    ("\ufeff", "the file is empty"),
    ("\n\n", "the file is empty"),
    ("A dog on a couch.", "no known layout begins with"),
    ("A dog, on a couch.", "there is no caption in it"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "message"), BROKEN)
def test_broken_table(tmp_path, text, message):
    path = tmp_path / "captions.txt"
    path.write_text(text, encoding="utf-8", newline="")
    with pytest.raises(VifidelError) as problem:
        read_results(path)
    assert message in str(problem.value)
    assert str(path) in str(problem.value)
    assert "\n" not in str(problem.value)
    assert len(str(problem.value)) < 600 + len(str(path))


@pytest.mark.parametrize(
    ("text", "results"),
    [
        ("\ufeff" + HEAD + "1,A dog.\n", {1: "A dog."}),
        (HEAD.replace("\n", "\r\n") + '1,"A\r\ndog."\r\n', {1: "A\ndog."}),
        (HEAD + "1,\n", {1: ""}),
        (HEAD + '"1"," ""A"" dog, "', {1: ' "A" dog, '}),
        (HEAD + "\n\n1,=cmd|calc\n", {1: "=cmd|calc"}),
        (HEAD + '1,"' + "a" * 200_000 + '"\n', {1: "a" * 200_000}),
        (HEAD + "1,A\u2028dog.\n", {1: "A\u2028dog."}),
        (RECORD, {1: "A dog."}),
        (RECORD + "  \n", {1: "A dog."}),
        ("\ufeff" + RECORD + '{"image_id": "1.jpg", "caption": "\\ud800"}', {
            1: "A dog.", "1.jpg": "\ud800",
        }),
        ("caption,image_id\nA dog.,007\n", {"007": "A dog."}),
    ],
)  # fmt: skip
def test_odd_table(tmp_path, text, results):
    path = tmp_path / "captions.txt"
    path.write_text(text, encoding="utf-8", newline="")
    assert read_results(path) == results


@pytest.mark.parametrize("name", sorted(path.name for path in DATA.iterdir()))
@pytest.mark.parametrize("read", [read_results, read_references])
@settings(max_examples=25, derandomize=True, database=None)
@given(data=st.data())
def test_any_mutation_of_an_example(tmp_path_factory, read, name, data):
    path = tmp_path_factory.getbasetemp() / f"mutated-{name}"
    path.write_bytes(data.draw(mutated_bytes((DATA / name).read_text(encoding="utf-8"))))
    reads_or_refuses(read, path)


@settings(max_examples=25, derandomize=True, database=None)
@given(data=st.data())
def test_any_damage_to_parquet(tmp_path_factory, data):
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    whole = io.BytesIO()
    pq.write_table(pa.table({"image_id": [1, 2], "caption": ["A dog.", "A cat."]}), whole)
    raw = bytearray(whole.getvalue())
    for _ in range(data.draw(st.integers(1, 4))):
        raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))
    path = tmp_path_factory.getbasetemp() / "damaged.parquet"
    path.write_bytes(raw[: data.draw(st.integers(len(raw) // 2, len(raw)))])
    reads_or_refuses(read_results, path)


# Standard input


def test_results_from_standard_input():
    piped = command.run(
        *("score", "-", "--references", REFERENCES, "--objects", OBJECTS),
        *("--metrics", "VIFIDEL", "--format", "json"),
        stdin=Path(RESULTS).read_bytes(),
    )
    read = command.run(
        *("score", RESULTS, "--references", REFERENCES, "--objects", OBJECTS),
        *("--metrics", "VIFIDEL", "--format", "json"),
    )
    assert piped.status == 0, piped.stderr
    of_piped, of_read = (json.loads(result.stdout)["systems"] for result in (piped, read))
    assert of_piped["stdin"] == of_read["careful"]


@pytest.mark.parametrize("stdin", [b"", b"\xff\xfe", b"[", b"{}", b"PAR1"])
def test_broken_standard_input(stdin, run):
    result = run("score", "-", "--no-references", "--objects", OBJECTS, input=stdin)
    refused(result, "standard input")


def test_standard_input_is_read_once(run):
    result = run("score", "-", "--references", "-", "--objects", OBJECTS, input=b"{}")
    refused(result, "- (standard input) is given 2 times", status=2)
