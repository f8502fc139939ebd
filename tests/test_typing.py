"""Type checks of a script that uses this package as README shows it."""

import importlib.util
import json
import shutil
import subprocess
import sys

import pytest
from package_copy import copy_package

pytestmark = pytest.mark.slow

SCRIPT = """\
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from pathlib import Path
from typing import Any

from gensim.models import KeyedVectors
from numpy import array, float64
from numpy.typing import NDArray
from pycocoevalcap.eval import COCOEvalCap
from pycocotools.coco import COCO

import vifidel_eval
from vifidel_eval import Column, Evaluation, Metric, Scorer, Vifidel, VifidelError, annotations
from vifidel_eval import register
from vifidel_eval.annotations import ObjectLabels, read_objects
from vifidel_eval.captions.rows import Rows
from vifidel_eval.scorers import Tiger, ViLBERTScore, Wmd

gts: dict[int, list[str]] = {42: ["a dog catches a frisbee"]}
res: dict[int, list[str]] = {42: ["a dog"]}
named: dict[str, list[str]] = {"beach": ["a dog"]}


class Length(Scorer):
    columns = (Column("LENGTH", lower_is_better=True),)

    def method(self) -> str:
        return "LENGTH"

    def signature(self, image_ids: Sequence[Hashable] | None = None) -> str:
        return "LENGTH"

    def _evaluate(self, rows: Rows, on_progress: Callable[[int], object]) -> dict[str, Evaluation]:
        lengths = array([len(caption) for caption in rows.captions], dtype=float64)
        return {"LENGTH": Evaluation(rows.ids, lengths)}


register(Metric("LENGTH", "Characters", Length, lambda settings: Length(), references=False))


def score(keyed_vectors: KeyedVectors) -> tuple[float, NDArray[float64]]:
    Wmd(vectors=keyed_vectors).compute_score(named, named)
    Wmd(vectors="word2vec-google-news-300").compute_score(gts, res)
    return Vifidel("instances.json").compute_score(gts, res)


def objects(coco: COCO, regions: dict[int, NDArray[float64]]) -> ObjectLabels:
    Vifidel(Path("instances.json"), vectors=Path("glove.txt"))
    Vifidel(coco)
    Vifidel({42: ["dog", "dog"]})
    Vifidel({"beach": [("dog", 0.9)]})
    Vifidel({42: Counter({"dog": 2})})
    Vifidel({42: [{"label": "dog", "score": 0.9}]})
    Vifidel([Path("instances.json"), {42: {"dog", "cat"}}])
    Tiger("model_best.pth", "vocabulary.json", regions)
    ViLBERTScore("model.bin", "vocab.txt", Path("features"))
    labels = annotations.union([read_objects("a.json", 0.5, {1: "dog"}), read_objects("b.xml")])
    count: int = labels[42]["dog"]
    Vifidel(labels, counts=count > 1)
    return labels


def add(coco_eval: COCOEvalCap) -> float:
    try:
        return Vifidel("instances.json").add_to(coco_eval)
    except VifidelError as problem:
        raise SystemExit(f"{problem} ({vifidel_eval.__version__})") from None
"""

# Each line is a mistake that a type checker should find.
MISTAKES = """\
from vifidel_eval import Vifidel
from vifidel_eval.annotations import read_objects

Vifidel(42)
Vifidel({42: [17]})
Vifidel("instances.json", vectors=300)
Vifidel("instances.json").compute_score({42: [17]}, {42: ["a dog"]})
read_objects("instances.json")[42] = {"dog": 1}
read_objects("instances.json")[42]["dog"] = 1
read_objects("instances.json").threshold = "high"
"""
WRONG_LINES = list(range(4, 11))


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """A user's folder with the package as an installation has it: type checkers run no code."""
    folder = tmp_path_factory.mktemp("project")
    copy_package(folder / "installed")
    (folder / "script.py").write_text(SCRIPT, encoding="utf-8")
    (folder / "mistakes.py").write_text(MISTAKES, encoding="utf-8")
    return folder


def run_module(module, folder, *arguments):
    if importlib.util.find_spec(module) is None:
        pytest.skip(f"{module} is not installed")
    return subprocess.run(
        [sys.executable, "-m", module, *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )


def mypy(project, name):
    """Return the lines with an error, and what was printed."""
    (project / "mypy.ini").write_text(
        "[mypy]\nmypy_path = installed\nstrict = True\nfollow_imports = silent\n"
        "[mypy-gensim.*,pycocoevalcap.*,pycocotools.*]\nignore_missing_imports = True\n",
        encoding="utf-8",
    )
    done = run_module("mypy", project, "--no-error-summary", "--output", "json", name)
    result = [json.loads(line) for line in done.stdout.splitlines()]
    return {f["line"] for f in result if f["severity"] == "error"}, done.stdout + done.stderr


def pyright(project, name):
    """Return the lines with an error, and what was printed."""
    settings = {"include": [name], "extraPaths": ["installed"], "strict": ["mistakes.py"]}
    (project / "pyrightconfig.json").write_text(json.dumps(settings), encoding="utf-8")
    done = run_module("pyright", project, "--pythonpath", sys.executable, "--outputjson")
    try:
        result = json.loads(done.stdout)["generalDiagnostics"]
    except ValueError:  # it is a Node program, which the Python package fetches when first run
        pytest.skip(f"pyright does not run here: {done.stderr.strip()[:200]}")
    errors = [f for f in result if f["severity"] == "error"]
    return {f["range"]["start"]["line"] + 1 for f in errors}, done.stdout + done.stderr


@pytest.mark.parametrize("checker", [mypy, pyright])
def test_a_users_script_type_checks(project, checker):
    lines, printed = checker(project, "script.py")
    assert not lines, printed


@pytest.mark.parametrize("checker", [mypy, pyright])
def test_mistakes_are_found(project, checker):
    lines, printed = checker(project, "mistakes.py")
    assert sorted(lines) == WRONG_LINES, printed


# A caller of what pandas gives; the last line is a mistake.
FRAMES = """\
import vifidel_eval

frame = vifidel_eval.load("scores.json").to_dataframe(per_image=True)
frame.no_such_method()
"""
PANDAS = "class DataFrame:\n    columns: list[str]\n"


@pytest.mark.parametrize("checker", [mypy, pyright])
def test_a_data_frame_is_one_where_pandas_has_types(project, checker):
    """Pandas itself has none for mypy; those of pandas-stubs are stood in for."""
    (project / "frames.py").write_text(FRAMES, encoding="utf-8")
    stubs = project / "installed" / "pandas"
    stubs.mkdir(exist_ok=True)
    (stubs / "__init__.pyi").write_text(PANDAS, encoding="utf-8")
    lines, printed = checker(project, "frames.py")
    shutil.rmtree(stubs)
    assert sorted(lines) == [4], printed
