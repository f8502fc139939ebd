"""What docs/architecture.md says of adding things, tried on a copy of the package."""

import json

import pytest
from package_copy import copy_package, python, run
from PIL import Image

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

    def __init__(self, most):
        super().__init__()
        self._most = most

    def method(self):
        return "CAPITALS"

    def signature(self, image_ids=None):
        return f"CAPITALS|most:{self._most}"

    def _evaluate(self, rows, on_progress):
        counts = [min(sum(map(str.isupper, text)), self._most) for text in rows.captions]
        counts = np.array(counts, dtype=float)
        on_progress(len(rows))
        return {
            "CAPITALS": Evaluation(rows.ids, counts, counts={"shouted": 1}),
            "CAPITALS-any": Evaluation(rows.ids, np.minimum(counts, 1), lower_is_better=True),
        }


register(
    Metric("CAPITALS", "Capitals", Capitals, lambda s: Capitals(s.capitals), references=False)
)
'''
DETECTOR = '''
"""SHADES: a dog in every picture, the surer the lighter it is."""

import numpy as np

from .detectors import Detector, Found, Prepared


class Shades(Detector):
    """What a model would be."""

    classes = ("dog", "lamp")
    enough, batch = 8, 2

    def __init__(self, files):
        self.files = files

    def versions(self):
        return {"shades": "1"}

    def prepare(self, picture, size):
        return Prepared({"pixels": np.asarray(picture.resize((8, 8)))}, size)

    def detect(self, pictures, asked, lowest):
        shades = [float(picture.inputs["pixels"].mean()) / 255 for picture in pictures]
        boxes = [(0.0, 0.0, *map(float, picture.size)) for picture in pictures]
        return [Found(["dog"], [shade], [box]) for shade, box in zip(shades, boxes)]
'''
OPTION = """\
    capitals: int = option(
        99, "How many capitals count.", int, section=INPUT, more="More are as good."
    )
"""
ORC = """\
        elif self.format == "ORC":
            form = ds.OrcFileFormat()
"""


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
    (package / "plugins/detect/shades.py").write_text(DETECTOR.lstrip(), "utf-8")
    place = '    if files.name == "shades":\n        return Shades(files)\n'
    add("plugins/detect/loading.py", '    if files.path.suffix.lower() == ".onnx":\n', place)
    add("plugins/detect/loading.py", "\n#: What can run models", "from .shades import Shades\n")
    add("io/text_tables.py", '"json")\n', '"rst", ')
    add("io/text_tables.py", '"markdown": "github"', '"rst": "rst", ')
    add("words/settings.py", "    references: bool = True  #: whether", OPTION)
    add("plugins/tables/files.py", '    ".csv": "CSV",\n', '    ".orc": "ORC",\n')
    add("plugins/tables/files.py", "        elif self.format in _PLAIN:\n", ORC)
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


def test_a_detector_is_used(copy):
    """Its model is a folder; that of a test needs no weights."""
    (copy / "shades").mkdir()
    (copy / "shades/config.json").write_text("{}")
    (copy / "shades/model.safetensors").touch()
    (copy / "photos").mkdir()
    for number, colour in ((7, "white"), (8, "black")):
        Image.new("RGB", (16, 8), colour).save(copy / f"photos/{number}.png")
    done = run(copy, "detect", "photos", "--model", "shades", "--output", "found.jsonl")
    assert done.stdout == "found.jsonl: 2 pictures read\n", done.stderr
    header, *lines = map(json.loads, (copy / "found.jsonl").read_text("utf-8").splitlines())
    assert (header["model"], header["classes"]) == ("shades", ["dog", "lamp"])
    assert [(line["image_id"], line["scores"]) for line in lines] == [
        ("7.png", [1]),
        ("8.png", [0]),
    ]
    words = ["score", "captions.json", "--no-references", "--metrics", "VIFIDEL-H"]
    for objects in (["found.jsonl"], ["photos", "--detector", "shades"]):
        scored = run(copy, *words, "--objects", *objects, "--format", "json")
        assert scored.returncode == 0, scored.stderr
        assert "VIFIDEL-Hi" in json.loads(scored.stdout)["systems"]["captions"]["overall"]


def test_an_option_is_one_of_the_command_of_evaluate_and_of_its_docstring(copy):
    words = ["score", "captions.json", "--objects", "objects.json", "--no-references"]
    done = run(copy, *words, "--metrics", "CAPITALS", "--capitals", "2", "--format", "json")
    assert json.loads(done.stdout)["systems"]["captions"]["overall"]["CAPITALS"] == 2, done.stderr
    assert "--capitals INTEGER" in run(copy, "score", "--help").stdout
    says = (
        "import inspect, vifidel_eval; evaluate = vifidel_eval.evaluate;"
        "print(inspect.signature(evaluate).parameters['capitals'].default, evaluate.__doc__);"
        "run = evaluate({'a': {1: 'A DOG'}}, metrics='CAPITALS', capitals=1);"
        "print(run.scores['a']['CAPITALS'], run.signatures['CAPITALS'])"
    )
    said = python(copy, "-c", says)
    assert said.stdout.startswith("99 "), said.stderr
    assert "capitals : int\n    How many capitals count. More are as good.\n" in said.stdout
    assert said.stdout.endswith("1.0 CAPITALS|most:1|captions:answers-1\n")


def test_a_format_of_tables_is_read_by_score_table(copy):
    orc, parquet = pytest.importorskip("pyarrow.orc"), pytest.importorskip("pyarrow.parquet")
    pa = pytest.importorskip("pyarrow")
    table = pa.table({"caption": ["a dog", "a cat"], "labels": [["dog"], ["dog", "ball"]]})
    orc.write_table(table, copy / "rows.orc")
    parquet.write_table(table, copy / "same.parquet")
    given = ("rows.orc", "same.parquet", "--output", "scored", "--workers", "1")
    done = run(copy, "score-table", *given, "--metrics", "VIFIDEL")
    assert done.returncode == 0, done.stderr
    one, other = (parquet.read_table(path) for path in (copy / "scored").glob("*.parquet"))
    assert one.to_pylist() == other.to_pylist() != []
    (copy / "rows.xls").write_text("", "utf-8")
    refused = run(copy, "score-table", "rows.xls", "--output", "out")
    assert ".orc" in refused.stderr
