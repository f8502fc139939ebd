import json

import pytest
from conftest import call
from example_files import EXAMPLE

CAREFUL, _, REFERENCES, OBJECTS = EXAMPLE


def score(*arguments, stdin=None):
    options = ("--objects", OBJECTS, "--metrics", "VIFIDEL", "--format", "json")
    return call("score", *arguments, *options, input=stdin)


def overall(result):
    assert result.exit_code == 0, result.stderr
    (system,) = json.loads(result.stdout)["systems"].values()
    return system["overall"]


@pytest.fixture(scope="module")
def references():
    result = {}
    for annotation in json.loads(REFERENCES.read_text())["annotations"]:
        result.setdefault(annotation["image_id"], []).append(annotation["caption"])
    return result


@pytest.fixture(scope="module")
def expected():
    return overall(score(CAREFUL, "--references", REFERENCES))


def test_splits(tmp_path, references, expected):
    images = [
        {"cocoid": i, "split": ("val", "test")[i % 2], "sentences": [{"raw": t} for t in texts]}
        for i, texts in references.items()
    ]
    path = tmp_path / "dataset_coco.json"
    path.write_text(json.dumps({"images": images, "dataset": "coco"}))
    both = score(CAREFUL, "--references", path, "--split", "val", "--split", "test")
    assert overall(both) == expected
    unnamed = score(CAREFUL, "--references", path)
    assert unnamed.exit_code == 1
    assert "choose with --split" in unnamed.stderr
    one = score(CAREFUL, "--references", path, "--split", "val")
    assert one.exit_code == 1
    assert "the reference side lacks" in one.stderr


@pytest.mark.parametrize("turned", [False, True])
def test_standard_input(turned, expected):
    arguments = (CAREFUL, "--references", "-") if turned else ("-", "--references", REFERENCES)
    piped = REFERENCES if turned else CAREFUL
    assert overall(score(*arguments, stdin=piped.read_bytes())) == expected


def test_stop_words_are_those_of_a_file(tmp_path, expected):
    (tmp_path / "words.txt").write_text("dog\nthe a\n", "utf-8")
    result = score(CAREFUL, "--references", REFERENCES, "--stop-words", tmp_path / "words.txt")
    assert overall(result) != expected
    assert "|stop:3#" in json.loads(result.stdout)["signatures"]["VIFIDEL"]
