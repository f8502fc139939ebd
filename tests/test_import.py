import subprocess
import sys

import pytest


@pytest.mark.parametrize(
    "code",
    [
        "import vifidel_eval",
        "from vifidel_eval.commands.main import main\n"
        "main(['score', '--help'], standalone_mode=False)",
    ],
)
def test_import_and_help_load_nothing_heavy(code):
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
    }
    code += f"\nimport sys; loaded = {heavy} & set(sys.modules); assert not loaded, loaded"
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, timeout=60)
