"""What docs/architecture.md says of adding things, tried on a copy of the package."""

import json

import pytest
from package_copy import copy_package, run

FORMAT = '''
"""Objects as ``{"shown": [{"picture": 7, "what": ["dog"]}]}``."""

from .instances import Format, Way


def _read(content, found):
    for picture in content.entries("shown"):
        image_id = found.image_once(picture, "picture")
        for name in picture.texts("what"):
            found.add(image_id, name, picture)
    return found.object_labels("shown")


SHOWN = Format("what is shown", "what is shown", "", "", (Way("object", ("shown[]",), _read),))
'''
LAYOUT = '''
"""Captions as ``{"told": [{"picture": 7, "words": "a dog"}]}``."""

from .layouts import Layout


def _read(content, wanted):
    return {one.image_id("picture"): [one.text("words")] for one in content.entries("told")}


TOLD = Layout("what is told", "what is told", "yes", "", ("told[]",), None, _read)
'''
METRIC = '''
"""CAPITALS: how many capitals a caption has, and whether it has any."""

import numpy as np

from ..evaluation import Column, Evaluation
from .base import Scorer
from .record import Metric
from .registry import register


class Capitals(Scorer):
    """Capitals of captions."""

    columns = (Column("CAPITALS"), Column("CAPITALS-any", lower_is_better=True))

    def method(self):
        return "CAPITALS"

    def signature(self, image_ids=None):
        return "CAPITALS|own"

    def _evaluate(self, rows, on_progress):
        counts = np.array([sum(map(str.isupper, text)) for text in rows.captions], dtype=float)
        on_progress(len(rows))
        return {
            "CAPITALS": Evaluation(rows.ids, counts, counts={"shouted": 1}),
            "CAPITALS-any": Evaluation(rows.ids, np.minimum(counts, 1), lower_is_better=True),
        }


register(Metric("CAPITALS", "Capitals", Capitals, lambda settings: Capitals(), references=False))
'''


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    """The folder of a copy of the package in which everything has been added."""
    folder = tmp_path_factory.mktemp("copy")
    package = copy_package(folder)

    def add(path, before, line):
        text = (package / path).read_text("utf-8")
        assert text.count(before) == 1, (path, before)
        (package / path).write_text(text.replace(before, line + before), "utf-8")

    (package / "annotations/shown.py").write_text(FORMAT.lstrip(), "utf-8")
    add("annotations/read.py", '    "coco.INSTANCES",\n', '    "shown.SHOWN",\n')
    (package / "captions/told.py").write_text(LAYOUT.lstrip(), "utf-8")
    add("captions/__init__.py", '"datasets.COCO"', '"told.TOLD", ')
    (package / "scorers/capitals.py").write_text(METRIC.lstrip(), "utf-8")
    add(
        "evaluation.py",
        '    Count(\n        "missing",\n',
        '    Count("shouted", "shouted", "", True),\n',
    )
    add("io/text_tables.py", '"json")\n', '"rst", ')
    add("io/text_tables.py", '"markdown": "github"', '"rst": "rst", ')
    files = {
        "objects.json": {"shown": [{"picture": 7, "what": ["dog", "frisbee"]}]},
        "captions.json": {"told": [{"picture": 7, "words": "A DOG catches a frisbee"}]},
    }
    for name, content in files.items():
        (folder / name).write_text(json.dumps(content), "utf-8")
    return folder


def test_a_format_a_layout_a_metric_its_columns_a_count_and_a_style_are_found(copy):
    words = ["score", "captions.json", "--objects", "objects.json", "--no-references"]
    done = run(copy, *words, "--metrics", "VIFIDEL,CAPITALS", "--format", "rst")
    assert done.returncode == 0, done.stderr
    assert "====" in done.stdout  # a rule of reStructuredText
    for shown in ("CAPITALS", "CAPITALS-any", "4.0000", "1.0000"):
        assert shown in done.stdout
    as_json = json.loads(run(copy, *words, "--metrics", "CAPITALS", "--format", "json").stdout)
    assert as_json["systems"]["captions"]["counts"]["CAPITALS"]["shouted"] == 1
    assert "CAPITALS" in run(copy, "score", "--help").stdout


def test_an_error_in_what_was_added_names_the_entry(copy):
    (copy / "wrong.json").write_text('{"shown": [{"picture": 7}]}', "utf-8")
    refused = run(copy, "score", "captions.json", "--objects", "wrong.json", "--no-references")
    assert refused.returncode == 1
    assert refused.stderr.splitlines()[-1].startswith("Error: wrong.json: ")
    assert "'what' is missing" in refused.stderr
