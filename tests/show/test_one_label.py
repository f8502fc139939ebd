"""A class has one name in all outputs of a run, that of the objects; an idea has one word."""

import json
import re

import pytest

CLASSES = {"couch": "sofa", "laptop": "laptop computer", "cell phone": "cellular telephone"}
WORDS = ("settee", "notebook computer", "cellphone")
OBJECTS = {1: {"couch": 1}, 2: {"laptop": 1}, 3: {"cell phone": 1}, 4: dict.fromkeys(CLASSES, 1)}
OTHER_WORDS = re.compile("not in the image|unmentioned|invent|hallucin|denied|absent|doubt", re.I)


@pytest.fixture(scope="module")
def outputs(tmp_path_factory, run):
    """Return what each command says of one run, by name, without the captions."""
    folder = tmp_path_factory.mktemp("run")
    caption = f"a {WORDS[0]} with a {WORDS[1]} and a {WORDS[2]}"
    for name, content in {"objects": OBJECTS, "mine": dict.fromkeys(OBJECTS, caption)}.items():
        (folder / f"{name}.json").write_text(json.dumps(content), "utf-8")
    known = [folder / "mine.json", "--objects", folder / "objects.json", "--looked-for", "coco"]
    report, saved, rows = folder / "r.html", folder / "saved.json", folder / "rows.csv"
    metrics = ["--metrics", "VIFIDEL-PRF,VIFIDEL-H", "--report", report, "--output", saved]
    commands = {
        "score": ["score", *known, *metrics],
        "explain": ["explain", *known, "--inventions", rows],
        "markdown": ["explain", *known, "--format", "markdown"],
        "explain JSON": ["explain", *known, "--format", "json"],
        "image": ["explain", *known, "--image", 1],
        "image JSON": ["explain", *known, "--image", 1, "--format", "json"],
        "table": ["table", saved, "--full"],
    }
    message = {}
    for name, command in commands.items():
        done = run(*command)
        assert done.exit_code == 0, done.output
        message[name] = done.stdout
    files = {path.name: path.read_text("utf-8") for path in (report, saved, rows)}
    return message | files


def test_every_output_has_the_label_of_the_objects(outputs):
    for name, text in outputs.items():
        for label, of_list in CLASSES.items():
            assert of_list not in text, (name, of_list)
            if name not in ("score", "table"):
                assert label in text, (name, label)
    assert "cell phone, couch" in outputs["score"]  # the two commonest


def test_printed_words(outputs):
    for name in ("explain", "markdown", "image", "score"):
        assert OTHER_WORDS.findall(outputs[name].partition("Next:")[0]) == [], name
    verdicts = {line.rsplit(",", 2)[1] for line in outputs["rows.csv"].splitlines()[1:]}
    assert verdicts == {"made up"}
