"""Paths that documentation and other tools import keep importing."""

import subprocess
import sys
from importlib.util import find_spec

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
FIRST = """
import sys

for path, names in {paths}.items():
    for module in [name for name in sys.modules if name.partition(".")[0] == "vifidel_eval"]:
        del sys.modules[module]
    exec(f"from {{path}} import {{names}}", {{}})
"""


def test_a_documented_path_imports_first():
    paths = dict(PATHS)
    if find_spec("pyarrow") is None:
        paths.pop("vifidel_eval.tables")
    code = FIRST.format(paths=paths)
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True, timeout=60)
