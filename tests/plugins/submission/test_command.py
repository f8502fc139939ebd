import csv
import json
from functools import partial

import pytest
from conftest import call

IDS = list(range(100, 130))


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """A folder with a list of images and faultless results, as the current folder."""
    monkeypatch.chdir(tmp_path)
    dump("images.json", {"images": [{"id": i} for i in IDS]})
    dump("mine.json", [{"image_id": i, "caption": f"image {i}"} for i in IDS])
    return tmp_path


def dump(name, content):
    with open(name, "w", encoding="utf-8") as file:
        json.dump(content, file)


check = partial(call, "submission", "check", "--images", "images.json")
write = partial(call, "submission", "write", "--images", "images.json", "--output", "out.json")


def with_string_ids():
    dump("mine.json", [{"image_id": str(i), "caption": f"image {i}"} for i in IDS])


def test_check_of_faultless_results_changes_nothing(folder):
    before = {path: path.read_bytes() for path in folder.iterdir()}
    result = check("mine.json")
    assert (result.exit_code, result.stdout) == (0, "No fault: 30 captions of mine.json\n")
    assert {path: path.read_bytes() for path in folder.iterdir()} == before


def test_check_shows_some_faults_of_a_kind_and_counts_the_rest():
    with_string_ids()
    result = check("mine.json")
    assert result.exit_code == 1
    lines = result.stdout.splitlines()
    assert lines[0].split() == ["File", "Entry", "Image", "Fault"]
    rows = lines[2:-2]
    assert [row.split()[:3] for row in rows[:10]] == [
        ["mine.json", str(n), str(100 + n)] for n in range(10)
    ]
    assert "... and 20 more: image id type (--all lists them)" in rows[10]
    assert len(rows) == 11
    assert lines[-1] == "30 faults; entries are counted from 0. Read: 30 captions of mine.json"
    everything = check("mine.json", "--all").stdout.splitlines()[2:-2]
    assert [row.split()[:3] for row in everything] == [
        ["mine.json", str(n), str(100 + n)] for n in range(30)
    ]


def test_csv_and_json_list_every_fault_of_all_files():
    with_string_ids()
    dump("other.json", [{"image_id": i, "caption": "a"} for i in IDS[:-1]])
    as_csv = check("mine.json", "other.json", "--format", "csv")
    as_json = check("mine.json", "other.json", "--format", "json")
    assert as_csv.exit_code == as_json.exit_code == 1
    rows = list(csv.DictReader(as_csv.stdout.splitlines()))
    document = json.loads(as_json.stdout)
    assert [row["Image"] for row in rows] == [*map(str, IDS), "129"]
    assert [fault["image_id"] for fault in document["faults"]] == [*IDS, 129]
    assert document["faults"][-1] == {
        "file": "other.json", "kind": "missing image", "what": "no caption for this image",
        "entry": None, "image_id": 129,
    }  # fmt: skip
    assert document["files"][1] == {"file": "other.json", "entries": 29}


def test_write_takes_any_captions_and_check_accepts_what_it_wrote(folder):
    rows = "".join(f"{i}.jpg,  a dog {i} \n" for i in reversed(IDS))
    (folder / "mine.csv").write_text("picture,words\n" + rows)
    fields = ("--id-field", "picture", "--caption-field", "words")
    result = write("mine.csv", *fields)
    assert (result.exit_code, result.stdout) == (0, "out.json: 30 captions\n")
    assert json.loads((folder / "out.json").read_text()) == [
        {"image_id": i, "caption": f"a dog {i}"} for i in IDS
    ]
    assert check("out.json").exit_code == 0


def test_write_lists_what_is_missing_and_leaves_an_older_file(folder):
    dump("mine.json", {str(i): "a dog" for i in IDS[:-1]})
    (folder / "out.json").write_text("older")
    result = write("mine.json")
    assert result.exit_code == 1
    assert "no caption for this image" in result.stdout
    assert result.stdout.splitlines()[-1] == (
        "1 fault. Read: 29 captions of mine.json; nothing was written."
    )
    assert (folder / "out.json").read_text() == "older"


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (["write", "mine.json", "--output", "gone/out.json"], 1, "no such folder"),
        (["check", "mine.json", "--images", "gone.json"], 1, "gone.json: no such file"),
    ],
)
def test_wrong_arguments(arguments, status, message):
    result = call("submission", *arguments)
    assert result.exit_code == status
    assert message in result.stderr
