"""Paths that documentation and other tools import keep importing; what moved, with a warning."""

import subprocess
import sys
from importlib.util import find_spec

import vifidel_eval

PATHS = {
    "vifidel_eval": "Vifidel, evaluate, load, questions, register",
    "vifidel_eval.annotations": "read_objects",
    "vifidel_eval.asking": "AnswerCounts, calibrate, calibrated",
    "vifidel_eval.captions.rows": "coco_rows",
    "vifidel_eval.detect": "Detector, detect_objects",
    "vifidel_eval.explain.findings": "find",
    "vifidel_eval.integrations": "LMMS_EVAL, CapevalMetric",
    "vifidel_eval.plugins.agreement": "correlation, detection, forced_choice, trials",
    "vifidel_eval.plugins.networks.regions": "regions_of, write_regions",
    "vifidel_eval.rewards": "compute_score, trl_reward",
    "vifidel_eval.scorers": "CLIPScore, LanguageModel, Option, Tiger, ViLBERTScore, VifidelPRF",
    "vifidel_eval.scorers.word_supports": "WordSupport",
    "vifidel_eval.scores.comparison": "against, compare",
    "vifidel_eval.spark": "vifidel",
    "vifidel_eval.tables": "TableScorer",
    "vifidel_eval.vectors": "load_vectors",
}
# What version 0.2.0 documented, and what the warning says.
MOVED = {
    "agreement": ("pascal50s, trials", "agreement is now vifidel_eval.plugins.agreement"),
    "agreement.trials": ("run_trials", "agreement is now vifidel_eval.plugins.agreement"),
    "networks.vilbert_features": (
        "regions_of, write_regions",
        "networks is now vifidel_eval.plugins.networks.regions",
    ),
    "rows": ("coco_rows", "rows is now vifidel_eval.captions.rows"),
    "runs.comparison": ("compare", "runs.comparison is now vifidel_eval.scores.comparison"),
}

FIRST = """
import sys
import warnings

for path, (names, *said) in {paths}.items():
    for module in [name for name in sys.modules if name.partition(".")[0] == "vifidel_eval"]:
        del sys.modules[module]
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        exec(f"from {{path}} import {{names}}", {{}})
    assert [str(one.message) for one in warned] == said, (path, warned)
    assert all(one.filename == "<string>" for one in warned), warned
"""


def first(paths):
    code = FIRST.format(paths=paths)
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True, timeout=60)


def test_a_documented_path_imports_first():
    paths = {path: (names,) for path, names in PATHS.items()}
    if find_spec("pyarrow") is None:
        paths.pop("vifidel_eval.tables")
    first(paths)


def test_a_path_that_moved_warns_once():
    first(
        {
            f"vifidel_eval.{path}": (names, f"vifidel_eval.{said}")
            for path, (names, said) in MOVED.items()
        }
    )


def test_a_path_that_moved_is_the_module_itself(recwarn):
    from vifidel_eval.networks import vilbert_features
    from vifidel_eval.rows import coco_rows

    assert vilbert_features is sys.modules["vifidel_eval.plugins.networks.regions"]
    assert coco_rows is vifidel_eval.scorers.base.coco_rows
