import subprocess
import sys
from pathlib import Path

import pytest

import vifidel_eval

ROOT = Path(__file__).parents[1]


def python(*arguments):
    """Run Python in a process of its own."""
    return subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, timeout=60, check=False
    )


def check(code):
    done = python("-c", code)
    assert done.returncode == 0, done.stderr


HEAVY = {
    *("numpy", "scipy", "ot", "gensim", "tokenizers", "safetensors", "regex", "torch", "nltk"),
    *("jinja2", "PIL", "pycocotools", "matplotlib"),
}
HELP = "from vifidel_eval.commands.main import main\nmain([{}'--help'], standalone_mode=False)"


@pytest.mark.parametrize(
    ("code", "allowed"),
    [
        ("import vifidel_eval", set()),
        ("import vifidel_eval; dir(vifidel_eval)", set()),
        ("import vifidel_eval; vifidel_eval.__version__", set()),
        ("import vifidel_eval.annotations", set()),
        ('import vifidel_eval; vifidel_eval.content_words("a dog\'s fire-hydrant")', set()),
        (HELP.format(""), set()),
        (HELP.format("'explain', "), set()),
        (HELP.format("'score', "), {"numpy"}),  # the metrics' records are in their scorers' files
    ],
)
def test_import_and_help_load_nothing_heavy(code, allowed):
    heavy = HEAVY - allowed
    check(code + f"\nimport sys; loaded = {heavy} & set(sys.modules); assert not loaded, loaded")


def test_a_command_imports_no_other():
    check(
        HELP.format("'score', ")
        + "\nimport sys; loaded = {name for name in sys.modules if '.plugins.' in name}"
        "\nassert not loaded | {'vifidel_eval.commands.explain'} & set(sys.modules), loaded"
    )


def test_a_name_is_there_whatever_was_imported_first():
    check("""
import sys
for code in (
    "from vifidel_eval import annotations; annotations.read_objects({1: ['dog']})",
    "import vifidel_eval; vifidel_eval.annotations.read_objects({1: ['dog']})",
    "import vifidel_eval; vifidel_eval.scorers.Vifidel",
    "import vifidel_eval; vifidel_eval.Vifidel",
    "from vifidel_eval import *; Vifidel, annotations.read_objects, scorers.Wmd, __version__",
):
    for module in [name for name in sys.modules if name.partition(".")[0] == "vifidel_eval"]:
        del sys.modules[module]
    exec(code, {})
""")


def test_dir_shows_names_that_are_there_and_nothing_else():
    names = set(dir(vifidel_eval))
    assert {"Vifidel", "VifidelError", "evaluate", "load", "scorers", "tables"} <= names
    assert {name for name in names if name.startswith("_")} == {"__version__"}
    for name in names:
        getattr(vifidel_eval, name)


def test_an_unknown_name():
    with pytest.raises(AttributeError, match="module 'vifidel_eval' has no attribute 'Vifdel'"):
        vifidel_eval.Vifdel  # noqa: B018


def test_version_is_that_of_setup():
    assert f'version="{vifidel_eval.__version__}"' in (ROOT / "setup.py").read_text()


@pytest.mark.parametrize("name", ["setup", "vifidel_eval", "tests", "benchmarks"])
def test_nothing_else_of_a_checkout_is_in_the_package(name):
    with pytest.raises(ModuleNotFoundError):
        __import__(f"vifidel_eval.{name}")


@pytest.mark.parametrize("name", ["annotations", "scorers"])
def test_the_folders_beside_the_package_are_those_of_the_same_checkout(name):
    folder = Path(getattr(vifidel_eval, name).__file__).parent
    assert folder.parent in (Path(vifidel_eval.__file__).parent, ROOT)


def test_python_m_is_the_command():
    done = python("-m", "vifidel_eval", "--help")
    assert done.stdout.startswith("Usage: vifidel-eval ")
    assert done.returncode == 0
    assert python("-m", "vifidel_eval", "scare").returncode == 2
