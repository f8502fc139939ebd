"""The table of formats: README and the help print it."""

import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from vifidel_eval.annotations import read_objects
from vifidel_eval.annotations.formats import FORMATS, accepted, readme_rows
from vifidel_eval.commands.main import main
from vifidel_eval.errors import AnnotationError

README = Path(__file__).parents[2] / "README.md"


def test_readme_has_the_table():
    section = README.read_text("utf-8").split("\n## Image sides\n")[1].split("\n## ")[0]
    rows = [line for line in section.split("\n") if line.startswith("| ")]
    assert rows[1:] == readme_rows()


@pytest.mark.parametrize("command", ["score", "explain"])
def test_help_lists_the_formats(command):
    told = " ".join(CliRunner().invoke(main, [command, "--help"]).output.split())
    plain = re.sub(r"\s", "", told)
    for known in FORMATS:
        assert re.sub(r"\s", "", known.name) in plain


def test_error_lists_the_formats(tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text("two dogs")
    with pytest.raises(AnnotationError) as problem:
        read_objects(path)
    assert str(problem.value) == f"{path}: not a source of objects; accepted: {accepted()}."
    assert all(known.name in accepted() for known in FORMATS)
    assert len(accepted()) < 500


def test_image_ids_may_be_paths(tmp_path):
    labels = {"val2017/000000000042.jpg": ["dog"], "a b/ü.png": {"labels": ["cat"]}}
    assert read_objects(labels) == {"val2017/000000000042.jpg": {"dog": 1}, "a b/ü.png": {"cat": 1}}
    path = tmp_path / "labels.json"
    path.write_text('{"val2017/000000000042.jpg": ["dog"]}')
    assert read_objects(path) == {"val2017/000000000042.jpg": {"dog": 1}}
