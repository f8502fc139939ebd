"""Metadata of the package: links to the project's address, where one is set."""

import re
import runpy
from pathlib import Path

import pytest

from vifidel_eval.plugins.detect.loading import BACKENDS
from vifidel_eval.project import ADDRESS
from vifidel_eval.scorers.registry import METRICS

ROOT = Path(__file__).parents[1]
CODE = ("vifidel_eval", "annotations", "scorers", "benchmarks")
HOME = "https://code.example/somebody/vifidel_eval"


@pytest.fixture
def setup(monkeypatch):
    """Return what setup.py defines, and what it would tell setuptools."""
    shown = {}
    monkeypatch.setattr("setuptools.setup", shown.update)
    return runpy.run_path(str(ROOT / "setup.py")), shown


def test_without_an_address_nothing_is_linked(setup):
    defined, shown = setup
    assert defined["address"]() == ADDRESS
    assert defined["links"]("") == {}
    text = defined["long_description"]("")
    assert re.findall(r"\]\((?!https?:|#)[^)]*\)", text) == []
    assert "- Everything else" in text
    assert "[Madhyastha, Wang & Specia, ACL 2019](https://aclanthology.org/P19-1654/)" in text
    assert ("url" in shown, "project_urls" in shown) == (bool(ADDRESS), bool(ADDRESS))


def test_with_an_address_every_link_of_the_readme_leads_there(setup):
    defined, _ = setup
    text = defined["long_description"](HOME)
    assert re.findall(r"\]\((?!https?:|#)[^)]*\)", text) == []
    assert f"[Score your first file]({HOME}/blob/main/docs/start.md)" in text
    assert f'<img src="{HOME}/raw/main/docs/images/phone.png"' in text
    assert defined["links"](HOME)["project_urls"]["Issues"] == f"{HOME}/issues"


def test_no_other_file_names_an_address():
    files = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md", "setup.py")]
    files += [ROOT / "CITATION.cff", *(ROOT / "docs").glob("*.*")]
    folders = ("vifidel_eval", "scorers", "annotations", "benchmarks", "examples")
    files += [path for folder in folders for path in (ROOT / folder).rglob("*.py")]
    for path in files:
        if path.name not in ("project.py", "CITATION.cff"):
            assert not re.search(r"https?://\S+/vifidel[_-]eval\b", path.read_text("utf-8")), path


def test_install_lines_are_true_where_they_stand():
    """No index has a distribution of this name: docs install a checkout, messages packages."""
    files = [*(ROOT / "docs").glob("*.md"), ROOT / "README.md", ROOT / "CONTRIBUTING.md"]
    files += [path for of in CODE for path in (ROOT / of).rglob("*.py")]
    files += (ROOT / "examples").glob("*.ipynb")
    lines = [(path, line) for path in files for line in path.read_text("utf-8").splitlines()]
    assert [(path, line) for path, line in lines if re.search(r"vifidel[-_]eval\[\w", line)] == []
    assert [(path, line) for path, line in lines if "pip install vifidel" in line] == []


def test_extras_in_install_lines_are_those_of_the_package(setup):
    _, shown = setup
    pages = [*(ROOT / "docs").glob("*.md"), ROOT / "README.md", ROOT / "CONTRIBUTING.md"]
    text = "\n".join(page.read_text("utf-8") for page in pages)
    named = re.findall(r"pip install (?:-e )?'\.\[([\w,]+)\]'", text)
    assert {extra for extras in named for extra in extras.split(",")} <= shown[
        "extras_require"
    ].keys()
    assert len(named) > 5


def test_packages_in_messages_are_those_of_some_extra(setup):
    _, shown = setup
    known = {re.match(r"[\w-]+", one)[0] for of in shown["extras_require"].values() for one in of}
    code = "\n".join(path.read_text("utf-8") for of in CODE for path in (ROOT / of).rglob("*.py"))
    named = re.findall(r"pip_install\(((?:'[^']*'(?:, )?)+)\)", code)
    packages = {re.match(r"[\w-]+", one)[0] for of in named for one in re.findall("'([^']*)'", of)}
    packages |= {package for metric in METRICS.values() for package in metric.packages}
    packages |= {package for of in BACKENDS.values() for package in of}
    assert packages <= known
    assert {"pyarrow", "pandas", "torch", "nltk", "onnxruntime"} <= packages
