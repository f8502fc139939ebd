import subprocess
import sys

import pytest

HELP = "from vifidel_eval.commands.main import main\nmain([{}'--help'], standalone_mode=False)"


@pytest.mark.parametrize(
    ("code", "allowed"),
    [
        ("import vifidel_eval", set()),
        (HELP.format(""), set()),
        (HELP.format("'explain', "), set()),
        (HELP.format("'score', "), {"numpy"}),  # the metrics' records are in their scorers' files
    ],
)
def test_import_and_help_load_nothing_heavy(code, allowed):
    heavy = {
        "numpy",
        "scipy",
        "ot",
        "gensim",
        "tokenizers",
        "safetensors",
        "regex",
        "torch",
        "nltk",
        "jinja2",
        "PIL",
        "pycocotools",
        "matplotlib",
    } - allowed
    code += f"\nimport sys; loaded = {heavy} & set(sys.modules); assert not loaded, loaded"
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, timeout=60)
