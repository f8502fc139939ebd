import csv
import json
import zipfile

import pytest
from click.testing import CliRunner

from vifidel_eval.commands.main import main

IDS = {"val2014": list(range(100, 130)), "test2014": [1, 16]}
VAL = "captions_val2014_mine_results.json"
TEST = "captions_test2014_mine_results.json"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with the image lists and two faultless result files, as the current folder."""
    monkeypatch.chdir(tmp_path)
    for split, images, results in (("val2014", "val.json", VAL), ("test2014", "test.json", TEST)):
        dump(images, {"images": [{"id": i} for i in IDS[split]]})
        dump(results, [{"image_id": i, "caption": f"image {i}"} for i in IDS[split]])
    return tmp_path


def dump(name, content):
    with open(name, "w", encoding="utf-8") as file:
        json.dump(content, file)


def run(command, *arguments):
    profile = ("--profile", "coco") if command == "check" else ()
    images = ("--images-val", "val.json", "--images-test", "test.json")
    return CliRunner().invoke(main, ["submission", command, *profile, *images, *arguments])


def with_string_ids():
    dump(VAL, [{"image_id": str(i), "caption": f"image {i}"} for i in IDS["val2014"]])


def test_check_of_a_faultless_submission(folder):
    before = sorted(folder.iterdir())
    result = run("check", VAL, TEST)
    assert result.exit_code == 0
    assert result.stdout == "No fault: 30 captions of val2014, 2 captions of test2014\n"
    assert "val.json: 30 images, but val2014 has 40504" in result.stderr
    assert sorted(folder.iterdir()) == before


def test_check_shows_some_faults_of_a_kind_and_counts_the_rest(folder):
    with_string_ids()
    result = run("check", VAL, TEST)
    assert result.exit_code == 1
    rows = result.stdout.splitlines()[2:-2]
    assert [row.split()[:3] for row in rows[:10]] == [
        [VAL, str(n), str(100 + n)] for n in range(10)
    ]
    assert "... and 20 more: image id type (--all lists them)  20 repairs" in rows[10]
    assert len(rows) == 11
    assert result.stdout.splitlines()[-1].startswith(
        "30 faults, of which pack --fix repairs 30; entries count from 0."
    )
    everything = run("check", VAL, TEST, "--all").stdout.splitlines()[2:-2]
    assert [row.split()[:3] for row in everything] == [
        [VAL, str(n), str(100 + n)] for n in range(30)
    ]


def test_csv_and_json_list_every_fault(folder):
    with_string_ids()
    dump(TEST, [{"image_id": 1, "caption": "a"}])
    as_csv = run("check", VAL, TEST, "--format", "csv")
    as_json = run("check", VAL, TEST, "--format", "json")
    assert as_csv.exit_code == as_json.exit_code == 1
    rows = list(csv.DictReader(as_csv.stdout.splitlines()))
    document = json.loads(as_json.stdout)
    assert [row["Image"] for row in rows] == [*map(str, IDS["val2014"]), "16"]
    assert [fault["image_id"] for fault in document["faults"]] == [*IDS["val2014"], 16]
    assert document["faults"][-1] == {
        "file": TEST,
        "kind": "missing image",
        "what": "no caption for this image",
        "entry": None,
        "image_id": 16,
        "repair": None,
    }
    assert document["files"][1] == {"file": TEST, "split": "test2014", "entries": 1}


def test_markdown(folder):
    dump(TEST, [{"image_id": 1, "caption": "a", "p|q": 1}, {"image_id": 16, "caption": "b"}])
    row = run("check", VAL, TEST, "--format", "markdown").stdout.splitlines()[2]
    cells = [cell.strip() for cell in row.split(" | ")]
    assert cells[1:4] == ["0", "1", 'the key "p\\|q", which the format does not have']


@pytest.mark.parametrize("style", ["csv", "json"])
def test_machine_formats_without_a_fault(folder, style):
    result = run("check", VAL, TEST, "--format", style)
    assert result.exit_code == 0
    if style == "csv":
        assert result.stdout == "File,Entry,Image,Fault,pack --fix\n"
    else:
        assert json.loads(result.stdout)["faults"] == []


def test_pack_writes_the_zip_that_check_accepts(folder):
    result = run("pack", VAL, TEST)
    assert result.exit_code == 0
    assert result.stdout == f"results.zip: {VAL} and {TEST}\n"
    with zipfile.ZipFile("results.zip") as archive:
        assert archive.namelist() == [VAL, TEST]
        assert json.loads(archive.read(TEST)) == json.loads((folder / TEST).read_text())
    assert run("check", "results.zip").exit_code == 0


def test_pack_refuses_faults_and_leaves_an_older_zip(folder):
    with_string_ids()
    (folder / "results.zip").write_bytes(b"older")
    result = run("pack", VAL, TEST)
    assert result.exit_code == 1
    assert "becomes 100" in result.stdout
    assert "Error: 30 faults, so there is no zip; --fix repairs 30 of them." in result.stderr
    assert (folder / "results.zip").read_bytes() == b"older"


def test_pack_lists_its_repairs_and_keeps_the_originals(folder):
    with_string_ids()
    before = (folder / VAL).read_bytes()
    result = run("pack", VAL, TEST, "--fix", "--all")
    assert result.exit_code == 0
    assert sum(f"becomes {i}" in result.stdout for i in IDS["val2014"]) == 30
    assert "30 repairs made in the zip, as listed." in result.stdout
    with zipfile.ZipFile("results.zip") as archive:
        assert [entry["image_id"] for entry in json.loads(archive.read(VAL))] == IDS["val2014"]
    assert (folder / VAL).read_bytes() == before


def test_pack_names_the_files(folder):
    (folder / VAL).rename("a.json")
    (folder / TEST).rename("b.json")
    result = run("pack", "a.json", "b.json")
    assert (result.exit_code, result.stdout.count("pack --algorithm")) == (1, 2)
    (folder / "upload").mkdir()
    output = "upload/results.zip"
    result = run("pack", "b.json", "a.json", "--algorithm", "best-1", "--output", output)
    assert result.exit_code == 0
    with zipfile.ZipFile(output) as archive:
        assert archive.namelist() == [
            "captions_val2014_best-1_results.json",
            "captions_test2014_best-1_results.json",
        ]


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (
            ["pack", VAL, TEST, "--output", "mine.zip"],
            2,
            "the server wants a zip called results.zip",
        ),
        (["pack", VAL, TEST, "--output", "gone/results.zip"], 1, "no such folder"),
        (["pack", "results.zip"], 1, "the output would replace an input"),
        (["check", VAL, "--images-val", "gone.json"], 1, "gone.json: no such file"),
    ],
)
def test_wrong_arguments(folder, arguments, status, message):
    result = run(*arguments)
    assert result.exit_code == status
    assert message in result.stderr


def test_image_lists_are_needed(folder):
    result = CliRunner().invoke(main, ["submission", "check", VAL, "--profile", "coco"])
    assert result.exit_code == 2
    assert "give --images-val" in result.stderr
    one = ["submission", "check", VAL, TEST, "--images-val", "val.json", "--profile", "coco"]
    assert "give --images-test." in CliRunner().invoke(main, one).stderr


def test_check_against_any_list_of_images(folder):
    with open("ids.txt", "w", encoding="utf-8") as file:
        file.writelines(f"{i}\n" for i in IDS["val2014"])
    result = CliRunner().invoke(main, ["submission", "check", VAL, "--images", "ids.txt"])
    assert (result.exit_code, result.stdout) == (0, f"No fault: 30 captions of {VAL}\n")
    with_string_ids()
    result = CliRunner().invoke(main, ["submission", "check", VAL, "--images", "val.json"])
    assert result.exit_code == 1
    assert result.stdout.split()[:6] == [
        "File",
        "Entry",
        "Image",
        "Fault",
        "Repair",
        "-" * len(VAL),
    ]
    assert result.stdout.splitlines()[-1] == (
        f"30 faults; entries count from 0. Read: 30 captions of {VAL}"
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "give --images FILE"),
        (["--images-val", "val.json"], "need --profile coco"),
        (["--profile", "coco", "--images", "val.json"], "takes --images-val and --images-test"),
    ],
)
def test_options_of_the_other_profile(folder, options, message):
    result = CliRunner().invoke(main, ["submission", "check", VAL, *options])
    assert result.exit_code == 2
    assert message in result.stderr
