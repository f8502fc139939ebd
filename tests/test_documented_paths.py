"""Paths that documentation and other tools import keep importing, without a warning."""

import subprocess
import sys

import pytest

import vifidel_eval

PATHS = {
    "vifidel_eval": "Vifidel, evaluate, load, questions, register",
    "vifidel_eval.agreement": "correlation, detection, forced_choice, trials",
    "vifidel_eval.agreement.trials": "run_trials",
    "vifidel_eval.annotations": "read_objects",
    "vifidel_eval.asking": "AnswerCounts, calibrate, calibrated",
    "vifidel_eval.detect": "Detector, detect_objects",
    "vifidel_eval.explain.findings": "find",
    "vifidel_eval.integrations": "LMMS_EVAL, CapevalMetric",
    "vifidel_eval.networks.vilbert_features": "regions_of, write_regions",
    "vifidel_eval.rewards": "compute_score, trl_reward",
    "vifidel_eval.rows": "coco_rows",
    "vifidel_eval.runs.baseline": "against",
    "vifidel_eval.runs.comparison": "compare",
    "vifidel_eval.scorers": "CLIPScore, LanguageModel, Option, Tiger, ViLBERTScore, VifidelPRF",
    "vifidel_eval.scorers.word_supports": "WordSupport",
    "vifidel_eval.spark": "vifidel",
    "vifidel_eval.tables": "TableScorer",
    "vifidel_eval.vectors": "load_vectors",
}


@pytest.mark.parametrize("path", PATHS)
def test_a_documented_path_imports_first_in_a_process(path):
    if path == "vifidel_eval.tables":
        pytest.importorskip("pyarrow", reason="PyArrow is not installed")
    code = f"from {path} import {PATHS[path]}"
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True, timeout=60)


def test_a_documented_path_is_the_module_itself():
    from vifidel_eval.networks import vilbert_features
    from vifidel_eval.rows import coco_rows

    assert vilbert_features is sys.modules["vifidel_eval.plugins.networks.regions"]
    assert coco_rows is vifidel_eval.scorers.base.coco_rows
